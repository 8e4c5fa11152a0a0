#include "tensor/safetensors_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace straddle::tensor {
namespace {

using nlohmann::json;

constexpr int kHeaderStart = 8;  // in the file
constexpr int kMaxDepth = 3;     // header, tensor, shape

struct FileDType {
  std::string_view name;
  std::uint64_t bits;
  std::optional<DType> dtype = {};
};

// https://github.com/huggingface/safetensors, safetensors/src/tensor.rs, enum Dtype.
constexpr std::array kFileDTypes = {
    FileDType{"F64", 64, DType::fp64},
    FileDType{"F32", 32, DType::fp32},
    FileDType{"BF16", 16, DType::bf16},
    FileDType{"F16", 16, DType::fp16},
    FileDType{"I64", 64, DType::i64},
    FileDType{"I32", 32, DType::i32},
    FileDType{"BOOL", 8},
    FileDType{"U8", 8},
    FileDType{"I8", 8},
    FileDType{"U16", 16},
    FileDType{"I16", 16},
    FileDType{"U32", 32},
    FileDType{"U64", 64},
    FileDType{"C64", 64},
    FileDType{"F8_E5M2", 8},
    FileDType{"F8_E4M3", 8},
    FileDType{"F8_E8M0", 8},
    FileDType{"F6_E2M3", 6},
    FileDType{"F6_E3M2", 6},
    FileDType{"F4", 4},
};

const FileDType* find_dtype(std::string_view name) {
  const auto* found = std::ranges::find(kFileDTypes, name, &FileDType::name);
  return found == kFileDTypes.end() ? nullptr : found;
}

std::string seen(const json& value) {
  constexpr std::size_t kLongest = 40;
  const std::string text = value.dump(-1, ' ', true);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "..";
}

// The library's text without its own prefix, "[json.exception..] " or "[json.exception..] parse error at ..:
// ".
std::string cause_of(const json::exception& error) {
  const std::string_view text = error.what();
  const bool at_a_byte = dynamic_cast<const json::parse_error*>(&error) != nullptr;
  const std::string_view before = at_a_byte ? ": " : "] ";
  const auto at = text.find(before);
  return std::string(at == text.npos ? text : text.substr(at + before.size()));
}

// Refuses while parsing what the finished value would no longer show or should never have cost memory: a key
// that comes twice, and depth.
class Watch {
 public:
  bool operator()(int depth, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start || event == json::parse_event_t::array_start) {
      if (depth >= kMaxDepth) {
        throw HeaderError(
            fmt::format("the header nests deeper than {} levels, in {}", kMaxDepth, open_.front().last));
      }
    }
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key) see_key(quoted(parsed.get<std::string>()));
    return true;
  }

 private:
  struct Object {
    std::set<std::string> keys;
    std::string last;
  };

  void see_key(const std::string& key) {
    if (!open_.back().keys.insert(key).second) {
      const std::string place = open_.size() == 1 ? "the header" : open_.front().last;
      throw HeaderError(fmt::format("{} comes twice in {}", key, place));
    }
    open_.back().last = key;
  }

  std::vector<Object> open_;
};

json parse_json(std::string_view text) {
  if (!text.starts_with('{')) {
    throw HeaderError(
        fmt::format("the header must be a JSON object and begin with '{{' at byte {}, it has {}",
                    kHeaderStart, text.empty() ? "no bytes" : quoted(std::string(text.substr(0, 1)))));
  }
  if (const auto zero = text.find('\0'); zero != text.npos) {  // where the parser would stop as at the end
    throw HeaderError(
        fmt::format("the header has a zero byte at byte {}; it is padded with spaces", kHeaderStart + zero));
  }
  try {
    Watch watch;
    return json::parse(text, std::ref(watch));
  } catch (const json::parse_error& error) {
    throw HeaderError(
        fmt::format("the header is not JSON at byte {}: {}", kHeaderStart + error.byte - 1, cause_of(error)));
  } catch (const json::exception& error) {
    throw HeaderError(fmt::format("the header is not JSON: {}", cause_of(error)));
  }
}

const json& field(const json& tensor, const char* key) {
  const auto found = tensor.find(key);
  if (found == tensor.end()) throw HeaderError(fmt::format("{} is missing", key));
  return *found;
}

const FileDType& read_dtype(const json& value) {
  if (!value.is_string()) throw HeaderError(fmt::format("dtype must be a string, it is {}", seen(value)));
  if (const FileDType* known = find_dtype(value.get<std::string>())) return *known;
  std::vector<std::string_view> names;
  for (const FileDType& dtype : kFileDTypes) names.push_back(dtype.name);
  throw HeaderError(fmt::format("unknown dtype {}; the format has {}", seen(value), fmt::join(names, " ")));
}

std::int64_t read_count(const json& value, const std::string& what) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::int64_t>::max();
  if (value.is_number_unsigned() && value.get<std::uint64_t>() <= kLargest) return value.get<std::int64_t>();
  throw HeaderError(fmt::format("{} must be an integer from 0 to 2^63 - 1, it is {}", what, seen(value)));
}

std::vector<std::int64_t> read_counts(const json& value, const std::string& what) {
  if (!value.is_array()) throw HeaderError(fmt::format("{} must be an array, it is {}", what, seen(value)));
  std::vector<std::int64_t> counts;
  for (const json& element : value)
    counts.push_back(read_count(element, fmt::format("{}[{}]", what, counts.size())));
  return counts;
}

