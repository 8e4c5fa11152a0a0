#include "harness/cli/environment.hpp"

#include <doctest/doctest.h>

namespace straddle::harness {
namespace {

TEST_CASE("environment: kernels, threads and what is not here are said in words") {
  CHECK(kernel_texts(1).front() == "dense");
  CHECK(kernel_texts(1).back().find("1 thread)") != std::string::npos);
  CHECK(kernel_texts(2).back().find("2 threads)") != std::string::npos);
  CHECK(not_here(4).back() == "W > 4 (4 ranks started)");
  CHECK(processor_text().find(" cores") != std::string::npos);
  comm::run_threads(1, [](comm::World& world) { CHECK(transport_text(world) == "threads"); });
}

}  // namespace
}  // namespace straddle::harness
