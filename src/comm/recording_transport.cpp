#include <numeric>

#include "comm/recorder.hpp"

namespace straddle::comm {
namespace {

class RecordingTransport final : public Transport {
 public:
  RecordingTransport(Transport& inner, Recorder& recorder) : inner_(inner), recorder_(recorder) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }

  void all_gather(std::string_view what, std::span<const std::byte> mine, std::span<std::byte> all) override {
    const std::int64_t bytes = to_each_other(mine.size());
    const std::size_t index = recorder_.begin(OpKind::all_gather, what, bytes, bytes);
    inner_.all_gather(what, mine, all);
    recorder_.end(index);
  }

  void all_to_all_v(std::string_view what, std::span<const std::byte> send,
                    std::span<const std::int64_t> send_bytes, std::span<std::byte> recv,
                    std::span<const std::int64_t> recv_bytes) override {
    const std::size_t index =
        recorder_.begin(OpKind::all_to_all_v, what, of_others(send_bytes), of_others(recv_bytes));
    inner_.all_to_all_v(what, send, send_bytes, recv, recv_bytes);
    recorder_.end(index);
  }

  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    const std::int64_t bytes = to_each_other(recv.size());
    const std::size_t index = recorder_.begin(OpKind::reduce_scatter, what, bytes, bytes);
    inner_.reduce_scatter_sum(what, dtype, send, recv);
    recorder_.end(index);
  }

  void send_receive(std::string_view what, std::optional<int> to, std::span<const std::byte> send,
                    std::optional<int> from, std::span<std::byte> recv) override {
    const std::size_t sent = to && *to != rank() ? send.size() : 0;
    const std::size_t received = from && *from != rank() ? recv.size() : 0;
    const std::size_t index = recorder_.begin(OpKind::send_receive, what, static_cast<std::int64_t>(sent),
                                              static_cast<std::int64_t>(received));
    inner_.send_receive(what, to, send, from, recv);
    recorder_.end(index);
  }

  void all_reduce_max(std::string_view what, std::span<std::uint64_t> values) override {
    const std::int64_t bytes = to_each_other(values.size_bytes());
    const std::size_t index = recorder_.begin(OpKind::all_reduce, what, bytes, bytes);
    inner_.all_reduce_max(what, values);
    recorder_.end(index);
  }

  void barrier(std::string_view what) override {
    const std::size_t index = recorder_.begin(OpKind::barrier, what, 0, 0);
    inner_.barrier(what);
    recorder_.end(index);
  }

 private:
  [[nodiscard]] std::int64_t to_each_other(std::size_t bytes) const {
    return static_cast<std::int64_t>(bytes) * (size() - 1);
  }

  // A wrong number of entries is for the inner transport to refuse.
  [[nodiscard]] std::int64_t of_others(std::span<const std::int64_t> bytes) const {
    const auto mine = static_cast<std::size_t>(rank());
    const std::int64_t total = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
    return mine < bytes.size() ? total - bytes[mine] : total;
  }

  Transport& inner_;
  Recorder& recorder_;
};

}  // namespace

std::unique_ptr<Transport> record(Transport& inner, Recorder& recorder) {
  return std::make_unique<RecordingTransport>(inner, recorder);
}

}  // namespace straddle::comm
