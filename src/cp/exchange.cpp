#include "cp/exchange.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "cp/methods.hpp"

namespace straddle::cp {

std::string_view name(Reduce reduce) { return reduce == Reduce::ordered ? "ordered" : "library"; }

Reduce parse_reduce(std::string_view text) {
  for (const Reduce reduce : {Reduce::ordered, Reduce::library}) {
    if (name(reduce) == text) return reduce;
  }
  throw std::invalid_argument(fmt::format("unknown reduce \"{}\": one of ordered, library", text));
}

std::unique_ptr<Exchange> make_exchange(pack::ExchangeKind kind) {
  switch (kind) {
    case pack::ExchangeKind::allgather:
      return allgather_exchange();
    case pack::ExchangeKind::halo:
      return halo_exchange();
    case pack::ExchangeKind::a2a:
      return a2a_exchange();
  }
  throw std::invalid_argument("unknown exchange kind");
}

std::unique_ptr<Adjoint> make_adjoint(pack::ExchangeKind kind, Reduce reduce) {
  if (reduce == Reduce::library) {
    if (kind == pack::ExchangeKind::allgather) return allgather_library_adjoint();
    throw std::invalid_argument(fmt::format(
        "reduce = library is a reduce-scatter of whole shards, so it goes with the allgather exchange "
        "only, not with {}; use reduce = ordered",
        pack::name(kind)));
  }
  switch (kind) {
    case pack::ExchangeKind::allgather:
      return allgather_ordered_adjoint();
    case pack::ExchangeKind::halo:
      return halo_adjoint();
    case pack::ExchangeKind::a2a:
      return a2a_adjoint();
  }
  throw std::invalid_argument("unknown exchange kind");
}

}  // namespace straddle::cp
