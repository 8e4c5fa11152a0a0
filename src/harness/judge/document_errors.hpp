// The errors of one tensor of one document, measured in one pass and held against their bounds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "harness/judge/bounds.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/row_reader.hpp"

namespace straddle::harness {

// What is compared: rows [first_row, first_row + tokens) of `got`. want, sigma, tau [tokens, heads, dim] are
// the exact results of these rows and their condition scales (bounds.hpp).
struct Comparison {
  RowReader& got;
  std::int64_t first_row = 0;
  std::int64_t tokens = 0;  // > 0
  std::span<const double> want;
  std::span<const double> sigma, tau;  // empty for lse
};

// Sums over one row of one head, [dim].
struct RowErrors {
  double error = 0, want = 0, sigma = 0, tau = 0;  // sums of squares
  std::int64_t positive = 0;                       // elements with sigma > 0
  std::int64_t worst_dim = 0;                      // of the largest used / allowed of an element
  double worst_ratio = 0;                          // that ratio
  std::int64_t first_wrong_dim = 0;                // first element over its bound, where one is
  bool not_finite = false;                         // NaN or infinity where the reference has none
  bool wrong = false;                              // by its elements or as a row
};

// One object serves many documents, one after the other: it keeps its memory.
class DocumentErrors {
 public:
  // out, d_q, d_k, d_v.
  void measure(const Comparison& comparison, const ErrorBounds& bounds);
  // lse: |err| <= bound for each element.
  void measure_lse(const Comparison& comparison, double bound);

  // The criterion with the largest used / allowed, as TensorVerdict has them. used and allowed are relative
  // to the root mean square of the reference's elements (element) or rows (row), or to its norm (document);
  // absolute for lse and where the reference is 0.
  [[nodiscard]] Criterion criterion() const { return criterion_; }
  [[nodiscard]] double used() const { return used_; }
  [[nodiscard]] double allowed() const { return allowed_; }
  [[nodiscard]] double ratio() const { return ratio_; }
  [[nodiscard]] bool reference_zero() const { return reference_zero_; }

  // Rows [tokens, heads], the document's first token first.
  [[nodiscard]] const std::vector<RowErrors>& rows() const { return rows_; }
  [[nodiscard]] std::size_t worst_row() const { return worst_row_; }

 private:
  void start(const Comparison& comparison);
  void sum_up();
  void judge_elements(const Comparison& comparison, double worst_bound, double want_of_worst);
  void judge_rows(const ErrorBounds& bounds);
  void judge_document(const ErrorBounds& bounds);
  void consider(Criterion criterion, double used, double allowed, double unit);

  std::int64_t tokens_ = 0;
  std::int64_t heads_ = 0;
  std::int64_t dim_ = 0;
  std::vector<RowErrors> rows_;
  RowErrors total_;            // sums over all rows
  std::size_t worst_row_ = 0;  // holds the worst element
  Criterion criterion_ = Criterion::document;
  double used_ = 0, allowed_ = 0, ratio_ = 0;
  bool reference_zero_ = false;
};

}  // namespace straddle::harness
