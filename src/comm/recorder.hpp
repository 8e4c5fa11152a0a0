// A Transport that notes every operation: who called what, with how many bytes, and whether it ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "comm/op_kind.hpp"
#include "comm/transport.hpp"

namespace straddle::comm {

struct Operation {
  OpKind kind;
  std::string what;
  std::int64_t sent_bytes;      // to other ranks
  std::int64_t received_bytes;  // from other ranks
  bool done = false;
  double started_s = 0;  // since the recorder was made
};

// Thread-safe: another thread may take the log while an operation blocks, to say where this rank stands.
class Recorder {
 public:
  Recorder();
  [[nodiscard]] std::vector<Operation> log() const;
  // Sum over the operations with this purpose.
  [[nodiscard]] std::int64_t sent_bytes(std::string_view what) const;
  // Of kinds, purposes and order, not of sizes: equal on all ranks of a right run.
  [[nodiscard]] std::uint64_t sequence_hash() const;
  // "#3 all_to_all_v K/V forward, 4096 B out, posted 2.1 s ago; before it #2 all_reduce preflight", with
  // "past " in front once #3 has ended, or "no operation yet". Operations count from 1.
  [[nodiscard]] std::string where() const;
  [[nodiscard]] double seconds() const;  // since it was made

  std::size_t begin(OpKind kind, std::string_view what, std::int64_t sent_bytes, std::int64_t received_bytes);
  void end(std::size_t index);
  void clear();

 private:
  mutable std::mutex mutex_;
  std::vector<Operation> log_;
  std::chrono::steady_clock::time_point start_;
};

// Decorates `inner` and writes into `recorder`; both must outlive it.
[[nodiscard]] std::unique_ptr<Transport> record(Transport& inner, Recorder& recorder);

}  // namespace straddle::comm
