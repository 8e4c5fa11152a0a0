// Runs the reference on one task and packs what it says into doubles.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/inputs/inputs.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/oracle_tasks.hpp"

namespace straddle::harness {

// Doubles that one task gives.
[[nodiscard]] std::size_t packed_size(const Case& point, const OracleTask& task);

// One rank's worker. It keeps the inputs of the last document, whose kv heads follow each other.
class OracleWorker {
 public:
  OracleWorker(const Case& point, const Inputs& inputs) : point_(point), inputs_(inputs) {}

  // Writes [packed_size(point, task)] doubles: A; used / allowed of the float reference of each result (NaN
  // where not measured); then out, lse, d_q, d_k, d_v, the sigmas of out, d_q, d_k, d_v and their taus, each
  // [length, heads of the group or 1, dim].
  void run(const OracleTask& task, std::span<double> packed);

 private:
  void load_document(const OracleTask& task);

  const Case& point_;
  const Inputs& inputs_;
  std::int64_t loaded_layer_ = -1;
  std::size_t loaded_document_ = 0;
  std::vector<tensor::Tensor> loaded_;  // q, k, v, d_out, d_lse (if any) of the document's rows, all heads
};

// The inverse on rank 0: writes a task's packed doubles into its rows and heads of the layer. A and the float
// reference become the largest over the document's kv heads.
void unpack_task(const Case& point, const OracleTask& task, std::span<const double> packed,
                 OracleLayer& layer);

}  // namespace straddle::harness
