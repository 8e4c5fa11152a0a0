#include "harness/report/plan_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace straddle::harness {
namespace {

constexpr std::int64_t kColumnsPerToken = 4;  // at most: a pack of few tokens need not fill the page
constexpr std::int64_t kFewestColumns = 16;   // of a drawing
constexpr std::size_t kDrawnRanks = 8;
constexpr std::string_view kOwnLegend = "#### own  <<<< fetched";
constexpr std::string_view kPaddingLegend = ".... padding";
constexpr std::string_view kCrowdedLegend = "+ several documents";

// Token slots to columns: some columns a token, or some tokens a column where the row is long.
class Scale {
 public:
  Scale(std::int64_t slots, std::int64_t room) : slots_(slots) {
    const std::int64_t available = std::max(kFewestColumns, room);
    const std::int64_t per_token = std::min(kColumnsPerToken, available / slots);
    columns_ = per_token > 0 ? per_token * slots : available;
  }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] bool exact() const { return columns_ >= slots_; }
  [[nodiscard]] double tokens_per_column() const {
    return static_cast<double>(slots_) / static_cast<double>(columns_);
  }
  [[nodiscard]] std::int64_t at(std::int64_t slot) const {
    if (slot == slots_) return columns_;
    if (exact()) return slot * (columns_ / slots_);
    return std::min(columns_ - 1,
                    static_cast<std::int64_t>(static_cast<long double>(slot) * columns_ / slots_));
  }

 private:
  std::int64_t slots_;
  std::int64_t columns_;
};

// `text` over what stands at `column` if only `background` is there; whether it was.
bool write_over(std::string& line, std::int64_t column, std::string_view text, char background) {
  const auto begin = static_cast<std::size_t>(column);
  if (begin + text.size() > line.size()) return false;
  if (line.substr(begin, text.size()) != std::string(text.size(), background)) return false;
  line.replace(begin, text.size(), text);
  return true;
}

void fill(std::string& line, std::int64_t begin, std::int64_t end, char mark) {
  std::fill(line.begin() + begin, line.begin() + end, mark);
}

class Drawing {
 public:
  Drawing(const PlanFacts& facts, std::size_t label_columns)
      : geometry_(facts.geometry),
        label_columns_(label_columns),
        groups_(drawn_groups(geometry_)),
        scale_(geometry_.pack().slots,
               facts.width - static_cast<std::int64_t>(label_columns) - 3 - right_columns(facts.width)) {
    // Cuts with room for their rank's number; beyond that every second, fourth, .. of them.
    const auto room = static_cast<std::int64_t>(fmt::format("{}", geometry_.ranks() - 1).size()) + 2;
    while (scale_.at(geometry_.rows_per_rank() * std::min(cut_step_, geometry_.ranks())) < room &&
           cut_step_ < geometry_.ranks()) {
      cut_step_ *= 2;
    }
  }

  std::string text() {
    std::string out = token_line() + cut_line() + document_line();
    std::int64_t next = 0;
    for (const RankGroup& group : groups_) {
      out += left_out(next, group.first);
      out += rank_line(group);
      next = group.last + 1;
    }
    return out + left_out(next, geometry_.ranks());
  }

 private:
  bool has_padding() const { return geometry_.pack().real_tokens() < geometry_.pack().slots; }

  // What stands to the right of the drawing decides how wide it can be.
  std::int64_t right_columns(std::int64_t width) const {
    const bool may_crowd = geometry_.pack().slots > width / 2;  // fewer slots have a column each
    const std::size_t padding = has_padding() ? kPaddingLegend.size() : 0;
    std::size_t columns = std::max(kOwnLegend.size(), padding + (may_crowd ? kCrowdedLegend.size() + 2 : 0));
    if (may_crowd) {  // the token line ends with the last slot's number and then says how wide a column is
      const auto slots = static_cast<double>(geometry_.pack().slots);
      columns =
          std::max(columns, fmt::format("{:.0f}", slots).size() + scale_text(slots / kFewestColumns).size());
    }
    for (const RankGroup& group : groups_) {
      columns = std::max(columns, straddle_columns() + 2 + needs_text(group).size());
    }
    return static_cast<std::int64_t>(columns);
  }

