#include "harness/cli/environment.hpp"

#include <fmt/format.h>

#include <fstream>
#include <thread>

#include "comm/mpi/version.hpp"
#include "harness/run/kernels.hpp"

namespace straddle::harness {
namespace {

// The widest instructions that the numeric code was compiled for, which -march=native takes from the build
// machine.
std::string_view vector_instructions() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE2";
#else
  return "no x86";
#endif
}

}  // namespace

std::string processor_text() {
  std::string model = "unknown processor";
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    model = line.substr(line.find(':') + 2);
    break;
  }
  return fmt::format("{}, {}, {} cores", model, vector_instructions(), std::thread::hardware_concurrency());
}

std::string transport_text(const comm::World& world) {
  if (world.name() != "mpi") return std::string(world.name());
  return fmt::format("mpi ({})", comm::mpi_version());
}

std::vector<std::string> kernel_texts(int threads) {
  std::vector<std::string> texts;
  for (const std::string& name : kernel_names()) {
    texts.push_back(name != "cpu" ? name
                                  : fmt::format("cpu ({}, {} thread{})", vector_instructions(), threads,
                                                threads == 1 ? "" : "s"));
  }
  return texts;
}

std::vector<std::string> not_here(std::int64_t ranks) {
  return {"cuda (not built)", "nccl (not built)", fmt::format("W > {} ({} ranks started)", ranks, ranks)};
}

}  // namespace straddle::harness
