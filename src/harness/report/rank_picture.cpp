#include "harness/report/rank_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/judge/layout.hpp"
#include "harness/report/plan_facts.hpp"
#include "harness/report/tensor_table.hpp"
#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kPictures = 2;

// One tensor of one layer: its documents, ascending.
struct Sheet {
  std::string name;
  std::vector<const TensorVerdict*> documents;

  // (document, rank) of each X.
  [[nodiscard]] std::set<std::pair<std::int64_t, std::int64_t>> crosses() const {
    std::set<std::pair<std::int64_t, std::int64_t>> result;
    for (const TensorVerdict* verdict : documents) {
      for (std::size_t rank = 0; rank < verdict->wrong_by_rank.size(); ++rank) {
        if (verdict->wrong_by_rank[rank]) result.emplace(verdict->document, rank);
      }
    }
    return result;
  }
};

std::vector<Sheet> wrong_sheets(const Judgement& judgement) {
  std::vector<Sheet> sheets;
  for (const TensorVerdict& tensor : judgement.tensors) {
    const std::string name = tensor_name(tensor);
    if (sheets.empty() || sheets.back().name != name) sheets.push_back({name, {}});
    sheets.back().documents.push_back(&tensor);
  }
  std::erase_if(sheets, [](const Sheet& sheet) {
    return std::none_of(sheet.documents.begin(), sheet.documents.end(),
                        [](const TensorVerdict* verdict) { return verdict->wrong(); });
  });
  return sheets;
}

// At most `room` of 0 .. count-1: those in `first`, then the lowest others. Ascending.
std::vector<std::int64_t> chosen(std::int64_t count, const std::set<std::int64_t>& first, std::size_t room) {
  std::set<std::int64_t> result;
  for (const std::int64_t value : first) {
    if (result.size() < room) result.insert(value);
  }
  for (std::int64_t value = 0; value < count && result.size() < room; ++value) result.insert(value);
  return {result.begin(), result.end()};
}

class Picture {
 public:
  Picture(const Sheet& sheet, const Case& point, std::size_t width)
      : sheet_(sheet), point_(point), width_(width), rows_(point.rows_per_rank()) {
    for (const auto& [document, rank] : sheet.crosses()) wrong_ranks_.insert(rank);
    for (std::size_t i = 0; i < sheet.documents.size(); ++i) {
      if (sheet.documents[i]->wrong()) wrong_documents_.insert(static_cast<std::int64_t>(i));
    }
    label_columns_ = std::max(kBlockLabelColumns, sheet.name.size() + 2);
    cell_columns_ = rank_heading(point.ranks - 1).size() + 2;
    const std::size_t room = std::max<std::size_t>(1, (width - 2 - label_columns_ + 2) / cell_columns_);
    ranks_ = chosen(point.ranks, wrong_ranks_, room);
    const auto count = static_cast<std::int64_t>(sheet.documents.size());
    documents_ = chosen(count, wrong_documents_, kListEntries);
  }

  [[nodiscard]] std::string text(const std::string& remark) const {
    std::string heading;
    for (const std::int64_t rank : ranks_) {
      heading += fmt::format("{:<{}}", rank_heading(rank), cell_columns_);
    }
    std::string result = with_remark(line(sheet_.name, heading), legend());
    for (const std::int64_t index : documents_) {
      const TensorVerdict& verdict = *sheet_.documents[static_cast<std::size_t>(index)];
      std::string cells;
      for (const std::int64_t rank : ranks_) {
        cells += fmt::format("{:<{}}", cell(verdict, static_cast<std::size_t>(rank)), cell_columns_);
      }
      const std::string document = fmt::format("d{}", verdict.document);
      result += index == documents_.back() ? with_remark(line(document, cells), remark)
                                           : line(document, cells) + "\n";
    }
    return result + hidden_documents();
  }

 private:
  [[nodiscard]] std::string rank_heading(std::int64_t rank) const {
    return fmt::format("rank {} [{},{})", rank, rank * rows_, (rank + 1) * rows_);
  }

  [[nodiscard]] std::string legend() const {
    std::string text = "relative; . = no rows";
    if (ranks_.size() == static_cast<std::size_t>(point_.ranks)) return text;
    std::size_t shown = 0;
    for (const std::int64_t rank : wrong_ranks_) {
      shown += static_cast<std::size_t>(std::count(ranks_.begin(), ranks_.end(), rank));
    }
    return text + fmt::format("; {} of {} ranks, {} of {} wrong ones", ranks_.size(), point_.ranks, shown,
                              wrong_ranks_.size());
  }

  [[nodiscard]] std::string line(std::string_view label, std::string_view cells) const {
    std::string text = fmt::format("  {:<{}}{}", label, label_columns_, cells);
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  }

  [[nodiscard]] std::string with_remark(const std::string& before, const std::string& remark) const {
    return remark.empty() ? before + "\n" : fold_columns({before, remark}, 2 + label_columns_, width_);
  }

  [[nodiscard]] std::string cell(const TensorVerdict& verdict, std::size_t rank) const {
    const auto& documents = point_.pack.documents;
    const auto index = static_cast<std::size_t>(verdict.document);
    if (index < documents.size()) {
      const RankRange ranks = ranks_of(documents[index], rows_);
      const auto r = static_cast<std::int64_t>(rank);
      if (r < ranks.first || r > ranks.last) return fmt::format("{:>5}", ".");
    }
    const double relative = rank < verdict.relative_by_rank.size() ? verdict.relative_by_rank[rank] : NAN;
    const bool wrong = rank < verdict.wrong_by_rank.size() && verdict.wrong_by_rank[rank];
    return fmt::format("{:>9}{}", error_text(relative), wrong ? " X" : "");
  }

  [[nodiscard]] std::string hidden_documents() const {
    const std::size_t hidden = sheet_.documents.size() - documents_.size();
    if (hidden == 0) return "";
    std::size_t wrong = wrong_documents_.size();
    for (const std::int64_t index : documents_) wrong -= wrong_documents_.count(index);
    return fmt::format("  .. and {}, {} of them wrong\n",
                       plural(static_cast<std::int64_t>(hidden), "more document"), wrong);
  }

  const Sheet& sheet_;
  const Case& point_;
  std::size_t width_;
  std::int64_t rows_;
  std::size_t label_columns_ = 0;
  std::size_t cell_columns_ = 0;
  std::set<std::int64_t> wrong_ranks_;
  std::set<std::int64_t> wrong_documents_;  // indices into the sheet
  std::vector<std::int64_t> ranks_;
  std::vector<std::int64_t> documents_;  // indices into the sheet
};

}  // namespace

std::string rank_pictures(const CaseRecord& record, std::size_t width) {
  std::vector<Sheet> sheets = wrong_sheets(record.judgement);
  std::string text;
  std::size_t pictures = 0;
  while (!sheets.empty() && pictures < kPictures) {
    const Sheet sheet = sheets.front();
    const auto crosses = sheet.crosses();
    std::vector<std::string> same;
    for (const Sheet& other : sheets) {
      if (other.name != sheet.name && other.crosses() == crosses) same.push_back(other.name);
    }
    std::erase_if(sheets, [&](const Sheet& other) { return other.crosses() == crosses; });
    text += Picture(sheet, record.entry.point, width)
                .text(same.empty() ? "" : fmt::format("{}: the same picture", word_list(same)));
    ++pictures;
  }
  std::vector<std::string> others;
  for (const Sheet& sheet : sheets) others.push_back(sheet.name);
  if (!others.empty()) text += fmt::format("  {}: other pictures, not shown\n", word_list(others));
  return text;
}

}  // namespace straddle::harness
