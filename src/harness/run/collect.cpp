#include "harness/run/collect.hpp"

#include <algorithm>
#include <cstring>

namespace straddle::harness {
namespace {

constexpr std::size_t kTextBytes = 512;

// Fixed size, so that one all-gather carries everything.
struct Record {
  std::uint8_t in_group;
  RunState state;
  double ms;
  std::int64_t forward_bytes;
  std::int64_t backward_bytes;
  std::uint64_t operations_hash;
  char failure[kTextBytes];
  char where[kTextBytes];
  char problems[kTextBytes];
};

void put(char (&to)[kTextBytes], const std::string& text) {
  const std::size_t count = std::min(text.size(), kTextBytes - 1);
  std::memcpy(to, text.data(), count);
  to[count] = '\0';
}

}  // namespace

std::vector<RankStatus> gather_status(const RankStatus& mine, comm::Transport& control) {
  Record record{};
  record.in_group = mine.in_group ? 1 : 0;
  record.state = mine.state;
  record.ms = mine.ms;
  record.forward_bytes = mine.forward_bytes;
  record.backward_bytes = mine.backward_bytes;
  record.operations_hash = mine.operations_hash;
  put(record.failure, mine.failure);
  put(record.where, mine.where);
  put(record.problems, mine.problems);

  std::vector<Record> records(static_cast<std::size_t>(control.size()));
  control.all_gather("status", std::as_bytes(std::span(&record, 1)),
                     std::as_writable_bytes(std::span(records)));
  std::vector<RankStatus> all;
  for (const Record& one : records) {
    all.push_back({.in_group = one.in_group != 0,
                   .state = one.state,
                   .ms = one.ms,
                   .forward_bytes = one.forward_bytes,
                   .backward_bytes = one.backward_bytes,
                   .operations_hash = one.operations_hash,
                   .failure = one.failure,
                   .where = one.where,
                   .problems = one.problems});
  }
  return all;
}

LayerResults empty_layer(const Case& point, std::int64_t rows) {
  const auto make = [&](std::size_t result) {
    return tensor::Tensor(result_dtype(point, result), result_shape(point, result, rows));
  };
  return {.out = make(0), .lse = make(1), .d_q = make(2), .d_k = make(3), .d_v = make(4)};
}

std::vector<LayerResults> gather_layers(const Case& point, const ShardRun* shard, comm::Transport& control) {
  const std::int64_t rows = point.rows_per_rank();
  std::int64_t shard_bytes = 0;
  for (std::size_t result = 0; result < kResultNames.size(); ++result) {
    shard_bytes += result_shape(point, result, rows).numel() *
                   static_cast<std::int64_t>(tensor::size_bytes(result_dtype(point, result)));
  }
  shard_bytes *= point.layers;

  std::vector<std::byte> mine;
  if (shard != nullptr) {
    mine.reserve(static_cast<std::size_t>(shard_bytes));
    for (const ShardLayer& layer : shard->layers) {
      for (const Guarded& result : layer) {
        const auto bytes = result.rows().bytes();
        mine.insert(mine.end(), bytes.begin(), bytes.end());
      }
    }
  }
  const auto ranks = static_cast<std::size_t>(control.size());
  std::vector<std::int64_t> send_bytes(ranks, 0);
  std::vector<std::int64_t> recv_bytes(ranks, 0);
  send_bytes[0] = static_cast<std::int64_t>(mine.size());
  if (control.rank() == 0) std::fill_n(recv_bytes.begin(), point.ranks, shard_bytes);
  std::vector<std::byte> all(control.rank() == 0 ? static_cast<std::size_t>(shard_bytes * point.ranks) : 0);
  control.all_to_all_v("results", mine, send_bytes, all, recv_bytes);
  if (control.rank() != 0) return {};

  std::vector<LayerResults> layers;
  for (std::int64_t layer = 0; layer < point.layers; ++layer)
    layers.push_back(empty_layer(point, rows * point.ranks));
  const std::byte* from = all.data();
  for (std::int64_t rank = 0; rank < point.ranks; ++rank) {
    for (LayerResults& layer : layers) {
      for (const auto name : kResultNames) {
        const auto to = layer.by_name(name).view().slice(tensor::Axis::token, rank * rows, rows).bytes();
        std::copy_n(from, to.size(), to.begin());
        from += to.size();
      }
    }
  }
  return layers;
}

}  // namespace straddle::harness
