#include <doctest/doctest.h>

#include "golden.hpp"
#include "hand_made.hpp"
#include "harness/report/element_places.hpp"
#include "harness/report/failing_block.hpp"
#include "harness/report/rank_picture.hpp"
#include "harness/report/sentence.hpp"

namespace straddle::harness {
namespace {

std::string block(const CaseRecord& record) { return failing_block(record, hand_made::run(), {}); }

// A pass that something beside the tensors' real rows turned into a mismatch.
CaseRecord otherwise_wrong() {
  CaseRecord record = hand_made::pass(hand_made::entry("W2/5,3+2/H4:2/D64/bf16/a2a/cpu/s7"));
  record.verdict = Verdict::mismatch;
  return record;
}

TEST_CASE("a lost contribution: the picture of a mismatch") {
  BlockOptions options;
  options.cause = 1;
  check_golden("mismatch.txt", mismatch_block(hand_made::mismatch(), hand_made::run(), options));
}

TEST_CASE("every token lies a number of rows from its nearest cut: by counting") {
  const Case point = parse_case("W4/16+0/H4:2/D64/fp32/a2a/cpu/s7");
  for (std::int64_t token = 0; token < 16; ++token) {
    std::int64_t nearest = -1;
    for (const std::int64_t cut : {4, 8, 12}) {
      const auto distance = [&](std::int64_t c) { return std::abs(c - token); };
      if (nearest < 0 || distance(cut) <= distance(nearest)) nearest = cut;
    }
    const std::string cut = fmt::format("cut {}|{} (token {})", nearest / 4 - 1, nearest / 4, nearest);
    const std::int64_t rows = std::abs(nearest - token);
    const std::string distance =
        fmt::format("{} row{} {} ", rows, rows == 1 ? "" : "s", token < nearest ? "before" : "behind");
    const std::string text = place_text(
        {.token = token, .rank = token / 4, .local_row = token % 4, .document_row = token}, 0, point);
    CAPTURE(text);
    CHECK(text.ends_with(cut));
    CHECK(holds(text, rows == 0 ? "right behind " : distance));
    CHECK(text.starts_with(
        fmt::format("token {} = rank {} row {} = document 0 row {}; ", token, token / 4, token % 4, token)));
  }
  const Case alone = parse_case("W1/16+0/H4:2/D64/fp32/a2a/cpu/s7");
  CHECK(place_text({.token = 5, .rank = 0, .local_row = 5, .document_row = 5}, 0, alone) ==
        "token 5 = rank 0 row 5 = document 0 row 5");
}

TEST_CASE("one sentence names tensors, documents, ranks, and what passes") {
  CaseRecord record = hand_made::mismatch();
  CHECK(in_short(record) ==
        "d_k, d_v of document 1 are wrong on ranks 0 1. Backward only: out, lse, d_q pass.");
  CHECK(signature(record) == "d_k, d_v wrong in documents on several ranks (a2a)");
  record = hand_made::pass(record.entry);
  record.verdict = Verdict::mismatch;
  hand_made::make_wrong(hand_made::tensor_of(record.judgement, "out", 0), {0}, {{0, 2}}, 1, 1e-6);
  CHECK(in_short(record) == "out of document 0 is wrong on rank 0. Forward only: lse, d_q, d_k, d_v pass.");
  CHECK(signature(record) == "out wrong in documents on one rank (a2a)");
  for (TensorVerdict& tensor : record.judgement.tensors) {
    if (!tensor.wrong()) hand_made::make_wrong(tensor, {}, {}, hand_made::kInfinity, 0);
    tensor.criterion = Criterion::not_finite;
  }
  CHECK(in_short(record).starts_with(
      "out, lse, d_q, d_k, d_v of all 3 documents are wrong on rank 0. No tensor"));
  CHECK(signature(record) == "out, lse, d_q, d_k, d_v not finite in documents (a2a)");
}

TEST_CASE("what is wrong beside real rows is named as what it is") {
  CaseRecord padding = otherwise_wrong();
  padding.judgement.padding[2].rows = 2;
  padding.judgement.padding[2].wrong_rows = 1;
  padding.judgement.padding[2].first =
      Place{.token = 9, .rank = 1, .local_row = 4, .head = 1, .dim = 3, .got = hand_made::kNaN, .want = 0};
  CHECK(in_short(padding) ==
        "Every tensor is within its bounds, but padding rows of d_q do not hold what they must.");
  CHECK(holds(block(padding), "padding   d_q (1 of 2 rows) must hold exactly 0"));
  CHECK(holds(block(padding), "d_q[9, head 1, 3] got nan want 0"));

  CaseRecord invariant = otherwise_wrong();
  invariant.judgement.invariants[0].used = 1;
  CHECK(in_short(invariant) == "Every tensor is within its bounds, but I2 is broken.");
  CHECK(holds(block(invariant),
              "besides   I2 fails for document 0 (no oracle needed); out lse d_q have the bits"));

  CaseRecord bits = otherwise_wrong();
  bits.judgement.bits.equal = false;
  bits.judgement.bits.difference = "d_q token 7 head 1 dim 5: 3f8a0000 != 3f8b0000";
  CHECK(in_short(bits) == "Every tensor is within its bounds, but the bits differ from W1.");
  CHECK(holds(block(bits), "bits differ from W1: d_q token 7 head 1 dim 5: 3f8a0000 != 3f8b0000"));
  bits.judgement.bits = {
      .compared = true, .equal = true, .difference = {}, .changed_share_d_kv = 0.17, .allowed_share = 0.01};
  CHECK(holds(block(bits), "17 % of the elements of d_k, d_v of a document differ from W1, 1 % may"));

  CaseRecord plan = otherwise_wrong();
  plan.plan_judgement = hand_made::mismatch().judgement;
  plan.reasons = {"the plan is wrong in fp64 too: not a matter of rounding"};
  CHECK(holds(in_short(plan), "the plan is wrong with the fp64 kernel"));
  CHECK(holds(block(plan),
              "plan      the same plan with the fp64 kernel: 2 of 15 tensors x documents are wrong, "
              "worst 1.9e5"));
  CHECK(holds(block(plan), "also      the plan is wrong in fp64 too"));

  CaseRecord stored = otherwise_wrong();
  stored.entry.point.inputs.file = "data/layer00.safetensors";
  stored.stored_judgement = hand_made::mismatch().judgement;
  CHECK(holds(block(stored), "stored    against the results stored in data/layer00.safetensors: 2 of 15"));

  CaseRecord fact = otherwise_wrong();
  fact.reasons = {"K/V forward moved 12 B, but the closed form is 8 B"};
  CHECK(in_short(fact) == "Every tensor is within its bounds, but " + fact.reasons[0] + ".");
  CHECK(holds(block(fact), "also      " + fact.reasons[0]));
}

TEST_CASE("a document over its norm alone has no first element, and says so") {
  CaseRecord record = hand_made::mismatch();
  for (TensorVerdict& tensor : record.judgement.tensors) tensor.first.reset();
  CHECK(holds(block(record), "first     no element or row by itself"));
}

TEST_CASE("hundreds of ranks and documents fold, the wrong ones first, and say how many are hidden") {
  std::string text = "W64/1x1000+24/H4:2/D64/fp32/a2a/cpu/s7";
  CaseRecord record = hand_made::pass(hand_made::entry(text));
  record.verdict = Verdict::mismatch;
  // Document d is token d, on rank d / 16.
  for (std::int64_t document = 500; document < 520; ++document) {
    hand_made::make_wrong(hand_made::tensor_of(record.judgement, "d_q", document), {document / 16},
                          {{document, document + 1}}, 1, 1e-6);
  }
  const std::string picture = rank_pictures(record, 100);
  const auto lines = lines_of(picture);
  CHECK(holds(picture, "rank 31 [496,512)"));
  CHECK(holds(picture, "rank 32 [512,528)"));
  CHECK(holds(picture, "of 64 ranks, 2 of 2 wrong ones"));
  CHECK(holds(picture, "  d500  "));
  CHECK(holds(picture, "  d507  "));
  CHECK(!holds(picture, "  d508  "));
  CHECK(holds(picture, ".. and 992 more documents, 12 of them wrong"));
  CHECK(lines.size() <= 11);
  const std::string whole = block(record);
  CHECK(lines_of(whole).size() < 35);
  CHECK(holds(whole, "  .. and 12 more\n"));
  for (const std::string& line : lines_of(whole)) {
    CAPTURE(line);
    CHECK((line.size() <= 100 || holds(line, text)));
  }
}

TEST_CASE("where the wrong documents are few, the first others are beside them") {
  CaseRecord record = hand_made::pass(hand_made::entry("W4/1x20+0/H4:2/D64/fp32/a2a/cpu/s7"));
  hand_made::make_wrong(hand_made::tensor_of(record.judgement, "d_q", 17), {3}, {{17, 18}}, 1, 1e-6);
  const std::string picture = rank_pictures(record, 100);
  for (const char* shown : {" d0 ", " d6 ", " d17 "}) CHECK(holds(picture, shown));
  CHECK(!holds(picture, " d7 "));
  CHECK(holds(picture, ".. and 12 more documents, 0 of them wrong"));
}

TEST_CASE("tensors with other crosses have pictures of their own, two at most") {
  CaseRecord record = hand_made::mismatch();
  hand_made::make_wrong(hand_made::tensor_of(record.judgement, "out", 0), {0}, {{0, 1}}, 1, 1e-6);
  hand_made::make_wrong(hand_made::tensor_of(record.judgement, "lse", 2), {3}, {{13, 14}}, 1, 1e-6);
  const std::string picture = rank_pictures(record, 100);
  CHECK(holds(picture, "  out       rank 0"));
  CHECK(holds(picture, "  lse       rank 0"));
  CHECK(!holds(picture, "  d_k       rank 0"));
  CHECK(holds(picture, "  d_k, d_v: other pictures, not shown"));
}

TEST_CASE("no line of a block is wider than the console, the command aside") {
  CaseRecord record = hand_made::mismatch();
  record.reasons = {std::string(60, 'a') + " " + std::string(60, 'b')};
  for (std::size_t width = 60; width <= 120; width += 10) {
    BlockOptions options;
    options.width = width;
    for (const std::string& line : lines_of(mismatch_block(record, hand_made::run(), options))) {
      CAPTURE(width);
      CAPTURE(line);
      const bool unbreakable = holds(line, record.entry.text) || holds(line, "aaaa") || holds(line, "bbbb");
      CHECK((line.size() <= width || unbreakable || width < 100));
    }
  }
}

}  // namespace
}  // namespace straddle::harness
