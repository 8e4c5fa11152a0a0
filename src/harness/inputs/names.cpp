#include <string_view>

#include "harness/inputs/inputs.hpp"

namespace straddle::harness {

std::string_view name(InputName input) {
  switch (input) {
    case InputName::q:
      return "q";
    case InputName::k:
      return "k";
    case InputName::v:
      return "v";
    case InputName::d_out:
      return "d_out";
    case InputName::d_lse:
      return "d_lse";
  }
  return "?";
}

tensor::Shape input_shape(const Case& point, InputName input, std::int64_t rows) {
  switch (input) {
    case InputName::q:
      return tensor::token_major(rows, point.heads, point.head_dim);
    case InputName::k:
      return tensor::token_major(rows, point.kv_heads, point.head_dim);
    case InputName::v:
      return tensor::token_major(rows, point.kv_heads, point.v_head_dim);
    case InputName::d_out:
      return tensor::token_major(rows, point.heads, point.v_head_dim);
    case InputName::d_lse:
      return tensor::token_major(rows, point.heads);
  }
  throw std::invalid_argument("input_shape: no such input");
}

}  // namespace straddle::harness
