#include "tensor/replacement_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include "tensor/safetensors.hpp"

namespace straddle::tensor {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view step) {
  const std::string cause = std::system_category().message(errno);
  throw SafetensorsError(fmt::format("{}: {}: {}", path.string(), step, cause));
}

}  // namespace

// O_EXCL makes the name ours alone, whichever threads and processes write the same path at the same time.
ReplacementFile::ReplacementFile(std::filesystem::path path) : path_(std::move(path)) {
  for (int attempt = 0; fd_ < 0; ++attempt) {
    temporary_ = path_;
    temporary_ += fmt::format(".{}-{}.tmp", ::getpid(), attempt);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0 && errno != EEXIST) fail(path_, "cannot create a file in this folder");
  }
}

ReplacementFile::~ReplacementFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!committed_) ::unlink(temporary_.c_str());
}

void ReplacementFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      fail(path_, fmt::format("cannot write {} more bytes at byte {}", bytes.size(), written_bytes_));
    }
    written_bytes_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void ReplacementFile::commit() {
  if (::close(std::exchange(fd_, -1)) != 0) fail(path_, "cannot complete the file");
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0)
    fail(path_, "cannot rename the complete file to this");
  committed_ = true;
}

}  // namespace straddle::tensor
