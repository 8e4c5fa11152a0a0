#include "harness/judge/document_errors.hpp"

#include <cmath>
#include <limits>

namespace straddle::harness {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// |got - want|: 0 where both are the same infinity or both are NaN, infinite where only one is finite.
double error_of(double got, double want) {
  const double error = std::abs(got - want);
  if (std::isfinite(error)) return error;
  const bool same = got == want || (std::isnan(got) && std::isnan(want));
  return same ? 0 : kInfinity;
}

// Ratios are compared by cross-multiplication, so that the usual element costs no division. Every comparison
// is written so that a NaN takes the branch of the wrong.
void note_element(RowErrors& row, std::int64_t dim, double error, double allowed) {
  if (error <= row.worst_ratio * allowed && error != kInfinity) return;
  const double ratio = used_of_allowed(error, allowed);
  const bool first_not_finite = error == kInfinity && !row.not_finite;
  if (ratio <= row.worst_ratio && !first_not_finite) return;
  if (row.worst_ratio <= 1) row.first_wrong_dim = dim;
  row.worst_ratio = ratio;
  row.worst_dim = dim;
  row.not_finite = row.not_finite || first_not_finite;
}

RowErrors measure_row(const double* got, const double* want, const double* sigma, const double* tau,
                      std::int64_t dim, const ErrorBounds& bounds) {
  RowErrors row;
  for (std::int64_t d = 0; d < dim; ++d) {
    const double error = error_of(got[d], want[d]);
    row.error += error * error;
    row.want += want[d] * want[d];
    row.sigma += sigma[d] * sigma[d];
    row.tau += tau[d] * tau[d];
    row.positive += sigma[d] > 0 ? 1 : 0;
    note_element(row, d, error, element_bound(bounds, sigma[d], tau[d]));
  }
  row.wrong = !(row.worst_ratio <= 1);
  return row;
}

double eta_norm(const RowErrors& sums, double eta) {
  return eta * (4 * std::sqrt(sums.tau) + std::sqrt(static_cast<double>(sums.positive)));
}

}  // namespace

void DocumentErrors::start(const Comparison& comparison) {
  tokens_ = comparison.tokens;
  heads_ = comparison.got.heads();
  dim_ = comparison.got.dim();
  rows_.clear();
  rows_.reserve(static_cast<std::size_t>(tokens_ * heads_));
  criterion_ = Criterion::document;
  used_ = allowed_ = ratio_ = 0;
}

void DocumentErrors::measure(const Comparison& comparison, const ErrorBounds& bounds) {
  start(comparison);
  for (std::int64_t token = 0; token < tokens_; ++token) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      const std::size_t at = static_cast<std::size_t>((token * heads_ + head) * dim_);
      rows_.push_back(measure_row(comparison.got.row(comparison.first_row + token, head),
                                  comparison.want.data() + at, comparison.sigma.data() + at,
                                  comparison.tau.data() + at, dim_, bounds));
    }
  }
  sum_up();
  reference_zero_ = std::sqrt(total_.want) <= bounds.reference_noise * std::sqrt(total_.sigma);
  judge_document(bounds);
  judge_rows(bounds);
  const std::size_t at =
      worst_row_ * static_cast<std::size_t>(dim_) + static_cast<std::size_t>(rows_[worst_row_].worst_dim);
  judge_elements(comparison, element_bound(bounds, comparison.sigma[at], comparison.tau[at]),
                 comparison.want[at]);
}

void DocumentErrors::measure_lse(const Comparison& comparison, double bound) {
  start(comparison);
  for (std::int64_t token = 0; token < tokens_; ++token) {
    for (std::int64_t head = 0; head < heads_; ++head) {
      const double want = comparison.want[static_cast<std::size_t>(token * heads_ + head)];
      RowErrors row;
      const double error = error_of(comparison.got.row(comparison.first_row + token, head)[0], want);
      row.error = error * error;
      row.want = want * want;
      note_element(row, 0, error, bound);
      row.wrong = !(row.worst_ratio <= 1);
      rows_.push_back(row);
    }
  }
  sum_up();
  reference_zero_ = total_.want == 0;
  judge_elements(comparison, bound, comparison.want[worst_row_]);
}

