#include "harness/inputs/file_inputs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>

#include "harness/judge/judge.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

double element(const tensor::SafetensorsEntry& entry, std::size_t index) {
  // The format promises no alignment: copy each element.
  const std::byte* at = entry.bytes.data() + index * tensor::size_bytes(entry.dtype);
  const auto load = [&](auto value) {
    std::memcpy(&value, at, sizeof value);
    return value;
  };
  switch (entry.dtype) {
    case tensor::DType::fp64:
      return load(double{});
    case tensor::DType::fp32:
      return load(float{});
    case tensor::DType::bf16:
      return tensor::to_float(load(tensor::Bf16{}));
    case tensor::DType::fp16:
      return tensor::to_float(load(tensor::Fp16{}));
    case tensor::DType::i64:
      return static_cast<double>(load(std::int64_t{}));
    case tensor::DType::i32:
      return load(std::int32_t{});
  }
  return 0;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

// A floating-point tensor of three axes; returns its shape.
const std::vector<std::int64_t>& three_axes(const tensor::SafetensorsFile& file, const std::string& name) {
  if (!file.has(name)) {
    throw InputError(fmt::format("{}: no tensor \"{}\": an input file holds q, k, v, d_out and cu_seqlens",
                                 file.path().string(), name));
  }
  const auto& entry = file.entry(name);
  if (!tensor::is_floating(entry.dtype)) {
    throw InputError(fmt::format("{}: {} has dtype {}, expected a floating-point type", file.path().string(),
                                 name, tensor::name(entry.dtype)));
  }
  if (entry.shape.size() != 3) {
    throw InputError(fmt::format("{}: {} has shape {}, expected [tokens, heads, dim]", file.path().string(),
                                 name, shape_text(entry.shape)));
  }
  return entry.shape;
}

void expect_shape(const tensor::SafetensorsFile& file, const std::string& name,
                  std::vector<std::int64_t> expected) {
  const auto& entry = file.entry(name);
  if (entry.shape != expected) {
    throw InputError(fmt::format("{}: {} has shape {}, expected {}", file.path().string(), name,
                                 shape_text(entry.shape), shape_text(expected)));
  }
}

pack::Pack read_pack(const tensor::SafetensorsFile& file, std::int64_t slots) {
  if (!file.has("cu_seqlens")) {
    throw InputError(
        fmt::format("{}: no tensor \"cu_seqlens\" (i32 or i64, [documents + 1])", file.path().string()));
  }
  const auto& entry = file.entry("cu_seqlens");
  if (tensor::is_floating(entry.dtype) || entry.shape.size() != 1) {
    throw InputError(fmt::format("{}: cu_seqlens is {} {}, expected i32 or i64 [documents + 1]",
                                 file.path().string(), tensor::name(entry.dtype), shape_text(entry.shape)));
  }
  std::vector<std::int64_t> cu_seqlens;
  for (std::size_t i = 0; i < static_cast<std::size_t>(entry.shape[0]); ++i) {
    cu_seqlens.push_back(static_cast<std::int64_t>(element(entry, i)));
  }
  try {
    return pack::from_cu_seqlens(cu_seqlens, slots);
  } catch (const pack::PackError& error) {
    throw InputError(fmt::format("{}: {}", file.path().string(), error.what()));
  }
}

std::optional<double> read_scale(const tensor::SafetensorsFile& file) {
  const auto found = file.metadata().find("softmax_scale");
  if (found == file.metadata().end()) return std::nullopt;
  double scale = 0;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(scale)) {
    throw InputError(fmt::format("{}: metadata softmax_scale is \"{}\", expected a finite number",
                                 file.path().string(), text));
  }
  return scale;
}

// FNV-1a over the file's 8-byte words and its rest.
std::uint64_t hash_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::uint64_t hash = 0xcbf29ce484222325U;
  std::vector<char> chunk(std::size_t{1} << 20);
  while (stream.read(chunk.data(), static_cast<std::streamsize>(chunk.size())), stream.gcount() > 0) {
    const auto count = static_cast<std::size_t>(stream.gcount());
    for (std::size_t i = 0; i < count; i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, chunk.data() + i, std::min<std::size_t>(8, count - i));
      hash = (hash ^ word) * 0x100000001b3U;
      hash ^= hash >> 29;
    }
  }
  return hash;
}

tensor::SafetensorsFile open(const std::string& path) {
  try {
    return tensor::SafetensorsFile(path);
  } catch (const tensor::SafetensorsError& error) {
    throw InputError(error.what());
  }
}

bool has_all_results(const tensor::SafetensorsFile& file) {
  for (const auto name : kResultNames) {
    if (!file.has(std::string(name))) return false;
  }
  return true;
}

}  // namespace

