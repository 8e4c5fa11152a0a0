#include "harness/scenario/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include "harness/scenario/findings.hpp"
#include "harness/scenario/scenario_reader.hpp"

namespace straddle::harness {
namespace {

namespace fs = std::filesystem;

Finding of_whole_file(const fs::path& path, std::string message) {
  return {path.string(), 0, 0, 1, std::move(message), {}, {}};
}

std::vector<fs::path> scenarios_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".toml" && entry.is_regular_file()) files.push_back(entry.path());
  }
  return files;
}

// Every file once, sorted by path. A folder without any is an error of its own, unless there are findings.
std::vector<fs::path> files_of(std::span<const fs::path> paths, std::vector<Finding>& findings) {
  std::vector<fs::path> files;
  std::optional<std::string> empty_folder;
  for (const fs::path& path : paths) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      findings.push_back(of_whole_file(path, "no such file or folder"));
    } else if (!fs::is_directory(status)) {
      files.push_back(path.lexically_normal());
    } else {
      try {
        const std::vector<fs::path> below = scenarios_below(path);
        if (below.empty()) empty_folder = path.string();
        for (const fs::path& file : below) files.push_back(file.lexically_normal());
      } catch (const fs::filesystem_error& failure) {
        findings.push_back(of_whole_file(path, "can't be read: " + failure.code().message()));
      }
    }
  }
  if (empty_folder && findings.empty()) {
    throw NoScenario(fmt::format("no scenario: the folder {} holds no *.toml file", *empty_folder));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

std::optional<std::string> read_file(const fs::path& path, std::vector<Finding>& findings) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.is_open() && !file.bad()) return text;
  findings.push_back(of_whole_file(path, fmt::format("can't be read: {}", std::strerror(errno))));
  return std::nullopt;
}

}  // namespace

std::vector<Scenario> load_scenarios(std::span<const fs::path> paths, const LoadOptions& options) {
  std::vector<Finding> findings;
  const std::vector<fs::path> files = files_of(paths, findings);
  if (files.empty() && findings.empty()) throw NoScenario("no scenario: no path was given");
  std::vector<Scenario> scenarios;
  for (const fs::path& file : files) {
    const auto text = read_file(file, findings);
    if (!text) continue;
    Findings of_file(file.string(), *text);
    scenarios.push_back(read_scenario(*text, of_file, options));
    const std::vector<Finding> sorted = of_file.sorted();
    findings.insert(findings.end(), sorted.begin(), sorted.end());
  }
  if (!findings.empty()) throw ScenarioError(std::move(findings), files.size());
  return scenarios;
}

Scenario parse_scenario(const std::string& text, const std::string& name, const LoadOptions& options) {
  Findings findings(name, text);
  Scenario scenario = read_scenario(text, findings, options);
  if (!findings.empty()) throw ScenarioError(findings.sorted());
  return scenario;
}

}  // namespace straddle::harness
