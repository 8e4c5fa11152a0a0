#include "harness/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace straddle::harness {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

std::string advice(int error) {
  switch (error) {
    case ENOENT:
      return "make its folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "choose a folder that you may write to";
    case EISDIR:
      return "name a file, not a folder";
    case ENOSPC:
    case EDQUOT:
      return "make room there, or choose another folder";
    default:
      return "choose another place";
  }
}

}  // namespace

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path.string()) {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) {
    const int error = errno;
    throw OutputError(fmt::format("{}: can't make this file: {}; {}", path_, reason(error), advice(error)));
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

void OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void OutputFile::write_at(std::int64_t offset, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor_, text.data(), text.size(), offset);
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
      offset += written;
    } else if (errno != EINTR) {
      fail(errno);
    }
  }
}

void OutputFile::fail(int error) const {
  throw OutputError(fmt::format("{}: can't write to this file: {}; {}", path_, reason(error), advice(error)));
}

}  // namespace straddle::harness
