// Where a file that a scenario names lies: seen from the scenario's folder, else from that folder's parent.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace straddle::harness {

[[nodiscard]] inline std::optional<std::filesystem::path> look_up(const std::string& scenario_file,
                                                                  const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(scenario_file).parent_path();
  for (const std::filesystem::path& base : {folder, folder / ".."}) {
    const std::filesystem::path candidate = (base / path).lexically_normal();
    std::error_code error;
    if (std::filesystem::is_regular_file(candidate, error)) return candidate;
  }
  return std::nullopt;
}

}  // namespace straddle::harness
