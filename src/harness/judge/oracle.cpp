#include "harness/judge/oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "harness/judge/layout.hpp"
#include "harness/judge/oracle_tasks.hpp"
#include "harness/judge/oracle_worker.hpp"

namespace straddle::harness {
namespace {

using tensor::Tensor;

std::size_t packed_size(const Case& point, const std::vector<OracleTask>& tasks) {
  std::size_t size = 0;
  for (const OracleTask& task : tasks) size += packed_size(point, task);
  return size;
}

std::vector<double> run_tasks(const Case& point, const Inputs& inputs, const std::vector<OracleTask>& tasks) {
  std::vector<double> packed(packed_size(point, tasks));
  OracleWorker worker(point, inputs);
  std::span<double> rest = packed;
  for (const OracleTask& task : tasks) {
    const std::size_t size = packed_size(point, task);
    worker.run(task, rest.first(size));
    rest = rest.subspan(size);
  }
  return packed;
}

// Rows of no document: what the contract says of padding.
void clear_gaps(const pack::Pack& pack, Tensor& tensor, double value) {
  const auto all = tensor.view().span<double>();
  const auto row = static_cast<std::int64_t>(all.size()) / std::max<std::int64_t>(documents_end(pack), 1);
  std::int64_t begin = 0;
  for (const pack::Document& document : pack.documents) {
    std::fill(all.begin() + begin * row, all.begin() + document.start * row, value);
    begin = document.end();
  }
}

OracleLayer empty_layer(const Case& point) {
  const std::int64_t rows = documents_end(point.pack);
  OracleLayer layer;
  for (const std::string_view name : kResultNames) {
    const auto make = [&](double padding) {
      Tensor tensor(tensor::DType::fp64, result_shape(point, name, rows));
      clear_gaps(point.pack, tensor, padding);
      return tensor;
    };
    layer.results.by_name(name) = make(name == "lse" ? -std::numeric_limits<double>::infinity() : 0);
    if (name == "lse") continue;
    layer.sigma.emplace(name, make(0));
    layer.tau.emplace(name, make(0));
  }
  layer.largest_logit.assign(point.pack.documents.size(), 0);
  if (point.dtype != tensor::DType::fp64) {
    std::array<double, 5> unmeasured;
    unmeasured.fill(std::numeric_limits<double>::quiet_NaN());
    layer.float_reference_used.assign(point.pack.documents.size(), unmeasured);
  }
  return layer;
}

std::vector<OracleLayer> empty_layers(const Case& point) {
  std::vector<OracleLayer> layers;
  for (std::int64_t layer = 0; layer < point.layers; ++layer) layers.push_back(empty_layer(point));
  return layers;
}

void unpack_tasks(const Case& point, const std::vector<OracleTask>& tasks, std::span<const double> packed,
                  std::vector<OracleLayer>& layers) {
  for (const OracleTask& task : tasks) {
    const std::size_t size = packed_size(point, task);
    unpack_task(point, task, packed.first(size), layers[static_cast<std::size_t>(task.layer)]);
    packed = packed.subspan(size);
  }
}

// All ranks meet here before they communicate: where one failed all throw the same error, and none waits for
// a message that can't come.
void agree(const Case& point, const std::optional<std::string>& failure, comm::Transport& control) {
  const auto ranks = static_cast<std::uint64_t>(control.size());
  std::array<std::uint64_t, 1> failed = {failure ? ranks - static_cast<std::uint64_t>(control.rank()) : 0};
  control.all_reduce_max("oracle consensus", failed);
  if (failed[0] == 0) return;

  const std::uint64_t first = ranks - failed[0];
  constexpr std::size_t kCauseBytes = 512;
  std::array<char, kCauseBytes> mine{};
  if (failure) failure->copy(mine.data(), kCauseBytes - 1);
  std::vector<char> all(kCauseBytes * ranks);
  control.all_gather("oracle failure", std::as_bytes(std::span(mine)),
                     std::as_writable_bytes(std::span(all)));
  throw std::runtime_error(fmt::format("the oracle of {} failed on rank {}: {}", print(point), first,
                                       all.data() + first * kCauseBytes));
}

// Every rank's packed doubles to rank 0, which keeps its own where they are. received [sum of the others'].
void send_to_rank_zero(const Case& point, const std::vector<std::vector<OracleTask>>& shares,
                       std::span<const double> mine, std::span<double> received, comm::Transport& control) {
  std::vector<std::int64_t> send_bytes(shares.size(), 0), recv_bytes(shares.size(), 0);
  if (control.rank() == 0) {
    for (std::size_t rank = 1; rank < shares.size(); ++rank) {
      recv_bytes[rank] = static_cast<std::int64_t>(packed_size(point, shares[rank]) * sizeof(double));
    }
    mine = {};
  } else {
    send_bytes[0] = static_cast<std::int64_t>(mine.size_bytes());
  }
  control.all_to_all_v("oracle results", std::as_bytes(mine), send_bytes, std::as_writable_bytes(received),
                       recv_bytes);
}

}  // namespace

std::vector<OracleLayer> compute_oracle(const Case& point, const Inputs& inputs, comm::Transport& control) {
  const bool root = control.rank() == 0;
  const auto shares = share_tasks(point, control.size());
  const std::vector<OracleTask>& own = shares[static_cast<std::size_t>(control.rank())];
  std::vector<OracleLayer> layers;
  if (rank_zero_alone(point, control.size())) {
    if (!root) return layers;
    layers = empty_layers(point);
    unpack_tasks(point, own, run_tasks(point, inputs, own), layers);
    return layers;
  }

  std::vector<double> mine, received;
  std::optional<std::string> failure;
  try {
    mine = run_tasks(point, inputs, own);
    if (root) {
      layers = empty_layers(point);
      std::size_t size = 0;
      for (std::size_t rank = 1; rank < shares.size(); ++rank) size += packed_size(point, shares[rank]);
      received.resize(size);
    }
  } catch (const std::exception& error) {
    failure = error.what();
  }
  agree(point, failure, control);
  send_to_rank_zero(point, shares, mine, received, control);
  if (!root) return layers;
  unpack_tasks(point, own, mine, layers);
  std::span<const double> rest = received;
  for (std::size_t rank = 1; rank < shares.size(); ++rank) {
    const std::size_t size = packed_size(point, shares[rank]);
    unpack_tasks(point, shares[rank], rest.first(size), layers);
    rest = rest.subspan(size);
  }
  return layers;
}

}  // namespace straddle::harness
