#include <doctest/doctest.h>
#include <fmt/format.h>

#include "harness/scenario/random_cases.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("the histogram has a line a property with counts that sum to the cases") {
  const auto entry = [](const char* text, std::int64_t empty_documents) {
    CaseEntry result;
    result.text = text;
    result.point = parse_case(text);
    result.empty_documents = empty_documents;
    return result;
  };
  const std::string table = histogram({entry("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7", 0),
                                       entry("W4/1,7,3+5/H4:2/D64/bf16/halo/cpu/s7/dlse", 2),
                                       entry("W1/1,7,3+5/H9:3/D80:16/fp32/allgather/dense/s7/in:k0", 3)});
  for (const char* line :
       {"ranks               1: 1  4: 2\n", "slots               16-31: 3\n", "documents           2-3: 3\n",
        "0-token documents   0: 1  2-3: 2\n", "1-token documents   0: 1  1: 2\n",
        "padding slots       0: 1  4-7: 2\n", "padding ranks       0: 2  1: 1\n",
        "longest straddle    0: 1  2-3: 1  8-15: 1\n", "heads per kv head   2: 2  3: 1\n",
        "D                   64-127: 3\n", "Dv = D              no: 1  yes: 2\n",
        "dtype               fp32: 2  bf16: 1\n", "exchange            allgather: 1  halo: 1  a2a: 1\n",
        "kernel              cpu: 2  dense: 1\n", "inputs              normal: 2  k_zero: 1\n",
        "d_lse               no: 2  yes: 1\n"}) {
    CAPTURE(line);
    CHECK(table.find(line) != std::string::npos);
  }
}

TEST_CASE("the histogram fits into 100 columns") {
  const std::string table = histogram(random_cases(500, 3, 64));
  for (std::size_t begin = 0; begin < table.size();) {
    const std::size_t end = table.find('\n', begin);
    CHECK(end - begin <= 100);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace straddle::harness
