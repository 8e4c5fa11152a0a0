// Rows of K and V, or of dK and dV, as they travel: K and V of a token together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tensor/view.hpp"

namespace straddle::cp {

using Bytes = std::vector<std::byte>;

[[nodiscard]] constexpr std::size_t to_size(std::int64_t count) { return static_cast<std::size_t>(count); }

// A pair of tensors with the same tokens, k [tokens, kv_heads, head_dim] and v [tokens, kv_heads,
// v_head_dim], one dtype, contiguous. A packed row is the row of k followed by the row of v.
struct ConstRows {
  tensor::ConstView k, v;
};
struct Rows {
  tensor::View k, v;
};

// Bytes of one packed row.
[[nodiscard]] std::size_t row_bytes(const ConstRows& rows);

// Rows [begin, begin + count) into `packed`, exactly count * row_bytes.
void pack_rows(const ConstRows& from, std::int64_t begin, std::int64_t count, std::span<std::byte> packed);
void unpack_rows(std::span<const std::byte> packed, const Rows& to, std::int64_t begin, std::int64_t count);

// to[begin + i] += packed row i; fp32 or fp64.
void add_packed_rows(std::span<const std::byte> packed, const Rows& to, std::int64_t begin,
                     std::int64_t count);

// to[to_begin + i] += from[from_begin + i]; fp32 or fp64.
void add_rows(const ConstRows& from, std::int64_t from_begin, const Rows& to, std::int64_t to_begin,
              std::int64_t count);

void copy_rows(const ConstRows& from, std::int64_t from_begin, const Rows& to, std::int64_t to_begin,
               std::int64_t count);

void zero_rows(const Rows& rows);

}  // namespace straddle::cp
