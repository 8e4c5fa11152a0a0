#include "cp/real_rows.hpp"

#include <algorithm>

#include "cp/rows.hpp"

namespace straddle::cp {
namespace {

using tensor::Axis;

// One row of padding: the element repeated, with the other axes of `like`.
tensor::Tensor padding_row(const tensor::View& like, std::span<const std::byte> element) {
  tensor::Tensor row(like.dtype(), like.shape().with(Axis::token, 1));
  auto bytes = row.view().bytes();
  for (std::size_t at = 0; at < bytes.size(); at += element.size()) {
    std::copy(element.begin(), element.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return row;
}

}  // namespace

std::int64_t RealRows::count() const { return runs.empty() ? 0 : runs.back().real + runs.back().count; }

bool RealRows::prefix() const { return runs.empty() || (runs.size() == 1 && runs.front().row == 0); }

void RealRows::append(std::int64_t row, std::int64_t more) {
  if (more == 0) return;
  if (!runs.empty() && runs.back().row + runs.back().count == row) {
    runs.back().count += more;
    return;
  }
  runs.push_back({row, count(), more});
}

RealRows real_query_rows(const pack::Plan& plan) {
  RealRows real{plan.rows_per_rank, {}};
  for (const pack::Segment& segment : plan.segments) real.append(segment.local_row, segment.queries);
  return real;
}

RealRows real_key_rows(const pack::Plan& plan) {
  RealRows real{plan.straddle + plan.rows_per_rank, {}};
  real.append(0, plan.straddle);
  for (const pack::Segment& segment : plan.segments) {
    real.append(plan.straddle + segment.local_row, segment.queries);
  }
  return real;
}

tensor::ConstView compact(const tensor::ConstView& padded, const RealRows& real, tensor::Tensor& storage) {
  if (real.prefix()) return padded.slice(Axis::token, 0, real.count());
  storage = tensor::Tensor(padded.dtype(), padded.shape().with(Axis::token, real.count()));
  const tensor::View view = storage.view();
  for (const RowRun& run : real.runs) {
    tensor::convert(padded.slice(Axis::token, run.row, run.count),
                    view.slice(Axis::token, run.real, run.count));
  }
  return view;
}

CompactResult::CompactResult(const tensor::View& padded, const RealRows& real)
    : padded_(padded), real_(real) {
  if (real.prefix()) {
    view_ = padded.slice(Axis::token, 0, real.count());
    return;
  }
  storage_ = tensor::Tensor(padded.dtype(), padded.shape().with(Axis::token, real.count()));
  view_ = storage_.view();
}

void CompactResult::finish(std::span<const std::byte> padding_element) {
  const tensor::Tensor padding = padding_row(padded_, padding_element);
  std::int64_t next = 0;  // first row that is neither real nor filled yet
  const auto fill_up_to = [&](std::int64_t end) {
    for (; next < end; ++next) tensor::convert(padding.view(), padded_.slice(Axis::token, next, 1));
  };
  for (const RowRun& run : real_.runs) {
    fill_up_to(run.row);
    if (!real_.prefix()) {
      tensor::convert(view_.slice(Axis::token, run.real, run.count),
                      padded_.slice(Axis::token, run.row, run.count));
    }
    next = run.row + run.count;
  }
  fill_up_to(real_.rows);
}

}  // namespace straddle::cp
