#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "harness/report/plan_tables.hpp"
#include "pack/cost.hpp"

namespace straddle::harness {
namespace {

using pack::ExchangeKind;

constexpr std::int64_t kMatrixRanks = 8;
constexpr std::size_t kGap = 5;  // columns between the matrix and what stands beside it

using Lines = std::vector<std::string>;

struct Entry {
  std::string label;
  std::string bytes;
  std::string note;
};

Lines aligned(const std::vector<Entry>& entries) {
  std::size_t columns = std::string_view("18.0 KiB").size();
  for (const Entry& entry : entries) columns = std::max(columns, entry.note.empty() ? 0 : entry.bytes.size());
  Lines lines;
  for (const auto& [label, bytes, note] : entries) {
    lines.push_back(note.empty() ? fmt::format("{:<17}{}", label, bytes)
                                 : fmt::format("{:<17}{:>{}}  {}", label, bytes, columns, note));
  }
  return lines;
}

class ExchangeTable {
 public:
  explicit ExchangeTable(const PlanFacts& facts) : facts_(facts), geometry_(facts.geometry) {}

  // [W + 2] lines with their labels: header, a line a source, totals. Empty for many ranks.
  Lines matrix(std::size_t label_columns) const {
    const std::int64_t ranks = geometry_.ranks();
    if (ranks > kMatrixRanks) return {};
    const std::size_t cell = cell_columns();
    std::string header = fmt::format("{:<{}}", "rows", label_columns);
    std::string totals = fmt::format("{:<{}}", "received", label_columns);
    Lines lines(1);
    std::int64_t moved = 0;
    for (std::int64_t peer = 0; peer < ranks; ++peer) {
      const std::string_view separator = peer == 0 ? "" : "  ";
      header += fmt::format("{}{:>{}}", separator, fmt::format("to {}", peer), cell);
      std::string row = fmt::format("{:<{}}", fmt::format("from {}", peer), label_columns);
      std::int64_t sent = 0;
      std::int64_t received = 0;
      for (std::int64_t other = 0; other < ranks; ++other) {
        const std::int64_t rows = rows_between(peer, other);
        row +=
            fmt::format("{}{:>{}}", other == 0 ? "" : "  ", rows == 0 ? "." : fmt::format("{}", rows), cell);
        sent += rows;
        received += rows_between(other, peer);
      }
      lines.push_back(row + fmt::format("   {:>{}}", sent, cell));
      totals += fmt::format("{}{:>{}}", separator, received, cell);
      moved += sent;
    }
    lines[0] = header + fmt::format("   {:>{}}", "sent", cell);
    lines.push_back(totals + fmt::format("   {:>{}}", moved, cell));
    return lines;
  }

  std::vector<Entry> entries() const {
    const ExchangeKind taken = facts_.path.taken;
    const std::int64_t moved = moved_rows(taken, geometry_);
    const std::int64_t bound = moved_rows(ExchangeKind::a2a, geometry_);
    std::vector<Entry> entries;
    entries.push_back(
        entry("K/V forward", forward_bytes(moved),
              moved == bound ? "= lower bound, sum of b_r" : times_text(moved, bound, " the lower bound")));
    entries.push_back(entry("dK/dV backward",
                            pack::kv_bytes(moved, facts_.kv_elements, facts_.gradient_bytes),
                            fmt::format("{} partials, transposed", facts_.gradient_dtype)));
    entries.push_back(largest_receive());
    for (const ExchangeKind kind : {ExchangeKind::allgather, ExchangeKind::halo, ExchangeKind::a2a}) {
      if (kind == taken) continue;
      const std::string label = fmt::format("with {}", name(kind));
      if (kind == ExchangeKind::halo && geometry_.max_straddle() > geometry_.rows_per_rank()) {
        entries.push_back({label, "not legal", ""});
      } else {
        const std::int64_t rows = moved_rows(kind, geometry_);
        entries.push_back(entry(label, forward_bytes(rows), times_text(rows, moved, "")));
      }
    }
    return entries;
  }

