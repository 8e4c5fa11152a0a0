// What one rank does for one pack: its rows, its segments and the rows it exchanges. Plain data; a geometry
// fault is a function Plan -> Plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pack/geometry.hpp"
#include "pack/pack.hpp"

namespace straddle::pack {

enum class ExchangeKind : std::uint8_t { allgather, halo, a2a };
[[nodiscard]] std::string_view name(ExchangeKind kind);
[[nodiscard]] ExchangeKind parse_exchange(std::string_view name);  // throws PackError listing the names

// One run of a document's rows in this rank's shard, and the keys it attends to: keys k_t - q_t rows before
// the run up to its end, causal mask aligned bottom-right.
struct Segment {
  std::int64_t document;  // index in Pack::documents
  std::int64_t
      local_row;         // first row of the run in the shard; differs from cu_seqlens_q in a gapped pack only
  std::int64_t queries;  // q_t
  std::int64_t keys;     // k_t: b_r + q_0 for the first, q_t after it
  bool operator==(const Segment&) const = default;
};

// Rows that go to or come from one peer.
struct Transfer {
  std::int64_t peer;
  std::int64_t global_begin;  // first global row
  std::int64_t rows;
  bool operator==(const Transfer&) const = default;
};

struct Plan {
  std::int64_t rank = 0;
  std::int64_t ranks = 1;          // W
  std::int64_t rows_per_rank = 0;  // L
  std::int64_t straddle = 0;       // b_r
  std::int64_t max_straddle = 0;   // max over all ranks: the halo's width
  std::int64_t real_rows = 0;      // n_r

  // Needed range, global rows [key_begin, key_end): b_r rows before the shard, and the shard up to its last
  // real row. [rL, rL) for a rank without rows.
  std::int64_t key_begin = 0;
  std::int64_t key_end = 0;

  std::vector<Segment> segments;
  std::vector<std::int32_t> cu_seqlens_q;  // [segments + 1], ends at n_r
  std::vector<std::int32_t> cu_seqlens_k;  // [segments + 1], ends at b_r + n_r
  std::int64_t max_seqlen_q = 0;
  std::int64_t max_seqlen_k = 0;
  std::vector<Transfer>
      receives;                 // needed-only: own_s n needed_r from each s < rank with rows, ascending peer
  std::vector<Transfer> sends;  // needed-only: own_r n needed_d to each d > rank with rows, ascending peer
  std::uint64_t pack_hash = 0;  // of documents, slots and W: equal on all ranks

  [[nodiscard]] std::int64_t global_row() const { return rank * rows_per_rank; }  // rL
  [[nodiscard]] std::int64_t pairs() const;  // visible (query, key) pairs of this rank
  [[nodiscard]] bool compact() const;  // real rows are the prefix [0, n_r): no gap before or between them
  bool operator==(const Plan&) const = default;
};

// The plan of one rank. pack.slots must be a multiple of ranks. Throws PackError, the same on every rank,
// also where a kernel's int32 would overflow on some rank. O(documents + ranks), which finding max_straddle
// costs.
[[nodiscard]] Plan make_plan(const Pack& pack, std::int64_t ranks, std::int64_t rank);

// The same from a geometry that was computed before: O(documents of the shard + log documents + transfers),
// so the plans of all ranks cost no more than they hold.
[[nodiscard]] Plan make_plan(const PackGeometry& geometry, std::int64_t rank);

// The same without receives and sends, whose number can grow with the ranks: O(documents of the shard + log
// documents). For looking at many ranks' rows and segments; find_violation refuses it where b_r > 0.
[[nodiscard]] Plan make_local_plan(const PackGeometry& geometry, std::int64_t rank);

[[nodiscard]] std::string text(const Plan& plan);  // one line a field group, for messages

}  // namespace straddle::pack
