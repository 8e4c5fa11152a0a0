#include "harness/judge/padding.hpp"

#include <limits>

#include "harness/judge/layout.hpp"
#include "harness/judge/row_reader.hpp"

namespace straddle::harness {

PaddingVerdict judge_padding(const Case& point, std::int64_t layer, std::string_view name,
                             const tensor::Tensor& result) {
  const double want = name == "lse" ? -std::numeric_limits<double>::infinity() : 0;
  RowReader rows(result.view());
  PaddingVerdict verdict;
  verdict.tensor = name;
  verdict.layer = layer;

  const auto judge_rows = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t token = begin; token < end; ++token) {
      bool wrong = false;
      for (std::int64_t head = 0; head < rows.heads(); ++head) {
        const double* row = rows.row(token, head);
        for (std::int64_t d = 0; d < rows.dim(); ++d) {
          if (row[d] == want) continue;  // a NaN is not
          wrong = true;
          if (verdict.first) continue;
          verdict.first = locate(token, head, d, point.rows_per_rank(), token);
          verdict.first->got = row[d];
          verdict.first->want = want;
        }
      }
      ++verdict.rows;
      verdict.wrong_rows += wrong ? 1 : 0;
    }
  };

  std::int64_t begin = 0;
  for (const pack::Document& document : point.pack.documents) {
    judge_rows(begin, document.start);
    begin = document.end();
  }
  judge_rows(begin, result.shape().size(tensor::Axis::token));
  return verdict;
}

}  // namespace straddle::harness
