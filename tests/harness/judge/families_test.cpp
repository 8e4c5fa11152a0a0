// No false alarm on correct code: every bound and every invariant on inputs that are hard on rounding.
#include "families.hpp"

#include <doctest/doctest.h>

#include "blockwise.hpp"

namespace straddle::harness {
namespace {

using namespace test;

void check_families(DType dtype) {
  for (const Family& family : families()) {
    Case point = family.point;
    point.dtype = dtype;
    const TableInputs inputs(point, family.value);
    const auto oracle = oracle_of(point, inputs);
    const LayerResults results = blockwise(point, inputs.layer(0));
    Judgement judgement;
    compare_layer(point, 0, results, oracle[0], std::nullopt, judgement);
    check_invariants(point, 0, inputs.layer(0), results, judgement);
    CAPTURE(family.name);
    CHECK(judgement.worst_ratio() <= 1);
    CHECK(judgement.tensors.size() == 5 * point.pack.documents.size());
    CHECK(judgement.invariants.size() >= 5 * point.pack.documents.size());
    for (const InvariantVerdict& invariant : judgement.invariants) {
      CAPTURE(invariant.id);
      CHECK(invariant.used <= invariant.allowed);
      CHECK(std::isfinite(invariant.allowed));
    }
  }
}

TEST_CASE("hostile families pass in fp32") { check_families(DType::fp32); }
TEST_CASE("hostile families pass in bf16") { check_families(DType::bf16); }
TEST_CASE("hostile families pass in fp16") { check_families(DType::fp16); }

TEST_CASE("the families are hard: the exact products would fail a bound relative to the reference alone") {
  // Keys with a common part of 1000: dQ cancels, so its error is large beside its norm.
  for (const Family& family : families()) {
    if (family.name != "K common 1000") continue;
    const TableInputs inputs(family.point, family.value);
    const auto oracle = oracle_of(family.point, inputs);
    Judgement judgement;
    compare_layer(family.point, 0, blockwise(family.point, inputs.layer(0)), oracle[0], std::nullopt,
                  judgement);
    CHECK(verdict_of(judgement, "d_q", 0).relative_by_rank[0] > 1e-5);
    CHECK_FALSE(judgement.wrong());
    return;
  }
  FAIL("no such family");
}

}  // namespace
}  // namespace straddle::harness
