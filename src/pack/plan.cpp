#include "pack/plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace straddle::pack {
namespace {

// Runs of the shard, with prefix sums and maxima. Only the first can have keys on earlier ranks.
void add_segments(const PackGeometry& geometry, Plan& plan) {
  const std::int64_t begin = plan.global_row();
  const std::int64_t end = begin + plan.rows_per_rank;
  const auto [first, last] = geometry.documents_of(plan.rank);
  plan.cu_seqlens_q = {0};
  plan.cu_seqlens_k = {0};
  plan.key_end = begin;
  for (std::int64_t index = first; index < last; ++index) {
    const Document& document = geometry.pack().documents[index];
    const std::int64_t run_begin = std::max(document.start, begin);
    const std::int64_t run_end = std::min(document.end(), end);
    const std::int64_t queries = run_end - run_begin;
    const std::int64_t keys = (index == first ? plan.straddle : 0) + queries;
    plan.segments.push_back({index, run_begin - begin, queries, keys});
    plan.cu_seqlens_q.push_back(static_cast<std::int32_t>(plan.cu_seqlens_q.back() + queries));
    plan.cu_seqlens_k.push_back(static_cast<std::int32_t>(plan.cu_seqlens_k.back() + keys));
    plan.max_seqlen_q = std::max(plan.max_seqlen_q, queries);
    plan.max_seqlen_k = std::max(plan.max_seqlen_k, keys);
    plan.key_end = run_end;
  }
}

// own_s n needed_r for every s < r: the b_r rows before the shard, cut at the shards that own them.
void add_receives(Plan& plan) {
  if (plan.straddle == 0) return;
  for (std::int64_t peer = plan.key_begin / plan.rows_per_rank; peer < plan.rank; ++peer) {
    const std::int64_t begin = std::max(plan.key_begin, peer * plan.rows_per_rank);
    plan.receives.push_back({peer, begin, (peer + 1) * plan.rows_per_rank - begin});
  }
}

// own_r n needed_d for every d > r: rows of the one document that reaches over the shard's end, to every rank
// it reaches.
void add_sends(const PackGeometry& geometry, Plan& plan) {
  if (plan.segments.empty()) return;
  const Document& document = geometry.pack().documents[plan.segments.back().document];
  const std::int64_t end = plan.global_row() + plan.rows_per_rank;
  const std::int64_t begin = std::max(document.start, plan.global_row());
  const std::int64_t last_peer = (document.end() - 1) / plan.rows_per_rank;
  for (std::int64_t peer = plan.rank + 1; peer <= last_peer; ++peer) {
    plan.sends.push_back({peer, begin, end - begin});
  }
}

std::string transfers_text(const std::vector<Transfer>& transfers, std::string_view word) {
  std::vector<std::string> parts;
  for (const Transfer& transfer : transfers) {
    parts.push_back(fmt::format("[{},{}) {} {}", transfer.global_begin, transfer.global_begin + transfer.rows,
                                word, transfer.peer));
  }
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::string_view name(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::allgather:
      return "allgather";
    case ExchangeKind::halo:
      return "halo";
    case ExchangeKind::a2a:
      return "a2a";
  }
  throw PackError(fmt::format("exchange {} has no name", static_cast<int>(kind)));
}

ExchangeKind parse_exchange(std::string_view text) {
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
    if (text == name(kind)) return kind;
  }
  throw PackError(fmt::format("unknown exchange \"{}\": one of allgather, halo, a2a", text));
}

std::int64_t Plan::pairs() const {
  std::int64_t pairs = 0;  // at most n_r (b_r + n_r), both below 2^31
  for (const auto& [document, local_row, queries, keys] : segments) {
    pairs += queries * (keys - queries) + queries * (queries + 1) / 2;
  }
  return pairs;
}

bool Plan::compact() const {
  std::int64_t end = 0;
  for (const Segment& segment : segments) {
    if (segment.local_row != end) return false;
    end += segment.queries;
  }
  return true;
}

Plan make_local_plan(const PackGeometry& geometry, std::int64_t rank) {
  if (rank < 0 || rank >= geometry.ranks()) {
    throw PackError(
        fmt::format("rank {} must lie in [0, {}), the ranks of the group", rank, geometry.ranks()));
  }
  Plan plan;
  plan.rank = rank;
  plan.ranks = geometry.ranks();
  plan.rows_per_rank = geometry.rows_per_rank();
  plan.straddle = geometry.straddles()[rank];
  plan.max_straddle = geometry.max_straddle();
  plan.real_rows = geometry.real_rows()[rank];
  plan.key_begin = plan.global_row() - plan.straddle;
  plan.pack_hash = geometry.hash();
  add_segments(geometry, plan);
  return plan;
}

Plan make_plan(const PackGeometry& geometry, std::int64_t rank) {
  Plan plan = make_local_plan(geometry, rank);
  add_receives(plan);
  add_sends(geometry, plan);
  return plan;
}

Plan make_plan(const Pack& pack, std::int64_t ranks, std::int64_t rank) {
  return make_plan(PackGeometry(pack, ranks), rank);
}

std::string text(const Plan& plan) {
  std::vector<std::string> segments;
  for (const auto& [document, local_row, queries, keys] : plan.segments) {
    segments.push_back(fmt::format("document {} at row {}, q {}, k {}", document, local_row, queries, keys));
  }
  return fmt::format(
      "rank {} of {}, rows [{},{}), {} real, straddle {} (largest {})\n"
      "needs [{},{})\n"
      "segments {}\n"
      "cu_seqlens_q {} max {}\n"
      "cu_seqlens_k {} max {}\n"
      "receives {}\n"
      "sends {}\n"
      "pack {:016x}\n",
      plan.rank, plan.ranks, plan.global_row(), plan.global_row() + plan.rows_per_rank, plan.real_rows,
      plan.straddle, plan.max_straddle, plan.key_begin, plan.key_end,
      segments.empty() ? "none" : fmt::format("{}", fmt::join(segments, "; ")),
      fmt::join(plan.cu_seqlens_q, " "), plan.max_seqlen_q, fmt::join(plan.cu_seqlens_k, " "),
      plan.max_seqlen_k, transfers_text(plan.receives, "from"), transfers_text(plan.sends, "to"),
      plan.pack_hash);
}

}  // namespace straddle::pack
