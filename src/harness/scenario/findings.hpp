// Collects what is wrong with one scenario file.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/scenario/scenario.hpp"
#include "harness/scenario/toml_tree.hpp"

namespace straddle::harness {

class Findings {
 public:
  Findings(std::string file, std::string_view text);

  void add(const TomlPlace& place, std::string message, std::string hint = {});
  [[nodiscard]] bool empty() const { return findings_.empty(); }
  [[nodiscard]] std::size_t size() const { return findings_.size(); }
  [[nodiscard]] std::vector<Finding> sorted() const;  // by line and column
  [[nodiscard]] const std::string& file() const { return file_; }

 private:
  std::string file_;
  std::vector<std::string> lines_;
  std::vector<Finding> findings_;
};

// "ranks, exchange, kernel", and the one of them that `name` is probably meant to be: the nearest by edit
// distance, if at most a third of its letters differ; empty otherwise.
[[nodiscard]] std::string join(std::span<const std::string_view> names, std::string_view separator = ", ");
[[nodiscard]] std::string_view nearest(std::string_view name, std::span<const std::string_view> names);
// "did you mean "exchange"? keys here: ranks, ..", or the second half alone.
[[nodiscard]] std::string suggestion(std::string_view name, std::string_view what,
                                     std::span<const std::string_view> names);

}  // namespace straddle::harness
