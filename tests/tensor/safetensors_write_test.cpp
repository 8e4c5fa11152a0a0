#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <utility>

#include "temporary_folder.hpp"
#include "tensor/safetensors.hpp"
#include "tensor/tensor.hpp"

namespace straddle::tensor {
namespace {

Tensor random_tensor(DType dtype, std::int64_t elements, std::mt19937_64& random) {
  Tensor tensor(dtype, {{Axis::token, elements}});
  for (std::byte& byte : tensor.view().bytes()) byte = static_cast<std::byte>(random());
  return tensor;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

// The error of writing, without the path that it must begin with.
std::string write_error(std::span<const SafetensorsTensor> tensors,
                        const std::map<std::string, std::string>& metadata = {}) {
  const TemporaryFolder folder;
  const auto path = folder / "x.safetensors";
  try {
    write_safetensors(path, tensors, metadata);
    return "";
  } catch (const SafetensorsError& error) {
    CHECK(folder.files() == 0);
    const std::string text = error.what();
    const std::string prefix = path.string() + ": ";
    return text.starts_with(prefix) ? text.substr(prefix.size()) : "without the path: " + text;
  }
}

TEST_CASE("what was written is read back, bit for bit, each tensor aligned for its dtype") {
  constexpr std::uint64_t kSeed = 5;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  const DType dtypes[] = {DType::fp16, DType::fp64, DType::i32, DType::bf16, DType::i64, DType::fp32};
  const TemporaryFolder folder;
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> storage;
    std::vector<SafetensorsTensor> tensors;
    for (const DType dtype : dtypes) {
      const auto elements = static_cast<std::int64_t>(random() % 9);
      storage.push_back(random_tensor(dtype, elements * 3, random));
      tensors.push_back(
          {fmt::format("{}/{}", name(dtype), round), {elements, 3}, std::as_const(storage.back()).view()});
    }
    const std::map<std::string, std::string> metadata = {{"round", std::to_string(round)},
                                                         {"text", "\"\n\xc3\xa4"}};
    write_safetensors(folder / "x.safetensors", tensors, metadata);
    const SafetensorsFile file(folder / "x.safetensors");
    CHECK(file.metadata() == metadata);
    CHECK(file.entries().size() == tensors.size());
    for (const SafetensorsTensor& tensor : tensors) {
      const SafetensorsEntry& entry = file.entry(tensor.name);
      CHECK(entry.dtype == tensor.view.dtype());
      CHECK(entry.shape == tensor.shape);
      CHECK(same_bytes(entry.bytes, tensor.view.bytes()));
      CHECK(reinterpret_cast<std::uintptr_t>(entry.bytes.data()) % size_bytes(entry.dtype) == 0);
    }
  }
  CHECK(folder.files() == 1);
}

TEST_CASE("the bytes of a file: length, header padded to 8, data by falling element size") {
  const std::int16_t half = 0x3c00;
  const std::int32_t two[] = {1, 2};
  const ConstView half_view(reinterpret_cast<const std::byte*>(&half), DType::fp16, {{Axis::token, 1}});
  const ConstView two_view(reinterpret_cast<const std::byte*>(two), DType::i32, {{Axis::token, 2}});
  const TemporaryFolder folder;
  write_safetensors(folder / "x", std::vector<SafetensorsTensor>{{"h", {}, half_view}, {"i", {2}, two_view}},
                    {});
  const std::string header =
      R"({"h":{"data_offsets":[8,10],"dtype":"F16","shape":[]},"i":{"data_offsets":[0,8],"dtype":"I32","shape":[2]}})";
  REQUIRE(header.size() == 107);
  const std::string want = std::string("\x70\0\0\0\0\0\0\0", 8) + header + std::string(5, ' ') +
                           std::string("\1\0\0\0\2\0\0\0\0\x3c", 10);
  CHECK(folder.read("x") == want);
}

TEST_CASE("nothing but metadata, and nothing at all, can be written") {
  const TemporaryFolder folder;
  write_safetensors(folder / "x", {}, {{"k", "v"}});
  CHECK(SafetensorsFile(folder / "x").metadata().at("k") == "v");
  write_safetensors(folder / "x", {}, {});
  CHECK(SafetensorsFile(folder / "x").entries().empty());
  CHECK(SafetensorsFile(folder / "x").metadata().empty());
}

TEST_CASE("a reader of the old file keeps its bytes while the name is written anew") {
  std::mt19937_64 random(1);
  const Tensor first = random_tensor(DType::fp32, 1000, random);
  const Tensor second = random_tensor(DType::fp32, 10, random);
  const TemporaryFolder folder;
  write_safetensors(folder / "x", std::vector<SafetensorsTensor>{{"t", {1000}, first.view()}}, {});
  const SafetensorsFile file(folder / "x");
  write_safetensors(folder / "x", std::vector<SafetensorsTensor>{{"t", {10}, second.view()}}, {});
  CHECK(same_bytes(file.entry("t").bytes, first.view().bytes()));
  CHECK(same_bytes(SafetensorsFile(folder / "x").entry("t").bytes, second.view().bytes()));
}

TEST_CASE("what can't be read back is not written, and leaves no file") {
  const Tensor tensor(DType::fp32, token_major(4, 2, 8));
  const ConstView view = tensor.view();
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {4, 16}, view}}) == "");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {4, 2}, view}}) ==
        R"(tensor "q": shape [4, 2] does not count the 64 elements of its view [token 4, head 2, dim 8])");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {-8, -8}, view}}) ==
        R"(tensor "q": shape [-8, -8] does not count the 64 elements of its view [token 4, head 2, dim 8])");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {INT64_MAX, 4, 64}, view}}) != "");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {}, ConstView()}}) ==
        R"(tensor "q": shape [] does not count the 0 elements of its view [])");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {4, 8}, view.slice(Axis::head, 0, 1)}}) ==
        R"(tensor "q": its view [token 4, head 1, dim 8] is strided; copy it with convert())");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"q", {64}, view}, {"q", {64}, view}}) ==
        R"(tensor "q" comes twice)");
  CHECK(write_error(std::vector<SafetensorsTensor>{{"__metadata__", {64}, view}}) ==
        R"(tensor "__metadata__": this name is the format's own)");
  CHECK(write_error({}, {{"k", "\xff"}}) ==
        "a name or the metadata are not UTF-8: invalid UTF-8 byte at index 0: 0xFF");
}

TEST_CASE("a folder that can't be written is an error with the path") {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "") / "x.safetensors";
  CHECK_THROWS_WITH_AS(
      write_safetensors(path, {}, {}),
      fmt::format("{}: cannot create a file in this folder: Not a directory", path.string()).c_str(),
      SafetensorsError);
}

}  // namespace
}  // namespace straddle::tensor
