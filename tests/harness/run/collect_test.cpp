#include "harness/run/collect.hpp"

#include <doctest/doctest.h>

#include "comm/world.hpp"
#include "doubles.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("gather_layers puts each rank's rows at their global place, also with ranks outside the group") {
  Case point = parse_case("W3/5,4+0/H4:2/D8/fp32/a2a/cpu/s7");
  point.layers = 2;
  comm::run_threads(5, [&](comm::World& world) {
    ShardRun shard;
    for (std::int64_t layer = 0; layer < 2; ++layer) {
      ShardLayer buffers;
      for (std::size_t result = 0; result < buffers.size(); ++result) {
        buffers[result] = Guarded(result_dtype(point, result), result_shape(point, result, 3));
        float value = 1000.0F * static_cast<float>(layer) + 100.0F * static_cast<float>(result);
        for (std::int64_t row = 0; row < 3; ++row) {
          const auto rows = buffers[result].rows().slice(tensor::Axis::token, row, 1).span<float>();
          for (float& x : rows) x = value + static_cast<float>(world.rank() * 3 + row);
        }
      }
      shard.layers.push_back(std::move(buffers));
    }
    const bool inside = world.rank() < 3;
    const auto layers = gather_layers(point, inside ? &shard : nullptr, world.control());
    if (world.rank() != 0) {
      CHECK(layers.empty());
      return;
    }
    REQUIRE(layers.size() == 2);
    for (std::size_t layer = 0; layer < 2; ++layer) {
      for (std::size_t result = 0; result < kResultNames.size(); ++result) {
        const auto& tensor = layers[layer].by_name(kResultNames[result]);
        for (std::int64_t token = 0; token < 9; ++token) {
          const auto row = tensor.view().slice(tensor::Axis::token, token, 1).span<float>();
          const float value = 1000.0F * static_cast<float>(layer) + 100.0F * static_cast<float>(result);
          for (const float x : row) REQUIRE(x == value + static_cast<float>(token));
        }
      }
    }
  });
}

TEST_CASE("gather_status brings every rank's words to all, long ones cut and not lost") {
  comm::run_threads(3, [](comm::World& world) {
    RankStatus mine{.in_group = world.rank() < 2, .state = RunState::failed, .ms = 1.5 * world.rank()};
    mine.failure = std::string(2000, static_cast<char>('a' + world.rank()));
    mine.where = "here";
    const auto all = gather_status(mine, world.control());
    REQUIRE(all.size() == 3);
    CHECK(all[1].in_group);
    CHECK_FALSE(all[2].in_group);
    CHECK(all[2].ms == 3);
    CHECK(all[1].failure.size() == 511);
    CHECK(all[1].failure.front() == 'b');
    CHECK(all[0].where == "here");
  });
}

}  // namespace
}  // namespace straddle::harness
