#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "harness/scenario/case.hpp"
#include "harness/scenario/random_cases.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using Lengths = std::vector<std::int64_t>;

Case example() {
  Case point;
  point.ranks = 4;
  point.pack = pack::from_lengths(Lengths{2, 11, 3});
  return point;
}

TEST_CASE("the example of the docs prints and reads back") {
  CHECK(print(example()) == "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  CHECK(parse_case("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7") == example());
}

TEST_CASE("every member of a case has its place in the text") {
  const auto check = [](auto change, const std::string& text) {
    Case point = example();
    change(point);
    CHECK(print(point) == text);
    CHECK(parse_case(text) == point);
  };
  const std::string head = "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7";
  check([](Case& x) { x.ranks = 4096; }, "W4096/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  check(
      [](Case& x) {
        x.pack = pack::from_lengths(Lengths{1, 6, 3}, 12);
      },
      "W4/1,6,3+2/H4:2/D64/fp32/a2a/cpu/s7");
  check([](Case& x) { x.pack = pack::from_lengths(Lengths(8, 512)); }, "W4/512x8+0/H4:2/D64/fp32/a2a/cpu/s7");
  check(
      [](Case& x) {
        x.pack = pack::from_lengths(Lengths{3, 3, 1, 3});
      },
      "W4/3x2,1,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  check(
      [](Case& x) {
        x.pack = pack::from_starts(Lengths{0, 4, 8}, Lengths{3, 2, 4}, 13);
      },
      "W4/g0:3,4:2,8:4+1/H4:2/D64/fp32/a2a/cpu/s7");
  check([](Case& x) { x.pack = pack::from_lengths({}, 8); }, "W4/0+8/H4:2/D64/fp32/a2a/cpu/s7");
  check([](Case& x) { x.heads = 9, x.kv_heads = 3; }, "W4/2,11,3+0/H9:3/D64/fp32/a2a/cpu/s7");
  check([](Case& x) { x.head_dim = x.v_head_dim = 80; }, "W4/2,11,3+0/H4:2/D80/fp32/a2a/cpu/s7");
  check([](Case& x) { x.v_head_dim = 32; }, "W4/2,11,3+0/H4:2/D64:32/fp32/a2a/cpu/s7");
  check([](Case& x) { x.dtype = tensor::DType::bf16; }, "W4/2,11,3+0/H4:2/D64/bf16/a2a/cpu/s7");
  check([](Case& x) { x.exchange = pack::ExchangeKind::halo; }, "W4/2,11,3+0/H4:2/D64/fp32/halo/cpu/s7");
  check([](Case& x) { x.kernel = "dense"; }, "W4/2,11,3+0/H4:2/D64/fp32/a2a/dense/s7");
  check([](Case& x) { x.inputs.seed = std::numeric_limits<std::uint64_t>::max(); },
        "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s18446744073709551615");
  check([](Case& x) { x.reduce = cp::Reduce::library; }, head + "/reduce:library");
  check([](Case& x) { x.first_segment_apart = true; }, head + "/apart");
  check([](Case& x) { x.layers = 2; }, head + "/layers:2");
  check([](Case& x) { x.recompute = true; }, head + "/recompute");
  check([](Case& x) { x.softmax_scale = 0.5; }, head + "/scale:0.5");
  check([](Case& x) { x.inputs.kind = InputKind::k_zero; }, head + "/in:k0");
  check([](Case& x) { x.inputs.kind = InputKind::v_one; }, head + "/in:v1");
  check([](Case& x) { x.inputs.kind = InputKind::same_keys; }, head + "/in:same");
  check([](Case& x) { x.inputs.kind = InputKind::ramp; }, head + "/in:ramp");
  check([](Case& x) { x.inputs.amplitude = 60; }, head + "/amp:60");
  check([](Case& x) { x.inputs.amplitude = 1e30; }, head + "/amp:1e30");
  check([](Case& x) { x.inputs.amplitude = 0.1; }, head + "/amp:0.1");
  check([](Case& x) { x.inputs.d_lse = true; }, head + "/dlse");
  check([](Case& x) { x.inputs.padding_rows = PaddingRows::nan; }, head + "/nanpad");
  check([](Case& x) { x.probe = Probe::change_token; }, head + "/probe:token");
  check([](Case& x) { x.probe = Probe::nan_document; }, head + "/probe:nan");
}

TEST_CASE("parse(print(x)) == x, in shell-safe characters, for 5000 random cases of seed 11") {
  const std::string safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789,:+/._-";
  std::int64_t read_back = 0;
  for (const CaseEntry& entry : random_cases(5000, 11, 8, {"cpu", "dense"})) {
    CAPTURE(entry.text);
    REQUIRE(entry.text.find_first_not_of(safe) == std::string::npos);
    if (names_a_file(entry.text)) continue;
    REQUIRE(parse_case(entry.text) == entry.point);
    ++read_back;
  }
  CHECK(read_back > 4000);
}

TEST_CASE("random amplitudes and scales keep every bit") {
  std::mt19937_64 bits(11);
  Case point = example();
  for (int i = 0; i < 2000; ++i) {
    point.inputs.amplitude =
        std::ldexp(static_cast<double>(bits() >> 11), static_cast<int>(bits() % 200) - 150);
    if (point.inputs.amplitude == 0) continue;
    point.softmax_scale = 1 / point.inputs.amplitude;
    CAPTURE(print(point));
    REQUIRE(parse_case(print(point)) == point);
  }
}

TEST_CASE("a long pack and a file are named by a hash, and refused when read") {
  Case point = example();
  Lengths lengths;
  for (std::int64_t i = 1; i < 60; ++i) lengths.push_back(i);
  point.pack = pack::from_lengths(lengths);
  const std::string text = print(point);
  CHECK(text.size() < 80);
  CHECK(names_a_file(text));
  CHECK_THROWS_WITH_AS(parse_case(text),
                       doctest::Contains("such a case is only found with its scenario file, give both"),
                       CaseTextError);
  point.pack.slots += 1;
  CHECK(print(point) != text);

  Case from_file = example();
  from_file.inputs.kind = InputKind::file;
  from_file.inputs.file_hash = 0xabc;
  CHECK(print(from_file) == "W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7/f0000000000000abc");
  CHECK(names_a_file(print(from_file)));
  CHECK_THROWS_AS(parse_case(print(from_file)), CaseTextError);
  CHECK_FALSE(names_a_file(print(example())));
}

TEST_CASE("a text that can't be read says where, what was expected and what was seen") {
  const auto fails = [](const char* text, std::size_t position, const char* message) {
    CAPTURE(text);
    try {
      (void)parse_case(text);
      FAIL("read");
    } catch (const CaseTextError& error) {
      CHECK(error.position() == position);
      CHECK(std::string(error.what()).find(message) != std::string::npos);
      CHECK(std::string(error.what()).find(text) != std::string::npos);
    }
  };
  fails("", 0, "expected \"W\" and the ranks, not the end");
  fails("W0/8+0/H4:2/D64/fp32/a2a/cpu/s7", 1, "ranks must be 1 to 4096, not 0");
  fails("W4097/8+0/H4:2/D64/fp32/a2a/cpu/s7", 1, "ranks must be 1 to 4096, not 4097");
  fails("W4/2,,3+0/H4:2/D64/fp32/a2a/cpu/s7", 5, "a document's length");
  fails("W4/2,3/H4:2/D64/fp32/a2a/cpu/s7", 6, "expected \"+\" and the slots after the last document");
  fails("W4/2,-3+0/H4:2/D64/fp32/a2a/cpu/s7", 5, "must be 0 to");
  fails("W4/0+0/H4:2/D64/fp32/a2a/cpu/s7", 3, "at least one slot");
  fails("W4/1x2147479000,1x9+0/H4:2/D64/fp32/a2a/cpu/s7", 3, "documents");
  fails("W4/1x9223372036854775807+0/H4:2/D64/fp32/a2a/cpu/s7", 5, "a count must be");
  fails("W4/2147479000,2147479000+0/H4:2/D64/fp32/a2a/cpu/s7", 14, "exceed");
  fails("W4/g4:3,5:2+0/H4:2/D64/fp32/a2a/cpu/s7", 3, "starts[1]");
  fails("W4/8+0/H4:3/D64/fp32/a2a/cpu/s7", 10, "3 kv heads do not divide 4 heads");
  fails("W4/8+0/H4:2/D257/fp32/a2a/cpu/s7", 13, "the head size must be 1 to 256, not 257");
  fails("W4/8+0/H4:2/D64/fp8/a2a/cpu/s7", 16, "expected fp64, fp32, bf16 or fp16");
  fails("W4/8+0/H4:2/D64/i32/a2a/cpu/s7", 16, "expected fp64, fp32, bf16 or fp16");
  fails("W4/8+0/H4:2/D64/fp32/ring/cpu/s7", 21, "ring");
  fails("W4/8+0/H4:2/D64/fp32/a2a//s7", 25, "the name of a kernel");
  fails("W4/8+0/H4:2/D64/fp32/a2a/cpu/s-7", 30, "the seed");
  fails("W4/8+0/H4:2/D64/fp32/a2a/cpu/s7/amp:inf", 36, "the amplitude must be positive");
  fails("W4/8+0/H4:2/D64/fp32/a2a/cpu/s7/in:k1", 35, "expected one of k0, v1, same, ramp");
  fails("W4/8+0/H4:2/D64/fp32/a2a/cpu/s7/apartx", 31, "expected the end, or one of");
  fails("W4/8+0/H4:2/D64/fp32/a2a/cpu/s7/dlse/apart", 36, "in this order");
}

TEST_CASE("no mutation of a text crashes: it reads, or says what is wrong (seed 11)") {
  std::mt19937_64 bits(11);
  const std::string good = "W4/g0:3,4:2,8:4+1/H4:2/D64:32/fp32/a2a/cpu/s7/apart/layers:2/amp:0.5/probe:nan";
  std::int64_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = good.substr(0, good.size() - bits() % 3 * (bits() % good.size()));
    for (std::uint64_t edits = bits() % 3; edits-- > 0 && !text.empty();) {
      text[bits() % text.size()] = "0123456789,:+/._-xgWHDs\0\xff"[bits() % 25];
    }
    try {
      const Case point = parse_case(text);
      REQUIRE(parse_case(print(point)) == point);
    } catch (const CaseTextError&) {
      ++refused;
    }
  }
  CHECK(refused > 5000);
}

}  // namespace
}  // namespace straddle::harness
