#include "harness/scenario/scenario.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

namespace fs = std::filesystem;

// A folder of its own that goes when the test does.
class Folder {
 public:
  explicit Folder(const std::string& name) : path_(fs::temp_directory_path() / ("straddle_test_" + name)) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
  }
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

const std::string kGood = "[[pack]]\ndocuments = [8]\n";

TEST_CASE("folders give all their *.toml files below, by path and once") {
  const Folder folder("scenario_load");
  folder.write("b.toml", kGood);
  folder.write("a/z.toml", kGood);
  folder.write("a/notes.txt", "no scenario");
  const std::vector<fs::path> paths = {folder.path(), folder.path() / "b.toml", folder.path() / "a"};
  const auto scenarios = load_scenarios(paths);
  REQUIRE(scenarios.size() == 2);
  CHECK(scenarios[0].file == (folder.path() / "a/z.toml").string());
  CHECK(scenarios[1].file == (folder.path() / "b.toml").string());
  CHECK(scenarios[1].cases.size() == 7);
}

TEST_CASE("findings of all files come at once") {
  const Folder folder("scenario_findings");
  folder.write("a.toml", "[[pack]]\ndocuments = [-1]\n");
  folder.write("b.toml", kGood);
  folder.write("c.toml", "nonsense\n");
  const std::vector<fs::path> paths = {folder.path(), folder.path() / "gone.toml"};
  try {
    (void)load_scenarios(paths);
    FAIL("loaded");
  } catch (const ScenarioError& error) {
    REQUIRE(error.findings().size() == 3);
    CHECK(error.findings()[0].message == "no such file or folder");
    CHECK(error.findings()[0].line == 0);
    CHECK(error.findings()[1].file == (folder.path() / "a.toml").string());
    CHECK(error.findings()[2].file == (folder.path() / "c.toml").string());
    CHECK(std::string(error.what()).find("3 errors in 3 of 3 files; nothing was run.") != std::string::npos);
  }
}

TEST_CASE("nothing to run is an error of its own") {
  const Folder folder("scenario_empty");
  folder.write("notes.txt", "no scenario");
  const std::vector<fs::path> paths = {folder.path()};
  CHECK_THROWS_WITH_AS(load_scenarios(paths), doctest::Contains("holds no *.toml file"), NoScenario);
  CHECK_THROWS_AS(load_scenarios({}), NoScenario);
  const std::vector<fs::path> both = {folder.path(), folder.path() / "gone"};
  CHECK_THROWS_AS(load_scenarios(both), ScenarioError);
}

TEST_CASE("files that a scenario names are seen from its folder, then from the folder above") {
  const Folder folder("scenario_lookup");
  const std::string text = "[[pack]]\nfile = \"lengths.txt\"\nslots = 6\n[matrix]\nranks = 1\n";
  folder.write("lengths.txt", "6\n");
  folder.write("scenarios/mine.toml", text);
  const std::vector<fs::path> paths = {folder.path() / "scenarios"};
  CHECK(load_scenarios(paths)[0].cases[0].text == "W1/6+0/H4:2/D64/fp32/a2a/cpu/s7");
  folder.write("scenarios/lengths.txt", "2\n");
  CHECK(load_scenarios(paths)[0].cases[0].text == "W1/2x3+0/H4:2/D64/fp32/a2a/cpu/s7");
}

TEST_CASE("kernels are those that the build has") {
  CHECK_THROWS_AS(parse_scenario(kGood + "[matrix]\nkernel = \"cuda\"\n", "mine.toml"), ScenarioError);
  const auto scenario =
      parse_scenario(kGood + "[matrix]\nkernel = \"cuda\"\n", "mine.toml", {{"cpu", "dense", "cuda"}});
  CHECK(scenario.cases[0].point.kernel == "cuda");
}

}  // namespace
}  // namespace straddle::harness
