// The exchanges and adjoints that make_exchange and make_adjoint choose from, one file a kind.
#pragma once

#include <memory>
#include <string_view>

#include "cp/exchange.hpp"

namespace straddle::cp {

// Purposes of the operations, as the recorder sees them.
inline constexpr std::string_view kForwardPurpose = "K/V forward";
inline constexpr std::string_view kBackwardPurpose = "dK/dV backward";

// allgather: every rank gets all S rows and keeps the needed ones.
[[nodiscard]] std::unique_ptr<Exchange> allgather_exchange();
[[nodiscard]] std::unique_ptr<Adjoint> allgather_ordered_adjoint();
[[nodiscard]] std::unique_ptr<Adjoint> allgather_library_adjoint();

// halo: the last max_straddle rows of the left neighbour. Legal where every b_r <= L.
[[nodiscard]] std::unique_ptr<Exchange> halo_exchange();
[[nodiscard]] std::unique_ptr<Adjoint> halo_adjoint();

// a2a: exactly the plan's transfers.
[[nodiscard]] std::unique_ptr<Exchange> a2a_exchange();
[[nodiscard]] std::unique_ptr<Adjoint> a2a_adjoint();

}  // namespace straddle::cp
