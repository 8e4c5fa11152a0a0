#include "comm/threads/hub.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "comm/error_text.hpp"
#include "comm/errors.hpp"

namespace straddle::comm {
namespace {

std::string group_text(int group) {
  return group == kControlGroup ? "control" : fmt::format("the group of {}", group);
}

}  // namespace

Hub::Hub(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}

void Hub::post(const Mailbox& mailbox, Message message) {
  const std::lock_guard lock(mutex_);
  messages_[mailbox].push_back(std::move(message));
  Rank& destination = ranks_[mailbox.destination];
  if (destination.wait && destination.wait->mailbox == mailbox) destination.wake.notify_one();
}

Message Hub::receive(const Mailbox& mailbox, std::string_view what, const Deadline* deadline) {
  std::unique_lock lock(mutex_);
  Rank& self = ranks_[mailbox.destination];
  bool in_time = true;
  if (!has_mail(mailbox)) {
    self.wait = Wait{mailbox, std::string(what)};
    look_for_hangs();
    while (!has_mail(mailbox) && !self.hang && in_time) {
      if (deadline != nullptr && deadline->at) {
        in_time = self.wake.wait_until(lock, *deadline->at) == std::cv_status::no_timeout;
      } else {
        self.wake.wait(lock);
      }
    }
    const std::optional<std::string> hang = std::exchange(self.hang, std::nullopt);
    if (!hang && !has_mail(mailbox)) {
      const std::string text = standing();
      self.wait.reset();
      throw HangError(fmt::format("{}: the deadline passed: {}",
                                  operation_text(mailbox.destination, mailbox.kind, what), text));
    }
    self.wait.reset();
    if (hang) throw HangError(*hang);
  }
  std::deque<Message>& box = messages_[mailbox];
  Message message = std::move(box.front());
  box.pop_front();
  return message;
}

void Hub::leave(int rank, std::string why) {
  const std::lock_guard lock(mutex_);
  ranks_[rank].left = std::move(why);
  look_for_hangs();
}

void Hub::clear_groups(int rank) {
  const std::lock_guard lock(mutex_);
  for (auto& [mailbox, box] : messages_) {
    if (mailbox.destination == rank && mailbox.group != kControlGroup) box.clear();
  }
}

bool Hub::has_mail(const Mailbox& mailbox) const {
  const auto found = messages_.find(mailbox);
  return found != messages_.end() && !found->second.empty();
}

bool Hub::is_stuck(const Rank& rank) const {
  return rank.wait && !rank.hang && !has_mail(rank.wait->mailbox);
}

// A rank changes from able to stuck only when it begins to wait or when the source of its message leaves, so
// looking at these two moments finds every hang.
void Hub::look_for_hangs() {
  std::vector<Rank*> hopeless;
  for (Rank& rank : ranks_) {
    if (is_stuck(rank) && ranks_[rank.wait->mailbox.source].left) hopeless.push_back(&rank);
  }
  const bool nobody_runs = std::all_of(ranks_.begin(), ranks_.end(),
                                       [&](const Rank& rank) { return rank.left || is_stuck(rank); });
  if (hopeless.empty() && nobody_runs) {
    std::vector<Rank*> stuck;
    for (Rank& rank : ranks_) {
      if (!rank.left) stuck.push_back(&rank);
    }
    const auto in_group = [](const Rank* rank) { return rank->wait->mailbox.group != kControlGroup; };
    std::copy_if(stuck.begin(), stuck.end(), std::back_inserter(hopeless), in_group);
    if (hopeless.empty()) hopeless = stuck;
  }
  if (hopeless.empty()) return;
  const std::string text = standing();
  for (Rank* rank : hopeless) give_up(*rank, text);
}

void Hub::give_up(Rank& rank, std::string_view standing) {
  const Wait& wait = *rank.wait;
  rank.hang = fmt::format("{}: can never end: {}",
                          operation_text(wait.mailbox.destination, wait.mailbox.kind, wait.what), standing);
  rank.wake.notify_one();
}

std::string Hub::standing() const {
  std::vector<std::string> lines;
  for (int rank = 0; rank < size(); ++rank) lines.push_back(standing_of(rank));
  return fmt::format("{}", fmt::join(lines, "; "));
}

std::string Hub::standing_of(int rank) const {
  const Rank& state = ranks_[rank];
  if (state.left) return fmt::format("rank {} has left ({})", rank, *state.left);
  if (!is_stuck(state)) return fmt::format("rank {} is running", rank);
  const Mailbox& mailbox = state.wait->mailbox;
  return fmt::format("{} in {} waits for rank {}", operation_text(rank, mailbox.kind, state.wait->what),
                     group_text(mailbox.group), mailbox.source);
}

}  // namespace straddle::comm
