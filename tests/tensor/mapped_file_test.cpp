#include "tensor/mapped_file.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstring>

#include "temporary_folder.hpp"
#include "tensor/safetensors.hpp"

namespace straddle::tensor {
namespace {

TEST_CASE("a mapped file shows the file's bytes; an empty one none") {
  const TemporaryFolder folder;
  const std::string content = "some\0bytes";
  const MappedFile file(folder.write("some", content));
  REQUIRE(file.bytes().size() == content.size());
  CHECK(std::memcmp(file.bytes().data(), content.data(), content.size()) == 0);
  CHECK(MappedFile(folder.write("empty", "")).bytes().empty());
}

TEST_CASE("what is no readable file is refused with its path") {
  const TemporaryFolder folder;
  const auto missing = folder / "missing";
  CHECK_THROWS_WITH_AS(
      MappedFile{missing},
      fmt::format("{}: cannot open this file: No such file or directory", missing.string()).c_str(),
      SafetensorsError);
  const auto inside = folder.write("file", "x") / "inside";
  CHECK_THROWS_WITH_AS(MappedFile{inside},
                       fmt::format("{}: cannot open this file: Not a directory", inside.string()).c_str(),
                       SafetensorsError);
  CHECK_THROWS_WITH_AS(
      MappedFile{folder / ""},
      fmt::format("{}: a regular file is needed, this is a directory", (folder / "").string()).c_str(),
      SafetensorsError);
  CHECK_THROWS_WITH_AS(MappedFile{"/dev/null"},
                       "/dev/null: a regular file is needed, this is a device or a pipe", SafetensorsError);
}

TEST_CASE("a pipe that nobody writes to is refused, not waited for") {
  const TemporaryFolder folder;
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_AS(MappedFile{pipe}, SafetensorsError);
}

}  // namespace
}  // namespace straddle::tensor
