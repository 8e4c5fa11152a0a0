#include "harness/report/output_file.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "golden.hpp"
#include "scratch.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("what was written is there at once, and an old file is emptied") {
  const Scratch folder;
  const std::filesystem::path path = folder.path() / "file";
  {
    OutputFile file(path);
    file.write("one\n");
    CHECK(content_of(path) == "one\n");
    file.write("two\n");
    CHECK(content_of(path) == "one\ntwo\n");
    file.write_at(4, "TWO\nthree\n");
    CHECK(content_of(path) == "one\nTWO\nthree\n");
    OutputFile moved(std::move(file));
    moved.write_at(0, "ONE");
    CHECK(content_of(path) == "ONE\nTWO\nthree\n");
  }
  const OutputFile again(path);
  CHECK(content_of(path).empty());
  CHECK(again.path() == path.string());
}

TEST_CASE("a full device is an error that names the file and what to do") {
  OutputFile file("/dev/full");
  CHECK_THROWS_WITH_AS(file.write("text"),
                       "/dev/full: can't write to this file: No space left on device; make room there, or "
                       "choose another folder",
                       OutputError);
  CHECK_THROWS_AS(file.write_at(0, "text"), OutputError);
}

TEST_CASE("a file that can't be made is an error that says why") {
  const Scratch folder;
  const std::string missing = (folder.path() / "no" / "file").string();
  CHECK_THROWS_WITH_AS(
      OutputFile{missing},
      (missing + ": can't make this file: No such file or directory; make its folder first").c_str(),
      OutputError);
  CHECK_THROWS_WITH_AS(
      OutputFile{folder.path()},
      (folder.path().string() + ": can't make this file: Is a directory; name a file, not a folder").c_str(),
      OutputError);
  if (geteuid() != 0) {  // root may write everywhere
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_read);
    CHECK_THROWS_AS(OutputFile{folder.path() / "file"}, OutputError);
    std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  }
}

}  // namespace
}  // namespace straddle::harness
