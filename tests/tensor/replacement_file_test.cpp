#include "tensor/replacement_file.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "temporary_folder.hpp"
#include "tensor/safetensors.hpp"

namespace straddle::tensor {
namespace {

// Files can't grow beyond a limit while this lives: a write then fails half way, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST_CASE("the old content stays under the name until the new one is complete") {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "old");
  ReplacementFile file(path);
  file.write(bytes_of("ne"));
  CHECK(folder.read("file") == "old");
  file.write(bytes_of(""));
  file.write(bytes_of("w"));
  CHECK(folder.read("file") == "old");
  file.commit();
  CHECK(folder.read("file") == "new");
  CHECK(folder.files() == 1);
}

TEST_CASE("without commit nothing changes and nothing is left behind") {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "old");
  { ReplacementFile(path).write(bytes_of("new")); }
  { ReplacementFile(folder / "other").write(bytes_of("new")); }
  CHECK(folder.read("file") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("two that write the same name at the same time do not mix; the later commit stays") {
  const TemporaryFolder folder;
  ReplacementFile first(folder / "file");
  ReplacementFile second(folder / "file");
  first.write(bytes_of("first"));
  second.write(bytes_of("2nd"));
  second.commit();
  CHECK(folder.read("file") == "2nd");
  first.commit();
  CHECK(folder.read("file") == "first");
  CHECK(folder.files() == 1);
}

TEST_CASE("a folder that can't be written is an error with the path and the cause") {
  const TemporaryFolder folder;
  const auto inside = folder.write("file", "") / "inside";  // no folder, for root neither
  CHECK_THROWS_WITH_AS(
      ReplacementFile{inside},
      fmt::format("{}: cannot create a file in this folder: Not a directory", inside.string()).c_str(),
      SafetensorsError);
  const auto missing = folder / "missing/file";
  CHECK_THROWS_WITH_AS(
      ReplacementFile{missing},
      fmt::format("{}: cannot create a file in this folder: No such file or directory", missing.string())
          .c_str(),
      SafetensorsError);
}

TEST_CASE("a file that can't grow is an error that says how far it came, and is removed") {
  const TemporaryFolder folder;
  const auto path = folder.write("file", "old");
  const std::vector<std::byte> bytes(100'000);
  {
    const FileSizeLimit limit(65536);
    ReplacementFile file(path);
    CHECK_THROWS_WITH_AS(
        file.write(bytes),
        fmt::format("{}: cannot write 34464 more bytes at byte 65536: File too large", path.string()).c_str(),
        SafetensorsError);
  }
  CHECK(folder.read("file") == "old");
  CHECK(folder.files() == 1);
}

TEST_CASE("a full disk is an error with its cause") {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (full < 0) return;  // no such device here
  const int next = ::dup(full);
  ::close(next);
  const TemporaryFolder folder;
  const auto path = folder / "file";
  {
    ReplacementFile file(path);  // takes the lowest descriptor that is free, `next`
    REQUIRE(::dup2(full, next) == next);
    CHECK_THROWS_WITH_AS(
        file.write(bytes_of("new")),
        fmt::format("{}: cannot write 3 more bytes at byte 0: No space left on device", path.string())
            .c_str(),
        SafetensorsError);
  }
  ::close(full);
  CHECK(folder.files() == 0);
}

TEST_CASE("a name that is a folder can't be replaced, and the folder stays") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "taken");
  ReplacementFile file(folder / "taken");
  file.write(bytes_of("new"));
  CHECK_THROWS_WITH_AS(
      file.commit(),
      fmt::format("{}: cannot rename the complete file to this: Is a directory", (folder / "taken").string())
          .c_str(),
      SafetensorsError);
  CHECK(std::filesystem::is_directory(folder / "taken"));
}

}  // namespace
}  // namespace straddle::tensor