InputFile read_input_file(const std::string& path) {
  const auto file = open(path);
  const auto& q = three_axes(file, "q");
  const auto& k = three_axes(file, "k");
  const auto& v = three_axes(file, "v");
  three_axes(file, "d_out");
  const std::int64_t tokens = q[0];
  if (q[1] < 1 || k[1] < 1 || q[1] % k[1] != 0) {
    throw InputError(
        fmt::format("{}: q has {} heads and k {}: kv heads must divide heads", path, q[1], k[1]));
  }
  if (q[2] < 1 || v[2] < 1) throw InputError(fmt::format("{}: a head size of 0", path));
  expect_shape(file, "k", {tokens, k[1], q[2]});
  expect_shape(file, "v", {tokens, k[1], v[2]});
  expect_shape(file, "d_out", {tokens, q[1], v[2]});
  if (file.has("d_lse")) expect_shape(file, "d_lse", {tokens, q[1]});
  const bool results = has_all_results(file);
  if (results) {
    expect_shape(file, "out", {tokens, q[1], v[2]});
    expect_shape(file, "lse", {tokens, q[1]});
    expect_shape(file, "d_q", {tokens, q[1], q[2]});
    expect_shape(file, "d_k", {tokens, k[1], q[2]});
    expect_shape(file, "d_v", {tokens, k[1], v[2]});
  }
  return {.pack = read_pack(file, tokens),
          .heads = q[1],
          .kv_heads = k[1],
          .head_dim = q[2],
          .v_head_dim = v[2],
          .softmax_scale = read_scale(file),
          .dtype = file.entry("q").dtype,
          .hash = hash_file(path),
          .has_results = results};
}

std::map<std::string, tensor::Tensor> read_stored_results(const std::string& path) {
  const auto file = open(path);
  std::map<std::string, tensor::Tensor> results;
  if (!has_all_results(file)) return results;
  for (const auto name : kResultNames) {
    const auto& entry = file.entry(std::string(name));
    const bool lse = entry.shape.size() == 2;
    tensor::Tensor values(tensor::DType::fp64,
                          lse ? tensor::token_major(entry.shape[0], entry.shape[1])
                              : tensor::token_major(entry.shape[0], entry.shape[1], entry.shape[2]));
    const auto to = values.view().span<double>();
    for (std::size_t i = 0; i < to.size(); ++i) to[i] = element(entry, i);
    results.emplace(name, std::move(values));
  }
  return results;
}

FileInputs::FileInputs(const Case& point) : RowSource(point), file_(open(point.inputs.file)) {
  const InputFile found = read_input_file(point.inputs.file);
  if (point.inputs.file_hash != 0 && found.hash != point.inputs.file_hash) {
    throw InputError(fmt::format("{}: the file changed since the scenario was read", point.inputs.file));
  }
  if (found.pack.documents != point.pack.documents || found.heads != point.heads ||
      found.kv_heads != point.kv_heads || found.head_dim != point.head_dim ||
      found.v_head_dim != point.v_head_dim) {
    throw InputError(
        fmt::format("{}: documents, heads or head sizes are not those of the case", point.inputs.file));
  }
  if (point.inputs.d_lse && !file_.has("d_lse")) {
    throw InputError(
        fmt::format("{}: no tensor \"d_lse\", but the case has d_lse = true", point.inputs.file));
  }
  for (const InputName input : {InputName::q, InputName::k, InputName::v, InputName::d_out})
    check_finite(input);
  if (point.inputs.d_lse) check_finite(InputName::d_lse);
}

void FileInputs::check_finite(InputName input) const {
  const auto& entry = file_.entry(std::string(name(input)));
  const std::int64_t heads = entry.shape[1];
  const std::int64_t dim = entry.shape.size() == 3 ? entry.shape[2] : 1;
  for (const pack::Document& document : point_.pack.documents) {
    for (std::int64_t i = document.start * heads * dim; i < document.end() * heads * dim; ++i) {
      const double value = element(entry, static_cast<std::size_t>(i));
      if (std::isfinite(value)) continue;
      throw InputError(
          fmt::format("{}: {}[token {}, head {}, dim {}] is {}, but the row is real (documents end at {})",
                      file_.path().string(), name(input), i / (heads * dim), i / dim % heads, i % dim, value,
                      point_.pack.documents.back().end()));
    }
  }
}

void FileInputs::read(InputName input, std::int64_t token, std::int64_t head, std::span<double> dims) const {
  const auto& entry = file_.entry(std::string(name(input)));
  const std::int64_t first = (token * entry.shape[1] + head) * static_cast<std::int64_t>(dims.size());
  for (std::size_t d = 0; d < dims.size(); ++d) dims[d] = element(entry, static_cast<std::size_t>(first) + d);
}

void FileInputs::values(InputName input, std::int64_t layer, std::int64_t token, std::int64_t document,
                        std::int64_t head, std::span<double> dims) const {
  static_cast<void>(layer);
  static_cast<void>(document);
  read(input, token, head, dims);
}

}  // namespace straddle::harness
