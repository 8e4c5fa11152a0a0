#include <doctest/doctest.h>

#include <set>

#include "problem.hpp"

namespace straddle::harness {
namespace {

using namespace test;

Tensor filled(std::int64_t rows) {
  Tensor tensor(DType::bf16, tensor::token_major(rows, 1, 3));  // 6 bytes a row: words are cut
  for (std::int64_t i = 0; i < rows * 3; ++i) set(tensor, i, static_cast<double>(i % 7));
  return tensor;
}

TEST_CASE("checksum: rows after those asked for change nothing") {
  const Tensor shorter = filled(5);
  Tensor longer = filled(9);
  CHECK(checksum(shorter, 5) == checksum(longer, 5));
  set(longer, 17, 100);
  CHECK(checksum(shorter, 5) == checksum(longer, 5));
  CHECK(checksum(longer, 6) != checksum(filled(9), 6));
}

TEST_CASE("checksum: every single bit counts, and so does the number of rows") {
  Tensor tensor = filled(5);
  std::set<std::uint64_t> seen = {checksum(tensor, 5)};
  for (std::int64_t rows = 0; rows < 5; ++rows) seen.insert(checksum(tensor, rows));
  for (std::size_t bit = 0; bit < 5 * 6 * 8; ++bit) {
    const auto mask = static_cast<std::byte>(1U << bit % 8);
    tensor.view().data()[bit / 8] ^= mask;
    seen.insert(checksum(tensor, 5));
    tensor.view().data()[bit / 8] ^= mask;
  }
  CHECK(seen.size() == 1 + 5 + 5 * 6 * 8);
}

TEST_CASE("checksum: rows of zeros are told from none, and order counts") {
  Tensor zeros(DType::fp64, tensor::token_major(4, 1, 1));
  for (std::int64_t i = 0; i < 4; ++i) set(zeros, i, 0);
  CHECK(checksum(zeros, 3) != checksum(zeros, 4));
  Tensor a(DType::fp64, tensor::token_major(2, 1, 1)), b(DType::fp64, tensor::token_major(2, 1, 1));
  set(a, 0, 1), set(a, 1, 2), set(b, 0, 2), set(b, 1, 1);
  CHECK(checksum(a, 2) != checksum(b, 2));
}

TEST_CASE("checksum: stays the same from build to build, since records keep it") {
  CHECK(checksum(filled(5), 5) == 0xd820c6a080b48f99ULL);
}

}  // namespace
}  // namespace straddle::harness
