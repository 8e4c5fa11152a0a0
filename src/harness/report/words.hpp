// How the reports name things of a case: verdicts, tensors, paths, documents.
#pragma once

#include <string>
#include <string_view>

#include "harness/report/record.hpp"

namespace straddle::harness {

// "pass", "MISMATCH", "skip", "n/a": bad verdicts are upper case, so that grep finds them.
[[nodiscard]] std::string_view verdict_word(Verdict verdict);

// The word in the verdict's colour (ANSI), or as it is.
[[nodiscard]] std::string painted(std::string_view word, Verdict verdict, bool color);

// "d_k", and "layer1.d_k" of a layer that is not the first, as saved files name it.
[[nodiscard]] std::string tensor_name(const TensorVerdict& tensor);
[[nodiscard]] std::string tensor_name(const std::string& tensor, std::int64_t layer);

[[nodiscard]] bool is_of_kv_heads(std::string_view tensor);  // d_k and d_v
[[nodiscard]] bool is_forward(std::string_view tensor);      // out and lse

// "a2a", "a2a, halo_short" when another path was asked for, "none (W = 1)".
[[nodiscard]] std::string path_text(const CaseRecord& record);

// "document 3", "documents 0-2 5", "all 14 documents". Ascending, without repeats.
[[nodiscard]] std::string documents_text(const std::vector<std::int64_t>& documents,
                                         std::size_t of_documents);

[[nodiscard]] bool has_bits_of_w1(const BitsVerdict& bits);

// Tensors that are wrong, in the order of the judgement.
[[nodiscard]] std::vector<const TensorVerdict*> wrong_tensors(const Judgement& judgement);

// The values without repeats, ascending.
[[nodiscard]] std::vector<std::int64_t> ascending(std::vector<std::int64_t> values);

// The values without repeats, in the order of their first appearance.
[[nodiscard]] std::vector<std::string> distinct(const std::vector<std::string>& values);

// A folder with the run's id, or with the letters ID in its place, so that two runs print the same.
[[nodiscard]] std::string shown_folder(const RunInfo& info, bool times);

}  // namespace straddle::harness
