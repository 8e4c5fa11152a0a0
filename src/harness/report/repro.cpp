#include "harness/report/repro.hpp"

#include <fmt/format.h>

#include <string_view>

namespace straddle::harness {
namespace {

// As a shell takes it for one word.
std::string quoted(const std::string& word) {
  constexpr std::string_view kSafe =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789,:+/._-=@%";
  if (!word.empty() && word.find_first_not_of(kSafe) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

std::string launched(const RunInfo& info, std::int64_t ranks) {
  std::string text = info.under_mpi ? fmt::format("mpirun -np {} straddle run", ranks)
                                    : fmt::format("straddle run --transport threads --ranks {}", ranks);
  const double default_timeout_s = RunInfo{}.timeout_s;
  if (info.timeout_s != default_timeout_s) text += fmt::format(" --timeout {:g}", info.timeout_s);
  return text;
}

}  // namespace

std::string repro(const RunInfo& info, const CaseEntry& entry, WithExpect with_expect) {
  const bool needs_file = names_a_file(entry.text) || with_expect == WithExpect::yes;
  const std::string file = needs_file && !entry.file.empty() ? " " + quoted(entry.file) : "";
  return fmt::format("{}{} --case {}", launched(info, entry.point.ranks), file, entry.text);
}

std::string repro(const RunInfo& info, const CaseRecord& record) {
  return repro(info, record.entry, record.verdict == Verdict::vacuous ? WithExpect::yes : WithExpect::no);
}

std::string rerun_failed(const RunInfo& info, const std::string& folder) {
  return fmt::format("{} --failed {}", launched(info, info.ranks), quoted(folder));
}

}  // namespace straddle::harness
