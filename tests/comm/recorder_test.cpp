#include "comm/recorder.hpp"

#include <doctest/doctest.h>

#include <thread>

#include "comm/errors.hpp"
#include "comm/world.hpp"
#include "expect.hpp"

namespace straddle::comm {
namespace {

using Bytes = std::vector<std::byte>;
using Counts = std::vector<std::int64_t>;

// "posted 0.3 s ago" -> "posted T s ago"
std::string without_times(std::string text) {
  const std::size_t begin = text.find("posted ");
  const std::size_t end = text.find(" s ago");
  if (begin != std::string::npos) text.replace(begin + 7, end - begin - 7, "T");
  return text;
}

// Every operation once. Rank r sends (r + 1) (d + 1) bytes to rank d in all_to_all_v, and nobody wraps
// around.
void every_operation(Transport& transport) {
  const int ranks = transport.size();
  const int me = transport.rank();
  Bytes part(24), all(24 * ranks);
  transport.all_gather("gather", part, all);
  Counts to, from;
  for (int peer = 0; peer < ranks; ++peer) {
    to.push_back((me + 1) * (peer + 1));
    from.push_back((peer + 1) * (me + 1));
  }
  const std::int64_t total = (me + 1) * ranks * (ranks + 1) / 2;
  Bytes send(total), recv(total);
  transport.all_to_all_v("exchange", send, to, recv, from);
  transport.reduce_scatter_sum("partials", tensor::DType::fp32, all, part);
  transport.send_receive("halo", me + 1 < ranks ? std::optional(me + 1) : std::nullopt, part,
                         me > 0 ? std::optional(me - 1) : std::nullopt, part);
  transport.send_receive("self", me, part, me, part);
  std::vector<std::uint64_t> values(2);
  transport.all_reduce_max("consensus", values);
  transport.barrier("end");
}

TEST_CASE("recorder counts the bytes that go to and come from other ranks") {
  constexpr int kRanks = 3;
  run_threads(kRanks, [](World& world) {
    Recorder recorder;
    const auto transport = record(world.control(), recorder);
    expect(transport->rank() == world.rank() && transport->size() == kRanks, "the inner rank and size");
    every_operation(*transport);
    const int me = world.rank();
    const std::int64_t own = (me + 1) * (me + 1);
    const std::int64_t exchanged = (me + 1) * 6 - own;  // (r + 1) (1 + 2 + 3), less the own part
    const std::vector<Operation> expected{
        {OpKind::all_gather, "gather", 48, 48},
        {OpKind::all_to_all_v, "exchange", exchanged, exchanged},
        {OpKind::reduce_scatter, "partials", 48, 48},
        {OpKind::send_receive, "halo", me < 2 ? 24 : 0, me > 0 ? 24 : 0},
        {OpKind::send_receive, "self", 0, 0},
        {OpKind::all_reduce, "consensus", 32, 32},
        {OpKind::barrier, "end", 0, 0},
    };
    const std::vector<Operation> log = recorder.log();
    expect(log.size() == expected.size(), "{} operations, got {}", expected.size(), log.size());
    for (std::size_t i = 0; i < log.size(); ++i) {
      expect(log[i].kind == expected[i].kind && log[i].what == expected[i].what, "kind and purpose of #{}",
             i + 1);
      expect(log[i].sent_bytes == expected[i].sent_bytes, "#{}: {} bytes sent, got {}", i + 1,
             expected[i].sent_bytes, log[i].sent_bytes);
      expect(log[i].received_bytes == expected[i].received_bytes, "#{}: {} bytes received, got {}", i + 1,
             expected[i].received_bytes, log[i].received_bytes);
      expect(log[i].done, "#{} done", i + 1);
      expect(log[i].started_s >= 0 && log[i].started_s <= recorder.seconds(), "a start within the recording");
    }
    expect(recorder.sent_bytes("exchange") == exchanged, "bytes by purpose");
    expect(recorder.sent_bytes("nothing") == 0, "no bytes of an unknown purpose");
  });
}

TEST_CASE("recorder sums the bytes of operations with one purpose") {
  Recorder recorder;
  recorder.begin(OpKind::all_gather, "K/V", 100, 0);
  recorder.begin(OpKind::barrier, "other", 1000, 0);
  recorder.begin(OpKind::all_to_all_v, "K/V", 10, 0);
  CHECK(recorder.sent_bytes("K/V") == 110);
}

std::uint64_t hash_of(const std::vector<std::pair<OpKind, std::string>>& operations, std::int64_t bytes = 0) {
  Recorder recorder;
  for (const auto& [kind, what] : operations) recorder.begin(kind, what, bytes, bytes);
  return recorder.sequence_hash();
}

TEST_CASE("sequence_hash tells kinds, purposes and order apart, but not sizes") {
  const auto hash = hash_of({{OpKind::all_gather, "a"}, {OpKind::barrier, "b"}});
  CHECK(hash == hash_of({{OpKind::all_gather, "a"}, {OpKind::barrier, "b"}}, 64));
  CHECK(hash != hash_of({{OpKind::all_gather, "a"}, {OpKind::all_reduce, "b"}}));
  CHECK(hash != hash_of({{OpKind::all_gather, "a"}, {OpKind::barrier, "c"}}));
  CHECK(hash != hash_of({{OpKind::barrier, "b"}, {OpKind::all_gather, "a"}}));
  CHECK(hash != hash_of({{OpKind::all_gather, "a"}}));
  CHECK(hash_of({{OpKind::all_gather, "ab"}, {OpKind::all_gather, "c"}}) !=
        hash_of({{OpKind::all_gather, "a"}, {OpKind::all_gather, "bc"}}));
  // The second purpose holds the byte of the second kind: where an operation ends has to be in the hash.
  const std::string both = std::string("a") + static_cast<char>(OpKind::barrier) + "b";
  CHECK(hash != hash_of({{OpKind::all_gather, both}}));
  CHECK(hash_of({}) != hash_of({{OpKind::all_gather, ""}}));
}

TEST_CASE("where() names the last operation, whether it ended, and the one before") {
  Recorder recorder;
  CHECK(recorder.where() == "no operation yet");
  const std::size_t first = recorder.begin(OpKind::all_reduce, "preflight", 8, 8);
  CHECK(without_times(recorder.where()) == "#1 all_reduce preflight, 8 B out, posted T s ago");
  recorder.end(first);
  CHECK(without_times(recorder.where()) == "past #1 all_reduce preflight, 8 B out, posted T s ago");
  recorder.begin(OpKind::all_to_all_v, "K/V forward", 4096, 0);
  CHECK(without_times(recorder.where()) ==
        "#2 all_to_all_v K/V forward, 4096 B out, posted T s ago; before it #1 all_reduce preflight");
  recorder.clear();
  CHECK(recorder.where() == "no operation yet");
  CHECK(recorder.log().empty());
  recorder.end(1);  // of an operation cleared while it ran
}

TEST_CASE("another thread reads where a rank is blocked; a failed operation stays open") {
  Recorder recorder;  // of rank 0
  run_threads(2, [&](World& world) {
    if (world.rank() == 0) {
      const auto transport = record(*world.group(2), recorder);
      Bytes mine(8), all(16);
      message_of<HangError>("alone", [&] { transport->all_gather("K/V", mine, all); });
      expect(!recorder.log().at(0).done, "an operation that never ended");
    } else {
      while (recorder.log().empty()) std::this_thread::yield();
      expect_contains(recorder.where(), "#1 all_gather K/V, 8 B out, posted ");
    }
  });
}

}  // namespace
}  // namespace straddle::comm
