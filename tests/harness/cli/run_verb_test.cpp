#include <algorithm>
#include <regex>
#include <set>
#include <vector>

#include "program.hpp"

namespace straddle::harness {
namespace {

constexpr const char* kThree = " W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7";

std::string pack_scenario(const std::string& expect = "") {
  return "[scenario]\ntitle = \"Three documents\"\n[[pack]]\ndocuments = [2, 11, 3]\n[attention]\nheads = "
         "4\nkv_heads = 2\n"
         "head_dim = 16\n[matrix]\nranks = [1, 2, 4]\nexchange = [\"allgather\", \"a2a\"]\nkernel = "
         "[\"cpu\"]\n"
         "dtype = [\"fp32\", \"bf16\"]\n" +
         expect;
}

// The checksum objects of results.jsonl, one a case, in order.
std::vector<std::string> checksums(const std::string& results) {
  std::vector<std::string> all;
  const std::regex pattern("\"(out|lse|d_q)\": ?\"([0-9a-f]{16})\"");
  for (std::sregex_iterator i(results.begin(), results.end(), pattern), end; i != end; ++i)
    all.push_back(i->str());
  return all;
}

TEST_CASE(
    "run: a case passes, the last three lines are results, rerun command and exit, and the folder says the "
    "same") {
  const Folder folder;
  const Ended run = straddle_run(folder, std::string("--run-id one --ranks 4 --case") + kThree);
  CHECK(run.code == 0);
  CHECK(run.says("pass"));
  CHECK(run.says("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7"));
  CHECK(run.text.substr(run.text.rfind("exit 0")) == "exit 0 (pass)\n");
  CHECK(content_of(folder / "runs/one/exit") == "0\n");
  CHECK(content_of(folder / "runs/one/results.jsonl").find("\"straddle.summary/1\"") != std::string::npos);
}

TEST_CASE("threads and mpirun give the same verdicts and the same bits, at every rank count that fits") {
  const Folder folder;
  const std::string scenario = folder.write("three.toml", pack_scenario());
  const Ended threads = straddle_run(folder, "--run-id threads --ranks 4 " + scenario);
  const Ended processes = mpirun(folder, 4, "--run-id mpi " + scenario);
  CHECK(threads.code == 0);
  CHECK(processes.code == 0);
  const auto of_threads = checksums(content_of(folder / "runs/threads/results.jsonl"));
  const auto of_mpi = checksums(content_of(folder / "runs/mpi/results.jsonl"));
  CHECK(of_threads.size() == 3 * 10);
  CHECK(of_threads == of_mpi);
  // Five cases a dtype (W = 1 has no exchange), all with the same bits.
  CHECK(std::set<std::string>(of_threads.begin(), of_threads.end()).size() == 3 * 2);
}

TEST_CASE("--no-times: two runs print the same text but for the run's id") {
  const Folder folder;
  const std::string scenario = folder.write("three.toml", pack_scenario());
  const Ended first = straddle_run(folder, "--run-id same --no-times --ranks 4 " + scenario);
  std::filesystem::remove_all(folder / "runs/same");
  CHECK(straddle_run(folder, "--run-id same --no-times --ranks 4 " + scenario).text == first.text);
}

TEST_CASE("a vacuous case has its own code, can be run again by --failed, and bisect skips it") {
  const Folder folder;
  const std::string scenario = folder.write("three.toml", pack_scenario("[expect]\nstraddles = false\n"));
  const Ended run = straddle_run(folder, "--run-id bad --ranks 4 " + scenario);
  CHECK(run.code == 5);
  CHECK(run.says("VACUOUS"));
  const Ended again = straddle_run(folder, "--run-id again --ranks 4 --failed bad");
  CHECK(again.code == 5);
  CHECK(again.says("8 vacuous"));
  CHECK_FALSE(again.says("4 pass"));
  CHECK(straddle_run(folder, "--ranks 4 --exit bisect " + scenario).code == 125);
  CHECK(straddle_run(folder, "--ranks 4 --failed again/none").code == 2);
}

TEST_CASE("--match, --kernel and --repeat choose what runs") {
  const Folder folder;
  const std::string scenario = folder.write("three.toml", pack_scenario());
  CHECK(straddle_run(folder, "--ranks 4 --match 'W2/*bf16*' " + scenario).says("2 cases"));
  CHECK(straddle_run(folder, "--ranks 4 --match nothing " + scenario).code == 5);
  CHECK(straddle_run(folder, "--ranks 4 --kernel dense " + scenario).code == 5);
  CHECK(straddle_run(folder, "--ranks 4 --match W2 --repeat 3 " + scenario).says("12 pass"));
}

TEST_CASE("--save writes what was judged, for every case") {
  const Folder folder;
  const std::string scenario = folder.write("three.toml", pack_scenario());
  CHECK(straddle_run(folder, "--ranks 4 --save " + (folder / "saved") + " " + scenario).code == 0);
  const auto files = std::distance(std::filesystem::directory_iterator(folder / "saved"), {});
  CHECK(files == 10);
}

TEST_CASE("--random is the same for the same seed, and prints what it drew") {
  const Folder folder;
  const Ended run = straddle_run(folder, "--no-times --run-id r --ranks 3 --random 25 --seed 11");
  CHECK(run.code == 0);
  CHECK(run.says("seed 11"));
  CHECK(run.says("25 cases"));
  std::filesystem::remove_all(folder / "runs/r");
  CHECK(straddle_run(folder, "--no-times --run-id r --ranks 3 --random 25 --seed 11").text == run.text);
}

TEST_CASE("--json - gives standard output to JSON Lines, --junit writes XML") {
  const Folder folder;
  const Ended run =
      straddle_run(folder, "--ranks 4 --json - --junit " + (folder / "junit.xml") + " --case" + kThree);
  CHECK(run.code == 0);
  CHECK(run.text.substr(0, 1) == "{");
  CHECK(std::count(run.text.begin(), run.text.end(), '\n') == 3);
  CHECK(content_of(folder / "junit.xml").find("<testsuite") != std::string::npos);
}

TEST_CASE("a killed rank ends the whole run at once") {
  const Folder folder;
  // Rank 1 is killed by itself through its launcher's environment: a shell in its place.
  const Ended run = shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " STRADDLE_MPIEXEC
                          " --oversubscribe --bind-to none -np 2 " STRADDLE_PROGRAM " run --runs " +
                          (folder / "runs") + " --run-id k --random 100000 --seed 1 & mpirun=$!; " +
                          "until [ -s " + (folder / "runs/k/results.jsonl") + " ]; do :; done; " +
                          "victim=$(pgrep -P $mpirun straddle | tail -n 1); kill -9 $victim; wait $mpirun");
  CHECK(run.code != 0);
  CHECK_FALSE(std::filesystem::exists(folder / "runs/k/exit"));
  CHECK(content_of(folder / "runs/k/results.jsonl").find("straddle.run/1") != std::string::npos);
}

}  // namespace
}  // namespace straddle::harness
