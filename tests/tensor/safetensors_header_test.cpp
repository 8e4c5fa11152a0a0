#include "tensor/safetensors_header.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <random>
#include <string>

namespace straddle::tensor {
namespace {

// The error that a header over `data_bytes` bytes of data gives; "" when there is none.
std::string error_of(std::string_view json, std::uint64_t data_bytes) {
  try {
    (void)parse_header(json, data_bytes);
    return "";
  } catch (const HeaderError& error) {
    return error.what();
  }
}

// The error of one tensor "q" with these fields, without the name in front.
std::string tensor_error(std::string_view fields, std::uint64_t data_bytes = 8) {
  const std::string error = error_of(fmt::format(R"({{"q":{{{}}}}})", fields), data_bytes);
  const std::string_view prefix = R"(tensor "q": )";
  return error.starts_with(prefix) ? error.substr(prefix.size()) : "without the tensor: " + error;
}

std::string tensor_error(std::string_view dtype, std::string_view shape, std::string_view offsets,
                         std::uint64_t data_bytes = 8) {
  return tensor_error(fmt::format(R"("dtype":{},"shape":{},"data_offsets":{})", dtype, shape, offsets),
                      data_bytes);
}

// Tensors "a", "b", .. of bytes, at these offsets.
std::string tiling_error(std::initializer_list<std::pair<int, int>> offsets, std::uint64_t data_bytes) {
  std::string json = "{";
  char name = 'a';
  for (const auto& [begin, end] : offsets) {
    json += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[{}],"data_offsets":[{},{}]}})",
                        json == "{" ? "" : ",", name++, end - begin, begin, end);
  }
  return error_of(json + "}", data_bytes);
}

TEST_CASE("a header says what its text says") {
  const SafetensorsHeader header = parse_header(
      R"({"q":{"dtype":"F32","shape":[2,1],"data_offsets":[2,10]},"one":{"shape":[],"data_offsets":[0,2],"dtype":"BF16"},)"
      R"("__metadata__":{"k":"v","":"empty key"}}      )",
      10);
  CHECK(header.tensors.size() == 2);
  CHECK(header.tensors.at("q") == HeaderTensor{"F32", {2, 1}, 2, 10});
  CHECK(header.tensors.at("one") == HeaderTensor{"BF16", {}, 0, 2});
  CHECK(header.metadata == std::map<std::string, std::string>{{"k", "v"}, {"", "empty key"}});
  CHECK(parse_header("{}", 0) == SafetensorsHeader{});
}

TEST_CASE("what is printed is parsed to the same, with any name") {
  SafetensorsHeader header;
  header.metadata = {{"quote\"", "line\nand \\"}, {"\xc3\xa4", "\x01"}};
  header.tensors["model.layers.0/q"] = {"F64", {3, 0, 5}, 0, 0};
  header.tensors["\xe2\x82\xac \t"] = {"I64", {}, 0, 8};
  header.tensors[""] = {"F16", {1, 2, 3}, 8, 20};
  CHECK(parse_header(print_header(header), 20) == header);
  CHECK(parse_header(print_header({}), 0) == SafetensorsHeader{});
}

TEST_CASE("text that is not UTF-8 is not printed") {
  CHECK_THROWS_AS((void)print_header({{{"\xff", {"F32", {}, 0, 4}}}, {}}), HeaderError);
  CHECK_THROWS_WITH_AS((void)print_header({{}, {{"k", "\xff"}}}),
                       "a name or the metadata are not UTF-8: invalid UTF-8 byte at index 0: 0xFF",
                       HeaderError);
}

