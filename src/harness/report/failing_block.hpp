// What follows a failing case at once: where it is wrong, by how much, and how to run it again.
#pragma once

#include <string>

#include "harness/report/record.hpp"

namespace straddle::harness {

struct BlockOptions {
  std::int64_t cause = 0;  // its number in this run, 0: not known
  bool color = false;
  bool times = true;
  std::size_t width = 100;
};

// By verdict: mismatch_block, stop_block (hang, crash, lost) or, for a vacuous case, how to run it again with
// what it must show.
[[nodiscard]] std::string failing_block(const CaseRecord& record, const RunInfo& info,
                                        const BlockOptions& options);

// "MISMATCH  W4/..       scenarios/three_ranks.toml:11, cause 1"; `more` stands behind the place.
[[nodiscard]] std::string block_heading(const CaseRecord& record, const BlockOptions& options,
                                        const std::string& more = {});

// "  in short  text", wrapped under the text; label_columns from the indent of two.
[[nodiscard]] std::string labelled(std::string_view label, std::string_view text, std::size_t label_columns,
                                   std::size_t width);

// Case text and command are never broken.
[[nodiscard]] std::string repro_line(const CaseRecord& record, const RunInfo& info);

// Of a mismatch: tensors, first and worst elements, a picture of documents over ranks, what else is wrong.
[[nodiscard]] std::string mismatch_block(const CaseRecord& record, const RunInfo& info,
                                         const BlockOptions& options);

// Of a case that did not end: the cause as far as it is known, where each rank stands.
[[nodiscard]] std::string stop_block(const CaseRecord& record, const RunInfo& info,
                                     const BlockOptions& options);

}  // namespace straddle::harness
