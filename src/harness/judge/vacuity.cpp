#include "harness/judge/vacuity.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "harness/judge/layout.hpp"

namespace straddle::harness {
namespace {

// What the geometry of a case is, as [expect] asks for it.
class Geometry {
 public:
  Geometry(const Case& point, const CaseFacts& facts)
      : pack_(point.pack), ranks_(point.ranks), rows_per_rank_(facts.rows_per_rank) {}

  // Ranks of the document that lies on most of them; 0 without documents.
  [[nodiscard]] std::int64_t widest_document() const {
    std::int64_t widest = 0;
    for (const pack::Document& document : pack_.documents) {
      widest = std::max(widest, ranks_of(document, rows_per_rank_).count());
    }
    return widest;
  }

  // The longest run of one document's rows on one rank.
  [[nodiscard]] std::int64_t longest_segment() const {
    std::int64_t longest = 0;
    for (const pack::Document& document : pack_.documents) {
      const RankRange ranks = ranks_of(document, rows_per_rank_);
      for (std::int64_t rank = ranks.first; rank <= ranks.last; ++rank) {
        longest = std::max(longest, std::min(document.end(), (rank + 1) * rows_per_rank_) -
                                        std::max(document.start, rank * rows_per_rank_));
      }
    }
    return longest;
  }

  // The first cut, of all rows rL, where no 1-token document ends or starts; -1: there is none.
  [[nodiscard]] std::int64_t cut_without_one_token() const {
    for (std::int64_t rank = 1; rank < ranks_; ++rank) {
      const std::int64_t cut = rank * rows_per_rank_;
      const bool touches = std::any_of(pack_.documents.begin(), pack_.documents.end(), [&](const auto& d) {
        return d.length == 1 && (d.start == cut || d.end() == cut);
      });
      if (!touches) return cut;
    }
    return -1;
  }

 private:
  const pack::Pack& pack_;
  std::int64_t ranks_;
  std::int64_t rows_per_rank_;
};

// Collects one sentence for each expectation that does not hold.
class Expectations {
 public:
  void require(const std::optional<bool>& expected, bool seen, std::string_view what,
               std::string_view opposite, const std::string& but) {
    if (!expected || *expected == seen) return;
    reasons_.push_back(fmt::format("expected {}, but {}", *expected ? what : opposite, but));
  }
  void require_at_least(const std::optional<std::int64_t>& expected, std::int64_t seen,
                        const std::string& what, const std::string& but) {
    if (expected && seen < *expected) reasons_.push_back(fmt::format("expected {}, but {}", what, but));
  }
  void require_name(const std::optional<std::string>& expected, std::string_view seen, std::string_view what,
                    const std::string& but) {
    if (expected && *expected != seen) {
      reasons_.push_back(fmt::format("expected {} {}, but {}", what, *expected, but));
    }
  }
  void add(std::string reason) { reasons_.push_back(std::move(reason)); }
  [[nodiscard]] std::vector<std::string> take() { return std::move(reasons_); }

 private:
  std::vector<std::string> reasons_;
};

std::string list(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, " "));
}

