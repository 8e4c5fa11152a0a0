#include "cp/staging.hpp"

#include <utility>

namespace straddle::cp {

tensor::ConstView contiguous(const tensor::ConstView& view, tensor::Tensor& storage) {
  if (view.contiguous()) return view;
  storage = tensor::Tensor(view.dtype(), view.shape());
  tensor::convert(view, storage.view());
  return std::as_const(storage).view();
}

tensor::ConstView Staging::input(const tensor::ConstView& host) {
  if (memory_.host_accessible()) return host;
  tensor::Tensor storage;
  const tensor::ConstView source = contiguous(host, storage);
  tensor::Tensor& staged = inputs_.emplace_back(host.dtype(), host.shape(), memory_);
  memory_.copy_from_host(staged.view().data(), source.data(), staged.size_bytes());
  return std::as_const(staged).view();
}

tensor::View Staging::output(const tensor::View& host) {
  if (memory_.host_accessible()) return host;
  outputs_.push_back(Output{host, tensor::Tensor(host.dtype(), host.shape(), memory_)});
  Output& output = outputs_.back();
  return output.staged.view();
}

void Staging::finish() {
  for (Output& output : outputs_) {
    if (output.host.contiguous()) {
      memory_.copy_to_host(output.host.data(), output.staged.view().data(), output.staged.size_bytes());
      continue;
    }
    tensor::Tensor landed(output.host.dtype(), output.host.shape());
    memory_.copy_to_host(landed.view().data(), output.staged.view().data(), landed.size_bytes());
    tensor::convert(landed.view(), output.host);
  }
}

}  // namespace straddle::cp