std::uint64_t bytes_of(const FileDType& dtype, const std::vector<std::int64_t>& shape) {
  std::uint64_t bits = dtype.bits;
  for (const std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bits, static_cast<std::uint64_t>(extent), &bits)) {
      throw HeaderError(fmt::format("{} x shape is more than 2^64 bits", dtype.name));
    }
  }
  if (bits % 8 != 0)
    throw HeaderError(fmt::format("{} x shape is {} bits, which end inside a byte", dtype.name, bits));
  return bits / 8;
}

HeaderTensor read_tensor(const json& value, std::uint64_t data_bytes) {
  if (!value.is_object()) throw HeaderError(fmt::format("must be an object, it is {}", seen(value)));
  const FileDType& dtype = read_dtype(field(value, "dtype"));
  HeaderTensor tensor{std::string(dtype.name), read_counts(field(value, "shape"), "shape")};
  const auto offsets = read_counts(field(value, "data_offsets"), "data_offsets");
  if (offsets.size() != 2)
    throw HeaderError(fmt::format("data_offsets must be 2 integers, there are {}", offsets.size()));
  tensor.begin = static_cast<std::uint64_t>(offsets[0]);
  tensor.end = static_cast<std::uint64_t>(offsets[1]);
  const std::string range = fmt::format("data_offsets [{}, {})", tensor.begin, tensor.end);
  if (tensor.begin > tensor.end) throw HeaderError(fmt::format("{} end before they begin", range));
  if (tensor.end > data_bytes) {
    throw HeaderError(fmt::format("{} leave the file, which has {} bytes of data", range, data_bytes));
  }
  const std::uint64_t needed = bytes_of(dtype, tensor.shape);
  if (tensor.end - tensor.begin != needed) {
    throw HeaderError(fmt::format("{} are {} bytes, but {} x shape [{}] is {}", range,
                                  tensor.end - tensor.begin, dtype.name, fmt::join(tensor.shape, ", "),
                                  needed));
  }
  return tensor;
}

std::map<std::string, std::string> read_metadata(const json& value) {
  if (!value.is_object())
    throw HeaderError(fmt::format("{} must be an object, it is {}", kMetadataKey, seen(value)));
  std::map<std::string, std::string> metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) {
      throw HeaderError(
          fmt::format("{}: {} must be a string, it is {}", kMetadataKey, quoted(key), seen(text)));
    }
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

// In order of their offsets, each tensor must begin where the one before it ends, from 0 to data_bytes.
void check_tiling(const std::map<std::string, HeaderTensor>& tensors, std::uint64_t data_bytes) {
  std::vector<std::pair<const std::string*, const HeaderTensor*>> order;
  for (const auto& [name, tensor] : tensors) order.emplace_back(&name, &tensor);
  std::ranges::stable_sort(order, {},
                           [](const auto& item) { return std::pair(item.second->begin, item.second->end); });
  std::uint64_t covered = 0;
  std::string last = "the header";
  const auto check_gap = [&](std::uint64_t begin) {
    if (begin > covered) {
      throw HeaderError(
          fmt::format("bytes [{}, {}) of the data, after {}, belong to no tensor", covered, begin, last));
    }
  };
  for (const auto& [name, tensor] : order) {
    check_gap(tensor->begin);
    if (tensor->begin < covered) {
      throw HeaderError(fmt::format("tensor {}: data_offsets [{}, {}) overlap those of {}, which end at {}",
                                    quoted(*name), tensor->begin, tensor->end, last, covered));
    }
    covered = tensor->end;
    last = quoted(*name);
  }
  check_gap(data_bytes);
}

}  // namespace

SafetensorsHeader parse_header(std::string_view text, std::uint64_t data_bytes) {
  const json parsed = parse_json(text);
  SafetensorsHeader header;
  for (const auto& [name, value] : parsed.items()) {
    if (name == kMetadataKey) {
      header.metadata = read_metadata(value);
      continue;
    }
    try {
      header.tensors[name] = read_tensor(value, data_bytes);
    } catch (const HeaderError& error) {
      throw HeaderError(fmt::format("tensor {}: {}", quoted(name), error.what()));
    }
  }
  check_tiling(header.tensors, data_bytes);
  return header;
}

std::string print_header(const SafetensorsHeader& header) {
  json printed = json::object();
  if (!header.metadata.empty()) printed[std::string(kMetadataKey)] = header.metadata;
  for (const auto& [name, tensor] : header.tensors) {
    printed[name] = {
        {"dtype", tensor.dtype_name}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
  }
  try {
    return printed.dump();
  } catch (const json::exception& error) {
    throw HeaderError(fmt::format("a name or the metadata are not UTF-8: {}", cause_of(error)));
  }
}

std::optional<DType> dtype_of(std::string_view dtype_name) {
  const FileDType* known = find_dtype(dtype_name);
  return known == nullptr ? std::nullopt : known->dtype;
}

std::string_view dtype_name_of(DType dtype) {
  return std::ranges::find(kFileDTypes, std::optional(dtype), &FileDType::dtype)->name;
}

std::string quoted(const std::string& text) {
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace straddle::tensor
