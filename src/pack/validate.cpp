#include "pack/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

namespace straddle::pack {
namespace {

using Violation = std::optional<PlanViolation>;

Violation violation(std::string_view rule, std::string entry, std::int64_t seen, std::string expected) {
  return PlanViolation{std::string(rule), std::move(entry), fmt::format("{}", seen), std::move(expected)};
}

Violation require_equal(std::string_view rule, std::string_view entry, std::int64_t seen,
                        std::int64_t expected) {
  if (seen == expected) return {};
  return violation(rule, std::string(entry), seen, fmt::format("{}", expected));
}

Violation require_within(std::string_view rule, std::string_view entry, std::int64_t seen, std::int64_t low,
                         std::int64_t high) {
  if (seen >= low && seen <= high) return {};
  return violation(rule, std::string(entry), seen, fmt::format("{} to {}", low, high));
}

// Each step may rely on what the steps before it established, so that no sum below can overflow.

Violation check_group(const Plan& plan) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (plan.ranks < 1) return violation("the group has ranks", "ranks", plan.ranks, "at least 1");
  if (auto broken = require_within("the rank is one of the group", "rank", plan.rank, 0, plan.ranks - 1)) {
    return broken;
  }
  return require_within("L rows a rank, S = W L in 64 bits", "rows_per_rank", plan.rows_per_rank, 1,
                        kMax / plan.ranks);
}

Violation check_ranges(const Plan& plan) {
  const std::int64_t rows = plan.rows_per_rank;
  const std::int64_t slots = plan.ranks * rows;
  const std::int64_t begin = plan.global_row();
  if (auto broken = require_within("0 <= n_r <= L", "real_rows", plan.real_rows, 0, rows)) return broken;
  if (auto broken = require_within("0 <= key_begin <= S", "key_begin", plan.key_begin, 0, slots))
    return broken;
  if (auto broken =
          require_within("key_begin <= key_end <= S", "key_end", plan.key_end, plan.key_begin, slots)) {
    return broken;
  }
  if (auto broken = require_within("0 <= b_r <= rL", "straddle", plan.straddle, 0, begin)) return broken;
  if (auto broken =
          require_equal("key_begin = rL - b_r", "key_begin", plan.key_begin, begin - plan.straddle)) {
    return broken;
  }
  if (auto broken = require_within("key_end lies n_r rows or more into the shard", "key_end", plan.key_end,
                                   begin + plan.real_rows, begin + rows)) {
    return broken;
  }
  return require_within("b_r <= largest b < S", "max_straddle", plan.max_straddle, plan.straddle, slots - 1);
}

Violation check_starts_at_zero(const std::vector<std::int32_t>& cu, std::string_view list) {
  const std::string rule = fmt::format("{} starts at 0", list);
  if (cu.empty()) return PlanViolation{rule, fmt::format("{}[0]", list), "no entries", "0"};
  return require_equal(rule, fmt::format("{}[0]", list), cu[0], 0);
}

Violation check_increases_to(const std::vector<std::int32_t>& cu, std::string_view list,
                             std::string_view total, std::int64_t end) {
  for (std::size_t i = 1; i < cu.size(); ++i) {
    if (cu[i] > cu[i - 1]) continue;
    return violation(fmt::format("{} is strictly increasing", list), fmt::format("{}[{}]", list, i), cu[i],
                     fmt::format("more than {}", cu[i - 1]));
  }
  return require_equal(fmt::format("{} ends at {}", list, total), fmt::format("{}[{}]", list, cu.size() - 1),
                       cu.back(), end);
}

Violation check_prefix_sums(const Plan& plan) {
  const auto& cu_q = plan.cu_seqlens_q;
  const auto& cu_k = plan.cu_seqlens_k;
  if (auto broken = check_starts_at_zero(cu_q, "cu_seqlens_q")) return broken;
  if (auto broken = check_starts_at_zero(cu_k, "cu_seqlens_k")) return broken;
  if (cu_q.size() != cu_k.size()) {
    return PlanViolation{"cu_seqlens_q and cu_seqlens_k have equally many entries", "cu_seqlens_k",
                         fmt::format("{} entries", cu_k.size()), fmt::format("{} entries", cu_q.size())};
  }
  if (auto broken = check_increases_to(cu_q, "cu_seqlens_q", "n_r", plan.real_rows)) return broken;
  return check_increases_to(cu_k, "cu_seqlens_k", "b_r + n_r", plan.straddle + plan.real_rows);
}

Violation check_lengths_and_maxima(const Plan& plan) {
  std::int64_t max_q = 0;
  std::int64_t max_k = 0;
  for (std::size_t t = 0; t + 1 < plan.cu_seqlens_q.size(); ++t) {
    const std::int64_t q = std::int64_t{plan.cu_seqlens_q[t + 1]} - plan.cu_seqlens_q[t];
    const std::int64_t k = std::int64_t{plan.cu_seqlens_k[t + 1]} - plan.cu_seqlens_k[t];
    const std::int64_t expected = t == 0 ? q + plan.straddle : q;
    const std::string_view rule =
        t == 0 ? "k_0 = q_0 + b_r, at least q_0" : "k_t = q_t after the first segment";
    if (auto broken = require_equal(rule, fmt::format("k of segment {}", t), k, expected)) return broken;
    max_q = std::max(max_q, q);
    max_k = std::max(max_k, k);
  }
  if (auto broken =
          require_equal("max_seqlen_q is the longest q", "max_seqlen_q", plan.max_seqlen_q, max_q)) {
    return broken;
  }
  return require_equal("max_seqlen_k is the longest k", "max_seqlen_k", plan.max_seqlen_k, max_k);
}

// Segments repeat what cu_seqlens say and add where each run lies in the shard and whose it is.
Violation check_segments(const Plan& plan) {
  const auto segments = static_cast<std::int64_t>(plan.segments.size());
  if (auto broken = require_equal("one segment for each entry of cu_seqlens_q after the 0", "segments",
                                  segments, static_cast<std::int64_t>(plan.cu_seqlens_q.size()) - 1)) {
    return broken;
  }
  std::int64_t end = 0;  // of the run before, in the shard
  std::int64_t previous_document = -1;
  for (std::int64_t t = 0; t < segments; ++t) {
    const Segment& segment = plan.segments[t];
    const auto entry = [&](std::string_view member) { return fmt::format("segments[{}].{}", t, member); };
    if (segment.document <= previous_document) {
      return violation("each run is of a later document", entry("document"), segment.document,
                       fmt::format("more than {}", previous_document));
    }
    const std::int64_t q = std::int64_t{plan.cu_seqlens_q[t + 1]} - plan.cu_seqlens_q[t];
    const std::int64_t k = std::int64_t{plan.cu_seqlens_k[t + 1]} - plan.cu_seqlens_k[t];
    if (auto broken =
            require_equal("segments agree with cu_seqlens_q", entry("queries"), segment.queries, q)) {
      return broken;
    }
    if (auto broken = require_equal("segments agree with cu_seqlens_k", entry("keys"), segment.keys, k)) {
      return broken;
    }
    if (t == 0 && plan.straddle > 0) {
      if (auto broken =
              require_equal("a straddling run starts at the cut", entry("local_row"), segment.local_row, 0)) {
        return broken;
      }
    }
    if (auto broken = require_within("runs lie in the shard, one after the other", entry("local_row"),
                                     segment.local_row, end, plan.rows_per_rank - q)) {
      return broken;
    }
    end = segment.local_row + q;
    previous_document = segment.document;
  }
  return require_equal("key_end is the end of the last run", "key_end", plan.key_end,
                       plan.global_row() + end);
}

// Peers ascending in [first_peer, last_peer], rows > 0, inside [begin, end) and inside the owner's shard.
Violation check_transfers(const Plan& plan, const std::vector<Transfer>& transfers, std::string_view list,
                          std::int64_t first_peer, std::int64_t last_peer, std::int64_t begin,
                          std::int64_t end) {
  const bool peers_own = list == "receives";
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const auto& [peer, global_begin, rows] = transfers[i];
    const auto entry = [&](std::string_view member) { return fmt::format("{}[{}].{}", list, i, member); };
    if (auto broken = require_within(
            peers_own ? "receives come from earlier ranks, ascending" : "sends go to later ranks, ascending",
            entry("peer"), peer, first_peer, last_peer)) {
      return broken;
    }
    first_peer = peer + 1;
    const std::int64_t owner = peers_own ? peer : plan.rank;
    const std::int64_t low = std::max(begin, owner * plan.rows_per_rank);
    const std::int64_t high = std::min(end, (owner + 1) * plan.rows_per_rank);
    const std::string_view rule = peers_own ? "received rows lie in the needed range and in the peer's shard"
                                            : "sent rows lie in this rank's shard";
    if (auto broken = require_within(rule, entry("global_begin"), global_begin, low, high - 1)) return broken;
    if (auto broken = require_within(rule, entry("rows"), rows, 1, high - global_begin)) return broken;
  }
  return {};
}

