#include "harness/report/plan_picture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <vector>

#include "harness/report/plan_facts.hpp"
#include "pack/cost.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using Entries = std::vector<std::int64_t>;
using pack::ExchangeKind;

const PlanPictureOptions kOptions{.heads = 4, .kv_heads = 2, .head_dim = 64, .v_head_dim = 64};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// The lines that differ, expected before seen; empty where there are none.
std::string difference(const std::string& expected, const std::string& seen) {
  if (expected == seen) return "";
  const auto want = lines_of(expected);
  const auto got = lines_of(seen);
  std::string text;
  for (std::size_t i = 0; i < std::max(want.size(), got.size()); ++i) {
    const bool in_both = i < want.size() && i < got.size();
    if (in_both && want[i] == got[i]) continue;
    if (i < want.size()) text += fmt::format("{:>3} - {}\n", i + 1, want[i]);
    if (i < got.size()) text += fmt::format("{:>3} + {}\n", i + 1, got[i]);
  }
  return text.empty() ? "only the end of the last line differs" : text;
}

void check_golden(const std::string& name, const std::string& seen) {
  const std::string path = fmt::format("{}/tests/harness/report/golden/{}", STRADDLE_SOURCE_DIR, name);
  std::ifstream file(path);
  REQUIRE_MESSAGE(file, "no golden file ", path);
  const std::string expected{std::istreambuf_iterator<char>(file), {}};
  const std::string differs = difference(expected, seen);
  CHECK_MESSAGE(differs.empty(), name, ", - golden, + seen:\n", differs);
}

// 40 documents of 1 to 320 tokens.
Entries forty() {
  Entries lengths;
  for (std::int64_t i = 0; i < 40; ++i) lengths.push_back(1 + i * 7919 % 320);
  return lengths;
}

TEST_CASE("the pictures") {
  check_golden("plan_2_11_3_w4.txt",
               plan_picture(pack::from_lengths(Entries{2, 11, 3}), 4, ExchangeKind::halo, kOptions));
  check_golden("plan_padding_w4.txt",
               plan_picture(pack::from_lengths(Entries{1, 7, 3}, 16), 4, ExchangeKind::halo, kOptions));
  PlanPictureOptions bf16 = kOptions;
  bf16.dtype = tensor::DType::bf16;
  check_golden("plan_allgather_bf16_w2.txt",
               plan_picture(pack::from_lengths(Entries{1, 6, 3}, 12), 2, ExchangeKind::allgather, bf16));
  check_golden("plan_gapped_w2.txt", plan_picture(pack::from_starts(Entries{0, 4, 8}, Entries{3, 2, 4}, 13),
                                                  2, ExchangeKind::a2a, kOptions));
  check_golden("plan_aligned_w4.txt",
               plan_picture(pack::from_lengths(Entries{4, 4, 4, 4}), 4, ExchangeKind::a2a, kOptions));
  check_golden("plan_w1.txt",
               plan_picture(pack::from_lengths(Entries{5, 3}), 1, ExchangeKind::a2a, kOptions));
  check_golden("plan_forty_w8.txt",
               plan_picture(pack::from_lengths(forty(), 8192), 8, ExchangeKind::a2a, kOptions));
  check_golden("plan_one_long_w64.txt",
               plan_picture(pack::from_lengths(Entries{1 << 20}), 64, ExchangeKind::halo, kOptions));
  check_golden("plan_padding_w256.txt",
               plan_picture(pack::from_lengths(forty(), 16384), 256, ExchangeKind::halo, kOptions));
}

TEST_CASE("a golden file that differs is shown line by line") {
  CHECK(difference("a\nb\n", "a\nb\n").empty());
  CHECK(difference("a\nb\nc\n", "a\nx\nc\n") == "  2 - b\n  2 + x\n");
  CHECK(difference("a\n", "a\nb\n") == "  2 + b\n");
  CHECK(difference("a\nb\n", "a\n") == "  2 - b\n");
  CHECK_FALSE(difference("a\n", "a").empty());
}

// Documents by slot, -1 for padding.
Entries labels_of(const pack::Pack& pack) {
  Entries labels(static_cast<std::size_t>(pack.slots), -1);
  for (std::size_t d = 0; d < pack.documents.size(); ++d) {
    std::fill_n(labels.begin() + pack.documents[d].start, pack.documents[d].length,
                static_cast<std::int64_t>(d));
  }
  return labels;
}

// What rank's line must show for a slot: own rows, own padding, rows fetched because one of its rows sees
// them.
char mark_by_definition(const Entries& labels, std::int64_t rank, std::int64_t rows, std::int64_t slot) {
  const std::int64_t begin = rank * rows;
  if (slot >= begin && slot < begin + rows) return labels[slot] < 0 ? '.' : '#';
  for (std::int64_t i = begin; i < begin + rows; ++i) {
    if (labels[i] >= 0 && labels[slot] == labels[i] && slot <= i) return '<';
  }
  return ' ';
}

std::string first_wrong_mark(const pack::Pack& pack, int ranks) {
  const auto lines = lines_of(plan_picture(pack, ranks, ExchangeKind::a2a, kOptions));
  const Entries labels = labels_of(pack);
  constexpr std::int64_t kLabel = 9;
  constexpr std::int64_t kPerToken = 4;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::string line = lines[4 + rank];
    line.resize(std::max<std::size_t>(line.size(), kLabel + kPerToken * pack.slots), ' ');
    for (std::int64_t column = 0; column < kPerToken * pack.slots; ++column) {
      const char due = mark_by_definition(labels, rank, pack.slots / ranks, column / kPerToken);
      if (line[kLabel + column] != due)
        return fmt::format("column {} must be '{}' in\n{}", column, due, line);
    }
  }
  return "";
}

