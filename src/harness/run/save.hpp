// Results of a case as a file that other programs can read.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/judge/judge.hpp"

namespace straddle::harness {

// folder/<case id>.safetensors: out, lse, d_q, d_k, d_v in global order, rows [0, slots), in the case's dtype
// (a layer l > 0 as "layer<l>.out"), and cu_seqlens where the pack has one; the metadata names the case.
// Throws tensor::SafetensorsError.
void save_results(const std::filesystem::path& folder, const Case& point,
                  const std::vector<LayerResults>& layers);

}  // namespace straddle::harness
