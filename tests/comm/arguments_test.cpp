#include "comm/arguments.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "comm/errors.hpp"

namespace straddle::comm {
namespace {

using Counts = std::vector<std::int64_t>;
using tensor::DType;
constexpr Caller kCaller{1, 3, "K/V"};

TEST_CASE("right arguments pass, empty ones too") {
  CHECK_NOTHROW(check_all_gather(kCaller, 0, 0));
  CHECK_NOTHROW(check_all_gather(kCaller, 5, 15));
  CHECK_NOTHROW(check_all_to_all_v(kCaller, 3, Counts{1, 2, 0}, 9, Counts{0, 2, 7}));
  CHECK_NOTHROW(check_reduce_scatter(kCaller, DType::fp64, 48, 16));
  CHECK_NOTHROW(check_reduce_scatter(kCaller, DType::fp32, 0, 0));
  CHECK_NOTHROW(check_send_receive(kCaller, 2, 7, 0, 3));
  CHECK_NOTHROW(check_send_receive(kCaller, 1, 7, 1, 7));
  CHECK_NOTHROW(check_send_receive(kCaller, std::nullopt, 7, std::nullopt, 3));
}

TEST_CASE("all_gather: the buffer holds every rank's part") {
  CHECK_THROWS_WITH_AS(
      check_all_gather(kCaller, 5, 14),
      "rank 1: all_gather \"K/V\": the receive buffer has 14 bytes, expected 3 ranks x 5 = 15", CommError);
}

TEST_CASE(
    "all_to_all_v: a count for each rank, none negative, adding up to the buffer, one's own on both sides") {
  const std::string at = "rank 1: all_to_all_v \"K/V\": ";
  const Counts good{1, 1, 1};
  CHECK_THROWS_WITH_AS(check_all_to_all_v(kCaller, 2, Counts{1, 1}, 3, good),
                       (at + "send_bytes has 2 entries, expected one for each of the 3 ranks").c_str(),
                       CommError);
  CHECK_THROWS_WITH_AS(check_all_to_all_v(kCaller, 3, good, 3, Counts{1, 1, -1}),
                       (at + "recv_bytes[2] = -1 must not be negative").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_all_to_all_v(kCaller, 4, good, 3, good),
                       (at + "send_bytes add up to 3, but the send buffer has 4 bytes").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_all_to_all_v(kCaller, 3, good, 2, good),
                       (at + "recv_bytes add up to 3, but the recv buffer has 2 bytes").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_all_to_all_v(kCaller, 3, good, 3, Counts{1, 0, 2}),
                       (at + "the message to oneself has send_bytes 1, but recv_bytes 0").c_str(), CommError);
}

TEST_CASE("reduce_scatter: whole fp32 or fp64 elements, a part for each rank") {
  const std::string at = "rank 1: reduce_scatter \"K/V\": ";
  CHECK_THROWS_WITH_AS(check_reduce_scatter(kCaller, DType::bf16, 12, 4),
                       (at + "elements are bf16, expected fp32 or fp64").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_reduce_scatter(kCaller, DType::fp64, 12, 4),
                       (at + "the receive buffer has 4 bytes, expected whole elements of fp64").c_str(),
                       CommError);
  CHECK_THROWS_WITH_AS(check_reduce_scatter(kCaller, DType::fp32, 8, 4),
                       (at + "the send buffer has 8 bytes, expected 3 ranks x 4 = 12").c_str(), CommError);
}

TEST_CASE("send_receive: partners are ranks of the group, and oneself on both sides or none") {
  const std::string at = "rank 1: send_receive \"K/V\": ";
  CHECK_THROWS_WITH_AS(check_send_receive(kCaller, 3, 0, 0, 0),
                       (at + "to = 3 is no rank of this group, expected 0 to 2").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_send_receive(kCaller, 0, 0, -1, 0),
                       (at + "from = -1 is no rank of this group, expected 0 to 2").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_send_receive(kCaller, 1, 0, 0, 0),
                       (at + "the message to oneself is never received").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_send_receive(kCaller, 0, 0, 1, 0),
                       (at + "the message to oneself is never sent").c_str(), CommError);
  CHECK_THROWS_WITH_AS(check_send_receive(kCaller, 1, 8, 1, 4),
                       (at + "the message to oneself has 8 bytes, but 4 are received").c_str(), CommError);
}

}  // namespace
}  // namespace straddle::comm
