#include "harness/scenario/matrix.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("lists multiply in the order of the keys, packs first, and W = 1 stands once") {
  CHECK(
      texts(cases_of("[[pack]]\ndocuments = [5, 3]\n[[pack]]\ndocuments = [1, 6, 3]\npadding = 2\nranks = 2\n"
                     "[inputs]\nseed = [7, 8]\n"
                     "[matrix]\nranks = [1, 2]\nexchange = [\"allgather\", \"halo\"]\n")) ==
      Lines{"W1/5,3+0/H4:2/D64/fp32/halo/cpu/s7", "W2/5,3+0/H4:2/D64/fp32/allgather/cpu/s7",
            "W2/5,3+0/H4:2/D64/fp32/halo/cpu/s7", "W1/5,3+0/H4:2/D64/fp32/halo/cpu/s8",
            "W2/5,3+0/H4:2/D64/fp32/allgather/cpu/s8", "W2/5,3+0/H4:2/D64/fp32/halo/cpu/s8",
            "W2/1,6,3+2/H4:2/D64/fp32/allgather/cpu/s7", "W2/1,6,3+2/H4:2/D64/fp32/halo/cpu/s7",
            "W2/1,6,3+2/H4:2/D64/fp32/allgather/cpu/s8", "W2/1,6,3+2/H4:2/D64/fp32/halo/cpu/s8"});
}

TEST_CASE("the number of cases is the product of the lists where W > 1") {
  const auto cases = cases_of(
      "[[pack]]\ndocuments = [5, 3]\n[attention]\nheads = [\"4:2\", \"4:1\"]\nhead_dim = [8, 16, 32]\n"
      "softmax_scale = [0.5, 1]\nlayers = [1, 2]\nrecompute = [true, false]\n"
      "first_segment_apart = [true, false]\n[inputs]\nkind = [\"normal\", \"k_zero\"]\namplitude = [1, 2]\n"
      "seed = [1, 2]\nd_lse = [true, false]\npadding_rows = [\"random\", \"nan\"]\n"
      "probe = [\"none\", \"change_token\"]\n[matrix]\nranks = [2, 3]\nkernel = [\"cpu\"]\n"
      "exchange = [\"allgather\", \"a2a\"]\ndtype = [\"fp32\"]\nreduce = [\"ordered\"]\n");
  CHECK(cases.size() == 2 * 3 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2 * 2);
  Lines all = texts(cases);
  std::sort(all.begin(), all.end());
  CHECK(std::adjacent_find(all.begin(), all.end()) == all.end());
}

TEST_CASE("combinations that make no sense are counted apart, with the reason") {
  const auto cases = cases_of(
      "[[pack]]\ndocuments = [8]\n[inputs]\nprobe = [\"none\", \"nan_document\"]\n"
      "[matrix]\nranks = [1, 2]\nkernel = [\"cpu\", \"dense\"]\nreduce = [\"ordered\", \"library\"]\n");
  std::int64_t dense = 0, library = 0, probe = 0, applicable = 0;
  for (const CaseEntry& entry : cases) {
    const Case& point = entry.point;
    const bool needed_only = point.exchange != pack::ExchangeKind::allgather;
    const bool sensible =
        !(needed_only && (point.kernel == "dense" || point.reduce == cp::Reduce::library)) &&
        point.probe == Probe::none;
    CHECK(sensible == !entry.not_applicable.has_value());
    applicable += sensible;
    if (!entry.not_applicable) continue;
    dense += entry.not_applicable->find("dense") != std::string::npos;
    library += entry.not_applicable->find("reduce-scatter") != std::string::npos;
    probe += entry.not_applicable->find("nan_document") != std::string::npos;
  }
  // W = 2: cpu with 3 exchanges ordered and allgather library, dense with allgather twice; W = 1: one a
  // kernel.
  CHECK(applicable == 4 + 2 + 2);
  CHECK(dense > 0);
  CHECK(library > 0);
  CHECK(probe > 0);
}

TEST_CASE("at W = 1 a kernel keeps the last exchange that it can go with") {
  const auto cases =
      cases_of("[[pack]]\ndocuments = [8]\n[matrix]\nranks = 1\nkernel = [\"cpu\", \"dense\"]\n");
  CHECK(texts(cases) == Lines{"W1/8+0/H4:2/D64/fp32/allgather/dense/s7", "W1/8+0/H4:2/D64/fp32/a2a/cpu/s7"});
  CHECK_FALSE(cases[0].not_applicable.has_value());
}

}  // namespace
}  // namespace straddle::harness
