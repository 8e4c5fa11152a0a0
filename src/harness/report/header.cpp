#include "harness/report/header.hpp"

#include <fmt/format.h>

#include "harness/report/text.hpp"
#include "harness/report/words.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kIndent = 2;

// "4 = 1 host x 4 (dev01)", "5 = dev01 x 3, dev02 x 2".
std::string ranks_text(const RunInfo& info) {
  const std::vector<std::string> hosts = distinct(info.hosts);
  if (hosts.empty()) return fmt::format("{}", info.ranks);
  std::vector<std::string> with_counts;
  std::int64_t least = info.ranks, most = 0;
  for (const std::string& host : hosts) {
    std::int64_t ranks = 0;
    for (const std::string& of_rank : info.hosts) ranks += of_rank == host ? 1 : 0;
    least = std::min(least, ranks);
    most = std::max(most, ranks);
    with_counts.push_back(fmt::format("{} x {}", host, ranks));
  }
  if (least != most) return fmt::format("{} = {}", info.ranks, word_list(with_counts));
  return fmt::format("{} = {} x {} ({})", info.ranks, plural(static_cast<std::int64_t>(hosts.size()), "host"),
                     most, word_list(hosts));
}

}  // namespace

std::string run_header(const RunInfo& info, bool times, std::size_t width) {
  std::string cases = plural(info.cases, "case");
  if (info.files > 0) cases += " of " + plural(info.files, "file");
  const std::string deadline =
      info.timeout_s > 0 ? fmt::format("deadline {:g} s a case", info.timeout_s) : "no deadline";
  std::string text =
      fold_columns({fmt::format("straddle {} ({})", info.version, info.commit),
                    times ? "run " + info.run_id : "", fmt::format("seed {}", info.seed), cases, deadline},
                   kIndent, width);
  text += fold_columns(
      {"ranks " + ranks_text(info), "transport " + info.transport, "kernels " + word_list(info.kernels)},
      kIndent, width);
  return text + not_here_line(info, width);
}

std::string file_heading(const RunInfo& info, const std::string& file, std::size_t width) {
  if (file.empty()) return "";
  const auto title = info.titles.find(file);
  return fold_columns({file, title == info.titles.end() ? "" : title->second}, kIndent, width);
}

std::string not_here_line(const RunInfo& info, std::size_t width) {
  if (info.not_here.empty()) return "";
  return wrap("not here: " + word_list(info.not_here), 0, kIndent, width) + "\n";
}

}  // namespace straddle::harness
