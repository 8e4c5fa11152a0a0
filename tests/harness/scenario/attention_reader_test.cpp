#include "harness/scenario/attention_reader.hpp"

#include <doctest/doctest.h>

#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

using Lines = std::vector<std::string>;

// "4:2/64:64" of each case, in order.
Lines heads_and_dims(const std::string& lines) {
  Lines result;
  for (const auto& entry :
       cases_of("[[pack]]\ndocuments = [8]\n[matrix]\nranks = 1\n[attention]\n" + lines)) {
    const Case& point = entry.point;
    result.push_back(
        fmt::format("{}:{}/{}:{}", point.heads, point.kv_heads, point.head_dim, point.v_head_dim));
  }
  return result;
}

Lines attention_findings(const std::string& lines) {
  return findings_of("[[pack]]\ndocuments = [8]\n[attention]\n" + lines);
}

TEST_CASE("heads and sizes, alone, as lists that multiply, and in pairs") {
  CHECK(heads_and_dims("") == Lines{"4:2/64:64"});
  CHECK(heads_and_dims("heads = 8") == Lines{"8:8/64:64"});
  CHECK(heads_and_dims("kv_heads = 1") == Lines{"4:1/64:64"});
  CHECK(heads_and_dims("heads = 8\nkv_heads = [1, 8]\nhead_dim = [16, 80]") ==
        Lines{"8:1/16:16", "8:1/80:80", "8:8/16:16", "8:8/80:80"});
  CHECK(heads_and_dims("heads = [\"8:1\", \"9:3\", \"2\"]") == Lines{"8:1/64:64", "9:3/64:64", "2:2/64:64"});
  CHECK(heads_and_dims("head_dim = [\"64\", \"64:32\"]") == Lines{"4:2/64:64", "4:2/64:32"});
  CHECK(heads_and_dims("head_dim = [16, 32]\nv_head_dim = 8") == Lines{"4:2/16:8", "4:2/32:8"});
}

TEST_CASE("heads that are no multiple of kv_heads name the divisors") {
  CHECK(attention_findings("heads = 4\nkv_heads = 3") ==
        Lines{"5:12: kv_heads 3 does not divide heads 4 (line 4) [one of 1, 2, 4]"});
  CHECK(attention_findings("heads = [\"4:2\", \"9:2\"]") ==
        Lines{"4:17: kv_heads 2 does not divide heads 9 [one of 1, 3, 9]"});
}

TEST_CASE("sizes, counts and pairs out of their range") {
  CHECK(attention_findings("head_dim = 0") == Lines{"4:12: head_dim must be 1 to 256, not 0"});
  CHECK(attention_findings("head_dim = [64, 257]") == Lines{"4:17: head_dim must be 1 to 256, not 257"});
  CHECK(attention_findings("v_head_dim = 300") == Lines{"4:14: v_head_dim must be 1 to 256, not 300"});
  CHECK(attention_findings("heads = 0").size() == 1);
  CHECK(attention_findings("layers = 0") == Lines{"4:10: layers must be 1 to 64, not 0"});
  CHECK(attention_findings("heads = \"8:1\"\nkv_heads = 1") ==
        Lines{"5:1: kv_heads can't be given here: heads already says it after the colon"});
  CHECK(attention_findings("head_dim = \"8:1\"\nv_head_dim = 1") ==
        Lines{"5:1: v_head_dim can't be given here: head_dim already says it after the colon"});
  for (const char* pair : {"8:", ":1", "", "8:1:1", "x", "8:0", "-8:1", "8 :1", "9999:1"}) {
    CAPTURE(pair);
    const Lines findings = attention_findings(fmt::format("heads = \"{}\"", pair));
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].find("heads must be numbers of 1 to 1024") != std::string::npos);
  }
}

TEST_CASE("the other keys") {
  const auto cases = cases_of(
      "[[pack]]\ndocuments = [8]\n[matrix]\nranks = 1\n[attention]\nsoftmax_scale = 0.5\n"
      "layers = [1, 3]\nrecompute = true\nfirst_segment_apart = true\n");
  REQUIRE(cases.size() == 2);
  CHECK(cases[1].point.softmax_scale == 0.5);
  CHECK(cases[0].point.layers == 1);
  CHECK(cases[1].point.layers == 3);
  CHECK(cases[1].point.recompute);
  CHECK(cases[1].point.first_segment_apart);
  CHECK(attention_findings("softmax_scale = 0") == Lines{"4:17: softmax_scale must be positive, not 0"});
  CHECK(attention_findings("softmax_scale = nan").at(0).find("must be finite") != std::string::npos);
  CHECK(attention_findings("recompute = 1") ==
        Lines{"4:13: recompute must be true or false, not an integer"});
}

}  // namespace
}  // namespace straddle::harness
