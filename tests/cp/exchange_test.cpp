#include "cp/exchange.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <map>
#include <mutex>

#include "comm/recorder.hpp"
#include "comm/world.hpp"
#include "pack/cost.hpp"
#include "support/packs.hpp"
#include "support/values.hpp"
#include "tensor/tensor.hpp"

namespace straddle::cp {
namespace {

using pack::ExchangeKind;
using tensor::Tensor;
using tensor::token_major;
using namespace testing;

constexpr std::int64_t kKvHeads = 2, kHeadDim = 3, kVHeadDim = 2;
constexpr std::int64_t kElements = kKvHeads * (kHeadDim + kVHeadDim);  // of K and V of a token
constexpr ExchangeKind kKinds[] = {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a};

// What element (tensor, global row, head, dim) holds before any exchange: a number that says where it
// belongs.
double tag(int tensor, std::int64_t row, std::int64_t head, std::int64_t dim) {
  return static_cast<double>(((tensor * 1000 + row) * 10 + head) * 10 + dim);
}

Tensor tagged(int tensor, std::int64_t first_row, std::int64_t rows, std::int64_t dim) {
  std::vector<double> values;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    for (std::int64_t head = 0; head < kKvHeads; ++head) {
      for (std::int64_t d = 0; d < dim; ++d) values.push_back(tag(tensor, row, head, d));
    }
  }
  Tensor filled(tensor::DType::fp64, token_major(rows, kKvHeads, dim));
  assign(values, filled.view());
  return filled;
}

Tensor rows_of(std::int64_t rows, std::int64_t dim, tensor::DType dtype = tensor::DType::fp64) {
  return {dtype, token_major(rows, kKvHeads, dim)};
}

bool legal(ExchangeKind kind, const pack::Plan& plan) {
  return kind != ExchangeKind::halo || plan.max_straddle <= plan.rows_per_rank;
}

// Calls check(world, plan, kind, transport) on each rank, for every pack of up to 8 slots, every W that
// divides them and every exchange that is legal there. One world for all packs of a W, as in a long run.
template <class Check>
void for_every_small_case(const Check& check) {
  for (int ranks = 1; ranks <= 8; ++ranks) {
    CAPTURE(ranks);
    std::vector<pack::Pack> packs;
    for (std::int64_t slots = ranks; slots <= 8; slots += ranks) {
      for_every_pack(slots, [&](const pack::Pack& pack) { packs.push_back(pack); });
      if (slots <= 6) for_every_gapped_pack(slots, [&](const pack::Pack& pack) { packs.push_back(pack); });
    }
    comm::run_threads(ranks, [&](comm::World& world) {
      for (const pack::Pack& pack : packs) {
        const pack::Plan plan = pack::make_plan(pack, ranks, world.rank());
        for (const ExchangeKind kind : kKinds) {
          if (legal(kind, plan)) check(pack, plan, kind, *world.group(ranks));
        }
      }
    });
  }
}

TEST_CASE("every exchange brings each needed element to its place, in bytes of the closed form") {
  std::atomic<int> cases = 0, wrong_values = 0, wrong_bytes = 0, left_over = 0;
  std::map<std::pair<const pack::Pack*, ExchangeKind>, std::int64_t> rows_moved;  // summed over ranks
  std::mutex mutex;
  for_every_small_case([&](const pack::Pack& pack, const pack::Plan& plan, ExchangeKind kind,
                           comm::Transport& group) {
    comm::Recorder recorder;
    const auto transport = comm::record(group, recorder);
    const std::int64_t first = plan.global_row() - plan.straddle, rows = plan.straddle + plan.rows_per_rank;
    const Tensor k = tagged(1, plan.global_row(), plan.rows_per_rank, kHeadDim);
    const Tensor v = tagged(2, plan.global_row(), plan.rows_per_rank, kVHeadDim);
    Tensor needed_k = rows_of(rows, kHeadDim), needed_v = rows_of(rows, kVHeadDim);
    make_exchange(kind)->gather(plan, k.view(), v.view(), needed_k.view(), needed_v.view(), *transport);

    wrong_values += !same_bits(needed_k.view(), tagged(1, first, rows, kHeadDim).view());
    wrong_values += !same_bits(needed_v.view(), tagged(2, first, rows, kVHeadDim).view());
    const std::int64_t bytes_per_row = kElements * static_cast<std::int64_t>(sizeof(double));
    left_over += recorder.sent_bytes("K/V forward") % bytes_per_row != 0 || recorder.log().size() != 1;
    cases += plan.rank == 0;

    // The last rank to add its rows compares their sum.
    const std::lock_guard lock(mutex);
    auto& moved = rows_moved[{&pack, kind}];
    moved += recorder.sent_bytes("K/V forward") / bytes_per_row * 100 + 1;
    if (moved % 100 == plan.ranks) {
      wrong_bytes += moved / 100 != pack::moved_rows(kind, pack, plan.ranks);
      rows_moved.erase({&pack, kind});
    }
  });
  CHECK(cases > 5000);
  CHECK(wrong_values == 0);
  CHECK(wrong_bytes == 0);
  CHECK(left_over == 0);
}

// <gather x, y> = <x, scatter y> over all ranks. Small integers, so that sums are exact in any order.
TEST_CASE("every adjoint is the transpose of its exchange") {
  struct Pairing {
    ExchangeKind kind;
    Reduce reduce;
  };
  const Pairing pairings[] = {{ExchangeKind::allgather, Reduce::ordered},
                              {ExchangeKind::allgather, Reduce::library},
                              {ExchangeKind::halo, Reduce::ordered},
                              {ExchangeKind::a2a, Reduce::ordered}};
  const auto integers = [](const Tensor& like, std::int64_t seed) {
    std::vector<double> values(static_cast<std::size_t>(like.shape().numel()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = static_cast<double>((static_cast<std::int64_t>(i) * 7 + seed * 13) % 11 - 5);
    }
    Tensor filled(tensor::DType::fp64, like.shape());
    assign(values, filled.view());
    return filled;
  };
  const auto dot = [](const Tensor& a, const Tensor& b) {
    const auto x = values_of(a.view()), y = values_of(b.view());
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
  };
  std::atomic<int> cases = 0, wrong = 0;
  for_every_small_case(
      [&](const pack::Pack&, const pack::Plan& plan, ExchangeKind kind, comm::Transport& transport) {
        for (const Pairing& pairing : pairings) {
          if (pairing.kind != kind) continue;
          const std::int64_t rows = plan.straddle + plan.rows_per_rank;
          const Tensor k = integers(rows_of(plan.rows_per_rank, kHeadDim), plan.rank + 1);
          const Tensor v = integers(rows_of(plan.rows_per_rank, kVHeadDim), plan.rank + 20);
          Tensor needed_k = rows_of(rows, kHeadDim), needed_v = rows_of(rows, kVHeadDim);
          make_exchange(kind)->gather(plan, k.view(), v.view(), needed_k.view(), needed_v.view(), transport);
          const Tensor partial_k = integers(needed_k, plan.rank + 40),
                       partial_v = integers(needed_v, plan.rank + 60);
          Tensor d_k = rows_of(plan.rows_per_rank, kHeadDim), d_v = rows_of(plan.rows_per_rank, kVHeadDim);
          make_adjoint(kind, pairing.reduce)
              ->scatter(plan, partial_k.view(), partial_v.view(), d_k.view(), d_v.view(), transport);
          const double difference =
              dot(needed_k, partial_k) + dot(needed_v, partial_v) - dot(k, d_k) - dot(v, d_v);
          std::vector<double> all(static_cast<std::size_t>(plan.ranks));
          transport.all_gather("test", std::as_bytes(std::span(&difference, 1)),
                               std::as_writable_bytes(std::span(all)));
          double total = 0;
          for (const double part : all) total += part;
          wrong += total != 0;
          cases += plan.rank == 0;
        }
      });
  CHECK(cases > 7000);
  CHECK(wrong == 0);
}

TEST_CASE("backward moves as many rows as forward") {
  const auto pack = pack_of({2, 11, 3}, 0, 4);
  std::atomic<std::int64_t> sent[2] = {0, 0};  // allgather, a2a
  comm::run_threads(4, [&](comm::World& world) {
    const pack::Plan plan = pack::make_plan(pack, 4, world.rank());
    for (const int index : {0, 1}) {
      comm::Recorder recorder;
      const auto transport = comm::record(*world.group(4), recorder);
      const ExchangeKind kind = index == 0 ? ExchangeKind::allgather : ExchangeKind::a2a;
      Tensor partial_k = tagged(1, 0, plan.straddle + 4, kHeadDim),
             partial_v = tagged(2, 0, plan.straddle + 4, 2);
      Tensor d_k = rows_of(4, kHeadDim), d_v = rows_of(4, kVHeadDim);
      make_adjoint(kind, Reduce::ordered)
          ->scatter(plan, partial_k.view(), partial_v.view(), d_k.view(), d_v.view(), *transport);
      sent[index] += recorder.sent_bytes("dK/dV backward");
    }
  });
  CHECK(sent[0] == (4 - 1) * 16 * kElements * 8);      // (W - 1) S rows
  CHECK(sent[1] == (0 + 2 + 6 + 10) * kElements * 8);  // sum of b_r
}

// One document over all ranks: rank 0 gets a partial from each. 1e8 + 1 - 1e8 shows the order in fp32.
TEST_CASE("ordered partials are added in source-rank order from +0") {
  const float by_source[4] = {1.0f, 1e8f, -1e8f, 3.0f};
  float expected = 0;
  for (const float term : by_source) expected += term;
  REQUIRE(expected != ((by_source[3] + by_source[2]) + by_source[1]) + by_source[0]);
  const auto pack = pack_of({16}, 0, 4);
  for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::a2a}) {
    std::vector<float> got;
    comm::run_threads(4, [&](comm::World& world) {
      const pack::Plan plan = pack::make_plan(pack, 4, world.rank());
      const std::int64_t rows = plan.straddle + 4;
      Tensor partial_k = rows_of(rows, kHeadDim, tensor::DType::fp32);
      Tensor partial_v = rows_of(rows, kVHeadDim, tensor::DType::fp32);
      Tensor d_k = rows_of(4, kHeadDim, tensor::DType::fp32),
             d_v = rows_of(4, kVHeadDim, tensor::DType::fp32);
      for (const tensor::View& view : {partial_k.view(), partial_v.view()}) {
        for (float& value : view.span<float>()) value = by_source[world.rank()];
      }
      make_adjoint(kind, Reduce::ordered)
          ->scatter(plan, partial_k.view(), partial_v.view(), d_k.view(), d_v.view(), *world.group(4));
      if (world.rank() != 0) return;
      for (const tensor::View& view : {d_k.view(), d_v.view()}) {
        for (const float value : view.span<float>()) got.push_back(value);
      }
    });
    CHECK(got == std::vector<float>(4 * kElements, expected));
  }
}

