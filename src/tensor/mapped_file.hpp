// A file's bytes, mapped for reading.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace straddle::tensor {

// Unmaps when it ends. A page is read when it is first touched.
class MappedFile {
 public:
  // Throws SafetensorsError (path and errno text): missing, not readable, no regular file.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace straddle::tensor
