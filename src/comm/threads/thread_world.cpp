#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <map>
#include <system_error>
#include <thread>

#include "comm/errors.hpp"
#include "comm/threads/hub.hpp"
#include "comm/threads/thread_wire.hpp"
#include "comm/world.hpp"

namespace straddle::comm {
namespace {

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

class ThreadWorld final : public World {
 public:
  ThreadWorld(Hub& hub, int rank)
      : hub_(hub),
        rank_(rank),
        control_(transport_over(thread_wire(hub, {rank, hub.size(), kControlGroup}, nullptr))) {}

  int rank() const override { return rank_; }
  int size() const override { return hub_.size(); }
  std::string_view name() const override { return "threads"; }
  std::vector<std::string> hosts() const override { return std::vector<std::string>(size(), host_name()); }
  std::vector<int> nodes() const override { return std::vector<int>(size(), 0); }

  Transport& control() override { return *control_; }

  Transport* group(int n) override {
    if (n < 1 || n > size()) {
      throw CommError(
          fmt::format("rank {}: a group of {} ranks was asked for, expected 1 to {}", rank_, n, size()));
    }
    if (rank_ >= n) return nullptr;
    std::unique_ptr<Transport>& group = groups_[n];
    if (!group) group = transport_over(thread_wire(hub_, {rank_, n, n}, &deadline_));
    return group.get();
  }

  void set_deadline(const Deadline& deadline) override { deadline_ = deadline; }

  // Before the first barrier nobody's last operation may be disturbed; before the second nobody may send
  // anew.
  bool recover() override {
    control_->barrier("recover: all ranks have given up");
    hub_.clear_groups(rank_);
    control_->barrier("recover: all mailboxes are empty");
    return true;
  }

  void abort(int exit_code) override {
    throw HangError(fmt::format("rank {} aborted the world with exit code {}", rank_, exit_code));
  }

 private:
  Hub& hub_;
  int rank_;
  Deadline deadline_;
  std::unique_ptr<Transport> control_;
  std::map<int, std::unique_ptr<Transport>> groups_;
};

// Runs one rank to its end. Whatever happens in it, those who wait for the rank get to know that it left.
std::exception_ptr run_rank(Hub& hub, int rank, const std::function<void(World&)>& body) {
  try {
    ThreadWorld world(hub, rank);
    body(world);
    hub.leave(rank, "its body returned");
    return nullptr;
  } catch (const std::exception& error) {
    hub.leave(rank, error.what());
    return std::current_exception();
  } catch (...) {
    hub.leave(rank, "an exception of unknown type");
    return std::current_exception();
  }
}

}  // namespace

void run_threads(int ranks, const std::function<void(World&)>& body) {
  if (ranks < 1) throw CommError(fmt::format("run_threads: {} ranks, expected at least 1", ranks));
  Hub hub(ranks);
  std::vector<std::exception_ptr> errors(ranks);
  std::vector<std::thread> threads;
  try {
    for (int rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] { errors[rank] = run_rank(hub, rank, body); });
    }
  } catch (const std::system_error&) {  // the machine has no thread left
    const auto started = static_cast<int>(threads.size());
    for (int rank = started; rank < ranks; ++rank) hub.leave(rank, "its thread could not be started");
    errors.back() = std::current_exception();
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace straddle::comm
