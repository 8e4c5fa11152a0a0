// The records of results.jsonl as text, and back as far as a reader of results needs it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/report/json_lines.hpp"

namespace straddle::harness {

// One line each, without its line break. Numbers that JSON has no word for are the strings "inf", "-inf" and
// "nan"; 64-bit checksums are hex strings; bytes that are no UTF-8 are replaced.
[[nodiscard]] std::string run_json(const RunInfo& info);
[[nodiscard]] std::string case_json(const CaseRecord& record, const RunInfo& info);
[[nodiscard]] std::string summary_json(const RunTotals& totals, const RunInfo& info);

// One line of a results file, and what it says of a case.
struct ResultLine {
  std::string schema;  // "straddle.case/1"
  std::string run_id;
  ResultCase result;  // of a case record
};

// Nothing for a text that is no whole JSON object with a schema.
[[nodiscard]] std::optional<ResultLine> parse_result_line(std::string_view line);

}  // namespace straddle::harness