TEST_CASE("what is no JSON object is refused, with its byte in the file") {
  CHECK(error_of("", 0) == "the header must be a JSON object and begin with '{' at byte 8, it has no bytes");
  CHECK(error_of("[]", 0) == R"(the header must be a JSON object and begin with '{' at byte 8, it has "[")");
  CHECK(error_of(" {}", 0) == R"(the header must be a JSON object and begin with '{' at byte 8, it has " ")");
  CHECK(error_of("\x93NUMPY", 0) ==
        "the header must be a JSON object and begin with '{' at byte 8, it has \"\xef\xbf\xbd\"");
  CHECK(error_of("{\"q\":x}", 0) ==
        "the header is not JSON at byte 13: syntax error while parsing value - invalid literal; last read: "
        "'\"q\":x'");
  CHECK(error_of("{", 0).starts_with(
      "the header is not JSON at byte 9: syntax error while parsing object key"));
  CHECK(error_of("{} {}", 0).starts_with("the header is not JSON at byte 11: "));
  CHECK(error_of("{\"\xff\":1}", 0).starts_with("the header is not JSON at byte 10: "));
  CHECK(error_of(R"({"q":1e999})", 0) == "the header is not JSON: number overflow parsing '1e999'");
  CHECK(error_of(std::string_view("{}\0{", 4), 0) ==
        "the header has a zero byte at byte 10; it is padded with spaces");
}

TEST_CASE("a key that comes twice is refused at every level") {
  CHECK(error_of(R"({"q":1,"q":2})", 0) == R"("q" comes twice in the header)");
  CHECK(error_of(R"({"q":1,"\u0071":2})", 0) == R"("q" comes twice in the header)");
  CHECK(error_of(R"({"p":{"dtype":1},"q":{"dtype":1,"shape":2,"dtype":1}})", 0) ==
        R"("dtype" comes twice in "q")");
  CHECK(error_of(R"({"__metadata__":{"k":"1","k":"1"}})", 0) == R"("k" comes twice in "__metadata__")");
}

TEST_CASE("depth is refused while parsing, before it costs memory or stack") {
  CHECK(error_of(R"({"q":{"shape":[[1]]}})", 0) == R"(the header nests deeper than 3 levels, in "q")");
  CHECK(error_of(R"({"q":{"shape":{"a":{}}}})", 0) == R"(the header nests deeper than 3 levels, in "q")");
  CHECK(error_of(R"({"q":)" + std::string(10'000'000, '['), 0) ==
        R"(the header nests deeper than 3 levels, in "q")");
}

TEST_CASE("fields of the wrong type are refused by name") {
  CHECK(tensor_error(R"("dtype":"F32","shape":[2])") == "data_offsets is missing");
  CHECK(tensor_error(R"("dtype":"F32","data_offsets":[0,8])") == "shape is missing");
  CHECK(tensor_error(R"("shape":[2],"data_offsets":[0,8])") == "dtype is missing");
  CHECK(error_of(R"({"q":[1,2]})", 0) == R"(tensor "q": must be an object, it is [1,2])");
  CHECK(tensor_error("4", "[2]", "[0,8]") == "dtype must be a string, it is 4");
  CHECK(tensor_error(R"("F31")", "[2]", "[0,8]") ==
        "unknown dtype \"F31\"; the format has F64 F32 BF16 F16 I64 I32 BOOL U8 I8 U16 I16 U32 U64 C64 "
        "F8_E5M2 F8_E4M3 "
        "F8_E8M0 F6_E2M3 F6_E3M2 F4");
  CHECK(tensor_error(R"("f32")", "[2]", "[0,8]").starts_with("unknown dtype \"f32\""));
  CHECK(tensor_error(R"("F32")", "2", "[0,8]") == "shape must be an array, it is 2");
  CHECK(tensor_error(R"("F32")", R"([1,"2"])", "[0,8]") ==
        R"(shape[1] must be an integer from 0 to 2^63 - 1, it is "2")");
  CHECK(tensor_error(R"("F32")", "[2.0]", "[0,8]") ==
        "shape[0] must be an integer from 0 to 2^63 - 1, it is 2.0");
  CHECK(tensor_error(R"("F32")", "[null]", "[0,8]") ==
        "shape[0] must be an integer from 0 to 2^63 - 1, it is null");
  CHECK(tensor_error(R"("F32")", "[2]", "8") == "data_offsets must be an array, it is 8");
  CHECK(tensor_error(R"("F32")", "[2]", "[8]") == "data_offsets must be 2 integers, there are 1");
  CHECK(tensor_error(R"("F32")", "[2]", "[0,4,8]") == "data_offsets must be 2 integers, there are 3");
  CHECK(tensor_error(R"("F32")", "[2]", "[0,true]") ==
        "data_offsets[1] must be an integer from 0 to 2^63 - 1, it is true");
  CHECK(error_of(R"({"__metadata__":"text"})", 0) == R"(__metadata__ must be an object, it is "text")");
  CHECK(error_of(R"({"__metadata__":{"k":3}})", 0) == R"(__metadata__: "k" must be a string, it is 3)");
  CHECK(tensor_error(fmt::format("\"{:a>200}\"", ""), "[2]", "[0,8]")
            .starts_with(fmt::format("unknown dtype \"{:a>39}..; the format has", "")));
}

TEST_CASE("shapes that are negative or can't be counted are refused") {
  CHECK(tensor_error(R"("F32")", "[4,-1]", "[0,8]") ==
        "shape[1] must be an integer from 0 to 2^63 - 1, it is -1");
  CHECK(tensor_error(R"("F32")", "[9223372036854775808]", "[0,8]") ==
        "shape[0] must be an integer from 0 to 2^63 - 1, it is 9223372036854775808");
  CHECK(tensor_error(R"("F32")", "[4294967296,4294967296]", "[0,8]") == "F32 x shape is more than 2^64 bits");
  CHECK(tensor_error(R"("F64")", "[288230376151711744]", "[0,0]") ==
        "F64 x shape is more than 2^64 bits");  // 2^58
  CHECK(tensor_error(R"("F4")", "[3]", "[0,1]") == "F4 x shape is 12 bits, which end inside a byte");
}

TEST_CASE("offsets must lie in the file, in order, and hold what dtype and shape need") {
  CHECK(tensor_error(R"("F32")", "[2]", "[0,8]", 7) ==
        "data_offsets [0, 8) leave the file, which has 7 bytes of data");
  CHECK(tensor_error(R"("F32")", "[2]", "[9223372036854775800,9223372036854775807]") ==
        "data_offsets [9223372036854775800, 9223372036854775807) leave the file, which has 8 bytes of data");
  CHECK(tensor_error(R"("F32")", "[2]", "[0,18446744073709551615]") ==
        "data_offsets[1] must be an integer from 0 to 2^63 - 1, it is 18446744073709551615");
  CHECK(tensor_error(R"("F32")", "[2]", "[8,0]") == "data_offsets [8, 0) end before they begin");
  CHECK(tensor_error(R"("F32")", "[2]", "[-8,0]") ==
        "data_offsets[0] must be an integer from 0 to 2^63 - 1, it is -8");
  CHECK(tensor_error(R"("F32")", "[1]", "[0,8]") ==
        "data_offsets [0, 8) are 8 bytes, but F32 x shape [1] is 4");
  CHECK(tensor_error(R"("BF16")", "[2,3]", "[0,8]") ==
        "data_offsets [0, 8) are 8 bytes, but BF16 x shape [2, 3] is 12");
  CHECK(tensor_error(R"("F64")", "[]", "[0,4]") ==
        "data_offsets [0, 4) are 4 bytes, but F64 x shape [] is 8");
}

TEST_CASE("every dtype of the format has its size") {
  const std::pair<const char*, int> bits[] = {
      {"BOOL", 8}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8}, {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},
      {"U16", 16}, {"F16", 16}, {"BF16", 16}, {"I32", 32},    {"U32", 32},    {"F32", 32},    {"C64", 64},
      {"F64", 64}, {"I64", 64}, {"U64", 64},  {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4}};
  for (const auto& [name, size] : bits) {
    CAPTURE(name);
    const auto json =
        fmt::format(R"({{"q":{{"dtype":"{}","shape":[8],"data_offsets":[0,{}]}}}})", name, size);
    CHECK(error_of(json, static_cast<std::uint64_t>(size)) == "");
  }
}

