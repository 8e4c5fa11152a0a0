// The JSON header of a safetensors file: what it says, its rules, its text.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.hpp"

namespace straddle::tensor {

inline constexpr std::string_view kMetadataKey = "__metadata__";

// A broken rule: what was expected and seen, and the tensor or the byte of the file. The path is the
// caller's.
class HeaderError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct HeaderTensor {
  std::string dtype_name;  // as the format spells it: "F32", "BOOL", ..
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // bytes [begin, end), from the start of the data
  std::uint64_t end = 0;
  bool operator==(const HeaderTensor&) const = default;
};

struct SafetensorsHeader {
  std::map<std::string, HeaderTensor> tensors;
  std::map<std::string, std::string> metadata;
  bool operator==(const SafetensorsHeader&) const = default;
};

// Every rule of the format is checked: valid JSON, no key twice, known dtypes, shapes that can be counted,
// and tensors that tile the `data_bytes` bytes after the header. json begins at byte 8 of the file. Throws
// HeaderError.
[[nodiscard]] SafetensorsHeader parse_header(std::string_view json, std::uint64_t data_bytes);

// parse_header(print_header(x), ..) == x for every valid x. Throws HeaderError on text that is not UTF-8.
[[nodiscard]] std::string print_header(const SafetensorsHeader& header);

[[nodiscard]] std::optional<DType> dtype_of(std::string_view dtype_name);  // none: the format's alone
[[nodiscard]] std::string_view dtype_name_of(DType dtype);

[[nodiscard]] std::string quoted(const std::string& text);  // for messages: "q", control characters escaped

}  // namespace straddle::tensor
