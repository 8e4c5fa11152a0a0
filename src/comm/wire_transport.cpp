#include <algorithm>
#include <cstring>

#include "comm/arguments.hpp"
#include "comm/wire.hpp"

namespace straddle::comm {
namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memmove(to.data(), from.data(), from.size());
}

// sum [n] += part [n]; bytes, since nobody promised alignment
template <class T>
void add(std::span<const std::byte> part, std::span<std::byte> sum) {
  for (std::size_t at = 0; at < sum.size(); at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, sum.data() + at, sizeof(T));
    std::memcpy(&b, part.data() + at, sizeof(T));
    a += b;
    std::memcpy(sum.data() + at, &a, sizeof(T));
  }
}

class WireTransport final : public Transport {
 public:
  explicit WireTransport(std::unique_ptr<Wire> wire) : wire_(std::move(wire)) {}

  int rank() const override { return wire_->rank(); }
  int size() const override { return wire_->size(); }

  void all_gather(std::string_view what, std::span<const std::byte> mine, std::span<std::byte> all) override {
    check_all_gather(caller(what), mine.size(), all.size());
    Round round{OpKind::all_gather, what, {}, {}};
    for (int peer = 0; peer < size(); ++peer) {
      const std::span<std::byte> part = all.subspan(peer * mine.size(), mine.size());
      if (peer == rank()) {
        copy(mine, part);
      } else {
        round.sends.push_back({peer, mine});
        round.receives.push_back({peer, part});
      }
    }
    wire_->exchange(round);
  }

  void all_to_all_v(std::string_view what, std::span<const std::byte> send,
                    std::span<const std::int64_t> send_bytes, std::span<std::byte> recv,
                    std::span<const std::int64_t> recv_bytes) override {
    check_all_to_all_v(caller(what), send.size(), send_bytes, recv.size(), recv_bytes);
    Round round{OpKind::all_to_all_v, what, {}, {}};
    for (int peer = 0; peer < size(); ++peer) {
      const auto outgoing = send.first(send_bytes[peer]);
      const auto incoming = recv.first(recv_bytes[peer]);
      send = send.subspan(outgoing.size());
      recv = recv.subspan(incoming.size());
      if (peer == rank()) {
        copy(outgoing, incoming);
      } else {
        round.sends.push_back({peer, outgoing});
        round.receives.push_back({peer, incoming});
      }
    }
    wire_->exchange(round);
  }

  void reduce_scatter_sum(std::string_view what, tensor::DType dtype, std::span<const std::byte> send,
                          std::span<std::byte> recv) override {
    check_reduce_scatter(caller(what), dtype, send.size(), recv.size());
    wire_->reduce_scatter_sum(what, dtype, send, recv);
  }

  void send_receive(std::string_view what, std::optional<int> to, std::span<const std::byte> send,
                    std::optional<int> from, std::span<std::byte> recv) override {
    check_send_receive(caller(what), to, send.size(), from, recv.size());
    Round round{OpKind::send_receive, what, {}, {}};
    if (to == rank()) {
      copy(send, recv);
    } else {
      if (to) round.sends.push_back({*to, send});
      if (from) round.receives.push_back({*from, recv});
    }
    wire_->exchange(round);
  }

  void all_reduce_max(std::string_view what, std::span<std::uint64_t> values) override {
    Round round{OpKind::all_reduce, what, {}, {}};
    std::vector<std::uint64_t> theirs(values.size() * (size() - 1));  // [size - 1, values]
    std::span<std::uint64_t> rest = theirs;
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      round.sends.push_back({peer, std::as_bytes(values)});
      round.receives.push_back({peer, std::as_writable_bytes(rest.first(values.size()))});
      rest = rest.subspan(values.size());
    }
    wire_->exchange(round);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      std::uint64_t& value = values[i % values.size()];
      value = std::max(value, theirs[i]);
    }
  }

  void barrier(std::string_view what) override {
    Round round{OpKind::barrier, what, {}, {}};
    for (int peer = 0; peer < size(); ++peer) {
      if (peer == rank()) continue;
      round.sends.push_back({peer, {}});
      round.receives.push_back({peer, {}});
    }
    wire_->exchange(round);
  }

 private:
  [[nodiscard]] Caller caller(std::string_view what) const { return {rank(), size(), what}; }

  std::unique_ptr<Wire> wire_;
};

}  // namespace

std::unique_ptr<Transport> transport_over(std::unique_ptr<Wire> wire) {
  return std::make_unique<WireTransport>(std::move(wire));
}

void sum_in_rank_order(Wire& wire, std::string_view what, tensor::DType dtype,
                       std::span<const std::byte> send, std::span<std::byte> recv) {
  const std::size_t part_bytes = recv.size();
  const std::span<const std::byte> mine = send.subspan(wire.rank() * part_bytes, part_bytes);
  std::vector<std::byte> parts(wire.size() * part_bytes);  // [size, recv]: by source, for this rank
  Round round{OpKind::reduce_scatter, what, {}, {}};
  for (int peer = 0; peer < wire.size(); ++peer) {
    const auto part = std::span(parts).subspan(peer * part_bytes, part_bytes);
    if (peer == wire.rank()) {
      copy(mine, part);
    } else {
      round.sends.push_back({peer, send.subspan(peer * part_bytes, part_bytes)});
      round.receives.push_back({peer, part});
    }
  }
  wire.exchange(round);
  copy(std::span(parts).first(part_bytes), recv);
  for (int peer = 1; peer < wire.size(); ++peer) {
    const auto part = std::span(parts).subspan(peer * part_bytes, part_bytes);
    dtype == tensor::DType::fp64 ? add<double>(part, recv) : add<float>(part, recv);
  }
}

}  // namespace straddle::comm
