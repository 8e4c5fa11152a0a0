#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/judge/judge.hpp"

namespace straddle::harness {

const tensor::Tensor& LayerResults::by_name(std::string_view name) const {
  if (name == "out") return out;
  if (name == "lse") return lse;
  if (name == "d_q") return d_q;
  if (name == "d_k") return d_k;
  if (name == "d_v") return d_v;
  throw std::invalid_argument(
      fmt::format("no result is called {}; results are {}", name, fmt::join(kResultNames, ", ")));
}

tensor::Tensor& LayerResults::by_name(std::string_view name) {
  return const_cast<tensor::Tensor&>(static_cast<const LayerResults&>(*this).by_name(name));
}

std::string_view name(Criterion criterion) {
  switch (criterion) {
    case Criterion::element:
      return "element";
    case Criterion::row:
      return "row";
    case Criterion::document:
      return "document";
    case Criterion::exact_zero:
      return "exact zero";
    case Criterion::not_finite:
      return "not finite";
  }
  throw std::invalid_argument("no such criterion");
}

double Judgement::worst_ratio() const { return tensors.empty() ? 0 : worst()->ratio; }

const TensorVerdict* Judgement::worst() const {
  const auto it = std::max_element(tensors.begin(), tensors.end(),
                                   [](const auto& a, const auto& b) { return a.ratio < b.ratio; });
  return it == tensors.end() ? nullptr : &*it;
}

bool Judgement::wrong() const {
  return std::any_of(tensors.begin(), tensors.end(), [](const auto& t) { return t.wrong(); }) ||
         std::any_of(padding.begin(), padding.end(), [](const auto& p) { return p.wrong_rows > 0; }) ||
         std::any_of(invariants.begin(), invariants.end(), [](const auto& i) { return i.broken(); }) ||
         (bits.compared && (!bits.equal || !(bits.changed_share_d_kv <= bits.allowed_share)));
}

}  // namespace straddle::harness
