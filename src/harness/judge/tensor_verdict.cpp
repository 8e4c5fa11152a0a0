#include "harness/judge/tensor_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "harness/judge/layout.hpp"

namespace straddle::harness {
namespace {

bool is_wrong(const RowErrors& row) { return row.wrong; }

class VerdictMaker {
 public:
  VerdictMaker(const DocumentErrors& errors, const Comparison& comparison, std::int64_t ranks,
               std::int64_t rows_per_rank)
      : errors_(errors),
        comparison_(comparison),
        rows_per_rank_(rows_per_rank),
        heads_(comparison.got.heads()),
        dim_(comparison.got.dim()) {
    verdict_.tokens = comparison.tokens;
    verdict_.criterion = errors.criterion();
    verdict_.used = errors.used();
    verdict_.allowed = errors.allowed();
    verdict_.ratio = errors.ratio();
    verdict_.reference_zero = errors.reference_zero();
    verdict_.heads = heads_;
    document_alone_ = verdict_.wrong() && std::none_of(errors.rows().begin(), errors.rows().end(), is_wrong);
    verdict_.relative_by_rank.assign(static_cast<std::size_t>(ranks),
                                     std::numeric_limits<double>::quiet_NaN());
    verdict_.wrong_by_rank.assign(static_cast<std::size_t>(ranks), false);
  }

  [[nodiscard]] TensorVerdict make() {
    add_rows();
    add_ranks();
    add_places();
    return std::move(verdict_);
  }

 private:
  [[nodiscard]] const RowErrors& row(std::int64_t document_row, std::int64_t head) const {
    return errors_.rows()[static_cast<std::size_t>(document_row * heads_ + head)];
  }

  void add_rows() {
    if (!verdict_.wrong()) return;
    std::vector<bool> wrong_head(static_cast<std::size_t>(heads_), false);
    for (std::int64_t document_row = 0; document_row < comparison_.tokens; ++document_row) {
      bool wrong = false;
      for (std::int64_t head = 0; head < heads_; ++head) {
        if (!document_alone_ && !row(document_row, head).wrong) continue;
        wrong = true;
        wrong_head[static_cast<std::size_t>(head)] = true;
      }
      if (wrong) add_wrong_row(comparison_.first_row + document_row);
    }
    for (std::int64_t head = 0; head < heads_; ++head) {
      if (wrong_head[static_cast<std::size_t>(head)]) verdict_.wrong_heads.push_back(head);
    }
  }

  void add_wrong_row(std::int64_t token) {
    ++verdict_.wrong_rows;
    auto& ranges = verdict_.wrong_ranges;
    if (!ranges.empty() && ranges.back().second == token) {
      ++ranges.back().second;
    } else {
      ranges.emplace_back(token, token + 1);
    }
  }

  void add_ranks() {
    const std::int64_t begin = comparison_.first_row;
    const std::int64_t end = begin + comparison_.tokens;
    for (std::int64_t rank = begin / rows_per_rank_; rank * rows_per_rank_ < end; ++rank) {
      double error = 0, want = 0;
      bool wrong = document_alone_;
      const std::int64_t first = std::max(begin, rank * rows_per_rank_) - begin;
      const std::int64_t last = std::min(end, (rank + 1) * rows_per_rank_) - begin;
      for (std::int64_t document_row = first; document_row < last; ++document_row) {
        for (std::int64_t head = 0; head < heads_; ++head) {
          error += row(document_row, head).error;
          want += row(document_row, head).want;
          wrong = wrong || row(document_row, head).wrong;
        }
      }
      const auto index = static_cast<std::size_t>(rank);
      verdict_.relative_by_rank[index] = used_of_allowed(std::sqrt(error), std::sqrt(want));
      verdict_.wrong_by_rank[index] = wrong;
    }
  }

  void add_places() {
    const auto& rows = errors_.rows();
    verdict_.worst = place(errors_.worst_row(), rows[errors_.worst_row()].worst_dim);
    if (!verdict_.wrong()) return;
    const auto first = std::find_if(rows.begin(), rows.end(), is_wrong);
    if (first == rows.end()) return;
    verdict_.first = place(static_cast<std::size_t>(first - rows.begin()),
                           first->worst_ratio <= 1 ? first->worst_dim : first->first_wrong_dim);
  }

  [[nodiscard]] Place place(std::size_t index, std::int64_t dim) const {
    const std::int64_t token = comparison_.first_row + static_cast<std::int64_t>(index) / heads_;
    const std::int64_t head = static_cast<std::int64_t>(index) % heads_;
    Place place = locate(token, head, dim, rows_per_rank_, comparison_.first_row);
    place.got = comparison_.got.row(token, head)[dim];
    place.want = comparison_.want[index * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(dim)];
    return place;
  }

  const DocumentErrors& errors_;
  const Comparison& comparison_;
  std::int64_t rows_per_rank_;
  std::int64_t heads_;
  std::int64_t dim_;
  bool document_alone_ = false;
  TensorVerdict verdict_;
};

}  // namespace

TensorVerdict make_verdict(const DocumentErrors& errors, const Comparison& comparison, std::int64_t ranks,
                           std::int64_t rows_per_rank) {
  return VerdictMaker(errors, comparison, ranks, rows_per_rank).make();
}

}  // namespace straddle::harness
