#include "harness/scenario/expect_reader.hpp"

#include <doctest/doctest.h>

#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

using Lines = std::vector<std::string>;

Expect expect_of(const std::string& lines) {
  return cases_of("[[pack]]\ndocuments = [8]\n[expect]\n" + lines).at(0).expect;
}

Lines expect_findings(const std::string& lines) {
  return findings_of("[[pack]]\ndocuments = [8]\n[expect]\n" + lines);
}

TEST_CASE("every key of [expect] reaches its member") {
  Expect all;
  all.min_ranks = 3;
  all.straddles = true;
  all.path = "a2a";
  all.reason = "halo_short";
  all.padding_ranks = 1;
  all.one_real_rank = false;
  all.document_ranks = 3;
  all.cuts_on_starts = false;
  all.one_token_at_cuts = true;
  all.slots_padded = true;
  all.gapped = false;
  all.one_row_shards = true;
  all.tile_rows = 64;
  all.zero = {"d_q", "d_k"};
  CHECK(expect_of("min_ranks = 3\nstraddles = true\npath = \"a2a\"\nreason = \"halo_short\"\n"
                  "padding_ranks = 1\none_real_rank = false\ndocument_ranks = 3\ncuts_on_starts = false\n"
                  "one_token_at_cuts = true\nslots_padded = true\ngapped = false\none_row_shards = true\n"
                  "tile_rows = 64\nzero = [\"d_q\", \"d_k\"]\n") == all);
  CHECK(expect_of("") == Expect{});
}

TEST_CASE("a pack's keys override the file's, and \"any\" takes a name back") {
  const auto cases = cases_of(
      "[[pack]]\ndocuments = [8]\nexpect = { straddles = false, path = \"any\" }\n"
      "[[pack]]\ndocuments = [5, 3]\n"
      "[[pack]]\ndocuments = [7]\n[pack.expect]\nmin_ranks = 4\n"
      "[expect]\nstraddles = true\npath = \"halo\"\nzero = [\"lse\"]\n[matrix]\nranks = 4\nexchange = "
      "\"halo\"\n");
  REQUIRE(cases.size() == 3);
  CHECK(cases[0].expect.straddles == false);
  CHECK_FALSE(cases[0].expect.path.has_value());
  CHECK(cases[0].expect.zero == Lines{"lse"});
  CHECK(cases[1].expect.straddles == true);
  CHECK(cases[1].expect.path == "halo");
  CHECK(cases[2].expect.straddles == true);
  CHECK(cases[2].expect.min_ranks == 4);
}

TEST_CASE("names that don't exist") {
  CHECK(expect_findings("zero = [\"dq\"]") ==
        Lines{"4:9: unknown zero \"dq\" [did you mean \"d_q\"? one of: out, lse, d_q, d_k, d_v]"});
  CHECK(expect_findings("zero = []") == Lines{"4:8: zero is empty: at least one value is needed"});
  CHECK(expect_findings("path = \"ring\"") ==
        Lines{"4:8: unknown path \"ring\" [one of: allgather, halo, a2a, any]"});
  CHECK(expect_findings("reason = \"halo_shot\"").at(0).find("did you mean \"halo_short\"?") !=
        std::string::npos);
  CHECK(expect_findings("straddle = true").at(0).find("did you mean \"straddles\"?") != std::string::npos);
  CHECK(expect_findings("padding_ranks = -1").size() == 1);
  CHECK(expect_findings("straddles = 1").size() == 1);
}

TEST_CASE("facts that bind no case are refused, but not tensors that may be zero") {
  const std::string head = "[[pack]]\ndocuments = [8]\n[matrix]\nranks = 1\n[expect]\n";
  CHECK(findings_of(head + "straddles = true") ==
        Lines{"5:2: the expectations bind 2 ranks and more, but this file has no such case [add to ranks, or "
              "lower min_ranks]"});
  CHECK(findings_of(head + "straddles = false\nmin_ranks = 1").empty());
  CHECK(findings_of(head + "zero = [\"d_q\"]").empty());
  CHECK(findings_of("[[pack]]\ndocuments = [8]\n[[pack]]\ndocuments = [8]\nranks = 1\n"
                    "expect = { straddles = true }\n")
            .at(0)
            .find("6:1: the expectations bind 2 ranks and more, but this pack has no such case") == 0);
}

}  // namespace
}  // namespace straddle::harness
