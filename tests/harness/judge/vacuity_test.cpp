#include "harness/judge/vacuity.hpp"

#include <doctest/doctest.h>

#include "pack/cost.hpp"
#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;
using Reasons = std::vector<std::string>;

CaseFacts facts_of(const Case& point) {
  CaseFacts facts;
  facts.rows_per_rank = point.rows_per_rank();
  facts.straddles = pack::straddles(point.padded(), point.ranks);
  facts.real_rows = pack::real_rows(point.padded(), point.ranks);
  facts.pairs = pack::pairs_per_rank(point.padded(), point.ranks);
  facts.path.asked = facts.path.taken = point.exchange;
  return facts;
}

Reasons reasons(const Case& point, const Expect& expect) {
  return vacuous_reasons(point, expect, facts_of(point), {});
}

template <class Member, class Value>
Expect expecting(Member member, Value value) {
  Expect expect;
  expect.*member = value;
  return expect;
}

// What holds, and the sentence where it does not.
void check_expectation(const Expect& expect, const Case& holds, const Case& fails, const std::string& text) {
  CHECK(reasons(holds, expect).empty());
  CHECK(reasons(fails, expect) == Reasons{text});
}

TEST_CASE("vacuous_reasons: each expectation of the geometry, both ways") {
  const Case straddle = make_case({5, 3}, 0, 2), cut = make_case({4, 4}, 0, 2);
  const Case padded = make_case({1, 7, 3}, 5, 4), one_real = make_case({3}, 9, 4);
  check_expectation(expecting(&Expect::straddles, true), straddle, cut, "expected a straddle, but b = 0 0");
  check_expectation(expecting(&Expect::straddles, false), cut, straddle, "expected no straddle, but b = 0 4");
  check_expectation(expecting(&Expect::padding_ranks, 1), padded, straddle,
                    "expected padding only on 1 rank or more, but the real rows are 4 4");
  check_expectation(expecting(&Expect::padding_ranks, 2), one_real, padded,
                    "expected padding only on 2 ranks or more, but the real rows are 4 4 3 0");
  check_expectation(expecting(&Expect::one_real_rank, true), one_real, padded,
                    "expected padding only on all ranks but one, but the real rows are 4 4 3 0");
  check_expectation(expecting(&Expect::document_ranks, 3), make_case({2, 11, 3}, 0, 4), straddle,
                    "expected a document on 3 ranks or more, but the widest lies on 2");
  check_expectation(expecting(&Expect::cuts_on_starts, true), cut, straddle,
                    "expected every cut on a document's first row or on padding, but row 4 is inside one");
  check_expectation(expecting(&Expect::cuts_on_starts, false), straddle, cut,
                    "expected a cut inside a document, but there is none");
  check_expectation(expecting(&Expect::one_token_at_cuts, true), make_case({3, 1, 4}, 0, 2),
                    make_case({1, 3, 4}, 0, 2),
                    "expected a 1-token document at every cut, but row 4 has none");
  check_expectation(expecting(&Expect::one_token_at_cuts, true), make_case({4, 1, 3}, 0, 2),
                    make_case({4, 4}, 0, 2), "expected a 1-token document at every cut, but row 4 has none");
  check_expectation(expecting(&Expect::slots_padded, true), make_case({4, 3}, 0, 2), cut,
                    "expected slots that the ranks don't divide, but there are 8 slots on 2 ranks");
  Case gapped = cut;
  gapped.pack.documents = {{0, 3}, {4, 4}};
  check_expectation(expecting(&Expect::gapped, true), gapped, cut,
                    "expected padding before or between documents, but there is none");
  check_expectation(expecting(&Expect::gapped, false), cut, gapped,
                    "expected padding at the end only, but it is elsewhere too");
  check_expectation(expecting(&Expect::one_row_shards, true), make_case({3, 1}, 0, 4), cut,
                    "expected one row a rank, but L = 4");
  check_expectation(expecting(&Expect::tile_rows, 4), make_case({9, 1}, 0, 2), cut,
                    "expected a segment of more than 4 rows, but the longest has 4");
}

TEST_CASE("vacuous_reasons: path and reason, with the detail") {
  const Case point = make_case({2, 11, 3}, 0, 4);
  CaseFacts facts = facts_of(point);
  facts.path = {pack::ExchangeKind::halo, pack::ExchangeKind::a2a, pack::PathReason::halo_short,
                "rank 2 needs 6 rows to its left, rank 1 owns 4"};
  Expect both = expecting(&Expect::path, "a2a");
  both.reason = "halo_short";
  CHECK(vacuous_reasons(point, both, facts, {}).empty());
  CHECK(vacuous_reasons(point, expecting(&Expect::path, "halo"), facts, {}) ==
        Reasons{
            "expected the path halo, but a2a was taken: halo_short (rank 2 needs 6 rows to its left, rank 1 "
            "owns 4)"});
  CHECK(vacuous_reasons(point, expecting(&Expect::reason, "spans_nodes"), facts, {}) ==
        Reasons{
            "expected the reason spans_nodes, but the path is a2a for the reason halo_short (rank 2 needs 6 "
            "rows to its left, rank 1 owns 4)"});
}

TEST_CASE(
    "vacuous_reasons: fewer ranks than min_ranks are the control arm, but zero references bind always") {
  const Case point = make_case({8}, 0, 1);
  CHECK(reasons(point, expecting(&Expect::straddles, true)).empty());
  Expect from_three = expecting(&Expect::straddles, true);
  from_three.min_ranks = 3;
  CHECK(reasons(make_case({4, 4}, 0, 2), from_three).empty());
  CHECK(reasons(make_case({3, 3, 3}, 0, 3), from_three).size() == 1);
  Judgement judgement;
  judgement.zero_references = {"d_q", "d_k"};
  CHECK(vacuous_reasons(point, expecting(&Expect::zero, Reasons{"d_q"}), facts_of(point), judgement) ==
        Reasons{"the exact d_k is 0 over the whole case"});
  CHECK(vacuous_reasons(point, expecting(&Expect::zero, Reasons{"d_q", "d_k", "d_v"}), facts_of(point),
                        judgement)
            .empty());
}

TEST_CASE("vacuous_reasons: every expectation that failed is told") {
  Expect expect = expecting(&Expect::straddles, true);
  expect.padding_ranks = 1;
  expect.one_row_shards = true;
  CHECK(reasons(make_case({4, 4}, 0, 2), expect).size() == 3);
}

TEST_CASE("wrong_facts: bytes, pairs and operations") {
  const Case point = make_case({2, 11, 3}, 0, 4);
  CaseFacts facts = facts_of(point);
  CHECK(facts.pairs == std::vector<std::int64_t>{6, 18, 34, 17});
  facts.forward_bytes = facts.forward_bytes_form = 18432;
  CHECK(wrong_facts(point, facts).empty());
  facts.forward_bytes = 6144;
  facts.backward_bytes = 4;
  facts.pairs[1] = 17;
  facts.same_operations = false;
  CHECK(wrong_facts(point, facts) ==
        Reasons{"K/V forward moved 6144 B, but the closed form is 18432 B",
                "dK/dV backward moved 4 B, but the closed form is 0 B",
                "the ranks' pairs 6 17 34 17 sum to 74, but sum n (n + 1) / 2 is 75",
                "the ranks did not call the same operations in the same order"});
}

}  // namespace
}  // namespace straddle::harness
