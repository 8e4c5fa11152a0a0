#include "cp/staging.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "comm/world.hpp"
#include "support/doubles.hpp"
#include "support/packs.hpp"
#include "support/run.hpp"
#include "support/values.hpp"

namespace straddle::cp {
namespace {

using tensor::Axis;
using tensor::DType;
using tensor::Tensor;
using tensor::View;
using namespace testing;

Tensor numbers() {
  Tensor tensor(DType::fp32, tensor::token_major(2, 3, 2));
  float next = 0;
  for (float& value : tensor.view().span<float>()) value = next++;
  return tensor;
}

TEST_CASE("memory that the host reaches is used in place") {
  Tensor tensor = numbers();
  Staging staging(tensor::host_memory());
  CHECK(staging.input(tensor.view()).data() == tensor.view().data());
  CHECK(staging.output(tensor.view()).data() == tensor.view().data());
  staging.finish();
}

TEST_CASE("inputs are copied to a device's memory, results come back at finish, strided or not") {
  DeviceMemoryDouble memory;
  {
    Tensor input = numbers();
    Tensor whole(DType::fp32, tensor::token_major(2, 3, 2)), wide(DType::fp32, tensor::token_major(2, 3, 4));
    const View strided = wide.view().slice(Axis::dim, 1, 2);
    REQUIRE(!strided.contiguous());
    Staging staging(memory);
    const tensor::ConstView staged = staging.input(input.view());
    for (const View& host : {whole.view(), strided}) {
      const View result = staging.output(host);
      CHECK(result.contiguous());
      std::vector<std::byte> bytes(input.size_bytes());
      memory.copy_to_host(bytes.data(), staged.data(), bytes.size());
      memory.copy_from_host(result.data(), bytes.data(), bytes.size());
    }
    staging.finish();
    CHECK(same_bits(whole.view(), input.view()));
    CHECK(values_of(strided) == values_of(input.view()));
    CHECK(memory.live_bytes() == 3 * 48);
  }
  CHECK(memory.live_bytes() == 0);
}

TEST_CASE("a strided input is gathered on its way to the device") {
  DeviceMemoryDouble memory;
  Tensor wide(DType::fp32, tensor::token_major(2, 3, 4));
  const View strided = wide.view().slice(Axis::dim, 1, 2);
  tensor::convert(numbers().view(), strided);
  Staging staging(memory);
  Tensor back(DType::fp32, strided.shape());
  memory.copy_to_host(back.view().data(), staging.input(strided).data(), back.size_bytes());
  CHECK(same_bits(back.view(), numbers().view()));
}

TEST_CASE("the op with a kernel on a device gives the bits of the same kernel on the host") {
  const pack::Pack packs[] = {
      pack_of({1, 6, 3}, 2, 2),
      pack::from_starts(std::vector<std::int64_t>{1, 9}, std::vector<std::int64_t>{7, 2}, 12)};
  for (const pack::Pack& pack : packs) {
    for (const bool apart : {false, true}) {
      AttentionConfig config = config_of(pack::ExchangeKind::a2a, DType::bf16);
      config.first_segment_apart = apart;
      const Inputs inputs = random_inputs(config, pack, 3);
      const Run host = run_op(2, pack, config, inputs);
      std::vector<DeviceMemoryDouble> memories(2);
      RunOptions options;
      options.kernel = [&](int rank) {
        return device_kernel_double(memories[static_cast<std::size_t>(rank)]);
      };
      const Run device = run_op(2, pack, config, inputs, options);
      CHECK(device.ranks[0].error.empty());
      for (Tensor Results::*member :
           {&Results::out, &Results::lse, &Results::d_q, &Results::d_k, &Results::d_v}) {
        CHECK(same_bits((host.results.*member).view(), (device.results.*member).view()));
      }
      CHECK(memories[0].live_bytes() + memories[1].live_bytes() == 0);
    }
  }
}

}  // namespace
}  // namespace straddle::cp
