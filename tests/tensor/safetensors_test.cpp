#include "tensor/safetensors.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "temporary_folder.hpp"

namespace straddle::tensor {
namespace {

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string content(sizeof length, '\0');
  std::memcpy(content.data(), &length, sizeof length);
  return content.append(rest);
}

std::string file_of(std::string_view header, std::string_view data) {
  return with_length(header.size(), header).append(data);
}

// The error of opening a file with this content, without the path that it must begin with.
std::string open_error(std::string_view content) {
  const TemporaryFolder folder;
  const auto path = folder.write("x.safetensors", content);
  try {
    const SafetensorsFile file(path);
    return "";
  } catch (const SafetensorsError& error) {
    const std::string text = error.what();
    const std::string prefix = path.string() + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "without the path: " + text;
  }
}

constexpr std::string_view kThree =
    R"({"a":{"dtype":"F32","shape":[1,2],"data_offsets":[1,9]},"mask":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
    R"("none":{"dtype":"I64","shape":[0,3],"data_offsets":[9,9]},"__metadata__":{"k":"v"}})";

TEST_CASE("entries give dtype, shape and the very bytes of the file, at any alignment") {
  const TemporaryFolder folder;
  const auto path = folder.write("x.safetensors", file_of(kThree,
                                                          "\x01"
                                                          "12345678"));
  const SafetensorsFile file(path);
  CHECK(file.path() == path);
  CHECK(file.metadata() == std::map<std::string, std::string>{{"k", "v"}});
  const SafetensorsEntry& a = file.entry("a");
  CHECK(a.dtype == DType::fp32);
  CHECK(a.shape == std::vector<std::int64_t>{1, 2});
  REQUIRE(a.bytes.size() == 8);
  CHECK(std::memcmp(a.bytes.data(), "12345678", 8) == 0);
  CHECK(file.entry("none").dtype == DType::i64);
  CHECK(file.entry("none").shape == std::vector<std::int64_t>{0, 3});
  CHECK(file.entry("none").bytes.empty());
}

TEST_CASE("a tensor of a dtype that is not read leaves the others readable, and says so when asked for") {
  const TemporaryFolder folder;
  const auto path = folder.write("x.safetensors", file_of(kThree,
                                                          "\x01"
                                                          "12345678"));
  const SafetensorsFile file(path);
  CHECK(file.entries().size() == 2);
  CHECK_FALSE(file.entries().contains("mask"));
  CHECK(file.has("mask"));
  CHECK_THROWS_WITH_AS(
      (void)file.entry("mask"),
      fmt::format("{}: tensor \"mask\" is U8, but only F64 F32 BF16 F16 I64 I32 are read", path.string())
          .c_str(),
      SafetensorsError);
}

TEST_CASE("a name that is not there is answered with those that are") {
  const TemporaryFolder folder;
  const auto path = folder.write("x.safetensors", file_of(kThree,
                                                          "\x01"
                                                          "12345678"));
  const SafetensorsFile file(path);
  CHECK(file.has("a"));
  CHECK_FALSE(file.has("q"));
  CHECK_FALSE(file.has("__metadata__"));
  CHECK_THROWS_WITH_AS(
      (void)file.entry("q"),
      fmt::format(R"({}: there is no tensor "q"; there are 3: "a" "none" "mask")", path.string()).c_str(),
      SafetensorsError);
}

TEST_CASE("a file without tensors is a file") { CHECK(open_error(file_of("{}", "")) == ""); }

TEST_CASE("a moved file keeps its entries") {
  const TemporaryFolder folder;
  SafetensorsFile file(folder.write("x.safetensors", file_of(kThree,
                                                             "\x01"
                                                             "12345678")));
  const std::byte* data = file.entry("a").bytes.data();
  SafetensorsFile moved(std::move(file));
  CHECK(moved.entry("a").bytes.data() == data);
  SafetensorsFile other(folder.write("y.safetensors", file_of("{}", "")));
  other = std::move(moved);
  CHECK(std::memcmp(other.entry("a").bytes.data(), "12345678", 8) == 0);
}

TEST_CASE("a file too short for its header is refused") {
  CHECK(open_error("") ==
        "a safetensors file begins with the length of its header in 8 bytes, this file has 0 bytes");
  CHECK(open_error("1234567") ==
        "a safetensors file begins with the length of its header in 8 bytes, this file has 7 bytes");
  CHECK(open_error(with_length(3, "{}")) ==
        "the header's length (bytes [0, 8)) is 3, but only 2 bytes follow; cut off, or no safetensors file");
  CHECK(open_error(with_length(UINT64_MAX, "{}")) ==
        "the header's length (bytes [0, 8)) is 18446744073709551615, but only 2 bytes follow; cut off, or no "
        "safetensors file");
  CHECK(open_error(with_length(0, "")) ==
        "the header must be a JSON object and begin with '{' at byte 8, it has no bytes");
}

TEST_CASE("every prefix of a valid file is refused") {
  const std::string whole = file_of(kThree,
                                    "\x01"
                                    "12345678");
  CHECK(open_error(whole) == "");
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    CAPTURE(bytes);
    CHECK(open_error(whole.substr(0, bytes)) != "");
  }
  CHECK(open_error(whole + "x") == R"(bytes [9, 10) of the data, after "none", belong to no tensor)");
}

TEST_CASE("a header over the format's limit is refused, and a large file opens without being read") {
  const TemporaryFolder folder;
  const auto path = folder.write("large.safetensors", with_length(100'000'001, "{}"));
  std::filesystem::resize_file(path, 200'000'000);  // sparse: no blocks behind it
  CHECK_THROWS_WITH_AS(
      SafetensorsFile{path},
      fmt::format("{}: the header's length (bytes [0, 8)) is 100000001, the format allows 100000000",
                  path.string())
          .c_str(),
      SafetensorsError);
}

TEST_CASE("a broken rule of the header is reported with the path") {
  CHECK(open_error(file_of("[]", "")) ==
        R"(the header must be a JSON object and begin with '{' at byte 8, it has "[")");
  CHECK(open_error(file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", "1234")) ==
        R"(tensor "a": data_offsets [0, 8) leave the file, which has 4 bytes of data)");
}

TEST_CASE("a missing file and a folder are refused with the path") {
  const TemporaryFolder folder;
  const auto missing = folder / "missing.safetensors";
  CHECK_THROWS_WITH_AS(
      SafetensorsFile{missing},
      fmt::format("{}: cannot open this file: No such file or directory", missing.string()).c_str(),
      SafetensorsError);
  CHECK_THROWS_WITH_AS(
      SafetensorsFile{folder / "."},
      fmt::format("{}: a regular file is needed, this is a directory", (folder / ".").string()).c_str(),
      SafetensorsError);
}

}  // namespace
}  // namespace straddle::tensor
