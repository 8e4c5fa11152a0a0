// The op on whole packs: inputs, results and their definition, and a run of it on ranks that are threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/recorder.hpp"
#include "comm/transport.hpp"
#include "cp/attention.hpp"
#include "kernel/kernel.hpp"
#include "pack/pack.hpp"
#include "tensor/tensor.hpp"

namespace straddle::cp::testing {

// All rows of a pack, [slots, heads, dim]; a rank's shard is a slice of them.
struct Inputs {
  tensor::Tensor q, k, v, d_out, d_lse;
};
struct Results {
  tensor::Tensor out, lse, d_q, d_k, d_v;  // NaN where nobody wrote
};

// Standard sizes of the tests: H4/2, D3, Dv2, so that no two extents are equal.
[[nodiscard]] AttentionConfig config_of(pack::ExchangeKind exchange,
                                        tensor::DType dtype = tensor::DType::fp64);

// Values in [-1, 1] on real rows, NaN on padding rows.
[[nodiscard]] Inputs random_inputs(const AttentionConfig& config, const pack::Pack& pack, std::uint64_t seed);
[[nodiscard]] Results empty_results(const AttentionConfig& config, const pack::Pack& pack);

// Every row by the definition of docs/math.md, from the document of each slot alone; fp64.
[[nodiscard]] Results by_definition(const AttentionConfig& config, const pack::Pack& pack,
                                    const Inputs& inputs);

[[nodiscard]] ForwardShard forward_shard(const Inputs& inputs, std::int64_t begin, std::int64_t rows);
[[nodiscard]] ForwardShardResults forward_results(Results& results, std::int64_t begin, std::int64_t rows);
[[nodiscard]] BackwardShard backward_shard(const Inputs& inputs, const Results& results, std::int64_t begin,
                                           std::int64_t rows);
[[nodiscard]] BackwardShardResults backward_results(Results& results, std::int64_t begin, std::int64_t rows);

// Forward and backward of this rank's rows.
void run_rank(Attention& op, const Inputs& inputs, Results& results);

// What happened on one rank.
struct RankOutcome {
  std::optional<pack::Path> path;  // none: the constructor threw
  std::string kernel;
  std::vector<comm::Operation> log;
  std::int64_t sent_forward_bytes = 0, sent_backward_bytes = 0;
  std::string error;  // of a ConsensusError, with `failed_rank` and `step`
  int failed_rank = -1;
  std::string step;
};

struct RunOptions {
  std::function<Seams(int rank)> seams = {};                             // default: none
  std::function<std::unique_ptr<kernel::Kernel>(int rank)> kernel = {};  // default: the plain double
  std::function<std::unique_ptr<kernel::Kernel>(int rank)> dense = {};   // default: the same, not varlen
  std::function<void(int rank, AttentionConfig&)> configure = {};
  std::function<const pack::Pack&(int rank)> pack = {};
};

struct Run {
  Results results;
  std::vector<RankOutcome> ranks;
};
// One op on `ranks` threads: constructed, forward, backward.
[[nodiscard]] Run run_op(int ranks, const pack::Pack& pack, const AttentionConfig& config,
                         const Inputs& inputs, const RunOptions& options = {});

// Largest difference over all five tensors; infinity where NaN or infinity stand in one only.
[[nodiscard]] double worst_difference(const Results& a, const Results& b);
[[nodiscard]] bool same_forward_and_d_q(const Results& a, const Results& b);
// d_k and d_v of the documents that lie on one rank of `ranks`.
[[nodiscard]] bool same_gradients_of_uncut_documents(const Results& a, const Results& b,
                                                     const pack::Pack& pack, int ranks);

// Packs that together see most faults, and the ranks to run them on.
struct NamedPack {
  std::vector<std::int64_t> documents;
  std::int64_t padding;
  int ranks;
};
[[nodiscard]] std::vector<NamedPack> named_packs();

// Calls body and notes the ConsensusError that it throws.
void note_consensus_error(RankOutcome& outcome, const std::function<void()>& body);

}  // namespace straddle::cp::testing