TEST_CASE("the dtypes of this library and no others have a counterpart") {
  for (const DType dtype : {DType::fp64, DType::fp32, DType::bf16, DType::fp16, DType::i64, DType::i32}) {
    CHECK(dtype_of(dtype_name_of(dtype)) == dtype);
  }
  CHECK(dtype_of("F32") == DType::fp32);
  CHECK(dtype_of("BF16") == DType::bf16);
  CHECK(dtype_of("I32") == DType::i32);
  CHECK(dtype_of("U32") == std::nullopt);
  CHECK(dtype_of("fp32") == std::nullopt);
}

TEST_CASE("tensors tile the data: no hole, no overlap, whatever their order") {
  CHECK(tiling_error({{0, 4}, {4, 6}}, 6) == "");
  CHECK(tiling_error({{4, 6}, {0, 4}}, 6) == "");
  CHECK(tiling_error({{0, 4}, {0, 0}, {4, 4}, {4, 6}, {6, 6}}, 6) == "");
  CHECK(tiling_error({}, 0) == "");
  CHECK(tiling_error({}, 2) == "bytes [0, 2) of the data, after the header, belong to no tensor");
  CHECK(tiling_error({{2, 4}}, 4) == "bytes [0, 2) of the data, after the header, belong to no tensor");
  CHECK(tiling_error({{5, 6}, {0, 4}}, 6) == R"(bytes [4, 5) of the data, after "b", belong to no tensor)");
  CHECK(tiling_error({{0, 4}}, 6) == R"(bytes [4, 6) of the data, after "a", belong to no tensor)");
  CHECK(tiling_error({{0, 4}, {3, 6}}, 6) ==
        R"(tensor "b": data_offsets [3, 6) overlap those of "a", which end at 4)");
  CHECK(tiling_error({{0, 4}, {0, 4}}, 4) ==
        R"(tensor "b": data_offsets [0, 4) overlap those of "a", which end at 4)");
  CHECK(tiling_error({{0, 4}, {2, 2}}, 4) ==
        R"(tensor "b": data_offsets [2, 2) overlap those of "a", which end at 4)");
}

