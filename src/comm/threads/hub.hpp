// Where ranks that are threads leave messages for each other, and where it is seen that nobody can go on.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/op_kind.hpp"
#include "comm/world.hpp"

namespace straddle::comm {

// World::control(); group(n) has the number n.
inline constexpr int kControlGroup = 0;

// One queue of messages. Operations of different kinds never meet, as in MPI.
struct Mailbox {
  int group;
  int source;
  int destination;
  OpKind kind;
  auto operator<=>(const Mailbox&) const = default;
};

struct Message {
  std::vector<std::byte> bytes;
  std::string what;
};

// Shared by the ranks of one world; every member may be called from any thread.
//
// Sending never blocks, so only receive() can hang. It throws HangError, which says where every rank stands,
// if
//   - the source has left its body;
//   - all ranks are blocked or gone: then for the ranks blocked in group(n), since those in control() may
//   still
//     meet them there; or for all of them, when all are in control();
//   - the deadline passes.
class Hub {
 public:
  explicit Hub(int ranks);
  [[nodiscard]] int size() const { return static_cast<int>(ranks_.size()); }

  void post(const Mailbox& mailbox, Message message);
  [[nodiscard]] Message receive(const Mailbox& mailbox, std::string_view what, const Deadline* deadline);

  // The rank will never send or receive again; `why` goes into the messages of those who wait for it.
  void leave(int rank, std::string why);

  // Drops all messages to this rank, those of control() excepted.
  void clear_groups(int rank);

 private:
  struct Wait {
    Mailbox mailbox;
    std::string what;
  };
  struct Rank {
    std::condition_variable wake;
    std::optional<Wait> wait;         // blocked in receive()
    std::optional<std::string> hang;  // found blocked for ever; it has yet to wake up and throw this
    std::optional<std::string> left;
  };

  // All with mutex_ held.
  [[nodiscard]] bool has_mail(const Mailbox& mailbox) const;
  [[nodiscard]] bool is_stuck(const Rank& rank) const;
  void look_for_hangs();
  void give_up(Rank& rank, std::string_view standing);
  [[nodiscard]] std::string standing() const;
  [[nodiscard]] std::string standing_of(int rank) const;

  std::mutex mutex_;
  std::map<Mailbox, std::deque<Message>> messages_;
  std::vector<Rank> ranks_;
};

}  // namespace straddle::comm
