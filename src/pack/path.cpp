#include "pack/path.hpp"

#include <fmt/format.h>

namespace straddle::pack {
namespace {

std::string halo_detail(const PathFacts& facts) {
  return fmt::format("rank {} needs {} rows to its left, rank {} owns {}", facts.max_straddle_rank,
                     facts.max_straddle, facts.max_straddle_rank - 1, facts.rows_per_rank);
}

// The first rule that speaks against needed-only exchanges.
Path all_gather_path(ExchangeKind asked, const PathFacts& facts) {
  const auto because = [&](PathReason reason, std::string detail) {
    return Path{asked, ExchangeKind::allgather, reason, std::move(detail)};
  };
  if (!facts.kernel_varlen) {
    return because(PathReason::kernel_not_varlen, "the kernel masks whole rows, so it needs every key");
  }
  if (!facts.metadata_valid) {
    return because(PathReason::no_metadata, "document boundaries are absent or invalid");
  }
  if (facts.spans_nodes && !facts.allow_xnode) {
    return because(PathReason::spans_nodes,
                   "the group spans nodes; STRADDLE_ALLOW_XNODE=1 on rank 0 allows it");
  }
  if (facts.preflight_failed_rank) {
    return because(PathReason::preflight_failed,
                   fmt::format("the kernel of rank {} can't run this case", *facts.preflight_failed_rank));
  }
  return {asked, asked, PathReason::as_asked, ""};
}

}  // namespace

std::string_view name(PathReason reason) {
  switch (reason) {
    case PathReason::as_asked:
      return "as_asked";
    case PathReason::kernel_not_varlen:
      return "kernel_not_varlen";
    case PathReason::no_metadata:
      return "no_metadata";
    case PathReason::spans_nodes:
      return "spans_nodes";
    case PathReason::preflight_failed:
      return "preflight_failed";
    case PathReason::halo_short:
      return "halo_short";
  }
  throw PackError(fmt::format("path reason {} has no name", static_cast<int>(reason)));
}

Path select_path(ExchangeKind asked, const PathFacts& facts) {
  if (asked == ExchangeKind::allgather) return {asked, asked, PathReason::as_asked, ""};
  const Path path = all_gather_path(asked, facts);
  if (path.reason != PathReason::as_asked) return path;
  if (asked == ExchangeKind::halo && facts.max_straddle > facts.rows_per_rank) {
    return {asked, ExchangeKind::a2a, PathReason::halo_short, halo_detail(facts)};
  }
  return path;
}

}  // namespace straddle::pack
