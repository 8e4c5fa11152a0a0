#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "harness/report/plan_tables.hpp"
#include "pack/cost.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kTableRanks = 8;
constexpr std::size_t kColumnGap = 2;
constexpr std::size_t kShortestList = 12;  // also the width of "cu_seqlens_q"
constexpr double kBarOfMean = 10;          // length of the bar of a rank with the mean work

enum Column : std::size_t { cu_q, cu_k, max_q, max_k, peak, pairs, of_mean, kColumns };
using Row = std::array<std::string, kColumns>;

constexpr std::array<std::string_view, kColumns> kHeader{"cu_seqlens_q", "cu_seqlens_k", "max_q",  "max_k",
                                                         "peak K/V",     "pairs",        "of mean"};

std::int64_t busiest_rank(const PlanFacts& facts) {
  return std::max_element(facts.pairs.begin(), facts.pairs.end()) - facts.pairs.begin();
}

double work_of_mean(const PlanFacts& facts, std::int64_t rank) {
  double sum = 0;
  for (const std::int64_t count : facts.pairs) sum += static_cast<double>(count);
  const double mean = sum / static_cast<double>(facts.pairs.size());
  return mean == 0 ? 0 : static_cast<double>(facts.pairs[rank]) / mean;
}

struct Table {
  std::vector<RankGroup> groups;
  std::vector<pack::Plan> plans;  // of each group's first rank
  std::vector<Row> rows;
  std::array<std::size_t, kColumns> columns;  // widths
};

Table make_table(const PlanFacts& facts) {
  Table table;
  table.groups = kernel_groups(facts);
  const std::int64_t token_bytes = facts.kv_elements * facts.element_bytes;
  for (const RankGroup& group : table.groups) {
    const pack::Plan plan = make_local_plan(facts.geometry, group.first);
    Row row;
    row[max_q] = fmt::format("{}", plan.max_seqlen_q);
    row[max_k] = fmt::format("{}", plan.max_seqlen_k);
    row[peak] = bytes_text(pack::kv_bytes(held_rows(facts.path.taken, plan), token_bytes, 1));
    row[pairs] = fmt::format("{}", facts.pairs[group.first]);
    row[of_mean] = fmt::format("{:.2f}", work_of_mean(facts, group.first));
    table.rows.push_back(row);
    table.plans.push_back(plan);
  }
  for (std::size_t column = 0; column < kColumns; ++column) {
    table.columns[column] = kHeader[column].size();
    for (const Row& row : table.rows)
      table.columns[column] = std::max(table.columns[column], row[column].size());
  }
  return table;
}

// Both lists share what the numbers and the longest bar leave; returns the columns left for bars.
std::size_t fit_lists(Table& table, std::size_t width, double longest_bar) {
  std::size_t taken = 0;
  for (std::size_t column = max_q; column < kColumns; ++column) taken += kColumnGap + table.columns[column];
  const auto bar = static_cast<std::size_t>(std::min(20.0, longest_bar));
  const std::size_t left = width > taken + kColumnGap + bar ? width - taken - kColumnGap - bar : 0;
  const std::size_t each = std::max(kShortestList, left / 2 - std::min(left / 2, kColumnGap));
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i][cu_q] = folded_list(table.plans[i].cu_seqlens_q, each);
    table.rows[i][cu_k] = folded_list(table.plans[i].cu_seqlens_k, each);
    for (const Column column : {cu_q, cu_k}) {
      table.columns[column] = std::max(table.columns[column], table.rows[i][column].size());
    }
  }
  const std::size_t used = taken + table.columns[cu_q] + kColumnGap + table.columns[cu_k] + kColumnGap;
  return width > used ? width - used : 0;
}

template <class Cells>
std::string table_line(std::string_view label, std::size_t label_columns, const Cells& cells,
                       const Table& table, const std::string& bar) {
  std::string text = fmt::format("{:<{}}", label, label_columns);
  for (std::size_t column = 0; column < kColumns; ++column) {
    const bool is_list = column == cu_q || column == cu_k;
    const std::string cell = is_list ? fmt::format("{:<{}}", cells[column], table.columns[column])
                                     : fmt::format("{:>{}}", cells[column], table.columns[column]);
    text += fmt::format("{}{}", column == 0 ? "" : "  ", cell);
  }
  return bar.empty() ? text + "\n" : fmt::format("{}  {}\n", text, bar);
}

}  // namespace

std::vector<RankGroup> kernel_groups(const PlanFacts& facts) {
  std::vector<RankGroup> groups;
  pack::Plan before;
  for (std::int64_t rank = 0; rank < facts.geometry.ranks(); ++rank) {
    pack::Plan plan = make_local_plan(facts.geometry, rank);
    // Pairs, maxima and memory follow from these.
    const bool same =
        rank > 0 && plan.cu_seqlens_q == before.cu_seqlens_q && plan.cu_seqlens_k == before.cu_seqlens_k;
    if (same) {
      groups.back().last = rank;
    } else {
      groups.push_back({rank, rank});
    }
    before = std::move(plan);
  }
  std::vector<RankGroup> shown;
  const std::vector<std::int64_t> important{busiest_rank(facts), facts.geometry.max_straddle_rank()};
  for (const std::size_t index : choose_groups(groups, important, kTableRanks))
    shown.push_back(groups[index]);
  return shown;
}

std::string kernel_table(const PlanFacts& facts, std::size_t label_columns) {
  Table table = make_table(facts);
  const double largest = work_of_mean(facts, busiest_rank(facts));
  const std::size_t width = static_cast<std::size_t>(facts.width) - label_columns;
  const auto room = static_cast<double>(fit_lists(table, width, kBarOfMean * largest));
  const double bar_of_mean = largest * kBarOfMean > room ? room / largest : kBarOfMean;
  std::string text = table_line("kernel", label_columns, kHeader, table, "");
  std::int64_t next = 0;
  const auto left_out = [&](std::int64_t first, std::int64_t end) {
    if (first == end) return std::string();
    return fmt::format("{:<{}}{} more rank{}, {} to {}\n", "..", label_columns, end - first,
                       end - first == 1 ? "" : "s", first, end - 1);
  };
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const RankGroup& group = table.groups[i];
    const double work = work_of_mean(facts, group.first);
    const auto bar = work == 0 ? 0 : std::max<std::size_t>(1, std::lround(work * bar_of_mean));
    text += left_out(next, group.first);
    text += table_line(rank_label(group), label_columns, table.rows[i], table, std::string(bar, '#'));
    next = group.last + 1;
  }
  return text + left_out(next, facts.geometry.ranks());
}

}  // namespace straddle::harness
