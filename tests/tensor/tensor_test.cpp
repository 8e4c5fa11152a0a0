#include "tensor/tensor.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace straddle::tensor {
namespace {

// Host bytes that pretend to be a device's: counts what is alive, and copies as long as it is told to.
class FarMemory final : public Memory {
 public:
  explicit FarMemory(int copies_that_work) : copies_left_(copies_that_work) {}
  std::string_view name() const override { return "far"; }
  bool host_accessible() const override { return false; }
  std::byte* allocate(std::size_t bytes) override {
    ++alive;
    return host_memory().allocate(bytes);
  }
  void deallocate(std::byte* data, std::size_t bytes) noexcept override {
    --alive;
    host_memory().deallocate(data, bytes);
  }
  void copy_from_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    if (copies_left_-- == 0) throw std::runtime_error("the device is gone");
    host_memory().copy_from_host(to, from, bytes);
  }
  void copy_to_host(std::byte* to, const std::byte* from, std::size_t bytes) override {
    host_memory().copy_to_host(to, from, bytes);
  }

  int alive = 0;

 private:
  int copies_left_;
};

bool all_nan(const ConstView& view) {
  for (const float value : view.span<float>()) {
    if (!std::isnan(value)) return false;
  }
  return true;
}

TEST_CASE("a tensor is contiguous, aligned and NaN to its end") {
  for (const std::int64_t tokens : {0, 1, 7, 4099}) {  // 4099 tokens: 4 MiB and a little
    Tensor tensor(DType::fp32, token_major(tokens, 4, 64));
    CHECK(tensor.dtype() == DType::fp32);
    CHECK(tensor.shape() == token_major(tokens, 4, 64));
    CHECK(tensor.size_bytes() == static_cast<std::size_t>(tokens) * 1024);
    CHECK(tensor.view().contiguous());
    CHECK(tensor.memory() == &host_memory());
    CHECK_FALSE(tensor.empty());
    CHECK(reinterpret_cast<std::uintptr_t>(tensor.view().data()) % 64 == 0);
    CHECK(all_nan(tensor.view()));
  }
}

TEST_CASE("every dtype starts poisoned") {
  CHECK(std::isnan(Tensor(DType::fp64, {{Axis::token, 1}}).view().span<double>()[0]));
  CHECK(std::isnan(to_float(Tensor(DType::bf16, {{Axis::token, 1}}).view().span<Bf16>()[0])));
  CHECK(std::isnan(to_float(Tensor(DType::fp16, {{Axis::token, 1}}).view().span<Fp16>()[0])));
  CHECK(Tensor(DType::i64, {{Axis::token, 1}}).view().span<std::int64_t>()[0] == INT64_MIN);
  CHECK(Tensor(DType::i32, {{Axis::token, 1}}).view().span<std::int32_t>()[0] == INT32_MIN);
}

TEST_CASE("moving hands the buffer over and leaves an empty tensor") {
  static_assert(!std::is_copy_constructible_v<Tensor> && !std::is_copy_assignable_v<Tensor>);
  static_assert(std::is_nothrow_move_constructible_v<Tensor> && std::is_nothrow_move_assignable_v<Tensor>);
  FarMemory memory(1 << 20);
  {
    Tensor first(DType::fp32, token_major(3, 2), memory);
    const std::byte* data = first.view().data();
    Tensor second(std::move(first));
    CHECK(first.empty());  // NOLINT(bugprone-use-after-move): that it is empty is the contract
    CHECK(first.view().numel() == 0);
    CHECK(first.size_bytes() == 0);
    CHECK(second.view().data() == data);
    CHECK(second.shape() == token_major(3, 2));
    CHECK(memory.alive == 1);

    Tensor third(DType::bf16, token_major(1, 1), memory);
    CHECK(memory.alive == 2);
    third = std::move(second);
    CHECK(memory.alive == 1);
    CHECK(second.empty());  // NOLINT(bugprone-use-after-move)
    CHECK(third.dtype() == DType::fp32);
    CHECK(third.memory() == &memory);
    CHECK(third.view().data() == data);
    Tensor& itself = third;
    third = std::move(itself);
    CHECK(third.view().data() == data);
    third = Tensor();
    CHECK(third.empty());
    CHECK(memory.alive == 0);
  }
  CHECK(memory.alive == 0);
}

TEST_CASE("memory that the host can't touch is poisoned by copies, to its last element") {
  for (const std::int64_t tokens : {0, 1, 1 << 18, (1 << 18) + 1, 3 << 18}) {  // 1 MiB is 2^18 elements
    FarMemory memory(1 << 20);
    const Tensor tensor(DType::fp32, {{Axis::token, tokens}}, memory);
    CAPTURE(tokens);
    CHECK(all_nan(tensor.view()));
  }
}

TEST_CASE("a buffer whose poisoning fails is given back") {
  FarMemory memory(1);
  CHECK_THROWS_WITH(Tensor(DType::fp32, {{Axis::token, 1 << 20}}, memory), "the device is gone");
  CHECK(memory.alive == 0);
}

TEST_CASE("bytes that can't be counted are refused before anything is allocated") {
  FarMemory memory(0);
  const std::int64_t tokens = std::numeric_limits<std::int64_t>::max() / 4;
  CHECK_THROWS_WITH_AS(Tensor(DType::fp64, {{Axis::token, tokens}}, memory),
                       "a tensor of fp64 [token 2305843009213693951] has more bytes than an int64 counts",
                       std::invalid_argument);
  CHECK(memory.alive == 0);
}

}  // namespace
}  // namespace straddle::tensor
