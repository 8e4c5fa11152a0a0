#include "harness/scenario/scenario_reader.hpp"

#include <doctest/doctest.h>

#include <random>

#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

using Lines = std::vector<std::string>;

const std::string kPack = "[[pack]]\ndocuments = [8]\n";

const std::string kGood = R"([scenario]
title   = "A document across the boundary of ranks 0 and 1"
[[pack]]
documents = [5, 3]
slots     = 8
[[pack]]
documents = [1, 6, 3]
padding   = 2
ranks     = [1, 2]
[pack.expect]
straddles = true
[[pack]]
starts = [0, 4, 8]
lengths = [3, 2, 4]
padding = 1
[attention]
heads = ["4:2", "8:1"]
head_dim = 64
[inputs]
kind = ["normal", "ramp"]
amplitude = 2.5
d_lse = false
seed = 7
[matrix]
ranks    = [1, 2, 4]
exchange = ["allgather", "halo", "a2a"]
kernel   = ["cpu", "dense"]
dtype    = ["fp32", "bf16"]
[expect]
min_ranks = 2
)";

TEST_CASE("a whole file: title, lines, defaults") {
  const Scenario scenario = parse_scenario(kGood, "mine.toml");
  CHECK(scenario.title == "A document across the boundary of ranks 0 and 1");
  CHECK(scenario.file == "mine.toml");
  CHECK(scenario.cases.front().file == "mine.toml");
  CHECK(scenario.cases.front().line == 3);
  CHECK(scenario.cases.back().line == 12);
  for (const CaseEntry& entry : scenario.cases) CHECK(entry.text == print(entry.point));

  const auto defaults = texts(cases_of(kPack));
  CHECK(defaults == Lines{"W1/8+0/H4:2/D64/fp32/a2a/cpu/s7", "W2/8+0/H4:2/D64/fp32/allgather/cpu/s7",
                          "W2/8+0/H4:2/D64/fp32/halo/cpu/s7", "W2/8+0/H4:2/D64/fp32/a2a/cpu/s7",
                          "W4/8+0/H4:2/D64/fp32/allgather/cpu/s7", "W4/8+0/H4:2/D64/fp32/halo/cpu/s7",
                          "W4/8+0/H4:2/D64/fp32/a2a/cpu/s7"});
}

TEST_CASE("[inputs]") {
  const auto cases = cases_of(kPack +
                              "[matrix]\nranks = 1\n[inputs]\nkind = \"ramp\"\namplitude = 60\nseed = 3\n"
                              "d_lse = true\npadding_rows = \"nan\"\nprobe = \"change_token\"\n");
  REQUIRE(cases.size() == 1);
  const InputSpec& inputs = cases[0].point.inputs;
  CHECK(inputs.kind == InputKind::ramp);
  CHECK(inputs.amplitude == 60);
  CHECK(inputs.seed == 3);
  CHECK(inputs.d_lse);
  CHECK(inputs.padding_rows == PaddingRows::nan);
  CHECK(cases[0].point.probe == Probe::change_token);
}

TEST_CASE("real tensors bring pack, heads, scale and dtype") {
  const auto cases = cases_of(
      "[inputs]\nfile = \"data/smollm2/layer00.safetensors\"\n[matrix]\nranks = 8\n"
      "exchange = \"a2a\"\n");
  REQUIRE(cases.size() == 1);
  const Case& point = cases[0].point;
  CHECK(point.pack.documents.size() == 14);
  CHECK(point.pack.slots == 1024);
  CHECK(point.pack.real_tokens() == 1000);
  CHECK(point.heads == 3);
  CHECK(point.kv_heads == 1);
  CHECK(point.head_dim == 64);
  CHECK(point.scale() == 0.125);
  CHECK(point.dtype == tensor::DType::bf16);
  CHECK(point.inputs.kind == InputKind::file);
  CHECK(point.inputs.file_hash != 0);
  CHECK(cases[0].line == 2);
  CHECK(names_a_file(cases[0].text));
  CHECK(cases_of("[inputs]\nfile = [\"data/smollm2/layer00.safetensors\", "
                 "\"data/smollm2/layer29.safetensors\"]\n[matrix]\nranks = 1\ndtype = [\"bf16\", \"fp32\"]\n")
            .size() == 4);
}

TEST_CASE("what real tensors leave no room for") {
  const std::string file = "file = \"data/smollm2/layer00.safetensors\"\n";
  CHECK(findings_of(kPack + "[inputs]\n" + file) ==
        Lines{"1:3: [[pack]] can't be given here: [inputs] file holds the pack"});
  CHECK(findings_of("[inputs]\n" + file + "kind = \"ramp\"\nd_lse = true\n[attention]\nheads = 4\n") ==
        Lines{"3:1: kind can't be given here: file says what the inputs are",
              "4:9: d_lse can't be true: the file holds no d_lse",
              "6:1: heads can't be given here: [inputs] file says it"});
  CHECK(findings_of("[inputs]\nfile = \"data/gone.safetensors\"") ==
        Lines{"2:8: no file data/gone.safetensors [seen from this file's folder, or from the folder above]"});
  CHECK(findings_of("[inputs]\nfile = \"data/document_lengths.txt\"").size() == 1);
}

