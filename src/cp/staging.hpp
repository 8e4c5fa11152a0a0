// Moves a kernel's inputs and results between host memory and the memory where the kernel wants them.
#pragma once

#include <vector>

#include "tensor/memory.hpp"
#include "tensor/tensor.hpp"
#include "tensor/view.hpp"

namespace straddle::cp {

// For one kernel call. Memory that the host can reach is used in place, without a copy.
class Staging {
 public:
  explicit Staging(tensor::Memory& memory) : memory_(memory) {}

  // A view of the same values in the kernel's memory, valid as long as this object.
  [[nodiscard]] tensor::ConstView input(const tensor::ConstView& host);

  // Where the kernel writes; nothing of the host's old content is copied. finish() brings the results back.
  [[nodiscard]] tensor::View output(const tensor::View& host);
  void finish();

 private:
  struct Output {
    tensor::View host;
    tensor::Tensor staged;
  };

  tensor::Memory& memory_;
  std::vector<tensor::Tensor> inputs_;
  std::vector<Output> outputs_;
};

// The view itself where it is contiguous, else a contiguous copy of it that `storage` owns.
[[nodiscard]] tensor::ConstView contiguous(const tensor::ConstView& view, tensor::Tensor& storage);

}  // namespace straddle::cp