// Sums over the document, and its worst element: a NaN or infinity before anything else.
void DocumentErrors::sum_up() {
  total_ = {};
  worst_row_ = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const RowErrors& row = rows_[i];
    total_.error += row.error;
    total_.want += row.want;
    total_.sigma += row.sigma;
    total_.tau += row.tau;
    total_.positive += row.positive;
    const RowErrors& worst = rows_[worst_row_];
    if (row.not_finite != worst.not_finite ? row.not_finite : row.worst_ratio > worst.worst_ratio) {
      worst_row_ = i;
    }
  }
}

void DocumentErrors::consider(Criterion criterion, double used, double allowed, double unit) {
  const double ratio = used_of_allowed(used, allowed);
  if (ratio < ratio_) return;
  if (reference_zero_ || unit == 0) unit = 1;
  criterion_ = criterion;
  used_ = used / unit;
  allowed_ = allowed / unit;
  ratio_ = ratio;
}

void DocumentErrors::judge_document(const ErrorBounds& bounds) {
  const double norm = std::sqrt(total_.want);
  const double sigma_share = bounds.sigma_document * averaging(rows_.size());
  const double allowed =
      bounds.want_document * norm + sigma_share * std::sqrt(total_.sigma) + eta_norm(total_, bounds.eta);
  consider(Criterion::document, std::sqrt(total_.error), allowed, norm);
}

// A row is one token of one head; its rms row norm runs over the document's rows of that head.
void DocumentErrors::judge_rows(const ErrorBounds& bounds) {
  const std::size_t heads = static_cast<std::size_t>(heads_);
  std::vector<double> rms(heads, 0);
  for (std::size_t i = 0; i < rows_.size(); ++i) rms[i % heads] += rows_[i].want;
  for (double& value : rms) value = std::sqrt(value / static_cast<double>(tokens_));

  double worst_used = 0, worst_allowed = 0, worst_ratio = 0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    RowErrors& row = rows_[i];
    const double used = std::sqrt(row.error);
    const double allowed = bounds.want_row * (std::sqrt(row.want) + rms[i % heads]) +
                           bounds.sigma_row * std::sqrt(row.sigma) + eta_norm(row, bounds.eta);
    const double ratio = used_of_allowed(used, allowed);
    if (!(ratio <= 1)) row.wrong = true;
    if (ratio <= worst_ratio) continue;
    worst_used = used;
    worst_allowed = allowed;
    worst_ratio = ratio;
    worst = i;
  }
  if (worst_ratio > ratio_ && std::isfinite(worst_ratio) && worst_ratio > rows_[worst_row_].worst_ratio) {
    worst_row_ = worst;
  }
  consider(Criterion::row, worst_used, worst_allowed,
           std::sqrt(total_.want / static_cast<double>(tokens_ * heads_)));
}

void DocumentErrors::judge_elements(const Comparison& comparison, double worst_bound, double want_of_worst) {
  const RowErrors& row = rows_[worst_row_];
  if (row.not_finite) {
    consider(Criterion::not_finite, kInfinity, worst_bound, 0);
    return;
  }
  const auto token = static_cast<std::int64_t>(worst_row_) / heads_;
  const auto head = static_cast<std::int64_t>(worst_row_) % heads_;
  const double got = comparison.got.row(comparison.first_row + token, head)[row.worst_dim];
  const double error = error_of(got, want_of_worst);
  if (worst_bound == 0) {
    consider(Criterion::exact_zero, error, 0, 0);
  } else {
    const double unit = std::sqrt(total_.want / static_cast<double>(tokens_ * heads_ * dim_));
    consider(Criterion::element, error, worst_bound, comparison.sigma.empty() ? 0 : unit);
  }
}

}  // namespace straddle::harness
