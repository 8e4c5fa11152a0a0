// Scenario files: TOML in, cases out. Every error has file, line and column, and all errors of all files come
// at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/scenario/case.hpp"

namespace straddle::harness {

// What a case is about: facts that must hold, or the case is vacuous. Binds cases with ranks >= min_ranks; W
// = 1 is the control arm.
struct Expect {
  std::int64_t min_ranks = 2;
  std::optional<bool> straddles;               // some b_r > 0
  std::optional<std::string> path;             // name of the exchange taken
  std::optional<std::string> reason;           // name of the reason
  std::optional<std::int64_t> padding_ranks;   // at least this many ranks own padding only
  std::optional<bool> one_real_rank;           // all ranks but one own padding only
  std::optional<std::int64_t> document_ranks;  // some document lies on at least this many ranks
  std::optional<bool> cuts_on_starts;          // every cut falls on a document's first row or on padding
  std::optional<bool> one_token_at_cuts;       // at every cut a 1-token document ends or starts
  std::optional<bool> slots_padded;            // W did not divide the slots
  std::optional<bool> gapped;
  std::optional<bool> one_row_shards;     // L = 1
  std::optional<std::int64_t> tile_rows;  // some segment has more rows than this
  std::vector<std::string> zero;          // tensors whose reference may be 0 over the whole case
  bool operator==(const Expect&) const = default;
};

struct CaseEntry {
  Case point;
  std::string text;       // print(point)
  std::string file;       // scenario, as found; "" for --case and --random
  std::int64_t line = 0;  // of the [[pack]] or of what made the point
  Expect expect;
  // Documents of length 0 that were written or drawn; the pack no longer holds them.
  std::int64_t empty_documents = 0;
  std::optional<std::string>
      not_applicable;  // why the combination makes no sense (dense with a needed-only exchange, ..)
};

struct Scenario {
  std::string file;
  std::string title;
  std::vector<CaseEntry>
      cases;  // as the matrix is written: packs, then attention, inputs, and matrix keys in the order of docs
};

// One finding in one file; prints as looks.md's picture 7 (message, the source line, a caret, the legal
// values).
struct Finding {
  std::string file;
  std::int64_t line = 0;
  std::int64_t column = 0;
  std::int64_t length = 1;  // of the underlined text
  std::string message;
  std::string hint;         // after the caret: "did you mean ..", "one of 1, 2, 4"
  std::string source_line;  // printable ASCII, one character a column
};
[[nodiscard]] std::string text(const Finding& finding);  // ends with a line break; line 0: of the whole file

class ScenarioError : public std::runtime_error {
 public:
  explicit ScenarioError(std::vector<Finding> findings, std::size_t files = 1);
  [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }

 private:
  std::vector<Finding> findings_;
};

struct LoadOptions {
  std::vector<std::string> kernels = {"cpu", "dense"};  // that this build has: others are unknown values
};

// paths: files and folders (all *.toml below, by path). Throws ScenarioError with all findings of all files;
// a folder without scenarios gives NoScenario (exit 5).
class NoScenario : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
[[nodiscard]] std::vector<Scenario> load_scenarios(std::span<const std::filesystem::path> paths,
                                                   const LoadOptions& options = {});

// The same for a text; name stands in messages. For tests.
[[nodiscard]] Scenario parse_scenario(const std::string& text, const std::string& name,
                                      const LoadOptions& options = {});

}  // namespace straddle::harness
