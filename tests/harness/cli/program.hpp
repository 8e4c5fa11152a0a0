// Runs the program and keeps what it printed and how it ended.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace straddle::harness {

struct Ended {
  int code;
  std::string text;  // standard output and standard error
  [[nodiscard]] bool says(const std::string& part) const { return text.find(part) != std::string::npos; }
};

// A folder of a test's own, gone with it.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "straddle-cli-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  [[nodiscard]] std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  [[nodiscard]] std::string text() const { return path_.string(); }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return *this / name;
  }

 private:
  std::filesystem::path path_;
};

inline std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

inline Ended shell(const std::string& command) {
  std::FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> chunk{};
  for (std::size_t count = 0; (count = fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    text.append(chunk.data(), count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text};
}

// As threads, results under `folder`.
inline Ended straddle_run(const Folder& folder, const std::string& arguments) {
  return shell(std::string("TERM=dumb " STRADDLE_PROGRAM " run --runs ") + (folder / "runs") + " " +
               arguments);
}

// Under a real launcher.
inline Ended mpirun(const Folder& folder, int ranks, const std::string& arguments) {
  return shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 TERM=dumb " STRADDLE_MPIEXEC
               " --oversubscribe --bind-to none -np " +
               std::to_string(ranks) + " " STRADDLE_PROGRAM " run --runs " + (folder / "runs") + " " +
               arguments);
}

}  // namespace straddle::harness
