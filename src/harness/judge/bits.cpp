// Equality with the W = 1 run of the same kernel.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/judge/bit_rows.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/layout.hpp"

namespace straddle::harness {
namespace {

// A sum over ranks that starts from +0 turns -0 into +0, which is no difference of value: in d_k and d_v, the
// two tensors that are summed over ranks, zeros are equal whatever their sign.
bool summed_over_ranks(std::string_view name) { return name == "d_k" || name == "d_v"; }
ZeroSign zero_sign(std::string_view name) {
  return summed_over_ranks(name) ? ZeroSign::ignored : ZeroSign::counts;
}

// At most this share of the 16-bit d_k, d_v elements of a document on several ranks may change.
//
// Partials are fp32 (fp64 never comes here), so W changes a sum by a few u = 2^-24 of it, and the storage
// rounding that follows flips only where the sum lies that close to the middle of two storage values: about
// 2^-24 / 2^-8 of the elements in bf16 and 2^-24 / 2^-11 in fp16, some times more where sums cancel: 0.01 %
// to 0.1 %. Partials kept in 16 bits change 17 to 44 %. One per cent lies well between; in a document of
// fewer than 200 elements that would allow one chance flip or none, so two are always allowed: three flips
// among 200 elements at 0.1 % each have a probability of 1e-3, at 0.01 % of 1e-6, while 17 % of even 24
// elements are 4.
double allowed_share(std::int64_t elements) { return std::max(0.01, 2 / static_cast<double>(elements)); }

struct Share {
  std::int64_t changed = 0;
  std::int64_t elements = 0;
};

class LayerBits {
 public:
  LayerBits(const Case& point, const LayerResults& results, const LayerResults& control)
      : point_(point), results_(results), control_(control) {}

  void compare(const pack::Document& document, BitsVerdict& bits) const {
    const bool one_rank = ranks_of(document, point_.rows_per_rank()).count() == 1;
    Share share;
    for (const std::string_view name : kResultNames) {
      const tensor::Tensor& result = results_.by_name(name);
      if (one_rank || !summed_over_ranks(name)) {
        require_equal(name, document, bits);
      } else if (tensor::size_bytes(result.dtype()) == 2) {
        const BitRows rows(result, control_.by_name(name), zero_sign(name));
        share.elements += document.length * rows.row_elements();
        for (std::int64_t token = document.start; token < document.end(); ++token) {
          share.changed += rows.differing(token);
        }
      }
    }
    if (share.elements > 0) note(share, bits);
  }

 private:
  void require_equal(std::string_view name, const pack::Document& document, BitsVerdict& bits) const {
    const BitRows rows(results_.by_name(name), control_.by_name(name), zero_sign(name));
    // Only the first difference of all is told.
    for (std::int64_t token = document.start; token < document.end() && bits.equal; ++token) {
      const auto element = rows.first_difference(token);
      if (!element) continue;
      bits.equal = false;
      bits.difference = rows.describe(name, token, *element);
    }
  }

  // The document that uses most of its share stands for all.
  static void note(const Share& share, BitsVerdict& bits) {
    const double changed = static_cast<double>(share.changed) / static_cast<double>(share.elements);
    const double allowed = allowed_share(share.elements);
    if (bits.allowed_share > 0 && changed * bits.allowed_share <= bits.changed_share_d_kv * allowed) return;
    bits.changed_share_d_kv = changed;
    bits.allowed_share = allowed;
  }

  const Case& point_;
  const LayerResults& results_;
  const LayerResults& control_;
};

}  // namespace

void compare_bits(const Case& point, std::int64_t layer, const LayerResults& results,
                  const LayerResults& control, Judgement& judgement) {
  require_result_shapes(point, results);
  const std::int64_t control_rows = control.out.shape().size(tensor::Axis::token);
  if (control_rows < documents_end(point.pack)) {
    throw std::invalid_argument(
        fmt::format("layer {} of the W = 1 run of {}: expected at least {} rows, seen {}", layer,
                    print(point), documents_end(point.pack), control_rows));
  }
  judgement.bits.compared = true;
  const LayerBits bits(point, results, control);
  for (const pack::Document& document : point.pack.documents) bits.compare(document, judgement.bits);
}

}  // namespace straddle::harness
