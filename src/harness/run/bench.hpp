// How fast a kernel is, as a share of what a plain matrix product reaches in the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "pack/pack.hpp"

namespace straddle::harness {

struct BenchPack {
  std::string title;  // "1 x 8192"
  pack::Pack pack;
};

// One document, eight equal ones, and documents drawn from a log-normal (median 300, sigma 1.2, fixed seed)
// until the slots are full.
[[nodiscard]] std::vector<BenchPack> bench_packs(std::int64_t slots);

struct BenchSetting {
  std::string kernel = "cpu";
  std::int64_t heads = 8;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 64;
  int threads = 1;
  int rounds = 3;
};

struct BenchResult {
  std::int64_t pairs = 0;
  double gflop = 0;          // useful: 4 x H x D x pairs forward, 10 x backward
  double seconds = 0;        // best of the rounds, forward + backward
  double forward_share = 0;  // of the seconds
  double spread = 0;         // (median - best) / best of the rounds
  double anchor_gflops = 0;  // best sgemm rate, measured between the rounds
  [[nodiscard]] double gflops() const { return gflop / seconds; }
  [[nodiscard]] double share() const {
    return gflops() / anchor_gflops;
  }  // of `threads` times the anchor's one thread
};

// Rounds of the kernel and of the anchor in turn, fp32, W = 1.
[[nodiscard]] BenchResult bench(const BenchPack& pack, const BenchSetting& setting);

// Rate of Eigen's 1024^3 product on one thread, GFLOP/s, best of `rounds`.
[[nodiscard]] double anchor_gflops(int rounds);

}  // namespace straddle::harness
