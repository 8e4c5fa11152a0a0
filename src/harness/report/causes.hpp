// What failed in a run, counted by cause: equal causes are one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "harness/report/record.hpp"

namespace straddle::harness {

struct Cause {
  std::int64_t number = 0;  // from 1, by first appearance
  Verdict verdict = Verdict::mismatch;
  std::string text;                          // of its first case
  std::string first_case;                    // its text
  std::string place;                         // "scenarios/leaks.toml:14", of its first case
  std::vector<std::int64_t> ranks;           // W of its cases, ascending
  std::vector<std::string> kernels, dtypes;  // of its cases, by first appearance
  std::int64_t cases = 0;
  std::int64_t shown = 0;  // blocks
};

class Causes {
 public:
  // `blocks`: shown of each cause.
  explicit Causes(std::int64_t blocks) : blocks_(blocks) {}

  struct Counted {
    std::int64_t number;
    bool show_block;
  };
  // Two records have the same cause if they have the same verdict and the same signature, numbers in the
  // sentences of a hang or crash aside.
  Counted add(const CaseRecord& record);

  // By cases, most first; of equals by first appearance.
  [[nodiscard]] std::vector<Cause> by_cases() const;

 private:
  std::int64_t blocks_;
  std::vector<Cause> causes_;
  std::map<std::string, std::size_t> index_;
};

}  // namespace straddle::harness
