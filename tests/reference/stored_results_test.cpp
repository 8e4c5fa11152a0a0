// Attention of a real model on a real pack, with results that torch's autograd gave in double (data/smollm2).
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>

#include "case.hpp"
#include "tensor/dtype.hpp"
#include "tensor/safetensors.hpp"

namespace straddle::reference {
namespace {

// A stored tensor as double; its bytes may lie at any address.
Values load(const tensor::SafetensorsFile& file, const std::string& name) {
  const tensor::SafetensorsEntry& entry = file.entry(name);
  Values values(entry.bytes.size() / tensor::size_bytes(entry.dtype));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto read = [&](auto element) {
      std::memcpy(&element, entry.bytes.data() + i * sizeof(element), sizeof(element));
      return element;
    };
    switch (entry.dtype) {
      case tensor::DType::bf16:
        values[i] = tensor::to_float(read(tensor::Bf16{}));
        break;
      case tensor::DType::fp32:
        values[i] = read(float{});
        break;
      default:
        values[i] = read(std::int32_t{});
        break;
    }
  }
  return values;
}

Case load_case(const tensor::SafetensorsFile& file) {
  const auto& q = file.entry("q").shape;
  const auto& v = file.entry("v").shape;
  Case c{.shape = {.tokens = q[0],
                   .heads = q[1],
                   .kv_heads = v[1],
                   .head_dim = q[2],
                   .v_head_dim = v[2],
                   .softmax_scale = std::stod(file.metadata().at("softmax_scale"))},
         .documents = {},
         .q = load(file, "q"),
         .k = load(file, "k"),
         .v = load(file, "v"),
         .d_out = load(file, "d_out"),
         .d_lse = {}};
  const Values cu_seqlens = load(file, "cu_seqlens");
  for (std::size_t d = 0; d + 1 < cu_seqlens.size(); ++d) {
    const auto start = static_cast<std::int64_t>(cu_seqlens[d]);
    c.documents.push_back({start, static_cast<std::int64_t>(cu_seqlens[d + 1]) - start});
  }
  return c;
}

// The files' results are double rounded to fp32 and exact to 6e-8 of each document's and head's largest
// element.
void check_tensor(const Case& c, std::int64_t heads, const Values& got, const Values& want) {
  REQUIRE(got.size() == want.size());
  const std::int64_t dim = static_cast<std::int64_t>(got.size()) / (c.shape.tokens * heads);
  for (const auto& [start, length] : c.documents) {
    for (std::int64_t head = 0; head < heads; ++head) {
      double largest = 0, error = 0;
      for (std::int64_t x = 0; x < length * dim; ++x) {
        const auto at = static_cast<std::size_t>(((start + x / dim) * heads + head) * dim + x % dim);
        largest = std::max(largest, std::abs(want[at]));
        error = std::max(error, std::isnan(got[at]) ? kInfinity : std::abs(got[at] - want[at]));
      }
      CAPTURE(start);
      CAPTURE(head);
      CHECK(error <= 6e-8 * largest);
    }
  }
  for (std::size_t at = 0; at < got.size(); ++at) {
    if (!c.real(static_cast<std::int64_t>(at) / (heads * dim))) REQUIRE(got[at] == want[at]);
  }
}

TEST_CASE("the oracle gives the stored results of both layers") {
  for (const std::string layer : {"layer00", "layer29"}) {
    CAPTURE(layer);
    const tensor::SafetensorsFile file(std::filesystem::path(STRADDLE_SOURCE_DIR "/data/smollm2") /
                                       (layer + ".safetensors"));
    const Case c = load_case(file);
    REQUIRE(c.documents.size() == 14);
    const Tensors got = attend_all<double>(c);
    check_tensor(c, c.shape.heads, got.out, load(file, "out"));
    check_tensor(c, c.shape.heads, got.lse, load(file, "lse"));
    check_tensor(c, c.shape.heads, got.d_q, load(file, "d_q"));
    check_tensor(c, c.shape.kv_heads, got.d_k, load(file, "d_k"));
    check_tensor(c, c.shape.kv_heads, got.d_v, load(file, "d_v"));
  }
}

}  // namespace
}  // namespace straddle::reference