std::string plural(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void check_path(const Expect& expect, const CaseFacts& facts, Expectations& expectations) {
  const std::string_view taken = pack::name(facts.path.taken);
  const std::string_view reason = pack::name(facts.path.reason);
  const std::string detail = facts.path.detail.empty() ? "" : fmt::format(" ({})", facts.path.detail);
  expectations.require_name(expect.path, taken, "the path",
                            fmt::format("{} was taken: {}{}", taken, reason, detail));
  expectations.require_name(expect.reason, reason, "the reason",
                            fmt::format("the path is {} for the reason {}{}", taken, reason, detail));
}

// What lies on which rank.
void check_ranks(const Case& point, const Expect& expect, const CaseFacts& facts,
                 Expectations& expectations) {
  const Geometry geometry(point, facts);
  const auto is_zero = [](std::int64_t value) { return value == 0; };
  const auto& b = facts.straddles;
  const bool straddle = !std::all_of(b.begin(), b.end(), is_zero);
  expectations.require(expect.straddles, straddle, "a straddle", "no straddle", "b = " + list(b));

  const std::int64_t padding_ranks = std::count_if(facts.real_rows.begin(), facts.real_rows.end(), is_zero);
  const std::string real_rows = "the real rows are " + list(facts.real_rows);
  expectations.require_at_least(
      expect.padding_ranks, padding_ranks,
      fmt::format("padding only on {} or more", plural(expect.padding_ranks.value_or(0), "rank")), real_rows);
  expectations.require(expect.one_real_rank, padding_ranks == point.ranks - 1,
                       "padding only on all ranks but one", "real rows on no or several ranks", real_rows);

  expectations.require_at_least(
      expect.document_ranks, geometry.widest_document(),
      fmt::format("a document on {} or more", plural(expect.document_ranks.value_or(0), "rank")),
      fmt::format("the widest lies on {}", geometry.widest_document()));
  expectations.require_at_least(
      expect.tile_rows ? std::optional(*expect.tile_rows + 1) : std::nullopt, geometry.longest_segment(),
      fmt::format("a segment of more than {}", plural(expect.tile_rows.value_or(0), "row")),
      fmt::format("the longest has {}", geometry.longest_segment()));
}

// Where the cuts fall, and what the row looks like.
void check_cuts(const Case& point, const Expect& expect, const CaseFacts& facts, Expectations& expectations) {
  const Geometry geometry(point, facts);
  const auto straddling = std::find_if(facts.straddles.begin(), facts.straddles.end(),
                                       [](std::int64_t rows) { return rows > 0; });
  const bool inside = straddling != facts.straddles.end();
  expectations.require(expect.cuts_on_starts, !inside, "every cut on a document's first row or on padding",
                       "a cut inside a document",
                       inside ? fmt::format("row {} is inside one",
                                            (straddling - facts.straddles.begin()) * facts.rows_per_rank)
                              : std::string("there is none"));
  const std::int64_t bare = geometry.cut_without_one_token();
  expectations.require(expect.one_token_at_cuts, bare < 0, "a 1-token document at every cut",
                       "a cut without a 1-token document",
                       bare < 0 ? std::string("there is none") : fmt::format("row {} has none", bare));
  expectations.require(
      expect.slots_padded, point.pack.slots % point.ranks != 0, "slots that the ranks don't divide",
      "slots that the ranks divide",
      fmt::format("there are {} on {}", plural(point.pack.slots, "slot"), plural(point.ranks, "rank")));
  expectations.require(expect.gapped, point.pack.gapped(), "padding before or between documents",
                       "padding at the end only",
                       point.pack.gapped() ? "it is elsewhere too" : "there is none");
  expectations.require(expect.one_row_shards, facts.rows_per_rank == 1, "one row a rank",
                       "several rows a rank", fmt::format("L = {}", facts.rows_per_rank));
}

}  // namespace

std::vector<std::string> vacuous_reasons(const Case& point, const Expect& expect, const CaseFacts& facts,
                                         const Judgement& judgement) {
  Expectations expectations;
  if (point.ranks >= expect.min_ranks) {
    check_path(expect, facts, expectations);
    check_ranks(point, expect, facts, expectations);
    check_cuts(point, expect, facts, expectations);
  }
  for (const std::string& tensor : judgement.zero_references) {
    if (std::find(expect.zero.begin(), expect.zero.end(), tensor) != expect.zero.end()) continue;
    expectations.add(fmt::format("the exact {} is 0 over the whole case", tensor));
  }
  return expectations.take();
}

std::vector<std::string> wrong_facts(const Case& point, const CaseFacts& facts) {
  std::vector<std::string> wrong;
  const auto require_bytes = [&](std::string_view what, std::int64_t moved, std::int64_t form) {
    if (moved == form) return;
    wrong.push_back(fmt::format("{} moved {} B, but the closed form is {} B", what, moved, form));
  };
  require_bytes("K/V forward", facts.forward_bytes, facts.forward_bytes_form);
  require_bytes("dK/dV backward", facts.backward_bytes, facts.backward_bytes_form);

  std::int64_t pairs = 0, form = 0;
  for (const std::int64_t rank_pairs : facts.pairs) pairs += rank_pairs;
  for (const pack::Document& document : point.pack.documents) {
    form += document.length * (document.length + 1) / 2;
  }
  if (pairs != form) {
    wrong.push_back(fmt::format("the ranks' pairs {} sum to {}, but sum n (n + 1) / 2 is {}",
                                list(facts.pairs), pairs, form));
  }
  if (!facts.same_operations)
    wrong.emplace_back("the ranks did not call the same operations in the same order");
  return wrong;
}

}  // namespace straddle::harness
