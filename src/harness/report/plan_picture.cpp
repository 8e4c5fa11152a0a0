#include "harness/report/plan_picture.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/plan_drawing.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/plan_tables.hpp"
#include "pack/checked.hpp"
#include "pack/cost.hpp"

namespace straddle::harness {
namespace {

constexpr std::int64_t kNarrowest = 80;

PlanFacts facts_of(const pack::PackGeometry& geometry, pack::ExchangeKind asked,
                   const PlanPictureOptions& options) {
  pack::PathFacts path;
  path.max_straddle = geometry.max_straddle();
  path.max_straddle_rank = geometry.max_straddle_rank();
  path.rows_per_rank = geometry.rows_per_rank();
  const tensor::DType gradient = tensor::accumulation_dtype(options.dtype);
  return {.geometry = geometry,
          .path = select_path(asked, path),
          .pairs = pairs_per_rank(geometry.pack(), geometry.ranks()),
          .kv_elements = pack::kv_elements_per_token(options.kv_heads, options.head_dim, options.v_head_dim),
          .element_bytes = static_cast<std::int64_t>(size_bytes(options.dtype)),
          .gradient_bytes = static_cast<std::int64_t>(size_bytes(gradient)),
          .gradient_dtype = name(gradient),
          .width = std::max(kNarrowest, options.width)};
}

std::string header_line(const PlanFacts& facts, tensor::DType dtype) {
  const pack::Pack& pack = facts.geometry.pack();
  const std::size_t documents = pack.documents.size();
  const std::string row =
      fmt::format("{} document{}, {} token{} + {} padding{} = {} slots", documents, documents == 1 ? "" : "s",
                  pack.real_tokens(), pack.real_tokens() == 1 ? "" : "s", pack.slots - pack.real_tokens(),
                  pack.gapped() ? " (gapped)" : "", pack.slots);
  const std::string sizes = fmt::format(
      "W = {}, L = {}; K/V of a token {} ({})", facts.geometry.ranks(), facts.geometry.rows_per_rank(),
      bytes_text(pack::kv_bytes(1, facts.kv_elements, facts.element_bytes)), name(dtype));
  const bool fits = row.size() + 2 + sizes.size() <= static_cast<std::size_t>(facts.width);
  return fmt::format("{}{}{}\n", row, fits ? "; " : "\n", sizes);
}

// Ranks whose straddle is longer than a shard: the first in full, then the others as far as the line reaches.
std::string halo_short_text(const PlanFacts& facts, std::size_t columns) {
  const pack::PackGeometry& geometry = facts.geometry;
  std::vector<std::int64_t> ranks;
  for (std::int64_t rank = 0; rank < geometry.ranks(); ++rank) {
    if (geometry.straddles()[rank] > geometry.rows_per_rank()) ranks.push_back(rank);
  }
  std::string text = fmt::format("rank {} needs {} rows to its left, rank {} owns {}", ranks[0],
                                 geometry.straddles()[ranks[0]], ranks[0] - 1, geometry.rows_per_rank());
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const std::string item = fmt::format("; rank {}: {}", ranks[i], geometry.straddles()[ranks[i]]);
    const std::string rest = fmt::format("; .. {} more", ranks.size() - i);
    const bool is_last = i + 1 == ranks.size();
    if (i >= kListEntries || text.size() + item.size() + (is_last ? 0 : rest.size()) > columns)
      return text + rest;
    text += item;
  }
  return text;
}

std::string path_line(const PlanFacts& facts, std::size_t label_columns) {
  const pack::Path& path = facts.path;
  std::string text = fmt::format("{:<{}}", "path", label_columns);
  if (facts.geometry.ranks() == 1) return text + fmt::format("none (W = 1), asked: {}\n", name(path.asked));
  if (path.reason == pack::PathReason::as_asked)
    return text + fmt::format("{}, as asked\n", name(path.taken));
  text += fmt::format("{}, asked: {} ({}", name(path.taken), name(path.asked), name(path.reason));
  if (path.reason != pack::PathReason::halo_short) return fmt::format("{}: {})\n", text, path.detail);
  const auto width = static_cast<std::size_t>(facts.width);
  const std::size_t columns = width - text.size() - std::string_view(": )").size();
  if (const std::string detail = halo_short_text(facts, columns); detail.size() <= columns) {
    return fmt::format("{}: {})\n", text, detail);
  }
  return fmt::format("{})\n{:<{}}{}\n", text, "", label_columns,
                     halo_short_text(facts, width - label_columns));
}

std::string work_line(const PlanFacts& facts, std::size_t label_columns) {
  const std::string_view what = "visible pairs of all ranks";
  std::int64_t pairs = 0;
  for (const std::int64_t count : facts.pairs) pairs = pack::checked_add(pairs, count, what);
  std::string text = fmt::format("{:<{}}{} pairs", "work", label_columns, pairs);
  const auto& documents = facts.geometry.pack().documents;
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const std::string item =
        fmt::format(" {} {}", d == 0 ? '=' : '+', pack::checked_triangle(documents[d].length, what));
    const std::string rest = fmt::format(" {} .. {} more", d == 0 ? '=' : '+', documents.size() - d);
    const std::size_t reserve = d + 1 == documents.size() ? 0 : rest.size();
    if (d == kListEntries || text.size() + item.size() + reserve > static_cast<std::size_t>(facts.width)) {
      text += rest;
      break;
    }
    text += item;
  }
  if (pairs == 0 || facts.geometry.ranks() == 1) return text + "\n";
  const auto busiest = std::max_element(facts.pairs.begin(), facts.pairs.end());
  const double imbalance =
      static_cast<double>(*busiest) * static_cast<double>(facts.pairs.size()) / static_cast<double>(pairs);
  const bool is_even = *std::min_element(facts.pairs.begin(), facts.pairs.end()) == *busiest;
  const std::string balance =
      is_even ? "imbalance 1.00: no rank waits"
              : fmt::format("imbalance {:.2f} (rank {}): ranks wait {:.0f} % of the kernel's time", imbalance,
                            busiest - facts.pairs.begin(), 100 * (1 - 1 / imbalance));
  if (text.size() + 2 + balance.size() <= static_cast<std::size_t>(facts.width))
    return text + "; " + balance + "\n";
  return fmt::format("{}\n{:<{}}{}\n", text, "", label_columns, balance);
}

}  // namespace

std::string plan_picture(const pack::Pack& pack, int ranks, pack::ExchangeKind asked,
                         const PlanPictureOptions& options) {
  pack.validate();
  const pack::Pack padded = pack.padded_to_multiple_of(ranks);
  const pack::PackGeometry geometry(padded, ranks);
  const PlanFacts facts = facts_of(geometry, asked, options);
  std::size_t label_columns = std::string_view("document ").size();
  for (const auto& groups : {drawn_groups(geometry), kernel_groups(facts)}) {
    for (const RankGroup& group : groups)
      label_columns = std::max(label_columns, rank_label(group).size() + 1);
  }
  return header_line(facts, options.dtype) + draw_plan(facts, label_columns) +
         path_line(facts, label_columns) + exchange_table(facts, label_columns) +
         kernel_table(facts, label_columns) + work_line(facts, label_columns);
}

}  // namespace straddle::harness