Violation check_receives(const Plan& plan) {
  if (auto broken = check_transfers(plan, plan.receives, "receives", 0, plan.rank - 1, plan.key_begin,
                                    plan.global_row())) {
    return broken;
  }
  std::int64_t received = 0;
  for (const Transfer& transfer : plan.receives) received += transfer.rows;
  return require_equal("received rows sum to b_r", "receives", received, plan.straddle);
}

Violation check_sends(const Plan& plan) {
  return check_transfers(plan, plan.sends, "sends", plan.rank + 1, plan.ranks - 1, plan.global_row(),
                         plan.global_row() + plan.rows_per_rank);
}

}  // namespace

std::string PlanViolation::text() const {
  return fmt::format("{}: {} is {}, expected {}", rule, entry, seen, expected);
}

std::optional<PlanViolation> find_violation(const Plan& plan) {
  for (const auto check : {check_group, check_ranges, check_prefix_sums, check_lengths_and_maxima,
                           check_segments, check_receives, check_sends}) {
    if (auto broken = check(plan)) return broken;
  }
  return {};
}

std::optional<PlanViolation> find_mismatch(std::span<const std::int64_t> sends,
                                           std::span<const std::int64_t> receives, std::int64_t ranks) {
  const std::size_t group = ranks < 0 ? 0 : static_cast<std::size_t>(ranks);
  if (sends.size() != group * group || receives.size() != group * group) {
    return PlanViolation{"one count for each pair of ranks", "sends, receives",
                         fmt::format("{} and {} counts", sends.size(), receives.size()),
                         fmt::format("{} of both", group * group)};
  }
  for (std::size_t source = 0; source < group; ++source) {
    for (std::size_t target = 0; target < group; ++target) {
      const std::int64_t sent = sends[source * group + target];
      const std::int64_t expected = receives[target * group + source];
      if (sent == expected) continue;
      return PlanViolation{"what a rank sends is what its peer expects",
                           fmt::format("rows from rank {} to rank {}", source, target),
                           fmt::format("{} sent", sent), fmt::format("{} by rank {}", expected, target)};
    }
  }
  return {};
}

}  // namespace straddle::pack
