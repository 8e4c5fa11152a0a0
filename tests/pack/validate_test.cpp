#include "pack/validate.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "pack/describe.hpp"

namespace straddle::pack {
namespace {

using Entries = std::vector<std::int64_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// Rank 2 of documents 2, 11, 3, 4 in 20 + 0 slots over five ranks: it receives, sends and has one segment.
Plan middle() { return make_plan(from_lengths(Entries{2, 11, 3, 4}), 5, 2); }
// Rank 3: receives, has two segments, the first asymmetric.
Plan last_of_straddle() { return make_plan(from_lengths(Entries{2, 11, 3, 4}), 5, 3); }
// Rank 1 of a gapped pack: runs at rows 0 and 3 of 6, padding between and after them.
Plan gapped() { return make_plan(from_starts(Entries{1, 9}, Entries{7, 2}, 12), 2, 1); }
// A rank of padding alone.
Plan padding() { return make_plan(from_lengths(Entries{5}, 16), 4, 3); }

struct Mutation {
  std::string rule;
  std::string entry;
  Plan (*plan)();
  std::function<void(Plan&)> mutate;
};

void check(const std::vector<Mutation>& mutations) {
  for (const Mutation& mutation : mutations) {
    Plan plan = mutation.plan();
    REQUIRE_FALSE(find_violation(plan));
    mutation.mutate(plan);
    const auto violation = find_violation(plan);
    CAPTURE(mutation.entry);
    CAPTURE(mutation.rule);
    REQUIRE(violation);
    CHECK(violation->rule == mutation.rule);
    CHECK(violation->entry == mutation.entry);
  }
}

TEST_CASE("a plan whose group or ranges break a rule is refused") {
  check({
      {"the group has ranks", "ranks", middle, [](Plan& p) { p.ranks = 0; }},
      {"the rank is one of the group", "rank", middle, [](Plan& p) { p.rank = 5; }},
      {"the rank is one of the group", "rank", middle, [](Plan& p) { p.rank = -1; }},
      {"L rows a rank, S = W L in 64 bits", "rows_per_rank", middle, [](Plan& p) { p.rows_per_rank = 0; }},
      {"L rows a rank, S = W L in 64 bits", "rows_per_rank", middle,
       [](Plan& p) { p.rows_per_rank = kMax / 4; }},
      {"0 <= n_r <= L", "real_rows", middle, [](Plan& p) { p.real_rows = -1; }},
      {"0 <= n_r <= L", "real_rows", middle, [](Plan& p) { p.real_rows = 5; }},
      {"0 <= key_begin <= S", "key_begin", middle, [](Plan& p) { p.key_begin = -1; }},
      {"0 <= key_begin <= S", "key_begin", middle, [](Plan& p) { p.key_begin = 21; }},
      {"key_begin <= key_end <= S", "key_end", middle, [](Plan& p) { p.key_end = 1; }},
      {"key_begin <= key_end <= S", "key_end", middle, [](Plan& p) { p.key_end = 21; }},
      {"0 <= b_r <= rL", "straddle", middle, [](Plan& p) { p.straddle = -1; }},
      {"0 <= b_r <= rL", "straddle", middle, [](Plan& p) { p.straddle = 9; }},
      {"key_begin = rL - b_r", "key_begin", middle, [](Plan& p) { p.key_begin = 3; }},
      {"key_begin = rL - b_r", "key_begin", middle, [](Plan& p) { p.straddle = 5; }},
      {"key_end lies n_r rows or more into the shard", "key_end", middle, [](Plan& p) { p.key_end = 11; }},
      {"key_end lies n_r rows or more into the shard", "key_end", middle, [](Plan& p) { p.key_end = 13; }},
      {"b_r <= largest b < S", "max_straddle", middle, [](Plan& p) { p.max_straddle = 5; }},
      {"b_r <= largest b < S", "max_straddle", middle, [](Plan& p) { p.max_straddle = 20; }},
      {"key_end is the end of the last run", "key_end", gapped, [](Plan& p) { p.key_end = 12; }},
      {"key_end is the end of the last run", "key_end", padding, [](Plan& p) { p.key_end = 13; }},
  });
}

TEST_CASE("a plan whose prefix sums break a rule is refused") {
  check({
      {"cu_seqlens_q starts at 0", "cu_seqlens_q[0]", middle,
       [](Plan& p) {
         p.cu_seqlens_q = {4, 12};
       }},  // R10
      {"cu_seqlens_q starts at 0", "cu_seqlens_q[0]", middle,
       [](Plan& p) {
         p.cu_seqlens_q = {-1, 4};
       }},
      {"cu_seqlens_q starts at 0", "cu_seqlens_q[0]", middle, [](Plan& p) { p.cu_seqlens_q.clear(); }},
      {"cu_seqlens_k starts at 0", "cu_seqlens_k[0]", middle, [](Plan& p) { p.cu_seqlens_k[0] = 1; }},
      {"cu_seqlens_k starts at 0", "cu_seqlens_k[0]", middle, [](Plan& p) { p.cu_seqlens_k.clear(); }},
      {"cu_seqlens_q and cu_seqlens_k have equally many entries", "cu_seqlens_k", middle,
       [](Plan& p) {
         p.cu_seqlens_k = {0, 4, 10};
       }},
      {"cu_seqlens_q is strictly increasing", "cu_seqlens_q[1]", last_of_straddle,
       [](Plan& p) { p.cu_seqlens_q[1] = 0; }},
      {"cu_seqlens_q is strictly increasing", "cu_seqlens_q[2]", last_of_straddle,
       [](Plan& p) { p.cu_seqlens_q[1] = 4; }},
      {"cu_seqlens_k is strictly increasing", "cu_seqlens_k[2]", last_of_straddle,
       [](Plan& p) { p.cu_seqlens_k[1] = 15; }},
      {"cu_seqlens_q ends at n_r", "cu_seqlens_q[1]", middle, [](Plan& p) { p.cu_seqlens_q[1] = 3; }},
      {"cu_seqlens_q ends at n_r", "cu_seqlens_q[1]", middle, [](Plan& p) { p.real_rows = 3; }},
      {"cu_seqlens_k ends at b_r + n_r", "cu_seqlens_k[1]", middle, [](Plan& p) { p.cu_seqlens_k[1] = 4; }},
      {"cu_seqlens_k ends at b_r + n_r", "cu_seqlens_k[0]", padding,
       [](Plan& p) {  // a rank without rows has no straddle
         p.straddle = 1;
         p.max_straddle = 1;
         p.key_begin = 11;
       }},
  });
}

TEST_CASE("a plan whose segment lengths or maxima break a rule is refused") {
  check({
      {"k_0 = q_0 + b_r, at least q_0", "k of segment 0", last_of_straddle,
       [](Plan& p) { p.cu_seqlens_k[1] = 10; }},
      {"k_0 = q_0 + b_r, at least q_0", "k of segment 0", gapped, [](Plan& p) { p.cu_seqlens_k[1] = 1; }},
      {"k_t = q_t after the first segment", "k of segment 1",
       [] {
         return make_plan(from_lengths(Entries{2, 3, 3}), 1, 0);
       },
       [](Plan& p) { p.cu_seqlens_k[2] = 6; }},
      {"max_seqlen_q is the longest q", "max_seqlen_q", last_of_straddle,
       [](Plan& p) { p.max_seqlen_q = 2; }},  // R08
      {"max_seqlen_q is the longest q", "max_seqlen_q", last_of_straddle,
       [](Plan& p) { p.max_seqlen_q = 4; }},
      {"max_seqlen_k is the longest k", "max_seqlen_k", last_of_straddle,
       [](Plan& p) { p.max_seqlen_k = 10; }},
      {"max_seqlen_k is the longest k", "max_seqlen_k", padding, [](Plan& p) { p.max_seqlen_k = 1; }},
  });
}

TEST_CASE("a plan whose segments disagree with its prefix sums is refused") {
  check({
      {"one segment for each entry of cu_seqlens_q after the 0", "segments", middle,
       [](Plan& p) { p.segments.clear(); }},
      {"one segment for each entry of cu_seqlens_q after the 0", "segments", middle,
       [](Plan& p) { p.segments.push_back(p.segments[0]); }},
      {"each run is of a later document", "segments[0].document", middle,
       [](Plan& p) { p.segments[0].document = -1; }},
      {"each run is of a later document", "segments[1].document", last_of_straddle,
       [](Plan& p) { p.segments[1].document = 1; }},
      {"segments agree with cu_seqlens_q", "segments[1].queries", last_of_straddle,
       [](Plan& p) { p.segments[1].queries = 2; }},
      {"segments agree with cu_seqlens_k", "segments[0].keys", last_of_straddle,
       [](Plan& p) { p.segments[0].keys = 1; }},
      {"a straddling run starts at the cut", "segments[0].local_row", gapped,
       [](Plan& p) { p.segments[0].local_row = 1; }},
      {"runs lie in the shard, one after the other", "segments[1].local_row", gapped,
       [](Plan& p) { p.segments[1].local_row = 1; }},
      {"runs lie in the shard, one after the other", "segments[1].local_row", gapped,
       [](Plan& p) { p.segments[1].local_row = 5; }},
  });
}

TEST_CASE("a plan whose transfers leave their ranges or don't add up is refused") {
  const std::string received = "received rows lie in the needed range and in the peer's shard";
  const std::string sent = "sent rows lie in this rank's shard";
  check({
      {"receives come from earlier ranks, ascending", "receives[1].peer", middle,
       [](Plan& p) { p.receives[1].peer = 2; }},
      {"receives come from earlier ranks, ascending", "receives[0].peer", middle,
       [](Plan& p) { p.receives[0].peer = -1; }},
      {"receives come from earlier ranks, ascending", "receives[1].peer", middle,
       [](Plan& p) { p.receives[1].peer = 0; }},
      {received, "receives[0].global_begin", middle, [](Plan& p) { p.receives[0].global_begin = 1; }},
      {received, "receives[0].global_begin", middle, [](Plan& p) { p.receives[0].global_begin = 4; }},
      {received, "receives[1].global_begin", middle, [](Plan& p) { p.receives[1].global_begin = 3; }},
      {received, "receives[0].rows", middle, [](Plan& p) { p.receives[0].rows = 3; }},
      {received, "receives[0].rows", middle, [](Plan& p) { p.receives[0].rows = 0; }},
      {"received rows sum to b_r", "receives", middle, [](Plan& p) { p.receives[0].rows = 1; }},
      {"received rows sum to b_r", "receives", middle, [](Plan& p) { p.receives.pop_back(); }},
      {"received rows sum to b_r", "receives", middle, [](Plan& p) { p.receives.clear(); }},
      {"sends go to later ranks, ascending", "sends[0].peer", middle, [](Plan& p) { p.sends[0].peer = 2; }},
      {"sends go to later ranks, ascending", "sends[0].peer", middle, [](Plan& p) { p.sends[0].peer = 5; }},
      {"sends go to later ranks, ascending", "sends[1].peer", middle,
       [](Plan& p) { p.sends.push_back(p.sends[0]); }},
      {sent, "sends[0].global_begin", middle, [](Plan& p) { p.sends[0].global_begin = 7; }},
      {sent, "sends[0].rows", middle, [](Plan& p) { p.sends[0].rows = 5; }},
      {sent, "sends[0].rows", middle, [](Plan& p) { p.sends[0].rows = 0; }},
  });
}

// Every integer of a plan, by reference. What another value of it breaks is up to find_violation.
std::vector<std::int64_t*> integers(Plan& plan) {
  std::vector<std::int64_t*> all{
      &plan.rank,      &plan.ranks,   &plan.rows_per_rank, &plan.straddle,     &plan.real_rows,
      &plan.key_begin, &plan.key_end, &plan.max_straddle,  &plan.max_seqlen_q, &plan.max_seqlen_k};
  for (Segment& s : plan.segments) all.insert(all.end(), {&s.document, &s.local_row, &s.queries, &s.keys});
  for (Transfer& t : plan.receives) all.insert(all.end(), {&t.peer, &t.global_begin, &t.rows});
  for (Transfer& t : plan.sends) all.insert(all.end(), {&t.peer, &t.global_begin, &t.rows});
  return all;
}

// What another value of can't be seen by the rank alone: how many ranks there are, the largest straddle,
// which document a run belongs to, and (on rank 0, whose shard starts at 0 whatever L is) rows per rank.
bool known_to_others_alone(const Plan& plan, const std::int64_t* value) {
  const bool is_document = std::any_of(plan.segments.begin(), plan.segments.end(),
                                       [&](const Segment& segment) { return value == &segment.document; });
  return is_document || value == &plan.ranks || value == &plan.max_straddle ||
         (plan.rank == 0 && value == &plan.rows_per_rank);
}

TEST_CASE("absurd numbers anywhere in a plan are refused without overflow") {
  for (const auto& make : {middle, last_of_straddle, gapped, padding}) {
    Plan whole = make();
    const std::size_t count = integers(whole).size();
    for (std::size_t i = 0; i < count; ++i) {
      for (const std::int64_t absurd : {kMin, kMin + 1, -kMax / 2, kMax / 2, kMax - 1, kMax}) {
        Plan plan = make();
        std::int64_t* value = integers(plan)[i];
        *value = absurd;
        CAPTURE(i);
        CAPTURE(absurd);
        if (!known_to_others_alone(plan, value)) CHECK(find_violation(plan));
      }
    }
    for (std::size_t i = 0; i < whole.cu_seqlens_q.size(); ++i) {
      for (const std::int32_t absurd :
           {std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
        Plan plan = make();
        plan.cu_seqlens_q[i] = absurd;
        CHECK(find_violation(plan));
        plan = make();
        plan.cu_seqlens_k[i] = absurd;
        CHECK(find_violation(plan));
      }
    }
  }
}

TEST_CASE("one more or one less anywhere in a plan, sends aside, is refused, save what one rank can't know") {
  for (const Entries& lengths :
       {Entries{2, 11, 3, 4}, Entries{20}, Entries{5, 5, 5, 5}, Entries{1, 7, 3, 9}}) {
    for (std::int64_t rank = 0; rank < 5; ++rank) {
      Plan whole = make_plan(from_lengths(lengths), 5, rank);
      const std::size_t count = integers(whole).size() - 3 * whole.sends.size();
      for (std::size_t i = 0; i < count; ++i) {
        for (const std::int64_t step : {-1, 1}) {
          Plan plan = whole;
          std::int64_t* value = integers(plan)[i];
          if (known_to_others_alone(plan, value)) continue;
          *value += step;
          CAPTURE(text(plan));
          CHECK(find_violation(plan));
        }
      }
    }
  }
}

TEST_CASE("a violation reads as rule, entry, seen, expected") {
  Plan plan = make_plan(from_lengths(Entries{8}), 2, 1);
  plan.cu_seqlens_q = {4, 12};
  CHECK(find_violation(plan)->text() == "cu_seqlens_q starts at 0: cu_seqlens_q[0] is 4, expected 0");
}

TEST_CASE("counts that disagree between two ranks are found, with the pair and both counts (R46)") {
  // W2 [5,3]: rank 0 sends 4 rows, rank 1 expects 4.
  const Entries receives{0, 0, 4, 0};
  CHECK_FALSE(find_mismatch(Entries{0, 4, 0, 0}, receives, 2));
  const auto mismatch = find_mismatch(Entries{0, 3, 0, 0}, receives, 2);
  REQUIRE(mismatch);
  CHECK(mismatch->text() ==
        "what a rank sends is what its peer expects: rows from rank 0 to rank 1 is 3 sent, expected 4 by "
        "rank 1");
  CHECK(find_mismatch(Entries{0, 4, 0, 0}, Entries{0, 4, 0, 0}, 2));  // not transposed
  CHECK(find_mismatch(Entries{0, 4, 0}, receives, 2)->rule == "one count for each pair of ranks");
  CHECK(find_mismatch(Entries{0, 4, 0, 0}, Entries{}, 2)->rule == "one count for each pair of ranks");
  CHECK(find_mismatch(receives, receives, -2)->rule == "one count for each pair of ranks");
}

}  // namespace
}  // namespace straddle::pack
