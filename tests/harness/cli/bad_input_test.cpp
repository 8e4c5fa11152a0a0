#include <vector>

#include "program.hpp"

namespace straddle::harness {
namespace {

// A scenario with one thing wrong, and what the message must name.
struct Bad {
  std::string toml;
  std::vector<std::string> says;
};

const std::string kHead = "[scenario]\ntitle = \"t\"\n";

const std::vector<Bad>& bad_scenarios() {
  static const std::vector<Bad> all = {
      {kHead + "[[pack]]\ndocuments = [5, 3]\n[matrix]\nexchanges = [\"a2a\"]\n",
       {"bad.toml:6:1", "unknown key \"exchanges\"", "did you mean \"exchange\""}},
      {kHead + "[[pack]]\ndocuments = \"5\"\n", {"bad.toml:4:"}},
      {kHead + "[[pack]]\ndocuments = [5, 3]\n[matrix]\nranks = []\n", {"bad.toml:6:", "empty"}},
      {kHead + "[[pack]]\ndocuments = [5, 3]\nslots = 7\n", {"bad.toml:", "7"}},
      {kHead + "[[pack]]\ndocuments = [5, -3]\n", {"bad.toml:4:", "-3"}},
      {kHead + "[[pack]]\ndocuments = [9000000000000000000, 9000000000000000000]\n", {"bad.toml:4:"}},
      {kHead + "[[pack]]\ncu_seqlens = [0, 8, 520, 16]\nslots = 528\n", {"bad.toml:4:", "16", "520"}},
      {kHead + "[[pack]]\ncu_seqlens = [8, 8]\n", {"bad.toml:4:", "0"}},
      {kHead + "[[pack]]\ncu_seqlens = [0, 8, 16, 24]\nslots = 8\n", {"bad.toml:", "24", "8"}},
      {kHead + "[[pack]]\ndocument_ids = [1, 1, 2, 1]\n", {"bad.toml:4:", "1"}},
      {kHead + "[[pack]]\ndocument_ids = [1, 0, 2, 2]\n", {"bad.toml:4:", "padding"}},
      {kHead + "[[pack]]\nposition_ids = [4, 5, 0, 1]\n", {"bad.toml:4:", "shard"}},
      {kHead + "[[pack]]\ndocuments = [5, 3]\n[attention]\nheads = 4\nkv_heads = 3\n",
       {"bad.toml:7:", "kv_heads 3 does not divide heads 4", "1, 2, 4"}},
      {kHead + "[[pack]]\ndocuments = [5, 3]\n[attention]\nhead_dim = 0\n", {"bad.toml:6:", "head_dim"}},
      {kHead + "[[pack]]\ndocuments = [5, 3]\n[attention]\nhead_dim = 257\n", {"bad.toml:6:", "256"}},
      {kHead + "[[pack]]\ndocuments = [5, 3\n", {"bad.toml:"}},
      {kHead + "[inputs]\nfile = \"missing.safetensors\"\n", {"bad.toml:4:", "missing.safetensors"}},
  };
  return all;
}

TEST_CASE("a bad scenario: file, line and column, what is wrong and what is right; exit 2; nothing was run") {
  const Folder folder;
  for (const Bad& bad : bad_scenarios()) {
    const std::string path = folder.write("bad.toml", bad.toml);
    const Ended run = straddle_run(folder, "--ranks 2 " + path);
    CAPTURE(bad.toml);
    CAPTURE(run.text);
    CHECK(run.code == 2);
    for (const std::string& part : bad.says) CHECK_MESSAGE(run.says(part), "missing: ", part);
    CHECK_FALSE(std::filesystem::exists(folder / "runs"));
  }
}

TEST_CASE("under mpirun all ranks end together on bad input, with one voice") {
  const Folder folder;
  const std::string path = folder.write("bad.toml", bad_scenarios().front().toml);
  const Ended run = mpirun(folder, 3, path);
  CHECK(run.code == 2);
  const std::string message = "unknown key \"exchanges\"";
  CHECK(run.says(message));
  CHECK(run.text.find(message) == run.text.rfind(message));
}

TEST_CASE("files that are not there, folders without scenarios, and nothing named") {
  const Folder folder;
  CHECK(straddle_run(folder, folder / "none.toml").code == 2);
  CHECK(straddle_run(folder, folder.text()).code == 5);
  CHECK(straddle_run(folder, "").code == 2);
  CHECK(straddle_run(folder, "--nonsense").code == 2);
  CHECK(straddle_run(folder, "--case W2/5,3+0/H4:3/D64/fp32/a2a/cpu/s7").code == 2);
  CHECK(straddle_run(folder, "--case W2/5,3").code == 2);
  CHECK(straddle_run(folder, "--case W2/5,3+0/H4:2/D64/fp32/a2a/tpu/s7").code == 2);
}

TEST_CASE("more ranks than were started is a usage error when nothing else runs") {
  const Folder folder;
  const Ended run = straddle_run(folder, "--ranks 2 --case W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  CHECK(run.code == 2);
  CHECK(run.says("needs 4 ranks, 2 started"));
}

TEST_CASE("an output folder that can't be written: exit 2 before anything runs") {
  const Folder folder;
  const std::string file = folder.write("file", "");
  const std::string one_case = " --case W1/5,3+0/H4:2/D16/fp32/a2a/cpu/s7";
  const Ended run = shell(std::string(STRADDLE_PROGRAM " run --runs ") + file + "/runs" + one_case);
  CHECK(run.code == 2);
  CHECK(run.says("file/runs"));
  CHECK(straddle_run(folder, "--save " + file + "/saved" + one_case).code == 2);
  CHECK(straddle_run(folder, "--junit " + file + "/junit.xml" + one_case).code == 2);
  CHECK(straddle_run(folder, "--json " + file + "/more.jsonl" + one_case).code == 2);
  CHECK(straddle_run(folder, "--json /dev/full" + one_case).code == 2);
}

TEST_CASE("lying safetensors are refused with what was expected and seen") {
  const Folder folder;
  const std::string scenario =
      folder.write("file.toml", kHead + "[inputs]\nfile = \"x.safetensors\"\n[matrix]\nranks = [1]\n");
  const auto with = [&](const std::string& content) {
    folder.write("x.safetensors", content);
    return straddle_run(folder, "--ranks 1 " + scenario);
  };
  const std::string whole = content_of(STRADDLE_SOURCE_DIR "/data/smollm2/layer00.safetensors");
  for (const std::string& content :
       {std::string(), std::string("\xff\xff\xff\xff\xff\xff\xff\x7f{}", 10), whole.substr(0, 100),
        whole.substr(0, whole.size() - 1), std::string("\2\0\0\0\0\0\0\0{}", 10)}) {
    const Ended run = with(content);
    CAPTURE(run.text);
    CHECK(run.code == 2);
    CHECK(run.says("x.safetensors"));
  }
  CHECK(with(whole).code == 0);
}

}  // namespace
}  // namespace straddle::harness