TEST_CASE("unknown keys, sections and values say what there is") {
  CHECK(findings_of(kPack + "[matrix]\nexchanges = [\"a2a\"]") ==
        Lines{"4:1: unknown key \"exchanges\" in [matrix] [did you mean \"exchange\"? keys here: ranks, "
              "exchange, kernel, dtype, reduce]"});
  CHECK(findings_of(kPack + "[matrx]\n") ==
        Lines{"3:2: unknown key \"matrx\" in a scenario [did you mean \"matrix\"? keys here: scenario, pack, "
              "attention, inputs, matrix, expect]"});
  CHECK(findings_of(kPack + "[scenario]\nname = 3").size() == 1);
  CHECK(findings_of(kPack + "[matrix]\nkernel = \"cuda\"") ==
        Lines{"4:10: unknown kernel \"cuda\" [one of: cpu, dense]"});
  CHECK(findings_of(kPack + "[matrix]\ndtype = \"fp8\"").at(0).find("one of: fp64, fp32, bf16, fp16") !=
        std::string::npos);
  CHECK(findings_of(kPack + "[inputs]\nkind = \"k0\"").at(0).find("normal, k_zero, v_one, same_keys, ramp") !=
        std::string::npos);
  CHECK(findings_of(kPack + "[inputs]\nprobe = \"nan\"").size() == 1);
  CHECK(findings_of(kPack + "[matrix]\nreduce = \"sum\"").size() == 1);
}

TEST_CASE("wrong types, empty lists, repeated and impossible values") {
  CHECK(findings_of(kPack + "[matrix]\nranks = [0, 4097, \"2\"]") ==
        Lines{"4:10: ranks must be 1 to 4096, not 0", "4:13: ranks must be 1 to 4096, not 4097",
              "4:19: ranks must be an integer, not a string"});
  CHECK(findings_of(kPack + "[matrix]\nranks = []") ==
        Lines{"4:9: ranks is empty: at least one value is needed"});
  CHECK(findings_of(kPack + "[matrix]\nranks = [2, 4, 2]") ==
        Lines{"4:16: ranks names this value twice: it would run the same cases again"});
  CHECK(findings_of(kPack + "[inputs]\namplitude = inf").at(0).find("4:13: amplitude must be finite") == 0);
  CHECK(findings_of(kPack + "[inputs]\namplitude = nan").at(0).find("4:13: amplitude must be finite") == 0);
  CHECK(findings_of(kPack + "[inputs]\namplitude = -1") == Lines{"4:13: amplitude must be positive, not -1"});
  CHECK(findings_of(kPack + "[inputs]\nseed = -1") == Lines{"4:8: seed must be at least 0, not -1"});
  CHECK(findings_of(kPack + "[inputs]\nd_lse = \"yes\"") ==
        Lines{"4:9: d_lse must be true or false, not a string"});
  CHECK(findings_of("matrix = 3\n" + kPack) ==
        Lines{"1:1: matrix must be a table, [matrix], not an integer"});
  CHECK(findings_of("pack = 3\n") == Lines{"1:1: pack must be a list of tables, [[pack]], not an integer"});
  CHECK(findings_of("pack = [3]\n") == Lines{"1:9: [[pack]] must be a table, not an integer"});
  CHECK(findings_of("") == Lines{"1:1: the file has no [[pack]] [give at least one, or [inputs] file]"});
  CHECK(findings_of("[[pack]]\ndocuments = [8]\nranks = [2, 3]\n[matrix]\nranks = [1, 2, 4]\n") ==
        Lines{"3:13: ranks 3 is not in the matrix's ranks [one of 1, 2, 4]"});
}

TEST_CASE("all findings of a file at once, by line") {
  CHECK(findings_of("[[pack]]\ndocuments = [-1]\n[attention]\nheads = 4\nkv_heads = 3\n[inputs]\nkind = 1\n"
                    "[matrix]\nexchanges = 1\n[expect]\nzero = \"x\"\n")
            .size() == 5);
}

TEST_CASE("a matrix too large is refused before it is made") {
  std::string seeds = "[inputs]\nseed = [";
  for (int i = 0; i < 400; ++i) seeds += fmt::format("{},", i);
  std::string ranks = "[matrix]\nranks = [";
  for (int i = 1; i < 400; ++i) ranks += fmt::format("{},", i);
  CHECK(findings_of(kPack + seeds + "]\n" + ranks + "]\n").at(0).find("478800 cases, the most is 100000") !=
        std::string::npos);
}

TEST_CASE("invalid TOML has the parser's line and column") {
  const Lines findings = findings_of("[[pack]]\ndocuments = [8\n[matrix]\n");
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].substr(0, 2) == "3:");
}

TEST_CASE("no truncation or mutation of a good file crashes (seed 11)") {
  std::int64_t refused = 0;
  const auto load = [&](const std::string& text) {
    try {
      (void)parse_scenario(text, "mine.toml");
    } catch (const ScenarioError& error) {
      REQUIRE_FALSE(error.findings().empty());
      for (const Finding& finding : error.findings()) REQUIRE(finding.line >= 1);
      ++refused;
    }
  };
  for (std::size_t size = 0; size < kGood.size(); ++size) load(kGood.substr(0, size));
  std::mt19937_64 bits(11);
  const std::string characters("[]{}=\",.\n 0123456789-+einfatrue\t#\0\xff\xc3", 37);
  for (int i = 0; i < 1500; ++i) {
    std::string text = kGood;
    for (std::uint64_t edits = 1 + bits() % 3; edits-- > 0;) {
      const std::size_t at = bits() % text.size();
      if (bits() % 3 == 0) {
        text.erase(at, bits() % 12);
      } else if (bits() % 2 == 0) {
        text[at] = characters[bits() % characters.size()];
      } else {
        text.insert(at, 1, characters[bits() % characters.size()]);
      }
    }
    load(text);
  }
  CHECK(refused > 500);
}

}  // namespace
}  // namespace straddle::harness
