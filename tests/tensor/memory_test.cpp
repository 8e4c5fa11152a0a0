#include "tensor/memory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>

namespace straddle::tensor {
namespace {

TEST_CASE("host buffers of every size are aligned, writable to their ends, and copied whole") {
  Memory& memory = host_memory();
  CHECK(memory.name() == "host");
  CHECK(memory.host_accessible());
  const std::size_t mebibyte = std::size_t{1} << 20;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{65},
                                  2 * mebibyte - 1, 2 * mebibyte, 5 * mebibyte + 1}) {
    CAPTURE(bytes);
    std::byte* data = memory.allocate(bytes);
    std::byte* copy = memory.allocate(bytes);
    REQUIRE(data != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(data) % (bytes < 2 * mebibyte ? 64 : 2 * mebibyte) == 0);
    for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i % 251);
    std::fill_n(copy, bytes, std::byte{0xff});
    memory.copy_from_host(copy, data, bytes);
    CHECK(std::equal(data, data + bytes, copy));
    std::fill_n(data, bytes, std::byte{0xff});
    memory.copy_to_host(data, copy, bytes);
    CHECK(std::equal(data, data + bytes, copy));
    memory.deallocate(data, bytes);
    memory.deallocate(copy, bytes);
  }
}

}  // namespace
}  // namespace straddle::tensor
