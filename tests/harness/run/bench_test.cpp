#include "harness/run/bench.hpp"

#include <doctest/doctest.h>

namespace straddle::harness {
namespace {

TEST_CASE("bench: packs fill their slots, useful work counts visible pairs, rates are positive") {
  for (const BenchPack& pack : bench_packs(256)) {
    CAPTURE(pack.title);
    CHECK(pack.pack.real_tokens() == 256);
    BenchSetting small;
    small.heads = 2;
    small.kv_heads = 1;
    small.head_dim = 16;
    small.rounds = 1;
    const BenchResult result = bench(pack, small);
    std::int64_t pairs = 0;
    for (const auto& document : pack.pack.documents) pairs += document.length * (document.length + 1) / 2;
    CHECK(result.pairs == pairs);
    CHECK(result.gflop == doctest::Approx(14e-9 * 2 * 16 * static_cast<double>(pairs)));
    CHECK(result.seconds > 0);
    CHECK(result.anchor_gflops > 0);
  }
  CHECK(bench_packs(8192)[0].title == "1 x 8192");
  CHECK(bench_packs(8192)[1].pack.documents.size() == 8);
  CHECK(bench_packs(8192)[2].pack.documents.size() > 8);
}

}  // namespace
}  // namespace straddle::harness
