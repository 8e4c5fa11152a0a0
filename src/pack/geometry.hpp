// What the plans of all ranks of a group have in common, computed once per pack.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "pack/pack.hpp"

namespace straddle::pack {

// Contiguous layout: rank r owns rows [rL, (r+1)L), L = slots / ranks.
//   straddle   b_r: rows of the document at row rL that lie on earlier ranks
//   real rows  n_r: rows of rank r's shard that belong to a document
// O(documents + ranks) once, 16 bytes a rank. Refuses, with the same PackError on every rank, a pack that is
// invalid, that has no slots, that does not split evenly over the ranks, or where a kernel's int32 would not
// hold b_r + n_r, the end of a rank's cu_seqlens_k.
class PackGeometry {
 public:
  PackGeometry(const Pack& pack, std::int64_t ranks);  // keeps a reference: the pack must outlive it
  PackGeometry(Pack&&, std::int64_t) = delete;

  [[nodiscard]] const Pack& pack() const { return *pack_; }
  [[nodiscard]] std::int64_t ranks() const { return ranks_; }                              // W
  [[nodiscard]] std::int64_t rows_per_rank() const { return rows_per_rank_; }              // L
  [[nodiscard]] const std::vector<std::int64_t>& straddles() const { return straddles_; }  // b [ranks]
  [[nodiscard]] const std::vector<std::int64_t>& real_rows() const { return real_rows_; }  // n [ranks]
  [[nodiscard]] std::int64_t max_straddle() const { return straddles_[max_straddle_rank_]; }
  [[nodiscard]] std::int64_t max_straddle_rank() const { return max_straddle_rank_; }  // the first with it
  [[nodiscard]] std::uint64_t hash() const { return hash_; }  // of documents, slots and ranks

  // [first, last) in Pack::documents: those with rows in this rank's shard. O(log documents).
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> documents_of(std::int64_t rank) const;

 private:
  const Pack* pack_;
  std::int64_t ranks_;
  std::int64_t rows_per_rank_;
  std::vector<std::int64_t> straddles_;
  std::vector<std::int64_t> real_rows_;
  std::int64_t max_straddle_rank_ = 0;
  std::uint64_t hash_ = 0;
};

// L for a pack that can be split evenly over the ranks; otherwise PackError saying what to do.
[[nodiscard]] std::int64_t rows_per_rank(const Pack& pack, std::int64_t ranks);

// b_r of every rank, [ranks], and n_r of every rank, [ranks]; no limit but 64 bits. O(documents + ranks).
[[nodiscard]] std::vector<std::int64_t> straddles(const Pack& pack, std::int64_t ranks);
[[nodiscard]] std::vector<std::int64_t> real_rows(const Pack& pack, std::int64_t ranks);

}  // namespace straddle::pack
