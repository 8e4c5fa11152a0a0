#include "comm/wire.hpp"
#include "comm/world.hpp"

namespace straddle::comm {
namespace {

// A group of one has no messages to others: all copies were made by the transport above.
class SelfWire final : public Wire {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(const Round&) override {}
  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    sum_in_rank_order(*this, what, dtype, send, recv);
  }
};

}  // namespace

std::unique_ptr<Transport> self_transport() { return transport_over(std::make_unique<SelfWire>()); }

}  // namespace straddle::comm
