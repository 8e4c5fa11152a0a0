// Reading and writing safetensors files (https://github.com/huggingface/safetensors, "Format").
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensor/dtype.hpp"
#include "tensor/view.hpp"

namespace straddle::tensor {

// Everything that can be wrong with a file: message starts with its path and says what was expected and seen, and where (byte
// offset or tensor name).
class SafetensorsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SafetensorsEntry {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // into the mapped file: may be aligned to one byte only
};

// A mapped file. Every header field is validated against the file's size before it is used: header length, JSON, dtypes, shapes
// (no negative extent, no overflow), offsets (inside the file, in bounds, no overlap, no hole), byte counts = dtype x shape.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);  // throws SafetensorsError
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  [[nodiscard]] const std::map<std::string, SafetensorsEntry>& entries() const;
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const;
  [[nodiscard]] const SafetensorsEntry& entry(const std::string& name) const;  // throws SafetensorsError listing the names there are
  [[nodiscard]] bool has(const std::string& name) const;
  [[nodiscard]] const std::filesystem::path& path() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SafetensorsTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  ConstView view;  // contiguous, host
};

// Writes a file next to its final name and renames it, so that a reader never sees half a file. Tensors are aligned to 8 bytes.
// Throws SafetensorsError (path and errno text) when the folder can't be written or the disk is full.
void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace straddle::tensor
