#include "harness/report/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "harness/report/text.hpp"

namespace straddle::harness {

std::string_view verdict_word(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::mismatch:
      return "MISMATCH";
    case Verdict::hang:
      return "HANG";
    case Verdict::crash:
      return "CRASH";
    case Verdict::vacuous:
      return "VACUOUS";
    case Verdict::skipped:
      return "skip";
    case Verdict::lost:
      return "LOST";
    case Verdict::not_applicable:
      return "n/a";
  }
  throw std::invalid_argument("no such verdict");
}

std::string painted(std::string_view word, Verdict verdict, bool color) {
  if (!color) return std::string(word);
  constexpr int kRed = 31, kGreen = 32, kYellow = 33, kCyan = 36;
  int code = kRed;
  if (verdict == Verdict::pass) code = kGreen;
  if (verdict == Verdict::vacuous) code = kYellow;
  if (verdict == Verdict::skipped || verdict == Verdict::not_applicable) code = kCyan;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, word);
}

std::string tensor_name(const std::string& tensor, std::int64_t layer) {
  return layer == 0 ? tensor : fmt::format("layer{}.{}", layer, tensor);
}

std::string tensor_name(const TensorVerdict& tensor) { return tensor_name(tensor.tensor, tensor.layer); }

bool is_of_kv_heads(std::string_view tensor) { return tensor == "d_k" || tensor == "d_v"; }

bool is_forward(std::string_view tensor) { return tensor == "out" || tensor == "lse"; }

std::string path_text(const CaseRecord& record) {
  const pack::Path& path = record.facts.path;
  if (record.entry.point.ranks == 1) return "none (W = 1)";
  if (path.reason == pack::PathReason::as_asked) return std::string(pack::name(path.taken));
  return fmt::format("{}, {}", pack::name(path.taken), pack::name(path.reason));
}

std::string documents_text(const std::vector<std::int64_t>& documents, std::size_t of_documents) {
  if (documents.size() == of_documents && of_documents > 2)
    return fmt::format("all {} documents", of_documents);
  return fmt::format("document{} {}", documents.size() == 1 ? "" : "s", number_list(documents));
}

bool has_bits_of_w1(const BitsVerdict& bits) {
  return bits.compared && bits.equal && bits.changed_share_d_kv <= bits.allowed_share;
}

std::vector<const TensorVerdict*> wrong_tensors(const Judgement& judgement) {
  std::vector<const TensorVerdict*> wrong;
  for (const TensorVerdict& tensor : judgement.tensors) {
    if (tensor.wrong()) wrong.push_back(&tensor);
  }
  return wrong;
}

std::vector<std::int64_t> ascending(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<std::string> distinct(const std::vector<std::string>& values) {
  std::vector<std::string> result;
  for (const std::string& value : values) {
    if (std::find(result.begin(), result.end(), value) == result.end()) result.push_back(value);
  }
  return result;
}

std::string shown_folder(const RunInfo& info, bool times) {
  std::string folder = info.folder;
  const std::size_t at = info.run_id.empty() ? std::string::npos : folder.rfind(info.run_id);
  if (!times && at != std::string::npos) folder.replace(at, info.run_id.size(), "ID");
  return folder;
}

}  // namespace straddle::harness