  // Rows that go from one rank to another on the path taken.
  std::int64_t rows_between(std::int64_t source, std::int64_t target) const {
    const std::int64_t rows = geometry_.rows_per_rank();
    if (source == target) return 0;
    switch (facts_.path.taken) {
      case ExchangeKind::allgather:
        return rows;
      case ExchangeKind::halo:
        return target == source + 1 ? geometry_.max_straddle() : 0;
      case ExchangeKind::a2a:
        break;
    }
    if (source > target) return 0;
    const std::int64_t needed_begin = target * rows - geometry_.straddles()[target];
    return std::max<std::int64_t>(0, (source + 1) * rows - std::max(source * rows, needed_begin));
  }

 private:
  std::size_t cell_columns() const {
    const std::int64_t largest = moved_rows(facts_.path.taken, geometry_);
    return std::max<std::size_t>(4, fmt::format("{}", largest).size());
  }

  std::int64_t forward_bytes(std::int64_t rows) const {
    return pack::kv_bytes(rows, facts_.kv_elements, facts_.element_bytes);
  }

  static Entry entry(std::string label, std::int64_t bytes, std::string note) {
    return {std::move(label), bytes_text(bytes), std::move(note)};
  }

  static std::string times_text(std::int64_t rows, std::int64_t of, std::string_view what) {
    if (rows == of) return "the same";
    return of == 0 ? "where 0 B are needed" : fmt::format("{:.2f} times{}", ratio(rows, of), what);
  }

  // The rank that waits for the most rows, and from how many ranks they come.
  Entry largest_receive() const {
    const std::int64_t rank = geometry_.max_straddle_rank();
    std::int64_t rows = geometry_.max_straddle();
    std::int64_t sources = 0;
    switch (facts_.path.taken) {
      case ExchangeKind::allgather:
        sources = geometry_.ranks() - 1;
        rows = sources * geometry_.rows_per_rank();
        return entry("largest receive", forward_bytes(rows),
                     fmt::format("every rank, from {}", ranks_text(sources)));
      case ExchangeKind::halo:
        return entry("largest receive", forward_bytes(rows), "all but rank 0, from the left");
      case ExchangeKind::a2a:
        break;
    }
    if (rows == 0) return entry("largest receive", 0, "no rank receives");
    sources = rank - (rank * geometry_.rows_per_rank() - rows) / geometry_.rows_per_rank();
    return entry("largest receive", forward_bytes(rows),
                 fmt::format("rank {}, from {}", rank, ranks_text(sources)));
  }

  static std::string ranks_text(std::int64_t count) {
    return fmt::format("{} rank{}", count, count == 1 ? "" : "s");
  }

  const PlanFacts& facts_;
  const pack::PackGeometry& geometry_;
};

}  // namespace

std::string exchange_table(const PlanFacts& facts, std::size_t label_columns) {
  if (facts.geometry.ranks() == 1) return "";
  const ExchangeTable table(facts);
  const Lines left = table.matrix(label_columns);
  const Lines right = aligned(table.entries());
  std::size_t widest = 0;
  for (const std::string& line : right) widest = std::max(widest, line.size());
  const bool beside =
      !left.empty() && left[0].size() + kGap + widest <= static_cast<std::size_t>(facts.width);
  std::string text;
  for (std::size_t i = 0; i < left.size() || (beside && i < right.size()); ++i) {
    const std::string row = i < left.size() ? left[i] : "";
    text += beside && i < right.size() ? fmt::format("{:<{}}{}\n", row, left[0].size() + kGap, right[i])
                                       : row + "\n";
  }
  if (beside) return text;
  for (std::size_t i = 0; i < right.size(); ++i) {
    text += fmt::format("{:<{}}{}\n", i == 0 ? "moved" : "", label_columns, right[i]);
  }
  return text;
}

}  // namespace straddle::harness
