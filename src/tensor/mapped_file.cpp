#include "tensor/mapped_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "tensor/safetensors.hpp"

namespace straddle::tensor {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view step) {
  const std::string cause = std::system_category().message(errno);
  throw SafetensorsError(fmt::format("{}: cannot {} this file: {}", path.string(), step, cause));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  // Non-blocking, so that a pipe without a writer is refused below instead of being waited for.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) fail(path, "open");
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, "examine");
  if (!S_ISREG(status.st_mode)) {
    throw SafetensorsError(fmt::format("{}: a regular file is needed, this is {}", path.string(),
                                       S_ISDIR(status.st_mode) ? "a directory" : "a device or a pipe"));
  }
  const auto size_bytes = static_cast<std::size_t>(status.st_size);
  if (size_bytes == 0) return;  // nothing that could be mapped
  void* data = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) fail(path, "map");
  bytes_ = {static_cast<const std::byte*>(data), size_bytes};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace straddle::tensor
