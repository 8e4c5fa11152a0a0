#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <thread>

#include "harness/cli/environment.hpp"
#include "harness/cli/launch.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/cli/version.hpp"

namespace straddle::harness {
namespace {

struct DoctorArguments {
  Launch launch;
  std::filesystem::path runs = "runs";
};

// Median time of an all-gather of 64 bytes between all ranks, in microseconds: what a small collective costs
// here.
double small_collective_us(comm::Transport& control) {
  constexpr int kRounds = 51;
  std::vector<std::byte> mine(64);
  std::vector<std::byte> all(mine.size() * static_cast<std::size_t>(control.size()));
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    control.all_gather("doctor", mine, all);
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(times.begin(), times.begin() + kRounds / 2, times.end());
  return times[kRounds / 2];
}

// "dev01 x 4", one entry a host in rank order.
std::string placement(const std::vector<std::string>& hosts) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < hosts.size();) {
    std::size_t end = i;
    while (end < hosts.size() && hosts[end] == hosts[i]) ++end;
    parts.push_back(fmt::format("{} x {}", hosts[i], end - i));
    i = end;
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string writable(const std::filesystem::path& folder) {
  std::error_code error;
  const bool there = std::filesystem::exists(folder, error);
  const auto probe = (there ? folder : std::filesystem::current_path(error)) / ".straddle-doctor";
  const bool made = std::filesystem::create_directory(probe, error);
  if (made) std::filesystem::remove(probe);
  return made ? fmt::format("{} ({})", folder.string(), there ? "writable" : "will be made")
              : fmt::format("{} CAN'T be written: {}; use --runs", folder.string(), error.message());
}

void print_report(const comm::World& world, double collective_us, const DoctorArguments& arguments) {
  const auto nodes = world.nodes();
  const std::set<int> distinct(nodes.begin(), nodes.end());
  const auto here = std::count(nodes.begin(), nodes.end(), nodes.front());
  const auto cores = static_cast<std::ptrdiff_t>(std::max(1U, std::thread::hardware_concurrency()));
  std::cout << fmt::format("straddle   {} ({})\n", version(), commit());
  std::cout << fmt::format("processor  {}\n", processor_text());
  std::cout << fmt::format(
      "transport  {}{}\n", transport_text(world),
      comm::started_by_mpi() ? "" : "; not started by an MPI launcher: ranks are threads");
  std::cout << fmt::format("ranks      {} on {} node{}: {}\n", world.size(), distinct.size(),
                           distinct.size() == 1 ? "" : "s", placement(world.hosts()));
  std::cout << fmt::format("cores      {} for {} ranks on rank 0's node{}\n", cores, here,
                           here > cores
                               ? ": oversubscribed, ranks that wait sleep; mpirun needs --oversubscribe and "
                                 "--bind-to none"
                               : "");
  if (distinct.size() > 1) {
    std::cout << fmt::format("exchange   the group spans nodes: every case takes allgather{}\n",
                             std::getenv("STRADDLE_ALLOW_XNODE") != nullptr
                                 ? " unless STRADDLE_ALLOW_XNODE is 1"
                                 : ", set STRADDLE_ALLOW_XNODE=1 to allow "
                                   "halo and a2a");
  }
  std::cout << fmt::format("collective {:.0f} us for an all-gather of 64 B (median of 51)\n", collective_us);
  std::cout << fmt::format("kernels    {}\n", fmt::join(kernel_texts(1), ", "));
  std::cout << fmt::format("not here   {}\n", fmt::join(not_here(world.size()), ", "));
  std::cout << fmt::format("results    {}\n", writable(arguments.runs));
}

int doctor(const DoctorArguments& arguments) {
  return launch(arguments.launch, [&](comm::World& world) {
    const double collective_us = small_collective_us(world.control());
    if (world.rank() == 0) print_report(world, collective_us, arguments);
    return 0;
  });
}

}  // namespace

void add_doctor_verb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("doctor", "Say what this machine and this build offer, and what is missing");
  const auto arguments = std::make_shared<DoctorArguments>();
  verb->add_option("--ranks", arguments->launch.ranks, "Ranks as threads; under a launcher what it started")
      ->check(CLI::PositiveNumber);
  verb->add_option("--runs", arguments->runs, "Folder of all runs' results")->capture_default_str();
  verb->callback([arguments, &exit_code] { exit_code = doctor(*arguments); });
}

}  // namespace straddle::harness
