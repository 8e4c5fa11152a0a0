#include <algorithm>

#include "harness/judge/layout.hpp"
#include "harness/judge/oracle.hpp"

namespace straddle::harness {
namespace {

// From the case, not from the layers, which only rank 0 has: every rank must come to the same figure.
std::size_t oracle_bytes(const Case& point) {
  std::int64_t elements = 0;
  for (const std::string_view name : kResultNames) {
    const std::int64_t tensors = name == "lse" ? 1 : 3;  // results, sigma, tau
    elements += result_shape(point, name, documents_end(point.pack)).numel() * tensors;
  }
  const auto scalars = static_cast<std::int64_t>(point.pack.documents.size() * (1 + kResultNames.size()));
  return static_cast<std::size_t>((elements + scalars) * point.layers) * sizeof(double);
}

}  // namespace

OracleCache::OracleCache(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

std::shared_ptr<const std::vector<OracleLayer>> OracleCache::get(const Case& point, const Inputs& inputs,
                                                                 comm::Transport& control) {
  const std::string key = oracle_key(point);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().layers;
  }
  auto layers = std::make_shared<const std::vector<OracleLayer>>(compute_oracle(point, inputs, control));
  const std::size_t bytes = oracle_bytes(point);
  if (bytes > limit_bytes_) return layers;  // would only drive the others out
  entries_.push_front({key, bytes, layers});
  std::size_t total = 0;
  for (const Entry& entry : entries_) total += entry.bytes;
  while (total > limit_bytes_) {
    total -= entries_.back().bytes;
    entries_.pop_back();
  }
  return layers;
}

}  // namespace straddle::harness
