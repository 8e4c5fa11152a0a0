#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "harness/cli/environment.hpp"
#include "harness/cli/launch.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/run/bench.hpp"
#include "harness/run/kernels.hpp"

namespace straddle::harness {
namespace {

struct BenchArguments {
  std::vector<std::int64_t> slots = {8192, 16384};
  std::vector<std::int64_t> head_dims = {64, 128};
  std::vector<int> threads = {1, 2};
  BenchSetting setting;
};

// Ratios that the blockwise kernel is held to on one thread (docs/performance.md).
double goal(const pack::Pack& pack) { return pack.documents.size() == 1 ? 0.75 : 0.60; }

double peak_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void bench_all(const BenchArguments& arguments) {
  const BenchSetting& setting = arguments.setting;
  std::cout << fmt::format("processor {}\n", processor_text());
  std::cout << fmt::format(
      "anchor    sgemm 1024^3 (Eigen) {:.1f} GFLOP/s   1 thread, best of 9, result checked\n",
      anchor_gflops(9));
  std::cout << fmt::format(
      "kernel    {}, fp32, H{}:{}, forward + backward, best of {} rounds; share: of threads x the "
      "sgemm measured between the rounds\n",
      setting.kernel, setting.heads, setting.kv_heads, setting.rounds);
  std::cout
      << "pack                        D  threads        pairs   GFLOP      time  forward  GFLOP/s  of sgemm"
         "    goal  spread\n";
  for (const std::int64_t slots : arguments.slots) {
    for (const BenchPack& pack : bench_packs(slots)) {
      for (const std::int64_t head_dim : arguments.head_dims) {
        for (const int threads : arguments.threads) {
          BenchSetting one = setting;
          one.head_dim = head_dim;
          one.threads = threads;
          const BenchResult result = bench(pack, one);
          const double share = result.share() / threads;
          const double wanted = goal(pack.pack);
          const std::string verdict =
              threads == 1 ? fmt::format("{:.2f} {}", wanted, share >= wanted ? "ok" : "--") : "-";
          std::cout << fmt::format(
                           "{:<24} {:>4} {:>8} {:>12} {:>7.1f} {:>7.3f} s {:>6.0f} % {:>8.1f} {:>9.2f} {:>7} "
                           "{:>5.1f} %\n",
                           pack.title, head_dim, threads, result.pairs, result.gflop, result.seconds,
                           100 * result.forward_share, result.gflops(), share, verdict, 100 * result.spread)
                    << std::flush;
        }
      }
    }
  }
  std::cout << fmt::format("memory    {:.0f} MiB at most\n", peak_memory_mib());
}

}  // namespace

void add_bench_verb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("bench", "Measure a kernel's speed as a share of a plain matrix product");
  const auto arguments = std::make_shared<BenchArguments>();
  verb->add_option("--slots", arguments->slots, "Lengths of the packs (multiples of 8)")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{64}, std::int64_t{1} << 20))
      ->capture_default_str();
  verb->add_option("--head-dim", arguments->head_dims)
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  verb->add_option("--threads", arguments->threads)
      ->delimiter(',')
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  verb->add_option("--heads", arguments->setting.heads)->check(CLI::PositiveNumber)->capture_default_str();
  verb->add_option("--kv-heads", arguments->setting.kv_heads)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--kernel", arguments->setting.kernel)->capture_default_str();
  verb->add_option("--rounds", arguments->setting.rounds, "Rounds of each; the best counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  verb->callback([arguments, &exit_code] {
    const BenchSetting& setting = arguments->setting;
    if (setting.heads % setting.kv_heads != 0) {
      throw UsageError(
          fmt::format("--kv-heads {} does not divide --heads {}", setting.kv_heads, setting.heads));
    }
    const auto kernels = kernel_names();
    if (std::find(kernels.begin(), kernels.end(), setting.kernel) == kernels.end()) {
      throw UsageError(
          fmt::format("--kernel {}: this build has {}", setting.kernel, fmt::join(kernels, ", ")));
    }
    if (speaks_before_ranks_meet()) bench_all(*arguments);
    exit_code = 0;
  });
}

}  // namespace straddle::harness
