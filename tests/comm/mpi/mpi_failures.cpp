// mpi_failures NAME: a group of MPI processes in which something goes wrong. The exit code that mpirun
// returns, and the text, are checked by expect_exit.sh; 99 where the wrong thing goes wrong.
#include <cstdio>
#include <functional>
#include <map>

#include "comm/world.hpp"
#include "expect.hpp"

namespace straddle::comm {
namespace {

using Bytes = std::vector<std::byte>;

// Also returned after abort(), which never returns: g++ does not know it of a virtual function.
constexpr int kUnexpected = 99;

// Long for a machine under load, short for who waits; nobody has to come within it.
void set_short_deadline(World& world) {
  world.set_deadline({std::chrono::steady_clock::now() + std::chrono::milliseconds(300)});
}

bool is_last(const World& world) { return world.rank() == world.size() - 1; }

void expect_hang(World& world, std::string_view part, const std::function<void(Transport&)>& act) {
  Transport& group = *world.group(world.size());
  set_short_deadline(world);
  const std::string text = message_of<HangError>("a hang", [&] { act(group); });
  expect_contains(text, "the deadline passed: ");
  expect_contains(text, part);
  std::fprintf(stderr, "%s\n", text.c_str());
}

// The launcher ends the others when the first rank returns an error, so all meet when they have seen what
// they must see. Control is whole whatever happened in the group.
int all_return(World& world, int exit_code) {
  world.control().barrier("all have seen it");
  return exit_code;
}

// A slow rank may be missing too: ` 2` ends the list of ranks that are waited for.
void expect_hang_for_last(World& world, const std::function<void(Transport&)>& act) {
  expect_hang(world, fmt::format(" {}", world.size() - 1), act);
}

// The last rank goes to the verdict at once; the others wait for it, give up and return from main. It
// never comes there, so they must not wait for it in MPI_Finalize.
int skip(World& world) {
  static_cast<void>(world.group(world.size()));
  if (is_last(world)) world.control().barrier("verdict");
  expect_hang_for_last(world, [](Transport& group) {
    Bytes mine(8), all(8 * group.size());
    group.all_gather("K/V forward", mine, all);
  });
  return 3;
}

// Equal sizes, other kinds: nobody's message arrives.
int kinds(World& world) {
  expect_hang(world, "waits for a message from rank", [&](Transport& group) {
    Bytes mine(8), all(8 * group.size());
    std::vector<std::uint64_t> values(1);
    is_last(world) ? group.all_reduce_max("consensus", values) : group.all_gather("K/V", mine, all);
  });
  expect(!world.recover(), "no recovery");
  return all_return(world, 3);
}

// 8 MiB stay with the sender until the receiver takes them.
int not_taken(World& world) {
  static_cast<void>(world.group(world.size()));
  if (is_last(world)) world.control().barrier("verdict");
  const Bytes big(std::size_t{8} << 20);
  expect_hang(world, fmt::format("its message was not taken by rank {}", world.size() - 1),
              [&](Transport& group) { group.send_receive("halo", world.size() - 1, big, std::nullopt, {}); });
  world.abort(3);
  return kUnexpected;
}

// The reduction of the library starts only when all ranks are there.
int reduce_skip(World& world) {
  static_cast<void>(world.group(world.size()));
  if (is_last(world)) world.control().barrier("verdict");
  expect_hang_for_last(world, [](Transport& group) {
    std::vector<float> send(group.size()), recv(1);
    group.reduce_scatter_sum("partials", tensor::DType::fp32, std::as_bytes(std::span(send)),
                             std::as_writable_bytes(std::span(recv)));
  });
  world.abort(3);
  return kUnexpected;
}

// The last rank has more, or less, than the others: every rank hears it from one that differs.
int other_size(World& world, std::size_t others, std::size_t last) {
  const std::size_t size = is_last(world) ? last : others;
  Bytes mine(size), all(size * world.size());
  const std::string text = message_of<CommError>(
      "another size", [&] { world.group(world.size())->all_gather("K/V forward", mine, all); });
  expect_contains(
      text, fmt::format("rank {} sent {} bytes, {} were expected", is_last(world) ? 0 : world.size() - 1,
                        is_last(world) ? others : last, size));
  std::fprintf(stderr, "%s\n", text.c_str());
  return all_return(world, 4);
}

int reduce_sizes(World& world) {
  const std::size_t elements = is_last(world) ? 100 : 3;
  std::vector<double> send(elements * world.size()), recv(elements);
  const std::string text = message_of<CommError>("another size", [&] {
    world.group(world.size())
        ->reduce_scatter_sum("partials", tensor::DType::fp64, std::as_bytes(std::span(send)),
                             std::as_writable_bytes(std::span(recv)));
  });
  expect_contains(
      text, is_last(world) ? "rank 0 sent 24 bytes, 800 were expected" : "sent 800 bytes, 24 were expected");
  std::fprintf(stderr, "%s\n", text.c_str());
  return all_return(world, 4);
}

// One rank is unwound past its world while the others wait for it in control, which has no deadline.
int leave(World& world) {
  if (world.rank() == 0) {
    std::fprintf(stderr, "rank 0 leaves alone\n");
    throw 6;
  }
  world.control().barrier("verdict");
  return 0;
}

int fail(const std::string& name) {
  const std::map<std::string, std::function<int(World&)>> failures{
      {"skip", skip},
      {"kinds", kinds},
      {"not_taken", not_taken},
      {"reduce_skip", reduce_skip},
      {"more", [](World& world) { return other_size(world, 16, 24); }},
      {"less", [](World& world) { return other_size(world, 16, 8); }},
      {"much_more", [](World& world) { return other_size(world, 16, std::size_t{1} << 20); }},
      {"reduce_sizes", reduce_sizes},
      {"leave", leave},
  };
  const auto world = mpi_world();
  try {
    return failures.at(name)(*world);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", world->rank(), error.what());
    world->abort(kUnexpected);
  }
  return kUnexpected;
}

}  // namespace
}  // namespace straddle::comm

int main(int argc, char** argv) {
  try {
    return straddle::comm::fail(argc == 2 ? argv[1] : "");
  } catch (const int exit_code) {
    return exit_code;
  }
}
