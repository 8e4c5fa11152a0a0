// Every small pack at every rank count that fits, its plans against the definition token by token.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <string>

#include "by_definition.hpp"
#include "pack/cost.hpp"
#include "pack/plan.hpp"
#include "pack/validate.hpp"

namespace straddle::pack {
namespace {

using by_definition::bit;
using by_definition::Labels;
using by_definition::range;
using by_definition::Slots;

// Says which fact fails first; empty if none. Plain comparisons, since an assertion macro for each of some
// hundred million facts would take minutes.
class Checker {
 public:
  Checker(const Pack& pack, std::int64_t ranks)
      : pack_(pack),
        ranks_(ranks),
        labels_(by_definition::labels_of(pack)),
        visible_(by_definition::visible(labels_)) {}

  std::string first_failure() {
    needed_ = needed_by_rank();
    for (std::int64_t rank = 0; rank < ranks_; ++rank) plans_.push_back(make_plan(pack_, ranks_, rank));
    for (const Plan& plan : plans_) {
      check_rows(plan);
      check_keys_of_each_row(plan);
      check_kernel_arguments(plan);
      check_transfers(plan);
    }
    check_group();
    return failure_.empty() ? "" : fmt::format("W = {}: {}", ranks_, failure_);
  }

 private:
  void expect(bool holds, const Plan& plan, const char* fact) {
    if (!holds && failure_.empty()) failure_ = fmt::format("rank {}: {}\n{}", plan.rank, fact, text(plan));
  }

  Slots shard(std::int64_t rank) const {
    const std::int64_t rows = pack_.slots / ranks_;
    return range(rank * rows, (rank + 1) * rows);
  }

  // What a rank's rows see, all of them together.
  Slots needed(std::int64_t rank) const { return needed_[rank]; }

  std::vector<Slots> needed_by_rank() const {
    const std::int64_t rows = pack_.slots / ranks_;
    std::vector<Slots> needed(ranks_, 0);
    for (std::int64_t i = 0; i < pack_.slots; ++i) needed[i / rows] |= visible_[i];
    return needed;
  }

  void check_rows(const Plan& plan) {
    const std::int64_t rows = pack_.slots / ranks_;
    const Slots real = by_definition::real_slots(labels_, plan.rank * rows, (plan.rank + 1) * rows);
    expect(plan.rows_per_rank == rows && plan.global_row() == plan.rank * rows, plan, "shard");
    expect(plan.real_rows == std::popcount(real), plan, "n_r is the number of real rows");
    expect(plan.straddle == by_definition::straddle(labels_, plan.rank * rows), plan, "b_r by definition");
    expect(plan.compact() == (real == range(plan.rank * rows, plan.rank * rows + plan.real_rows)), plan,
           "compact: real rows are a prefix");
    const Slots in_range = range(plan.key_begin, plan.key_end);
    const Slots padding = ~by_definition::real_slots(labels_, 0, pack_.slots);
    expect((needed(plan.rank) & ~in_range) == 0, plan, "the needed range holds every key its rows see");
    expect((in_range & ~shard(plan.rank) & ~needed(plan.rank)) == 0, plan,
           "and no other row of another rank");
    expect(std::popcount(in_range & ~padding) == plan.straddle + plan.real_rows, plan, "b_r + n_r real rows");
  }

  void check_keys_of_each_row(const Plan& plan) {
    Slots seen = 0;
    std::int64_t pairs = 0;
    for (const Segment& segment : plan.segments) {
      const std::int64_t first = plan.global_row() + segment.local_row;
      for (std::int64_t i = first; i < first + segment.queries; ++i) {
        const std::int64_t first_key = first + segment.queries - segment.keys;  // bottom-right aligned
        expect(range(first_key, i + 1) == visible_[i], plan, "a row's keys are V(i)");
        expect(labels_[i] == segment.document, plan, "a segment names its document");
        expect((seen & bit(i)) == 0, plan, "no row twice");
        seen |= bit(i);
        pairs += std::popcount(visible_[i]);
      }
    }
    expect(std::popcount(seen) == plan.real_rows, plan, "every real row is in a segment");
    expect(plan.pairs() == pairs, plan, "pairs");
    pairs_ += pairs;
  }

  void check_kernel_arguments(const Plan& plan) {
    std::vector<std::int32_t> cu_q{0};
    std::vector<std::int32_t> cu_k{0};
    std::int64_t max_q = 0;
    std::int64_t max_k = 0;
    for (const Segment& segment : plan.segments) {
      cu_q.push_back(static_cast<std::int32_t>(cu_q.back() + segment.queries));
      cu_k.push_back(static_cast<std::int32_t>(cu_k.back() + segment.keys));
      max_q = std::max(max_q, segment.queries);
      max_k = std::max(max_k, segment.keys);
    }
    expect(plan.cu_seqlens_q == cu_q && plan.cu_seqlens_k == cu_k, plan, "prefix sums");
    expect(plan.max_seqlen_q == max_q && plan.max_seqlen_k == max_k, plan, "maxima");
    const auto violation = find_violation(plan);
    expect(!violation, plan, violation ? violation->text().c_str() : "");
  }

  void check_transfers(const Plan& plan) {
    std::size_t next_receive = 0;
    std::size_t next_send = 0;
    for (std::int64_t peer = 0; peer < ranks_; ++peer) {
      if (peer == plan.rank) continue;
      const Slots from_peer = needed(plan.rank) & shard(peer);
      const Slots to_peer = needed(peer) & shard(plan.rank);
      expect(next_transfer(plan.receives, next_receive, peer) == from_peer, plan,
             "receives own_s n needed_r");
      expect(next_transfer(plan.sends, next_send, peer) == to_peer, plan, "sends own_r n needed_d");
    }
    expect(next_receive == plan.receives.size() && next_send == plan.sends.size(), plan,
           "no further transfer");
  }

