// Who is told about a run as it goes.
#pragma once

#include "harness/report/record.hpp"

namespace straddle::harness {

class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void begin(const RunInfo& info) = 0;
  virtual void before_case(const CaseEntry& entry,
                           std::int64_t index) = 0;       // index from 0, in the order of the run
  virtual void after_case(const CaseRecord& record) = 0;  // flushed when it returns
  virtual void end(const RunTotals& totals) = 0;
};

}  // namespace straddle::harness
