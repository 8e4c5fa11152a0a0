#include "harness/run/second_runs.hpp"

#include <doctest/doctest.h>

#include "doubles.hpp"
#include "harness/run/runner.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("probed: the last real row before the first cut, or its document") {
  const auto of = [](const std::string& text, Probe probe) {
    Case point = parse_case(text);
    point.probe = probe;
    return probed(point);
  };
  // Cut at 4: row 3 is in document 1 of 6, 4.
  CHECK(of("W2/1,6,3+2/H4:2/D8/fp32/a2a/cpu/s7", Probe::change_token) == 5);
  CHECK(of("W2/1,6,3+2/H4:2/D8/fp32/a2a/cpu/s7", Probe::nan_document) == 1);
  // All real rows lie before the cut at 8.
  CHECK(of("W2/2,3+11/H4:2/D8/fp32/a2a/cpu/s7", Probe::change_token) == 4);
  CHECK(of("W1/2,3+0/H4:2/D8/fp32/a2a/cpu/s7", Probe::change_token) == 2);
  CHECK(of("W1/2,3+0/H4:2/D8/fp32/a2a/cpu/s7", Probe::nan_document) == 1);
}

TEST_CASE("probes pass on the right op and fail on a kernel that reads what it must not") {
  auto cases = entries_of({"W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s7", "W2/5,3+0/H2:1/D8/fp32/a2a/cpu/s7"});
  cases[0].point.probe = Probe::change_token;
  cases[1].point.probe = Probe::nan_document;
  for (const bool leak : {false, true}) {
    KeepingReporter told;
    comm::run_threads(2, [&](comm::World& world) {
      RunOptions options;
      if (leak) {
        // Rounding noise from the last row on rank 0 into the last row on rank 1: far within every bound, but
        // a leak.
        options.seams.kernel = [](std::unique_ptr<kernel::Kernel> inner) {
          struct Leaky final : kernel::Kernel {
            std::unique_ptr<kernel::Kernel> inner;
            [[nodiscard]] std::string_view name() const override { return inner->name(); }
            [[nodiscard]] bool varlen() const override { return true; }
            [[nodiscard]] tensor::Memory& memory() const override { return inner->memory(); }
            [[nodiscard]] std::optional<std::string> unsupported(
                const kernel::Requirements& r) const override {
              return inner->unsupported(r);
            }
            void forward(const kernel::VarlenProblem& p, const kernel::ForwardResults& r) override {
              inner->forward(p, r);
              const auto out = r.out.span<float>();
              out.back() += 1e-7F * out.back() * p.v.as<float>()[0];
            }
            void backward(const kernel::VarlenProblem& p, const kernel::BackwardInputs& i,
                          const kernel::BackwardResults& r) override {
              inner->backward(p, i, r);
            }
          };
          auto leaky = std::make_unique<Leaky>();
          leaky->inner = std::move(inner);
          return leaky;
        };
      }
      Reporter* const reporter = &told;
      static_cast<void>(run_cases(world, cases, options, std::span(&reporter, 1)));
    });
    CHECK(told.verdicts == std::vector<Verdict>(2, leak ? Verdict::mismatch : Verdict::pass));
  }
}

}  // namespace
}  // namespace straddle::harness
