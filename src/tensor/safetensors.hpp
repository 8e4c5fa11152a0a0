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

// Everything that can be wrong with a file: message starts with its path and says what was expected and seen,
// and where (byte offset or tensor name).
class SafetensorsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct SafetensorsEntry {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  // into the mapped file: may be aligned to one byte only
};

// A mapped file. Every header field is validated against the file's size before it is used: header length,
// JSON, dtypes, shapes (no negative extent, no overflow), offsets (inside the file, in bounds, no overlap, no
// hole), byte counts = dtype x shape. Opening reads the header alone, whatever the size of the data; the file
// must not shrink while it is mapped.
//
// A tensor of a dtype that the format knows and DType does not (U8, BOOL, F8_E4M3, ..) does not make the file
// unreadable: it is validated like the others, has() knows it, entries() leaves it out, and entry() throws,
// naming its dtype.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);  // throws SafetensorsError
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&&) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&&) noexcept;

  [[nodiscard]] const std::map<std::string, SafetensorsEntry>& entries() const;
  [[nodiscard]] const std::map<std::string, std::string>& metadata() const;
  // Throws SafetensorsError: an unknown name (lists the names there are), or a dtype that is not read.
  [[nodiscard]] const SafetensorsEntry& entry(const std::string& name) const;
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

// Writes a file next to its final name and renames it, so that a reader never sees half a file; nothing is
// left behind on failure. The data start at a multiple of 8 bytes and tensors lie by falling element size, in
// the given order among equals: the format allows no gaps, and so each is aligned for its dtype. Throws
// SafetensorsError: path and errno text when the folder can't be written or the disk is full; path and tensor
// name when a name comes twice or is reserved, or a shape does not count the elements of its view.
void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata);

}  // namespace straddle::tensor
