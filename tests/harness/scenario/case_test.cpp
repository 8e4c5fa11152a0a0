#include "harness/scenario/case.hpp"

#include <doctest/doctest.h>

#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using Names = std::vector<std::string>;
using Lengths = std::vector<std::int64_t>;

TEST_CASE("a case's row is padded to a multiple of its ranks") {
  Case point;
  point.pack = pack::from_lengths(Lengths{4, 3});
  for (const auto& [ranks, rows] : std::vector<std::pair<int, int>>{{1, 7}, {2, 4}, {3, 3}, {7, 1}, {8, 1}}) {
    point.ranks = ranks;
    CHECK(point.rows_per_rank() == rows);
    CHECK(point.padded().slots == ranks * rows);
    CHECK(point.padded().documents == point.pack.documents);
  }
}

TEST_CASE("the softmax scale is head_dim^-1/2 unless it is given") {
  Case point;
  CHECK(point.scale() == 0.125);
  point.softmax_scale = 0.3;
  CHECK(point.scale() == 0.3);
}

TEST_CASE("oracle_key ignores exactly what the oracle can't see") {
  const Case point = parse_case("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  for (const auto* same :
       {"W1/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7", "W4/2,11,3+5/H4:2/D64/fp32/a2a/cpu/s7",
        "W4/2,11,3+0/H4:2/D64/fp32/halo/cpu/s7", "W4/2,11,3+0/H4:2/D64/fp32/allgather/dense/s7",
        "W4/2,11,3+0/H4:2/D64/fp32/allgather/cpu/s7/reduce:library",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/apart", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/recompute",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/scale:0.125", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/nanpad",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/probe:token"}) {
    CAPTURE(same);
    CHECK(oracle_key(parse_case(same)) == oracle_key(point));
  }
  for (const auto* other :
       {"W4/2,11,4+0/H4:2/D64/fp32/a2a/cpu/s7", "W4/g0:2,3:11,14:3+0/H4:2/D64/fp32/a2a/cpu/s7",
        "W4/2,11,3+0/H4:4/D64/fp32/a2a/cpu/s7", "W4/2,11,3+0/H4:2/D32/fp32/a2a/cpu/s7",
        "W4/2,11,3+0/H4:2/D64:32/fp32/a2a/cpu/s7", "W4/2,11,3+0/H4:2/D64/bf16/a2a/cpu/s7",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s8", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/layers:2",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/scale:0.5", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:k0",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/amp:2", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/dlse"}) {
    CAPTURE(other);
    CHECK(oracle_key(parse_case(other)) != oracle_key(point));
  }
}

TEST_CASE("control_key keeps the kernel, the slots and the padding rows") {
  const Case point = parse_case("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  for (const auto* same :
       {"W1/2,11,3+0/H4:2/D64/fp32/halo/cpu/s7", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/apart/recompute",
        "W8/2,11,3+0/H4:2/D64/fp32/allgather/cpu/s7/reduce:library/probe:nan"}) {
    CHECK(control_key(parse_case(same)) == control_key(point));
  }
  for (const auto* other :
       {"W4/2,11,3+0/H4:2/D64/fp32/allgather/dense/s7", "W4/2,11,3+5/H4:2/D64/fp32/a2a/cpu/s7",
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/nanpad", "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s8"}) {
    CHECK(control_key(parse_case(other)) != control_key(point));
  }
  CHECK(control_point(point).ranks == 1);
  CHECK(print(control_point(point)) == control_key(point));
  CHECK(print(oracle_point(point)) == oracle_key(point));
}

TEST_CASE("case_id is a hash of the text") {
  const Case point = parse_case("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  const Case other = parse_case("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s8");
  CHECK(case_id(point) == case_id(parse_case(print(point))));
  CHECK(case_id(point) != case_id(other));
}

// Which gradients vanish follows from dS_ij = P_ij (<dO_i, v_j> - Delta_i + dLSE_i).
TEST_CASE("exact_zeros names the results that are 0 in exact arithmetic") {
  const auto zeros = [](const char* text) { return exact_zeros(parse_case(text)); };
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7").empty());
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:ramp").empty());
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:k0") == Names{"d_q"});
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:k0/dlse") == Names{"d_q"});
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:v1") == Names{"d_q", "d_k"});
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:v1/dlse").empty());
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:same") == Names{"d_q"});
  CHECK(zeros("W1/5,3+0/H4:2/D64/fp32/a2a/cpu/s7/in:same/dlse").empty());
  CHECK(zeros("W1/1x8+0/H4:2/D64/fp32/a2a/cpu/s7") == Names{"d_q", "d_k"});
  CHECK(zeros("W1/1x8+0/H4:2/D64/fp32/a2a/cpu/s7/dlse").empty());
  CHECK(zeros("W1/1x8+0/H4:2/D64/fp32/a2a/cpu/s7/in:k0") == Names{"lse", "d_q", "d_k"});
  CHECK(zeros("W1/0+8/H4:2/D64/fp32/a2a/cpu/s7") == Names{"out", "lse", "d_q", "d_k", "d_v"});
}

}  // namespace
}  // namespace straddle::harness