TEST_CASE("every way to lay up to 3 tensors over 4 bytes passes exactly if it covers each byte once") {
  std::vector<std::pair<int, int>> ranges;
  for (int begin = 0; begin < 4; ++begin) {
    for (int end = begin + 1; end <= 4; ++end) ranges.emplace_back(begin, end);
  }
  const auto covers_once = [](std::initializer_list<std::pair<int, int>> tensors) {
    for (int byte = 0; byte < 4; ++byte) {
      int owners = 0;
      for (const auto& [begin, end] : tensors) owners += begin <= byte && byte < end;
      if (owners != 1) return false;
    }
    return true;
  };
  for (const auto& a : ranges) {
    CHECK((tiling_error({a}, 4) == "") == covers_once({a}));
    for (const auto& b : ranges) {
      CHECK((tiling_error({a, b}, 4) == "") == covers_once({a, b}));
      for (const auto& c : ranges) CHECK((tiling_error({a, b, c}, 4) == "") == covers_once({a, b, c}));
    }
  }
}

TEST_CASE("a header with bytes changed, cut or doubled at random is parsed or refused, never worse") {
  constexpr std::uint64_t kSeed = 3;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  const std::string valid =
      R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"b":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]}})";
  REQUIRE(error_of(valid, 32) == "");
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string changed = valid;
    for (auto edits = 1 + random() % 3; edits > 0; --edits) {
      const std::size_t at = random() % changed.size();
      const std::size_t length = random() % 8;
      switch (random() % 4) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, length);
          break;
        case 2:
          changed.insert(at, changed.substr(random() % changed.size(), length));
          break;
        default:
          changed[at] = "0123456789[]{},:\"-e"[random() % 19];
      }
      if (changed.empty()) changed = "{";
    }
    refused += error_of(changed, 32) != "";
  }
  CHECK(refused > 10'000);
}

}  // namespace
}  // namespace straddle::tensor
