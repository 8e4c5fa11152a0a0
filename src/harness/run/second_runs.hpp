// The further runs and references that some cases are judged with: a probe's second run, results stored
// beside the inputs.
#pragma once

#include "harness/judge/judge.hpp"
#include "harness/run/subject.hpp"

namespace straddle::harness {

struct SecondRun {
  std::int64_t changed;  // token (change_token) or document (nan_document)
  SubjectRun run;
};

// Which token or document a probe changes: the last real row before the first cut, or the document it belongs
// to; the last document's first token where W = 1 or nothing real lies before the cut.
[[nodiscard]] std::int64_t probed(const Case& point);

// Collective over the world.
[[nodiscard]] SecondRun run_probe(const Case& point, const Inputs& inputs, Subject& subject,
                                  comm::World& world);

// Whether the case's file holds exact results for the very values that the case computes with: not in fp64
// (they are stored in fp32) and not in a 16-bit type that the file's inputs would have to be rounded to.
[[nodiscard]] bool has_stored_results(const Case& point);

// The file's results in place of the oracle's, with the oracle's condition scales.
[[nodiscard]] OracleLayer with_stored_results(const Case& point, const OracleLayer& oracle);

}  // namespace straddle::harness
