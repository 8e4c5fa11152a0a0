// The files of data/smollm2 against what their README says about them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "tensor/safetensors.hpp"
#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t kSlots = 1024;
constexpr std::int64_t kRealTokens = 1000;

SafetensorsFile open_layer(const std::string& layer) {
  return SafetensorsFile(STRADDLE_SOURCE_DIR "/data/smollm2/layer" + layer + ".safetensors");
}

// The values of an entry as doubles; 16-bit ones are aligned to two bytes only in these files.
std::vector<double> values_of(const SafetensorsEntry& entry) {
  const auto elements = static_cast<std::int64_t>(entry.bytes.size() / size_bytes(entry.dtype));
  const Shape shape = {{Axis::token, elements}};
  std::vector<double> values(static_cast<std::size_t>(elements));
  convert({entry.bytes.data(), entry.dtype, shape},
          {reinterpret_cast<std::byte*>(values.data()), DType::fp64, shape});
  return values;
}

double rms_of_real_rows(const SafetensorsEntry& entry) {
  const std::vector<double> values = values_of(entry);
  const auto real = static_cast<std::size_t>(static_cast<std::int64_t>(values.size()) / kSlots * kRealTokens);
  double sum = 0;
  for (std::size_t i = 0; i < real; ++i) sum += values[i] * values[i];
  return std::sqrt(sum / static_cast<double>(real));
}

double largest(const SafetensorsEntry& entry) {
  double result = 0;
  for (const double value : values_of(entry)) result = std::max(result, std::fabs(value));
  return result;
}

void check_layer(const std::string& layer, std::int64_t heads, std::int64_t kv_heads) {
  const SafetensorsFile file = open_layer(layer);
  CHECK(file.entries().size() == 10);
  for (const auto& [name, dtype] :
       {std::pair("q", DType::bf16), {"d_out", DType::bf16}, {"out", DType::fp32}, {"d_q", DType::fp32}}) {
    CAPTURE(name);
    CHECK(file.entry(name).dtype == dtype);
    CHECK(file.entry(name).shape == Sizes{kSlots, heads, 64});
  }
  for (const auto& [name, dtype] :
       {std::pair("k", DType::bf16), {"v", DType::bf16}, {"d_k", DType::fp32}, {"d_v", DType::fp32}}) {
    CAPTURE(name);
    CHECK(file.entry(name).dtype == dtype);
    CHECK(file.entry(name).shape == Sizes{kSlots, kv_heads, 64});
  }
  CHECK(file.entry("lse").dtype == DType::fp32);
  CHECK(file.entry("lse").shape == Sizes{kSlots, heads});

  const SafetensorsEntry& cu_seqlens = file.entry("cu_seqlens");
  CHECK(cu_seqlens.dtype == DType::i32);
  CHECK(cu_seqlens.shape == Sizes{15});
  std::vector<std::int32_t> entries(15);
  REQUIRE(cu_seqlens.bytes.size() == 60);
  std::memcpy(entries.data(), cu_seqlens.bytes.data(), 60);
  CHECK(entries ==
        std::vector<std::int32_t>{0, 16, 128, 270, 327, 362, 383, 385, 388, 395, 455, 520, 948, 949, 1000});

  for (const char* key : {"softmax_scale", "layer", "model", "licence", "cu_seqlens", "slots", "real_tokens",
                          "q_heads_of_layer", "kv_heads_of_layer", "mask", "lse_base"}) {
    CAPTURE(key);
    CHECK(file.metadata().contains(key));
  }
  CHECK(std::stod(file.metadata().at("softmax_scale")) == 0.125);
  CHECK(std::stoi(file.metadata().at("layer")) == std::stoi(layer));
  CHECK(std::stoi(file.metadata().at("slots")) == kSlots);
  CHECK(std::stoi(file.metadata().at("real_tokens")) == kRealTokens);
}

void check_padding(const SafetensorsFile& file) {
  for (const auto& [name, entry] : file.entries()) {
    if (name == "cu_seqlens") continue;
    CAPTURE(name);
    const std::vector<double> values = values_of(entry);
    const auto row = static_cast<std::size_t>(static_cast<std::int64_t>(values.size()) / kSlots);
    const double want = name == "lse" ? -HUGE_VAL : 0.0;
    CHECK(std::all_of(values.begin() + static_cast<std::ptrdiff_t>(row * kRealTokens), values.end(),
                      [&](double value) { return value == want; }));
  }
}

TEST_CASE("layer 0: 3 query heads, 1 key/value head") { check_layer("00", 3, 1); }
TEST_CASE("layer 29: 6 query heads, 2 key/value heads") { check_layer("29", 6, 2); }

TEST_CASE("padding rows are zero, -inf in lse") {
  check_padding(open_layer("00"));
  check_padding(open_layer("29"));
}

// Figures as the README prints them, so half a unit of its last digit is allowed.
TEST_CASE("the numbers look as the README says") {
  const SafetensorsFile first = open_layer("00");
  CHECK(std::fabs(largest(first.entry("q")) - 10.4) <= 0.05);
  CHECK(std::fabs(rms_of_real_rows(first.entry("q")) - 1.27) <= 0.005);
  CHECK(std::fabs(rms_of_real_rows(first.entry("k")) - 1.89) <= 0.005);
  CHECK(std::fabs(rms_of_real_rows(first.entry("v")) - 0.040) <= 0.0005);
  CHECK(std::fabs(largest(first.entry("out")) - 0.38) <= 0.005);
  CHECK(std::fabs(largest(first.entry("d_v")) - 5.1e-2) <= 0.05e-2);
  const SafetensorsFile last = open_layer("29");
  CHECK(std::fabs(largest(last.entry("v")) - 9.4) <= 0.05);
  CHECK(std::fabs(rms_of_real_rows(last.entry("v")) - 1.35) <= 0.005);
  CHECK(std::fabs(rms_of_real_rows(last.entry("d_q")) - 4.9e-6) <= 0.05e-6);
}

// Attention of a document's first token is its own value: what the file says about heads and rows is
// self-consistent.
TEST_CASE("the first row of each document has out = v, query head h reading kv head h / 3") {
  for (const char* layer : {"00", "29"}) {
    const SafetensorsFile file = open_layer(layer);
    const std::vector<double> out = values_of(file.entry("out"));
    const std::vector<double> v = values_of(file.entry("v"));
    const auto heads = static_cast<std::size_t>(file.entry("out").shape[1]);
    for (const std::size_t token :
         {0U, 16U, 128U, 270U, 327U, 362U, 383U, 385U, 388U, 395U, 455U, 520U, 948U, 949U}) {
      for (std::size_t h = 0; h < heads; ++h) {
        for (std::size_t d = 0; d < 64; ++d) {
          REQUIRE(out[(token * heads + h) * 64 + d] == v[(token * (heads / 3) + h / 3) * 64 + d]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace straddle::tensor
