// Names of the choices of a case, as TOML files and case texts spell them.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/scenario/case.hpp"

namespace straddle::harness {

template <class Value>
struct Choice {
  std::string_view name;        // in TOML
  std::string_view short_name;  // in a case text
  Value value;
};

// The first of each is the default, which a case text leaves out.
inline constexpr std::array<Choice<InputKind>, 5> kInputKinds{{{"normal", "", InputKind::normal},
                                                               {"k_zero", "k0", InputKind::k_zero},
                                                               {"v_one", "v1", InputKind::v_one},
                                                               {"same_keys", "same", InputKind::same_keys},
                                                               {"ramp", "ramp", InputKind::ramp}}};
inline constexpr std::array<Choice<Probe>, 3> kProbes{{{"none", "", Probe::none},
                                                       {"change_token", "token", Probe::change_token},
                                                       {"nan_document", "nan", Probe::nan_document}}};
inline constexpr std::array<Choice<PaddingRows>, 2> kPaddingRows{
    {{"random", "", PaddingRows::random}, {"nan", "nanpad", PaddingRows::nan}}};
inline constexpr std::array<tensor::DType, 4> kStorageDTypes{tensor::DType::fp64, tensor::DType::fp32,
                                                             tensor::DType::bf16, tensor::DType::fp16};
inline constexpr std::array<pack::ExchangeKind, 3> kExchanges{
    pack::ExchangeKind::allgather, pack::ExchangeKind::halo, pack::ExchangeKind::a2a};

template <class Choices, class Value>
[[nodiscard]] constexpr std::string_view short_name(const Choices& choices, Value value) {
  for (const auto& choice : choices) {
    if (choice.value == value) return choice.short_name;
  }
  return {};
}

}  // namespace straddle::harness
