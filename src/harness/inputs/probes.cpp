// Inputs with one thing changed, for the second run of a probe.
#include <algorithm>
#include <stdexcept>

#include "harness/inputs/inputs.hpp"

namespace straddle::harness {
namespace {

// The part of `rows`, which begin at global row `begin`, that lies in global rows [from, to).
tensor::View overlap(const tensor::View& rows, std::int64_t begin, std::int64_t from, std::int64_t to) {
  const std::int64_t count = rows.size(tensor::Axis::token);
  const std::int64_t first = std::clamp<std::int64_t>(from - begin, 0, count);
  const std::int64_t last = std::clamp<std::int64_t>(to - begin, first, count);
  return rows.slice(tensor::Axis::token, first, last - first);
}

class ChangedToken final : public Inputs {
 public:
  ChangedToken(const Inputs& inner, tensor::DType storage, std::int64_t token)
      : inner_(inner), storage_(storage), token_(token) {}

  void fill(InputName input, std::int64_t layer, std::int64_t begin,
            const tensor::View& rows) const override {
    inner_.fill(input, layer, begin, rows);
    const tensor::View row = overlap(rows, begin, token_, token_ + 1);
    if (row.numel() == 0) return;
    const tensor::DType storage = input == InputName::d_lse ? tensor::accumulation_dtype(storage_) : storage_;
    tensor::Tensor wide(tensor::DType::fp64, row.shape());
    tensor::Tensor stored(storage, row.shape());
    inner_.fill(input, layer, token_, wide.view());
    for (double& x : wide.view().span<double>()) x = 1.5 - x;
    tensor::convert(wide.view(),
                    stored.view());  // by way of storage, so that a widened row holds the same values
    tensor::convert(stored.view(), row);
  }

 private:
  const Inputs& inner_;
  tensor::DType storage_;
  std::int64_t token_;
};

class PoisonedRows final : public Inputs {
 public:
  PoisonedRows(const Inputs& inner, std::int64_t begin, std::int64_t end)
      : inner_(inner), begin_(begin), end_(end) {}

  void fill(InputName input, std::int64_t layer, std::int64_t begin,
            const tensor::View& rows) const override {
    inner_.fill(input, layer, begin, rows);
    tensor::poison(overlap(rows, begin, begin_, end_));
  }

 private:
  const Inputs& inner_;
  std::int64_t begin_;
  std::int64_t end_;
};

}  // namespace

std::unique_ptr<Inputs> change_token(const Inputs& inner, tensor::DType storage, std::int64_t token) {
  return std::make_unique<ChangedToken>(inner, storage, token);
}

std::unique_ptr<Inputs> poison_rows(const Inputs& inner, std::int64_t begin, std::int64_t end) {
  return std::make_unique<PoisonedRows>(inner, begin, end);
}

}  // namespace straddle::harness
