// Where ranks meet so that none returns, throws or skips alone: a failure on one becomes the same error on
// all.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "comm/errors.hpp"
#include "comm/transport.hpp"

namespace straddle::cp {

// What is about to be done or was done, as far as ranks must agree about it.
struct Step {
  std::string name;        // "forward", "backward", "adjoint"
  std::uint64_t hash = 0;  // of case, plan and place in the sequence of calls
  std::string text;        // the same for people, for the message when hashes differ
};

// Mixes a value into a hash.
[[nodiscard]] std::uint64_t mix(std::uint64_t hash, std::uint64_t value);

// The first failure of this rank between two collectives. Errors of the transport itself pass through: after
// one of those ranks can't meet.
class Failure {
 public:
  // Runs work unless something failed before, and keeps what it throws.
  template <class Work>
  void attempt(const Work& work) {
    if (!cause_) attempt_always(work);
  }

  // For work that peers wait for: runs it whatever failed before.
  template <class Work>
  void attempt_always(const Work& work) {
    try {
      work();
    } catch (const comm::CommError&) {
      throw;
    } catch (const std::exception& error) {
      keep(error.what());
    } catch (...) {
      keep("an exception that is no std::exception");
    }
  }
  [[nodiscard]] const std::optional<std::string>& cause() const { return cause_; }

 private:
  void keep(std::string_view cause) {
    if (!cause_) cause_ = cause;
  }

  std::optional<std::string> cause_;
};

// Collective. Returns when no rank failed and all are at the same step; else throws the same ConsensusError
// on all ranks: of the first rank that failed, or naming the ranks that are elsewhere. One all-reduce of 24
// bytes; texts travel only after a failure.
void reach_consensus(const Step& step, const std::optional<std::string>& failure, comm::Transport& transport);

// Every rank's text, in rank order, cut at 1 KiB. Collective.
[[nodiscard]] std::vector<std::string> gather_texts(std::string_view mine, comm::Transport& transport);

}  // namespace straddle::cp
