#include "harness/judge/oracle_tasks.hpp"

#include <algorithm>
#include <tuple>

namespace straddle::harness {
namespace {

constexpr double kWorthAMessageFlop = 2e6;

// Making a row's inputs costs about as much as attending to this many keys.
constexpr std::int64_t kPairsPerRow = 64;

std::int64_t cost(std::int64_t length) { return length * (length + 1) / 2 + kPairsPerRow * length; }

}  // namespace

double attention_flop(const Case& point, std::int64_t document_length) {
  const double n = static_cast<double>(document_length);
  return n * (n + 1) / 2 * static_cast<double>(point.heads) * 6 *
         static_cast<double>(point.head_dim + point.v_head_dim);
}

bool rank_zero_alone(const Case& point, int ranks) {
  double flop = 0;
  for (const pack::Document& document : point.pack.documents) flop += attention_flop(point, document.length);
  return ranks == 1 || flop * static_cast<double>(point.layers) < kWorthAMessageFlop;
}

std::vector<std::vector<OracleTask>> share_tasks(const Case& point, int ranks) {
  std::vector<OracleTask> tasks;
  for (std::int64_t layer = 0; layer < point.layers; ++layer) {
    for (std::size_t document = 0; document < point.pack.documents.size(); ++document) {
      for (std::int64_t head = 0; head < point.kv_heads; ++head) tasks.push_back({layer, document, head});
    }
  }
  std::vector<std::vector<OracleTask>> shares(static_cast<std::size_t>(ranks));
  if (rank_zero_alone(point, ranks)) {
    shares[0] = std::move(tasks);
    return shares;
  }
  const auto length = [&](const OracleTask& task) { return point.pack.documents[task.document].length; };
  std::stable_sort(tasks.begin(), tasks.end(),
                   [&](const auto& a, const auto& b) { return length(a) > length(b); });
  std::vector<std::int64_t> load(shares.size(), 0);
  for (const OracleTask& task : tasks) {
    const auto least = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[least] += cost(length(task));
    shares[least].push_back(task);
  }
  for (auto& share : shares) {
    std::sort(share.begin(), share.end(), [](const auto& a, const auto& b) {
      return std::tie(a.layer, a.document, a.kv_head) < std::tie(b.layer, b.document, b.kv_head);
    });
  }
  return shares;
}

}  // namespace straddle::harness
