#include <doctest/doctest.h>

#include <atomic>

#include "families.hpp"
#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

// Counts the rows that are asked for: an oracle that is in the cache asks for none.
class CountingInputs : public Inputs {
 public:
  explicit CountingInputs(const Case& point) : inner_(point, normal_but({})) {}
  void fill(InputName input, std::int64_t layer, std::int64_t begin,
            const tensor::View& rows) const override {
    ++calls_;
    inner_.fill(input, layer, begin, rows);
  }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  TableInputs inner_;
  mutable std::atomic<int> calls_{0};
};

Case case_of(std::int64_t length) {
  return make_case({length}, 0, 2, DType::fp32,
                   {.heads = 2, .kv_heads = 1, .head_dim = 32, .v_head_dim = 32});
}

// Doubles of one layer: out 64, lse 2, d_q 64, d_k 32, d_v 32 and twice as many scales without lse, a row; A
// and five figures of the float reference.
std::size_t bytes_of(std::int64_t length) {
  return static_cast<std::size_t>(length * (2 + 3 * (64 + 64 + 32 + 32)) + 6) * 8;
}

TEST_CASE("OracleCache: cases that differ in ranks, exchange, kernel or padding share one oracle") {
  const auto control = comm::self_transport();
  OracleCache cache;
  Case point = case_of(20);
  const CountingInputs inputs(point);
  const auto first = cache.get(point, inputs, *control);
  const int calls = inputs.calls();
  point.ranks = 4;
  point.kernel = "dense";
  point.exchange = pack::ExchangeKind::allgather;
  point.pack.slots += 7;
  CHECK(cache.get(point, inputs, *control) == first);
  CHECK(inputs.calls() == calls);
  point.inputs.seed = 8;
  CHECK(cache.get(point, inputs, *control) != first);
}

TEST_CASE("OracleCache: the one not used for longest goes first, and one too large is not kept") {
  const auto control = comm::self_transport();
  const Case a = case_of(20), b = case_of(21), c = case_of(22), huge = case_of(60);
  const CountingInputs inputs_a(a), inputs_b(b), inputs_c(c), inputs_huge(huge);
  OracleCache cache(bytes_of(21) + bytes_of(22));
  const auto computed = [&](const Case& point, const CountingInputs& inputs) {
    const int before = inputs.calls();
    CHECK(cache.get(point, inputs, *control)->size() == 1);
    return inputs.calls() > before;
  };
  CHECK(computed(a, inputs_a));
  CHECK(computed(b, inputs_b));
  CHECK_FALSE(computed(a, inputs_a));
  CHECK(computed(c, inputs_c));  // drives b out, not a
  CHECK_FALSE(computed(a, inputs_a));
  CHECK_FALSE(computed(c, inputs_c));
  CHECK(computed(b, inputs_b));  // drives a out: b and c are exactly what fits
  CHECK_FALSE(computed(c, inputs_c));
  CHECK(computed(huge, inputs_huge));
  CHECK(computed(huge, inputs_huge));
  CHECK_FALSE(computed(b, inputs_b));
  CHECK_FALSE(computed(c, inputs_c));
}

TEST_CASE("OracleCache: all ranks agree whether an oracle is there, or they would wait for each other") {
  // Large enough to be shared out; a second case drives the first out.
  const Size size{.head_dim = 32, .v_head_dim = 32};
  const Case a = make_case({60, 40}, 0, 2, DType::fp32, size), b = make_case({100}, 0, 2, DType::fp32, size);
  const CountingInputs inputs_a(a), inputs_b(b);
  std::atomic<int> values{0};
  comm::run_threads(3, [&](comm::World& world) {
    OracleCache cache(std::size_t{1} << 20);
    for (int i = 0; i < 3; ++i) {
      for (const bool first : {true, true, false}) {
        const auto layers = cache.get(first ? a : b, first ? inputs_a : inputs_b, world.control());
        values += static_cast<int>(layers->size());
        world.control().barrier("between cases");
      }
    }
  });
  CHECK(values == 9);  // one layer each time, on rank 0 alone
}

}  // namespace
}  // namespace straddle::harness
