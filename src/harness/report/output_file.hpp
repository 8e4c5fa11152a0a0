// A file that a report is written to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace straddle::harness {

// A report can't be written: which file, why, what to do.
class OutputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Owns a file descriptor. Nothing is buffered here: what write returned from, a reader of the file sees, and
// the file keeps when this process dies.
class OutputFile {
 public:
  // Makes the file, or empties the one that is there. Throws OutputError.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // At the end of what was written. Complete, or throws OutputError.
  void write(std::string_view text);
  // Over what is there from `offset` on, in a file that is no pipe. Complete, or throws OutputError.
  void write_at(std::int64_t offset, std::string_view text);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;
  int descriptor_ = -1;
};

}  // namespace straddle::harness
