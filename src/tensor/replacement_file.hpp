// A file that takes its name only when it is complete.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

namespace straddle::tensor {

// Writes to a new file beside `path` and renames it in commit(). Without commit() it is removed. Every error
// is a SafetensorsError with the path, the step and the errno text.
class ReplacementFile {
 public:
  explicit ReplacementFile(std::filesystem::path path);
  ReplacementFile(const ReplacementFile&) = delete;
  ReplacementFile& operator=(const ReplacementFile&) = delete;
  ~ReplacementFile();

  void write(std::span<const std::byte> bytes);
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  std::uint64_t written_bytes_ = 0;
  bool committed_ = false;
};

}  // namespace straddle::tensor
