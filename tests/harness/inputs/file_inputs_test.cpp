#include "harness/inputs/file_inputs.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace straddle::harness {
namespace {

using tensor::Axis;
using tensor::DType;

const std::string kLayer00 = STRADDLE_SOURCE_DIR "/data/smollm2/layer00.safetensors";

// A folder of this test's own, gone with it.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("straddle-inputs-" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

// A complete input file of 6 tokens, documents 4 and 1, H2:1 D4 Dv2, before a test spoils it.
struct FileParts {
  std::vector<float> q = std::vector<float>(6 * 2 * 4, 1.5F);
  std::vector<float> k = std::vector<float>(6 * 1 * 4, 2.0F);
  std::vector<float> v = std::vector<float>(6 * 1 * 2, 0.25F);
  std::vector<float> d_out = std::vector<float>(6 * 2 * 2, -1.0F);
  std::vector<std::int32_t> cu_seqlens = {0, 4, 5};
  std::vector<std::int64_t> q_shape = {6, 2, 4};
  std::string without;
  std::map<std::string, std::string> metadata = {{"softmax_scale", "0.5"}};

  std::string write(const Folder& folder) const {
    std::vector<tensor::SafetensorsTensor> tensors;
    const auto add = [&](const std::string& name, std::vector<std::int64_t> shape, const auto& values,
                         DType dtype) {
      if (name == without) return;
      const auto count = static_cast<std::int64_t>(values.size());
      tensors.push_back({name,
                         std::move(shape),
                         {reinterpret_cast<const std::byte*>(values.data()), dtype, {{Axis::token, count}}}});
    };
    add("q", q_shape, q, DType::fp32);
    add("k", {6, 1, 4}, k, DType::fp32);
    add("v", {6, 1, 2}, v, DType::fp32);
    add("d_out", {6, 2, 2}, d_out, DType::fp32);
    add("cu_seqlens", {static_cast<std::int64_t>(cu_seqlens.size())}, cu_seqlens, DType::i32);
    const auto path = folder.path / "inputs.safetensors";
    tensor::write_safetensors(path, tensors, metadata);
    return path.string();
  }
};

Case case_of(const std::string& path) {
  const InputFile file = read_input_file(path);
  Case point;
  point.pack = file.pack;
  point.heads = file.heads;
  point.kv_heads = file.kv_heads;
  point.head_dim = file.head_dim;
  point.v_head_dim = file.v_head_dim;
  point.softmax_scale = file.softmax_scale;
  point.dtype = file.dtype;
  point.inputs.kind = InputKind::file;
  point.inputs.file = path;
  return point;
}

std::string error_of(const std::string& path) {
  try {
    static_cast<void>(make_inputs(case_of(path)));
  } catch (const InputError& error) {
    const std::string text = error.what();
    return text.substr(text.find(": ") + 2);
  }
  return "no error";
}

TEST_CASE("read_input_file: the stored activations say what they are") {
  const InputFile file = read_input_file(kLayer00);
  CHECK(file.pack.documents.size() == 14);
  CHECK(file.pack.real_tokens() == 1000);
  CHECK(file.pack.slots == 1024);
  CHECK(file.heads == 3);
  CHECK(file.kv_heads == 1);
  CHECK(file.head_dim == 64);
  CHECK(file.softmax_scale == 0.125);
  CHECK(file.dtype == DType::bf16);
  CHECK(file.has_results);
}

TEST_CASE("file inputs: real rows are the file's bytes, padding rows are not its zeros") {
  const Case point = case_of(kLayer00);
  tensor::Tensor rows(DType::bf16, input_shape(point, InputName::k, 1024));
  make_inputs(point)->fill(InputName::k, 0, 0, rows.view());
  const tensor::SafetensorsFile file(kLayer00);
  const auto stored = file.entry("k").bytes;
  const auto got = std::as_const(rows).view().bytes();
  const std::size_t real = 1000 * 64 * 2;
  CHECK(std::memcmp(got.data(), stored.data(), real) == 0);
  CHECK(std::memcmp(got.data() + real, stored.data() + real, 24 * 64 * 2) != 0);
}

TEST_CASE("read_stored_results gives the file's results, and nothing for a file without") {
  const auto results = read_stored_results(kLayer00);
  CHECK(results.size() == 5);
  CHECK(results.at("d_q").shape() == tensor::token_major(1024, 3, 64));
  CHECK(results.at("lse").shape() == tensor::token_major(1024, 3));
  const Folder folder;
  CHECK(read_stored_results(FileParts().write(folder)).empty());
}

TEST_CASE("file inputs: what is wrong with a file is named with its place") {
  const Folder folder;
  const auto spoiled = [&](auto spoil) {
    FileParts parts;
    spoil(parts);
    return error_of(parts.write(folder));
  };
  CHECK(spoiled([](FileParts&) {}) == "no error");
  CHECK(spoiled([](FileParts& f) { f.q[2 * 8 + 4 + 1] = std::numeric_limits<float>::quiet_NaN(); }) ==
        "q[token 2, head 1, dim 1] is nan, but the row is real (documents end at 5)");
  CHECK(spoiled([](FileParts& f) { f.d_out[4 * 4] = std::numeric_limits<float>::infinity(); }) ==
        "d_out[token 4, head 0, dim 0] is inf, but the row is real (documents end at 5)");
  CHECK(spoiled([](FileParts& f) { f.q[5 * 8] = std::numeric_limits<float>::quiet_NaN(); }) == "no error");
  CHECK(spoiled([](FileParts& f) { f.without = "v"; }) ==
        "no tensor \"v\": an input file holds q, k, v, d_out and cu_seqlens");
  CHECK(spoiled([](FileParts& f) { f.without = "cu_seqlens"; }) ==
        "no tensor \"cu_seqlens\" (i32 or i64, [documents + 1])");
  CHECK(spoiled([](FileParts& f) { f.q_shape = {6, 1, 8}; }) == "k has shape [6, 1, 4], expected [6, 1, 8]");
  CHECK(spoiled([](FileParts& f) { f.q_shape = {48}; }) == "q has shape [48], expected [tokens, heads, dim]");
  CHECK(spoiled([](FileParts& f) { f.cu_seqlens = {0, 4, 3}; }).find("cu_seqlens[2]") != std::string::npos);
  CHECK(spoiled([](FileParts& f) { f.cu_seqlens = {0, 4, 7}; }).find("7") != std::string::npos);
  CHECK(spoiled([](FileParts& f) { f.metadata["softmax_scale"] = "half"; }) ==
        "metadata softmax_scale is \"half\", expected a finite number");
  CHECK_THROWS_AS(static_cast<void>(read_input_file((folder.path / "missing").string())), InputError);
}

}  // namespace
}  // namespace straddle::harness
