#include <doctest/doctest.h>

#include "problem.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("LayerResults::by_name: the five names and no other") {
  LayerResults results;
  results.out = tensor::Tensor(tensor::DType::fp32, tensor::token_major(1, 1, 7));
  CHECK(results.by_name("out").shape().numel() == 7);
  CHECK(&results.by_name("lse") == &results.lse);
  CHECK(&results.by_name("d_q") == &results.d_q);
  CHECK(&results.by_name("d_k") == &results.d_k);
  CHECK(&results.by_name("d_v") == &results.d_v);
  CHECK_THROWS_WITH(static_cast<void>(results.by_name("dq")),
                    "no result is called dq; results are out, lse, d_q, d_k, d_v");
}

TEST_CASE("Judgement: each part alone makes it wrong") {
  Judgement fine;
  CHECK_FALSE(fine.wrong());
  CHECK(fine.worst() == nullptr);
  CHECK(fine.worst_ratio() == 0);
  fine.tensors.resize(3);
  fine.tensors[1].ratio = 1;
  fine.padding.resize(1);
  fine.invariants.resize(1);
  fine.bits.compared = true;
  CHECK_FALSE(fine.wrong());
  CHECK(fine.worst() == &fine.tensors[1]);
  CHECK(fine.worst_ratio() == 1);

  Judgement tensor = fine;
  tensor.tensors[2].ratio = 1.0001;
  CHECK(tensor.wrong());
  Judgement not_a_ratio = fine;
  not_a_ratio.tensors[2].ratio = std::numeric_limits<double>::quiet_NaN();
  CHECK(not_a_ratio.wrong());
  Judgement padding = fine;
  padding.padding[0].wrong_rows = 1;
  CHECK(padding.wrong());
  Judgement invariant = fine;
  invariant.invariants[0].used = std::numeric_limits<double>::quiet_NaN();
  CHECK(invariant.wrong());
  Judgement bits = fine;
  bits.bits.equal = false;
  CHECK(bits.wrong());
  bits.bits.compared = false;
  CHECK_FALSE(bits.wrong());
  Judgement share = fine;
  share.bits.changed_share_d_kv = 0.02;
  share.bits.allowed_share = 0.01;
  CHECK(share.wrong());
}

TEST_CASE("criteria have names") {
  CHECK(name(Criterion::element) == "element");
  CHECK(name(Criterion::row) == "row");
  CHECK(name(Criterion::document) == "document");
  CHECK(name(Criterion::exact_zero) == "exact zero");
  CHECK(name(Criterion::not_finite) == "not finite");
}

}  // namespace
}  // namespace straddle::harness
