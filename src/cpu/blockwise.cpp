#include <fmt/format.h>

#include <stdexcept>

#include "cpu/backward.hpp"
#include "cpu/forward.hpp"
#include "cpu/kernels.hpp"
#include "cpu/requirements.hpp"

namespace straddle::cpu {
namespace {

class BlockwiseKernel final : public kernel::Kernel {
 public:
  explicit BlockwiseKernel(int threads) : threads_(threads) {
    if (threads < 1)
      throw std::invalid_argument(fmt::format("threads: must be at least 1, but is {}", threads));
  }

  [[nodiscard]] std::string_view name() const override { return "cpu"; }
  [[nodiscard]] bool varlen() const override { return true; }
  [[nodiscard]] tensor::Memory& memory() const override { return tensor::host_memory(); }
  [[nodiscard]] std::optional<std::string> unsupported(
      const kernel::Requirements& requirements) const override {
    return unsupported_on_cpu(requirements);
  }

  void forward(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results) override {
    kernel::validate(problem, results);
    if (problem.q.dtype() == tensor::DType::fp64) {
      forward64_.run(problem, results, threads_);
    } else {
      forward32_.run(problem, results, threads_);
    }
  }

  void backward(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    kernel::validate(problem, inputs, results);
    if (problem.q.dtype() == tensor::DType::fp64) {
      backward64_.run(problem, inputs, results, threads_);
    } else {
      backward32_.run(problem, inputs, results, threads_);
    }
  }

 private:
  int threads_;
  Forward<float> forward32_;
  Forward<double> forward64_;
  Backward<float> backward32_;
  Backward<double> backward64_;
};

}  // namespace

std::unique_ptr<kernel::Kernel> blockwise_kernel(int threads) {
  return std::make_unique<BlockwiseKernel>(threads);
}

}  // namespace straddle::cpu