TEST_CASE(
    "each token of each rank is drawn as what it is, for every pack of up to 8 slots, gapped ones too") {
  for (std::int64_t slots = 1; slots <= 8; ++slots) {
    std::int64_t codes = 1;
    for (std::int64_t i = 0; i < slots; ++i) codes *= 3;
    for (std::int64_t code = 0; code < codes;
         ++code) {  // base 3 digits: padding, a document starts, it goes on
      pack::Pack pack{{}, slots};
      std::int64_t rest = code;
      for (std::int64_t slot = 0; slot < slots; ++slot, rest /= 3) {
        const bool goes_on = rest % 3 == 2 && !pack.documents.empty() && pack.documents.back().end() == slot;
        if (goes_on) {
          ++pack.documents.back().length;
        } else if (rest % 3 != 0) {
          pack.documents.push_back({slot, 1});
        }
      }
      for (int ranks = 1; ranks <= slots; ++ranks) {
        if (slots % ranks != 0) continue;
        const std::string wrong = first_wrong_mark(pack, ranks);
        if (!wrong.empty()) FAIL(wrong);
      }
    }
  }
}

TEST_CASE("any pack gives plain lines of at most 100 columns, and no flood") {
  std::mt19937_64 random(20240607);  // documents of every scale on up to 4096 ranks
  for (int draw = 0; draw < 300; ++draw) {
    const int ranks = 1 << (random() % 13);
    const std::int64_t largest = std::int64_t{1} << (1 + random() % 20);
    Entries lengths(random() % 200);
    for (std::int64_t& length : lengths) length = static_cast<std::int64_t>(random() % largest);
    const pack::Pack pack = pack::from_lengths(lengths);
    if (pack.slots == 0) continue;
    const auto kind = static_cast<ExchangeKind>(random() % 3);
    const std::string text = plan_picture(pack, ranks, kind, kOptions);
    CAPTURE(draw);
    CAPTURE(text);
    const auto lines = lines_of(text);
    CHECK(lines.size() <= 55);
    for (const std::string& line : lines) {
      CHECK(line.size() <= 100);
      CHECK(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c <= '~'; }));
      CHECK((line.empty() || line.back() != ' '));
    }
  }
}

TEST_CASE("the longest straddle and the busiest rank are shown, however many ranks there are") {
  Entries lengths(1000, 64);
  lengths[700] = 300;  // crosses several shards of 64 slots
  const std::string text = plan_picture(pack::from_lengths(lengths), 1024, ExchangeKind::halo, kOptions);
  const auto padded = pack::from_lengths(lengths).padded_to_multiple_of(1024);
  const pack::PackGeometry geometry(padded, 1024);
  const auto pairs = pack::pairs_per_rank(padded, 1024);
  const auto busiest = std::max_element(pairs.begin(), pairs.end()) - pairs.begin();
  CAPTURE(text);
  CHECK(text.find(fmt::format("b_{} = {}", geometry.max_straddle_rank(), geometry.max_straddle())) !=
        std::string::npos);
  CHECK(text.find(fmt::format("\nrank {} ", busiest)) != std::string::npos);
}

TEST_CASE("4096 ranks, 16 million tokens, 100 thousand documents are drawn") {
  Entries lengths;
  for (std::int64_t i = 0; i < 100'000; ++i) lengths.push_back(1 + i * 7919 % 320);
  const std::string text =
      plan_picture(pack::from_lengths(lengths, 1 << 24), 4096, ExchangeKind::halo, kOptions);
  CHECK(text.find(
            "100000 documents, 16049840 tokens + 727376 padding = 16777216 slots\nW = 4096, L = 4096; ") ==
        0);
}

TEST_CASE("a pack without a plan is refused") {
  CHECK_THROWS_AS(plan_picture(pack::Pack{}, 2, ExchangeKind::a2a, kOptions), pack::PackError);
  CHECK_THROWS_AS(plan_picture(pack::from_lengths(Entries{4}), 0, ExchangeKind::a2a, kOptions),
                  pack::PackError);
}

TEST_CASE("lists, bytes and ranks fold") {
  CHECK(folded_list({0, 2, 4}, 17) == "0 2 4");
  CHECK(folded_list({0, 1, 2, 3, 4, 5, 6, 7}, 17) == "0 1 2 3 4 5 6 7");
  CHECK(folded_list({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, 40) == "0 1 2 3 4 5 6 7 .. 2 more");
  CHECK(folded_list({0, 1000, 2000, 3000, 4000}, 16) == "0 1000 .. 3 more");
  CHECK(folded_list({0, 1000, 2000, 3000, 4000}, 15) == "0 .. 4 more");
  CHECK(bytes_text(1023) == "1023 B");
  CHECK(bytes_text(1024) == "1.0 KiB");
  CHECK(bytes_text(1048524) == "1023.9 KiB");
  CHECK(bytes_text(1048575) == "1.0 MiB");
  CHECK(bytes_text(std::int64_t{3} << 29) == "1.5 GiB");
  CHECK(rank_label({3, 3}) == "rank 3");
  CHECK(rank_label({0, 2}) == "rank 0-2");
  const std::vector<RankGroup> groups{{0, 0}, {1, 3}, {4, 4}, {5, 5}, {6, 9}, {10, 10}};
  CHECK(choose_groups(groups, {7}, 6) == std::vector<std::size_t>{0, 1, 2, 3, 4, 5});
  CHECK(choose_groups(groups, {7}, 4) == std::vector<std::size_t>{0, 1, 4, 5});
}

}  // namespace
}  // namespace straddle::harness