  // The rows of the next transfer if it is of this peer.
  static Slots next_transfer(const std::vector<Transfer>& transfers, std::size_t& next, std::int64_t peer) {
    if (next == transfers.size() || transfers[next].peer != peer) return 0;
    const Transfer& transfer = transfers[next++];
    return range(transfer.global_begin, transfer.global_begin + transfer.rows);
  }

  void check_group() {
    std::vector<std::int64_t> sends(ranks_ * ranks_);
    std::vector<std::int64_t> receives(ranks_ * ranks_);
    std::int64_t moved = 0;
    std::int64_t lower_bound = 0;
    std::int64_t max_straddle = 0;
    for (const Plan& plan : plans_) {
      for (const Transfer& t : plan.sends) sends[plan.rank * ranks_ + t.peer] = t.rows;
      for (const Transfer& t : plan.receives) receives[plan.rank * ranks_ + t.peer] = t.rows;
      for (const Transfer& t : plan.receives) moved += t.rows;
      lower_bound += std::popcount(needed(plan.rank) & ~shard(plan.rank));
      max_straddle = std::max(max_straddle, plan.straddle);
    }
    const auto pairs = pairs_per_rank(pack_, ranks_);
    const auto b = straddles(pack_, ranks_);
    const auto n = real_rows(pack_, ranks_);
    std::int64_t real = 0;
    for (const Plan& plan : plans_) {
      expect(plan.max_straddle == max_straddle, plan, "the largest straddle");
      expect(plan.pack_hash == plans_[0].pack_hash, plan, "one hash");
      expect(pairs[plan.rank] == plan.pairs(), plan, "pairs_per_rank");
      expect(b[plan.rank] == plan.straddle && n[plan.rank] == plan.real_rows, plan, "straddles, real_rows");
      real += plan.real_rows;
    }
    std::int64_t triangles = 0;
    for (const Document& d : pack_.documents) triangles += d.length * (d.length + 1) / 2;
    const Plan& any = plans_[0];
    expect(!find_mismatch(sends, receives, ranks_), any, "the send matrix is the transposed receive matrix");
    expect(moved == lower_bound, any, "needed-only moves the lower bound");
    expect(moved_rows(ExchangeKind::a2a, pack_, ranks_) == lower_bound, any, "the lower bound is sum of b_r");
    expect(pairs_ == triangles, any, "pairs sum to sum n (n + 1) / 2");
    expect(real == pack_.real_tokens(), any, "n_r sum to the real tokens");
  }

  const Pack& pack_;
  std::int64_t ranks_;
  Labels labels_;
  std::vector<Slots> visible_;
  std::vector<Slots> needed_;  // [ranks]
  std::vector<Plan> plans_;
  std::int64_t pairs_ = 0;
  std::string failure_;
};

// All rank counts that divide the row; returns how many plans there were.
std::int64_t check_all_ranks(const Pack& pack) {
  std::int64_t plans = 0;
  for (std::int64_t ranks = 1; ranks <= pack.slots; ++ranks) {
    if (pack.slots % ranks != 0) continue;
    const std::string failure = Checker(pack, ranks).first_failure();
    if (!failure.empty()) {
      std::string documents;
      for (const Document& d : pack.documents) documents += fmt::format(" [{},{})", d.start, d.end());
      FAIL(fmt::format("documents{} in {} slots, {}", documents, pack.slots, failure));
    }
    plans += ranks;
  }
  return plans;
}

// Bit i of cuts: a document ends after token i + 1.
Pack composition(std::int64_t tokens, unsigned cuts, std::int64_t padding) {
  Pack pack{{}, tokens + padding};
  std::int64_t start = 0;
  for (std::int64_t end = 1; end <= tokens; ++end) {
    if (end != tokens && (cuts >> (end - 1) & 1) == 0) continue;
    pack.documents.push_back({start, end - start});
    start = end;
  }
  return pack;
}

TEST_CASE(
    "plans equal their definition for every pack of up to 12 tokens, every padding and every rank count") {
  std::int64_t packs = 0;
  std::int64_t plans = 0;
  for (std::int64_t tokens = 0; tokens <= 12; ++tokens) {
    const unsigned compositions = tokens == 0 ? 1 : 1u << (tokens - 1);
    for (unsigned cuts = 0; cuts < compositions; ++cuts) {
      for (std::int64_t padding = 0; padding <= 12; ++padding) {
        if (tokens + padding == 0) continue;
        plans += check_all_ranks(composition(tokens, cuts, padding));
        ++packs;
      }
    }
  }
  CHECK(packs == 4096 * 13 - 1);
  CHECK(plans > 1'000'000);
}

TEST_CASE("plans equal their definition for every gapped pack of up to 8 slots and every rank count") {
  std::int64_t gapped = 0;
  const std::function<void(Pack, std::int64_t)> grow = [&](const Pack& pack, std::int64_t slots) {
    if (pack.slots == slots) {
      check_all_ranks(pack);
      gapped += pack.gapped();
      return;
    }
    const std::int64_t slot = pack.slots;
    Pack padded{pack.documents, slot + 1};
    grow(padded, slots);
    padded.documents.push_back({slot, 1});
    grow(padded, slots);
    if (pack.documents.empty() || pack.documents.back().end() != slot) return;
    padded.documents.pop_back();
    ++padded.documents.back().length;
    grow(padded, slots);
  };
  for (std::int64_t slots = 1; slots <= 8; ++slots) grow(Pack{}, slots);
  CHECK(gapped > 1000);
}

}  // namespace
}  // namespace straddle::pack
