// Test doubles of the run: a reporter that keeps everything, and kernels, exchanges and transports with one
// fault each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/transport.hpp"
#include "harness/report/reporter.hpp"
#include "harness/run/op_subject.hpp"
#include "harness/scenario/case.hpp"
#include "kernel/kernel.hpp"

namespace straddle::harness {

// Keeps what it is told.
class KeepingReporter final : public Reporter {
 public:
  void begin(const RunInfo&) override {}
  void before_case(const CaseEntry&, std::int64_t index) override { announced.push_back(index); }
  void after_case(const CaseRecord& record) override {
    verdicts.push_back(record.verdict);
    reasons.push_back(record.reasons.empty() ? "" : record.reasons.front());
    where.push_back(record.where);
    checksums.push_back(record.checksums);
    if (fail_after != 0 && static_cast<int>(verdicts.size()) >= fail_after)
      throw std::runtime_error("disk full");
  }
  void end(const RunTotals& totals) override { ended.push_back(totals.exit_code); }

  int fail_after = 0;  // throws from this many cases on
  std::vector<std::int64_t> announced;
  std::vector<Verdict> verdicts;
  std::vector<std::string> reasons;
  std::vector<std::vector<std::string>> where;
  std::vector<std::map<std::string, std::uint64_t>> checksums;
  std::vector<int> ended;
};

// Forwards to a real kernel and then spoils its results.
class SpoilingKernel final : public kernel::Kernel {
 public:
  using Spoil = std::function<void(const kernel::ForwardResults*, const kernel::BackwardResults*)>;

  SpoilingKernel(std::unique_ptr<kernel::Kernel> inner, Spoil spoil)
      : inner_(std::move(inner)), spoil_(std::move(spoil)) {}

  [[nodiscard]] std::string_view name() const override { return inner_->name(); }
  [[nodiscard]] bool varlen() const override { return inner_->varlen(); }
  [[nodiscard]] tensor::Memory& memory() const override { return inner_->memory(); }
  [[nodiscard]] std::optional<std::string> unsupported(const kernel::Requirements& r) const override {
    return inner_->unsupported(r);
  }
  void forward(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results) override {
    inner_->forward(problem, results);
    spoil_(&results, nullptr);
  }
  void backward(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    inner_->backward(problem, inputs, results);
    spoil_(nullptr, &results);
  }

 private:
  std::unique_ptr<kernel::Kernel> inner_;
  Spoil spoil_;
};

// Forwards everything but all-to-alls on one rank: the fault of a rank that skips a collective.
class SkippingTransport final : public comm::Transport {
 public:
  explicit SkippingTransport(comm::Transport& inner) : inner_(inner) {}

  [[nodiscard]] int rank() const override { return inner_.rank(); }
  [[nodiscard]] int size() const override { return inner_.size(); }
  void all_gather(std::string_view what, std::span<const std::byte> mine, std::span<std::byte> all) override {
    inner_.all_gather(what, mine, all);
  }
  void all_to_all_v(std::string_view, std::span<const std::byte>, std::span<const std::int64_t>,
                    std::span<std::byte>, std::span<const std::int64_t>) override {}
  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    inner_.reduce_scatter_sum(what, dtype, send, recv);
  }
  void send_receive(std::string_view what, std::optional<int> to, std::span<const std::byte> send,
                    std::optional<int> from, std::span<std::byte> recv) override {
    inner_.send_receive(what, to, send, from, recv);
  }
  void all_reduce_max(std::string_view what, std::span<std::uint64_t> values) override {
    inner_.all_reduce_max(what, values);
  }
  void barrier(std::string_view what) override { inner_.barrier(what); }

 private:
  comm::Transport& inner_;
};

inline CaseEntry entry_of(const std::string& text) {
  CaseEntry entry;
  entry.point = parse_case(text);
  entry.text = print(entry.point);
  return entry;
}

inline std::vector<CaseEntry> entries_of(const std::vector<std::string>& texts) {
  std::vector<CaseEntry> entries;
  for (const std::string& text : texts) entries.push_back(entry_of(text));
  return entries;
}

}  // namespace straddle::harness
