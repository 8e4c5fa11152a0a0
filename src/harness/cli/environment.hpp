// What this machine and this build offer, in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "comm/world.hpp"

namespace straddle::harness {

[[nodiscard]] std::string processor_text();  // "Intel(R) Xeon(R) .., AVX2, AVX-512, 2 cores"
[[nodiscard]] std::string transport_text(const comm::World& world);  // "threads", "mpi (Open MPI 4.1.4)"
[[nodiscard]] std::vector<std::string> kernel_texts(int threads);    // "dense", "cpu (AVX-512, 1 thread)"
[[nodiscard]] std::vector<std::string> not_here(
    std::int64_t ranks);  // what a run can't show here, with the reason

}  // namespace straddle::harness