  static std::string scale_text(double tokens) { return fmt::format("1 column = {:.1f} tokens", tokens); }

  std::string straddle_text(const RankGroup& group) const {
    const std::int64_t straddle = geometry_.straddles()[group.first];
    return group.first == group.last ? fmt::format("b_{} = {}", group.first, straddle)
                                     : fmt::format("b = {}", straddle);
  }

  std::size_t straddle_columns() const {
    std::size_t columns = 0;
    for (const RankGroup& group : groups_) columns = std::max(columns, straddle_text(group).size());
    return columns;
  }

  std::string needs_text(const RankGroup& group) const {
    if (geometry_.real_rows()[group.first] == 0) return "needs nothing";
    if (group.first != group.last) return "needs its own rows";
    const pack::Plan plan = make_local_plan(geometry_, group.first);
    return fmt::format("needs [{},{})", plan.key_begin, plan.key_end);
  }

  std::string line(std::string_view label, std::string drawing, std::string_view right) const {
    std::string text = fmt::format("{:<{}}{}", label, label_columns_, drawing);
    if (!right.empty()) {
      const std::size_t column = label_columns_ + static_cast<std::size_t>(scale_.columns()) + 3;
      text.resize(std::max(column, text.size() + 2), ' ');
      text += right;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  }

  std::string left_out(std::int64_t first, std::int64_t end) const {
    if (first == end) return "";
    return line(
        "..",
        fmt::format("{} more rank{}, {} to {}", end - first, end - first == 1 ? "" : "s", first, end - 1),
        "");
  }

  // Numbers of the cuts first, then of document boundaries where there is room left.
  std::string token_line() const {
    const std::int64_t slots = geometry_.pack().slots;
    const std::string last = fmt::format("{}", slots);
    std::string text(static_cast<std::size_t>(scale_.columns()) + last.size(), ' ');
    text.replace(static_cast<std::size_t>(scale_.columns()), last.size(), last);
    const auto number = [&](std::int64_t slot) {
      const std::string digits = fmt::format("{}", slot);
      const std::int64_t column = scale_.at(slot);
      const std::string_view before = column == 0 ? "" : " ";
      const std::string spaced = fmt::format("{}{} ", before, digits);
      const auto begin = static_cast<std::size_t>(column) - before.size();
      if (text.substr(begin, spaced.size()) == std::string(spaced.size(), ' ')) {
        text.replace(begin, spaced.size(), spaced);
      }
    };
    for (std::int64_t rank = 0; rank < geometry_.ranks(); rank += cut_step_)
      number(rank * geometry_.rows_per_rank());
    for (const pack::Document& document : geometry_.pack().documents) {
      number(document.start);
      if (document.end() != slots) number(document.end());
    }
    return line("token", text, scale_.exact() ? "" : scale_text(scale_.tokens_per_column()));
  }

  std::string cut_line() const {
    std::string text(static_cast<std::size_t>(scale_.columns()), '.');
    for (std::int64_t rank = 0; rank < geometry_.ranks(); rank += cut_step_) {
      const std::string mark = fmt::format("|{}", rank);
      const auto begin = static_cast<std::size_t>(scale_.at(rank * geometry_.rows_per_rank()));
      text.replace(begin, std::min(mark.size(), text.size() - begin), mark.substr(0, text.size() - begin));
    }
    return line("rank", text + "|", kOwnLegend);
  }

  // One run of slots, a document's or padding: a boundary, then `filler`, cuts as ':', its label where it
  // fits.
  void draw_run(std::string& text, std::int64_t begin_slot, std::int64_t end_slot, char filler,
                const std::string& label) {
    const std::int64_t begin = scale_.at(begin_slot);
    const std::int64_t end = scale_.at(end_slot);
    const bool crowded =
        text[static_cast<std::size_t>(begin)] == '|' || text[static_cast<std::size_t>(begin)] == '+';
    any_crowded_ = any_crowded_ || crowded;
    text[static_cast<std::size_t>(begin)] = crowded ? '+' : '|';
    if (end <= begin + 1) return;
    fill(text, begin + 1, end, filler);
    const std::int64_t stride = geometry_.rows_per_rank() * cut_step_;
    for (std::int64_t cut = (begin_slot / stride + 1) * stride; cut < end_slot; cut += stride) {
      const auto column = static_cast<std::size_t>(scale_.at(cut));
      if (text[column] == filler) text[column] = ':';
    }
    for (std::int64_t column = begin + 1; column + static_cast<std::int64_t>(label.size()) <= end; ++column) {
      if (write_over(text, column, label, filler)) break;
    }
  }

  std::string document_line() {
    const auto& documents = geometry_.pack().documents;
    const std::int64_t slots = geometry_.pack().slots;
    std::string text(static_cast<std::size_t>(scale_.columns()), ' ');
    std::int64_t end = 0;
    for (std::size_t d = 0; d <= documents.size(); ++d) {
      const std::int64_t start = d < documents.size() ? documents[d].start : slots;
      if (start > end) draw_run(text, end, start, ' ', "pad");
      if (d == documents.size()) break;
      draw_run(text, start, documents[d].end(), '-', fmt::format("d{}", d));
      end = documents[d].end();
    }
    std::string legend;
    if (any_crowded_) legend = kCrowdedLegend;
    if (has_padding()) legend += fmt::format("{}{}", legend.empty() ? "" : "  ", kPaddingLegend);
    return line("document", text + "|", legend);
  }

  std::string rank_line(const RankGroup& group) const {
    std::string text(static_cast<std::size_t>(scale_.columns()), ' ');
    const std::int64_t cut = group.first * geometry_.rows_per_rank();
    const std::int64_t shard_end = (group.last + 1) * geometry_.rows_per_rank();
    const std::int64_t straddle = geometry_.straddles()[group.first];
    // Whatever is there takes a column at least, however long the row.
    const std::int64_t own = std::max<std::int64_t>(straddle > 0 ? 1 : 0, scale_.at(cut));
    const auto mark = [&](std::int64_t begin, std::int64_t end, char with) {
      const std::int64_t column = std::clamp(scale_.at(begin), own, scale_.columns() - 1);
      fill(text, column, std::max(column + 1, scale_.at(end)), with);
    };
    mark(cut, shard_end, '.');
    for (std::int64_t rank = group.first; rank <= group.last; ++rank) {
      for (const pack::Segment& run : make_local_plan(geometry_, rank).segments) {
        const std::int64_t begin = rank * geometry_.rows_per_rank() + run.local_row;
        mark(begin, begin + run.queries, '#');
      }
    }
    if (straddle > 0) fill(text, std::min(scale_.at(cut - straddle), own - 1), own, '<');
    const std::string right =
        fmt::format("{:<{}}  {}", straddle_text(group), straddle_columns(), needs_text(group));
    return line(rank_label(group), text, right);
  }

  const pack::PackGeometry& geometry_;
  std::size_t label_columns_;
  std::vector<RankGroup> groups_;
  Scale scale_;
  std::int64_t cut_step_ = 1;  // every which cut is drawn
  bool any_crowded_ = false;   // several boundaries fell into one column
};

}  // namespace

