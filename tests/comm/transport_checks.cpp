#include "transport_checks.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <utility>

#include "comm/errors.hpp"
#include "expect.hpp"
#include "tagged.hpp"

namespace straddle::comm {
namespace {

using Bytes = std::vector<std::byte>;
using Counts = std::vector<std::int64_t>;
constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::byte kUntouched{0xee};

void append(Bytes& bytes, const Bytes& more) { bytes.insert(bytes.end(), more.begin(), more.end()); }

void all_gather(Transport& transport, int round, std::size_t size) {
  const Bytes mine = tagged_bytes(transport.rank(), 0, round, size);
  Bytes all(size * transport.size(), kUntouched);
  transport.all_gather("all_gather check", mine, all);
  Bytes expected;
  for (int rank = 0; rank < transport.size(); ++rank) append(expected, tagged_bytes(rank, 0, round, size));
  expect(all == expected, "all ranks' {} bytes in rank order", size);
}

// counts [size, size]: bytes from a rank to a rank
void all_to_all_v(Transport& transport, int round, const std::vector<Counts>& counts) {
  const int me = transport.rank();
  Bytes send, expected;
  Counts recv_bytes;
  for (int peer = 0; peer < transport.size(); ++peer) {
    append(send, tagged_bytes(me, peer, round, counts[me][peer]));
    append(expected, tagged_bytes(peer, me, round, counts[peer][me]));
    recv_bytes.push_back(counts[peer][me]);
  }
  Bytes recv(expected.size(), kUntouched);
  transport.all_to_all_v("all_to_all_v check", send, counts[me], recv, recv_bytes);
  expect(recv == expected, "the parts for rank {} in rank order, recv_bytes {}", me,
         fmt::join(recv_bytes, ","));
}

// Whole numbers, whose sum is exact in any order.
template <class T>
void reduce_scatter(Transport& transport, int round, std::size_t elements) {
  const int ranks = transport.size();
  const auto value = [&](int source, int destination, std::size_t i) {
    return static_cast<T>(source * 1000 + destination * 100 + round + static_cast<int>(i % 89));
  };
  std::vector<T> send;
  for (int peer = 0; peer < ranks; ++peer) {
    for (std::size_t i = 0; i < elements; ++i) send.push_back(value(transport.rank(), peer, i));
  }
  std::vector<T> recv(elements, std::numeric_limits<T>::quiet_NaN());
  transport.reduce_scatter_sum("reduce_scatter check", tensor::DTypeOf<T>::value,
                               std::as_bytes(std::span(send)), std::as_writable_bytes(std::span(recv)));
  for (std::size_t i = 0; i < elements; ++i) {
    T sum = 0;
    for (int source = 0; source < ranks; ++source) sum += value(source, transport.rank(), i);
    expect(recv[i] == sum, "sum {} at element {} of {}, got {}", sum, i, elements, recv[i]);
  }
}

// Everybody sends `shift` ranks up. A rank without a partner has none: no wrap-around.
void shift(Transport& transport, int round, int shift, std::size_t size) {
  const int me = transport.rank();
  const auto in_group = [&](int rank) { return rank >= 0 && rank < transport.size(); };
  const std::optional<int> to = in_group(me + shift) ? std::optional(me + shift) : std::nullopt;
  const std::optional<int> from = in_group(me - shift) ? std::optional(me - shift) : std::nullopt;
  Bytes recv(size, kUntouched);
  transport.send_receive("shift check", to, tagged_bytes(me, me + shift, round, size), from, recv);
  const Bytes expected = from ? tagged_bytes(*from, me, round, size) : Bytes(size, kUntouched);
  expect(recv == expected, "{} bytes shifted by {}", size, shift);
}

void ring(Transport& transport, int round, std::size_t size) {
  const int me = transport.rank();
  const int to = (me + 1) % transport.size();
  const int from = (me + transport.size() - 1) % transport.size();
  Bytes recv(size, kUntouched);
  transport.send_receive("ring check", to, tagged_bytes(me, to, round, size), from, recv);
  expect(recv == tagged_bytes(from, me, round, size), "{} bytes of the left neighbour in a ring", size);
}

void all_reduce_max(Transport& transport, int round, std::size_t size) {
  const auto value = [&](int rank, std::size_t i) -> std::uint64_t {
    if (i % 5 == 4) return std::numeric_limits<std::uint64_t>::max() - (rank + i + round) % transport.size();
    return (rank * 7 + i * 3 + round) % 11;  // the largest is on another rank for each i
  };
  std::vector<std::uint64_t> values(size), expected(size, 0);
  for (std::size_t i = 0; i < size; ++i) {
    values[i] = value(transport.rank(), i);
    for (int rank = 0; rank < transport.size(); ++rank) expected[i] = std::max(expected[i], value(rank, i));
  }
  transport.all_reduce_max("all_reduce check", values);
  expect(values == expected, "the element-wise maximum of {} values", size);
}

void check_sizes(Transport& transport) {
  for (const std::size_t size : {0, 1, 3, 64, 5000}) {
    all_gather(transport, 1, size);
    reduce_scatter<float>(transport, 2, size);
    reduce_scatter<double>(transport, 3, size);
    for (const int by : {-1, 0, 1, 2}) shift(transport, 4, by, size);
    ring(transport, 5, size);
    all_reduce_max(transport, 6, size);
  }
}

// Every matrix of counts 0 and 3 between up to 3 ranks, the message to oneself being 2 bytes long; then
// random ones, with whole ranks silent or unheard.
void check_counts(Transport& transport) {
  const int ranks = transport.size();
  const int pairs = ranks * (ranks - 1);
  for (unsigned bits = 0; ranks <= 3 && bits < (1u << pairs); ++bits) {
    std::vector<Counts> counts(ranks, Counts(ranks, 2));
    for (int pair = 0; pair < pairs; ++pair) {
      const int from = pair / (ranks - 1);
      const int to = (from + 1 + pair % (ranks - 1)) % ranks;
      counts[from][to] = (bits >> pair & 1u) * 3;
    }
    all_to_all_v(transport, 1, counts);
  }
  std::mt19937 random(11);  // the same on all ranks
  for (int round = 0; round < 30; ++round) {
    std::vector<Counts> counts(ranks, Counts(ranks));
    for (Counts& row : counts) {
      for (std::int64_t& count : row) count = random() % 3 == 0 ? 0 : random() % 300;
    }
    const auto silent = random() % ranks;
    const auto unheard = random() % ranks;
    if (round % 3 == 1) counts[silent] = Counts(ranks, 0);
    for (Counts& row : counts) {
      if (round % 3 == 2) row[unheard] = 0;
    }
    all_to_all_v(transport, round, counts);
  }
  all_to_all_v(transport, 9, std::vector<Counts>(ranks, Counts(ranks, 0)));
}

// Any order of operations and sizes; a message left over or taken twice would show in the next of its kind.
void check_random_sequences(Transport& transport) {
  std::mt19937 random(2024);  // the same on all ranks
  for (int round = 0; round < 60; ++round) {
    const std::size_t size = random() % 4 == 0 ? 0 : random() % 200;
    switch (random() % 7) {
      case 0:
        all_gather(transport, round, size);
        break;
      case 1:
        all_to_all_v(transport, round,
                     std::vector<Counts>(transport.size(), Counts(transport.size(), static_cast<int>(size))));
        break;
      case 2:
        reduce_scatter<float>(transport, round, size);
        break;
      case 3:
        shift(transport, round, static_cast<int>(random() % 5) - 2, size);
        break;
      case 4:
        ring(transport, round, size);
        break;
      case 5:
        all_reduce_max(transport, round, size);
        break;
      default:
        transport.barrier("barrier check");
    }
  }
}

// In-place all_gather: `mine` lies in `all` already.
void check_in_place(Transport& transport) {
  const int me = transport.rank();
  constexpr std::size_t kSize = 40;
  Bytes all(kSize * transport.size(), kUntouched);
  const auto mine = std::span(all).subspan(me * kSize, kSize);
  for (std::size_t i = 0; i < kSize; ++i) mine[i] = tagged_byte(me, 0, 8, i);
  transport.all_gather("in place", mine, all);
  for (int rank = 0; rank < transport.size(); ++rank) {
    const Bytes expected = tagged_bytes(rank, 0, 8, kSize);
    expect(std::equal(expected.begin(), expected.end(), all.begin() + rank * kSize), "part {} in place",
           rank);
  }
}

// A call that is wrong on the face of it moves nothing: the next operation of its kind is whole.
void check_wrong_arguments(Transport& transport) {
  const int ranks = transport.size();
  Bytes some(ranks * 8 + 1);
  Counts counts(ranks, 8);
  const auto eights = std::span<const std::byte>(some).first(ranks * 8);
  const auto room = std::span(some).first(ranks * 8);
  const std::string gather = message_of<CommError>("all_gather, wrong size", [&] {
    transport.all_gather("K/V", std::span(some).first(8), std::span(some).first(ranks * 8 + 1));
  });
  expect(gather ==
             fmt::format(
                 "rank {}: all_gather \"K/V\": the receive buffer has {} bytes, expected {} ranks x 8 = {}",
                 transport.rank(), ranks * 8 + 1, ranks, ranks * 8),
         "another text than: {}", gather);
  message_of<CommError>("all_to_all_v, sums",
                        [&] { transport.all_to_all_v("x", some, counts, room, counts); });
  message_of<CommError>("reduce_scatter, size", [&] {
    transport.reduce_scatter_sum("x", tensor::DType::fp32, some, std::span(some).first(8));
  });
  message_of<CommError>("send_receive, no such rank",
                        [&] { transport.send_receive("x", ranks, eights, std::nullopt, {}); });
  all_gather(transport, 1, 8);
  all_to_all_v(transport, 2, std::vector<Counts>(ranks, counts));
  reduce_scatter<float>(transport, 3, 2);
  ring(transport, 4, 8);
}

template <class Act>
void named(std::string_view name, const Transport& transport, Act&& act) {
  try {
    act();
  } catch (const std::exception& error) {
    throw std::runtime_error(
        fmt::format("{}, rank {} of {}: {}", name, transport.rank(), transport.size(), error.what()));
  }
}

// Each rank outside group(n) only meets the others in control(), at its own time.
void check_interleaved(World& world, Transport* group) {
  for (int round = 0; round < 20; ++round) {
    if (group != nullptr) all_gather(*group, round, round % 4 * 10);
    all_gather(world.control(), round + 1, round % 3 * 7);
    if (group != nullptr && round % 5 == 0) reduce_scatter<float>(*group, round, 5);
  }
}

// Rank 0 sends first in control, rank 1 receives first in the group: same kind, same ranks, other order. The
// messages are so short that every library sends them without a receiver.
void check_control_is_apart(World& world) {
  if (world.size() < 2) return;
  Transport* group = world.group(world.size());
  const Bytes in_control = tagged_bytes(0, 1, 1, 4);
  const Bytes in_group = tagged_bytes(0, 1, 2, 4);
  Bytes first(4), second(4);
  if (world.rank() == 0) {
    world.control().send_receive("apart", 1, in_control, std::nullopt, {});
    group->send_receive("apart", 1, in_group, std::nullopt, {});
  } else if (world.rank() == 1) {
    group->send_receive("apart", std::nullopt, {}, 0, first);
    world.control().send_receive("apart", std::nullopt, {}, 0, second);
    expect(first == in_group && second == in_control, "control and group apart on rank 1");
  }
}

}  // namespace

void check_transport(Transport& transport) {
  constexpr std::array<std::pair<const char*, void (*)(Transport&)>, 5> kChecks{{
      {"sizes", check_sizes},
      {"counts", check_counts},
      {"in place", check_in_place},
      {"wrong arguments", check_wrong_arguments},
      {"random sequences", check_random_sequences},
  }};
  for (const auto& [name, check] : kChecks) named(name, transport, [&] { check(transport); });
}

void check_big_messages(Transport& transport) {
  const int ranks = transport.size();
  const std::size_t size = ranks <= 4 ? 8 * kMiB : 8 * kMiB / ranks;
  all_gather(transport, 1, size);
  all_to_all_v(transport, 2, std::vector<Counts>(ranks, Counts(ranks, static_cast<std::int64_t>(size))));
  reduce_scatter<float>(transport, 3, size / sizeof(float));
  shift(transport, 4, 1, 8 * kMiB);
  ring(transport, 5, 8 * kMiB);
  all_reduce_max(transport, 6, size / sizeof(std::uint64_t));
}

void check_world(World& world) {
  Transport& control = world.control();
  expect(control.rank() == world.rank() && control.size() == world.size(), "control of all ranks");
  expect(world.hosts() == std::vector(world.size(), world.hosts().at(0)),
         "one host, named once for each rank");
  expect(!world.hosts().at(0).empty(), "a host name");
  expect(world.nodes() == std::vector(world.size(), 0), "one node");
  check_transport(control);
  for (int n = 1; n <= world.size(); ++n) {
    Transport* group = world.group(n);
    expect((group != nullptr) == (world.rank() < n), "group({}) on its ranks alone, rank {}", n,
           world.rank());
    expect(world.group(n) == group, "the same group({}) again", n);
    if (group != nullptr) {
      expect(group->rank() == world.rank() && group->size() == n, "ranks of group({}) as in the world", n);
      check_transport(*group);
    }
    named("interleaved", control, [&] { check_interleaved(world, group); });
  }
  named("big messages", control, [&] { check_big_messages(*world.group(world.size())); });
  named("control apart", control, [&] { check_control_is_apart(world); });
  for (const int n : {0, world.size() + 1}) {
    message_of<CommError>("no such group", [&] { static_cast<void>(world.group(n)); });
  }
}

}  // namespace straddle::comm
