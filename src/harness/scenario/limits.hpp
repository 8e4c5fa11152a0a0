// What a case may hold at most: beyond these a scenario is a slip of the pen, not a test.
#pragma once

#include <cstdint>

namespace straddle::harness {

inline constexpr std::int64_t kMaxRanks = 4096;
inline constexpr std::int64_t kMaxHeads = 1024;
inline constexpr std::int64_t kMaxHeadDim = 256;
inline constexpr std::int64_t kMaxLayers = 64;
// Kernels take int32 rows, and slots are rounded up to a multiple of the ranks.
inline constexpr std::int64_t kMaxSlots = std::int64_t{2147483647} - kMaxRanks;
inline constexpr std::int64_t kMaxDocuments = std::int64_t{1} << 22;   // of a text
inline constexpr std::int64_t kMaxDrawnSlots = std::int64_t{1} << 24;  // of a pack whose documents are drawn
inline constexpr std::int64_t kMaxCasesPerFile = 100000;

}  // namespace straddle::harness
