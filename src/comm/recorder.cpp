#include "comm/recorder.hpp"

#include <fmt/format.h>

namespace straddle::comm {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;  // FNV-1a, 64 bits
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

std::uint64_t mix(std::uint64_t hash, unsigned char byte) { return (hash ^ byte) * kFnvPrime; }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

Recorder::Recorder() : start_(std::chrono::steady_clock::now()) {}

std::vector<Operation> Recorder::log() const {
  const std::lock_guard lock(mutex_);
  return log_;
}

std::int64_t Recorder::sent_bytes(std::string_view what) const {
  const std::lock_guard lock(mutex_);
  std::int64_t total = 0;
  for (const Operation& operation : log_) {
    if (operation.what == what) total += operation.sent_bytes;
  }
  return total;
}

std::uint64_t Recorder::sequence_hash() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t hash = kFnvOffset;
  for (const Operation& operation : log_) {
    hash = mix(hash, static_cast<unsigned char>(operation.kind));
    for (const char c : operation.what) hash = mix(hash, static_cast<unsigned char>(c));
    hash = mix(hash, 0xff);  // in no UTF-8 text: where one purpose ends and the next operation begins
  }
  return hash;
}

std::string Recorder::where() const {
  const std::lock_guard lock(mutex_);
  if (log_.empty()) return "no operation yet";
  const std::size_t count = log_.size();
  const Operation& last = log_.back();
  std::string text =
      fmt::format("{}#{} {} {}, {} B out, posted {:.1f} s ago", last.done ? "past " : "", count,
                  name(last.kind), last.what, last.sent_bytes, seconds_since(start_) - last.started_s);
  if (count > 1) {
    const Operation& before = log_[count - 2];
    text += fmt::format("; before it #{} {} {}", count - 1, name(before.kind), before.what);
  }
  return text;
}

double Recorder::seconds() const { return seconds_since(start_); }

std::size_t Recorder::begin(OpKind kind, std::string_view what, std::int64_t sent_bytes,
                            std::int64_t received_bytes) {
  const std::lock_guard lock(mutex_);
  log_.push_back({kind, std::string(what), sent_bytes, received_bytes, false, seconds_since(start_)});
  return log_.size() - 1;
}

void Recorder::end(std::size_t index) {
  const std::lock_guard lock(mutex_);
  if (index < log_.size()) log_[index].done = true;  // else it was cleared meanwhile
}

void Recorder::clear() {
  const std::lock_guard lock(mutex_);
  log_.clear();
}

}  // namespace straddle::comm