TEST_CASE("a lone -0 becomes +0 for every W and exchange") {
  for (const int ranks : {1, 2, 4}) {
    for (const Reduce reduce : {Reduce::ordered, Reduce::library}) {
      for (const ExchangeKind kind : kKinds) {
        if (reduce == Reduce::library && kind != ExchangeKind::allgather) continue;
        std::atomic<int> negative = 0, zeros = 0;
        const auto pack = pack_of({4, 4}, 0, ranks);
        comm::run_threads(ranks, [&](comm::World& world) {
          const pack::Plan plan = pack::make_plan(pack, ranks, world.rank());
          Tensor partial_k = rows_of(plan.straddle + plan.rows_per_rank, kHeadDim);
          Tensor partial_v = rows_of(plan.straddle + plan.rows_per_rank, kVHeadDim);
          for (double& value : partial_k.view().span<double>()) value = -0.0;
          for (double& value : partial_v.view().span<double>()) value = -0.0;
          Tensor d_k = rows_of(plan.rows_per_rank, kHeadDim), d_v = rows_of(plan.rows_per_rank, kVHeadDim);
          make_adjoint(kind, reduce)
              ->scatter(plan, partial_k.view(), partial_v.view(), d_k.view(), d_v.view(),
                        *world.group(ranks));
          for (const double value : values_of(d_k.view())) {
            negative += std::signbit(value);
            zeros += value == 0;
          }
        });
        CHECK(negative == 0);
        CHECK(zeros == 8 * kKvHeads * kHeadDim);
      }
    }
  }
}

TEST_CASE("reduce has names, and library goes with allgather only") {
  CHECK(parse_reduce("ordered") == Reduce::ordered);
  CHECK(parse_reduce("library") == Reduce::library);
  CHECK(name(Reduce::library) == "library");
  CHECK_THROWS_WITH_AS((void)parse_reduce("sum"), "unknown reduce \"sum\": one of ordered, library",
                       std::invalid_argument);
  CHECK_THROWS_AS((void)make_adjoint(ExchangeKind::halo, Reduce::library), std::invalid_argument);
  CHECK_THROWS_AS((void)make_adjoint(ExchangeKind::a2a, Reduce::library), std::invalid_argument);
}

}  // namespace
}  // namespace straddle::cp