std::vector<RankGroup> drawn_groups(const pack::PackGeometry& geometry) {
  const auto& straddles = geometry.straddles();
  const auto& real_rows = geometry.real_rows();
  const bool fold = geometry.ranks() > static_cast<std::int64_t>(kDrawnRanks);
  // Ranks that fetch nothing and own full shards, or padding alone, look the same side by side.
  const auto plain = [&](std::int64_t rank) {
    const bool uniform = real_rows[rank] == 0 || real_rows[rank] == geometry.rows_per_rank();
    return straddles[rank] == 0 && uniform;
  };
  std::vector<RankGroup> groups;
  for (std::int64_t rank = 0; rank < geometry.ranks(); ++rank) {
    const bool same =
        fold && rank > 0 && plain(rank) && plain(rank - 1) && real_rows[rank] == real_rows[rank - 1];
    if (same) {
      groups.back().last = rank;
    } else {
      groups.push_back({rank, rank});
    }
  }
  std::vector<RankGroup> drawn;
  for (const std::size_t index : choose_groups(groups, {geometry.max_straddle_rank()}, kDrawnRanks)) {
    drawn.push_back(groups[index]);
  }
  return drawn;
}

std::string draw_plan(const PlanFacts& facts, std::size_t label_columns) {
  return Drawing(facts, label_columns).text();
}

}  // namespace straddle::harness
