// Facts that hold for any correct attention, checked without an oracle (docs/math.md, "Invariants").
//
// Each allowance is what the element bounds of the results add up to on the two sides, with P eliminated
// (magnitudes.hpp), so an invariant alarms only where results leave their bounds. For a single element (I1,
// I6, I16) that is the element bound itself, 128 u f + n u_s. For sums over a document (I2 to I5) the u term
// is a quarter of it: 128 covers the worst of many elements, and a sum of many has a smaller share of it; a
// tenth of it is used on the hostile inputs of the tests, which hold both. The u_s terms stay whole, since
// rounding to storage can be coherent: equal P round alike.
//
//   I2  sum_j (128 u f + 3 u_s) sigma_d_k_jd <= (..) sc sum_i |q_id| m_i
//   I3  sum_j (128 u f + 2 u_s) sigma_d_v_jd  = (..) sum_i |dO_id|
//   I4  sum_id |q_id| (..) sigma_d_q_id + sum_jd |k_jd| (..) sigma_d_k_jd
//       <= 2 (128 u f + 3 u_s) sc sum_i m_i sum_d |q_id| kmax_id
//   I5  sum_jd |v_jd| (..) sigma_d_v_jd + sum_id |dO_id| (..) sigma_out_id
//       <= 2 (128 u f + 2 u_s) sum_i sum_d |dO_id| vmax_id
// and the eta terms likewise, from tau. Where the magnitudes are 0 both sides are exactly 0.
#include <fmt/format.h>

#include <cmath>

#include "harness/judge/bounds.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/layout.hpp"
#include "harness/judge/magnitudes.hpp"

namespace straddle::harness {
namespace {

// used and allowed of the worst of several comparisons.
class Worst {
 public:
  void add(Sum difference, Sum allowed) {
    const double used = std::abs(static_cast<double>(difference));
    const auto limit = static_cast<double>(allowed);
    const double ratio = used_of_allowed(used, limit);
    if (seen_ && ratio <= ratio_) return;
    seen_ = true;
    used_ = used;
    allowed_ = limit;
    ratio_ = ratio;
  }
  [[nodiscard]] double used() const { return used_; }
  [[nodiscard]] double allowed() const { return allowed_; }

 private:
  bool seen_ = false;
  double used_ = 0, allowed_ = 0, ratio_ = 0;
};

// The invariants of one document and one kv head.
class Checker {
 public:
  Checker(const Case& point, std::int64_t layer, std::size_t document, std::int64_t kv_head, LayerRows& rows,
          const Rounding& rounding, Judgement& judgement)
      : point_(point),
        layer_(layer),
        document_(document),
        kv_head_(kv_head),
        rows_(rows),
        rounding_(rounding),
        judgement_(judgement),
        extent_(point.pack.documents[document]),
        sums_(measure_magnitudes(point, extent_, kv_head, rows)),
        uf_(rounding.u * growth(sums_.largest_logit)) {}

  void check() {
    if (point_.inputs.kind == InputKind::v_one) check_v_one();
    check_d_k_sum();
    check_d_v_sum();
    check_q_k_products();
    check_v_out_products();
    check_first_row();
    if (point_.inputs.kind == InputKind::k_zero) check_k_zero();
  }

 private:
  static constexpr double kSum = 32, kElement = 128;  // times u f

  [[nodiscard]] double eta() const { return rounding_.eta; }
  [[nodiscard]] double relative(double times_uf, int roundings) const {
    return times_uf * uf_ + roundings * rounding_.storage;
  }
  // The bound of one element with these scales.
  [[nodiscard]] double element(int roundings, double sigma, double tau) const {
    return sigma > 0 ? relative(kElement, roundings) * sigma + eta() * (4 * tau + 1) : 0;
  }
  [[nodiscard]] std::int64_t first_head() const { return kv_head_ * group(); }
  [[nodiscard]] std::int64_t group() const { return point_.heads / point_.kv_heads; }

  void report(std::string_view id, const Worst& worst, std::string_view sentence) {
    InvariantVerdict verdict;
    verdict.id = id;
    verdict.layer = layer_;
    verdict.document = static_cast<std::int64_t>(document_);
    verdict.head = kv_head_;
    verdict.used = worst.used();
    verdict.allowed = worst.allowed();
    verdict.sentence = sentence;
    judgement_.invariants.push_back(std::move(verdict));
  }

  void check_v_one() {
    Worst worst;
    for (std::int64_t token = extent_.start; token < extent_.end(); ++token) {
      const auto visible = static_cast<double>(token - extent_.start + 1);
      for (std::int64_t head = first_head(); head < first_head() + group(); ++head) {
        const double* out = rows_.out.row(token, head);
        for (std::int64_t d = 0; d < point_.v_head_dim; ++d) worst.add(out[d] - 1, element(2, 1, visible));
      }
    }
    report("I1", worst, "V = 1 gives O = 1");
  }

  void check_d_k_sum() {
    Worst worst;
    for (std::size_t d = 0; d < sums_.d_k.size(); ++d) {
      const Sum sigma = sums_.d_k_sigma[d];
      const Sum steps = 4 * sums_.d_k_tau[d] + static_cast<Sum>(sums_.keys);
      worst.add(sums_.d_k[d] - sums_.d_lse_q[d], sigma > 0 ? relative(kSum, 3) * sigma + eta() * steps : 0);
    }
    report("I2", worst, point_.inputs.d_lse ? "sum_j dK_j = sc sum_h sum_i dLSE_i q_i" : "sum_j dK_j = 0");
  }

  void check_d_v_sum() {
    Worst worst;
    for (std::size_t d = 0; d < sums_.d_v.size(); ++d) {
      const Sum sigma = sums_.d_v_sigma[d];
      const Sum steps = 4 * sums_.d_v_tau[d] + static_cast<Sum>(sums_.keys);
      worst.add(sums_.d_v[d] - sums_.d_out[d], sigma > 0 ? relative(kSum, 2) * sigma + eta() * steps : 0);
    }
    report("I3", worst, "sum_j dV_j = sum_h sum_i dO_i");
  }

  void check_q_k_products() {
    Worst worst;
    const Sum sigma = 2 * sums_.qk_sigma;
    const Sum steps = 8 * sums_.qk_tau + sums_.q_size + sums_.k_size;
    worst.add(sums_.q_d_q - sums_.k_d_k, sigma > 0 ? relative(kSum, 3) * sigma + eta() * steps : 0);
    report("I4", worst, "sum <q, dQ> = sum <k, dK>");
  }

  void check_v_out_products() {
    Worst worst;
    const Sum sigma = 2 * sums_.vo_sigma;
    const Sum steps = 8 * sums_.vo_tau + sums_.v_size + sums_.d_out_size;
    worst.add(sums_.v_d_v - sums_.out_d_out, sigma > 0 ? relative(kSum, 2) * sigma + eta() * steps : 0);
    report("I5", worst, "sum <v, dV> = sum <O, dO>");
  }

  // The first row sees itself alone: P = 1, O = v, dS = dLSE. sigma = tau there, since P = 1.
  void check_first_row() {
    Worst worst;
    const std::int64_t token = extent_.start;
    const double* v = rows_.v.row(token, kv_head_);
    const double* k = rows_.k.row(token, kv_head_);
    for (std::int64_t head = first_head(); head < first_head() + group(); ++head) {
      const double* out = rows_.out.row(token, head);
      const double* d_out = rows_.d_out.row(token, head);
      const double* d_q = rows_.d_q.row(token, head);
      const double d_lse = rows_.d_lse.empty() ? 0 : rows_.d_lse[0].row(token, head)[0];
      double m = std::abs(d_lse);
      for (std::int64_t d = 0; d < point_.v_head_dim; ++d) {
        worst.add(out[d] - v[d], element(2, std::abs(v[d]), std::abs(v[d])));
        m += 2 * std::abs(d_out[d] * v[d]);
      }
      for (std::int64_t d = 0; d < point_.head_dim; ++d) {
        const double sigma = point_.scale() * m * std::abs(k[d]);
        worst.add(d_q[d] - point_.scale() * d_lse * k[d], element(3, sigma, sigma));
      }
    }
    report("I6", worst,
           point_.inputs.d_lse ? "first row: O = v, dQ = sc dLSE k" : "first row: O = v, dQ = 0");
  }

  // All keys weigh the same, so LSE counts them: one key of t is a step of 1 / t.
  void check_k_zero() {
    Worst worst;
    std::vector<double> sum(static_cast<std::size_t>(point_.v_head_dim), 0), size = sum;
    const double lse_allowed = lse_bound(rounding_, sums_.largest_logit);
    for (std::int64_t token = extent_.start; token < extent_.end(); ++token) {
      const auto visible = static_cast<double>(token - extent_.start + 1);  // t
      const double* v = rows_.v.row(token, kv_head_);
      for (std::size_t d = 0; d < sum.size(); ++d) {
        sum[d] += v[d];
        size[d] += std::abs(v[d]);
      }
      for (std::int64_t head = first_head(); head < first_head() + group(); ++head) {
        worst.add(rows_.lse.row(token, head)[0] - std::log(visible), lse_allowed);
        const double* out = rows_.out.row(token, head);
        for (std::size_t d = 0; d < sum.size(); ++d) {
          worst.add(out[d] - sum[d] / visible, element(2, size[d] / visible, size[d]));
        }
      }
    }
    report("I16", worst, "K = 0 gives LSE_i = ln t, O_i = mean of the first t v");
  }

  const Case& point_;
  std::int64_t layer_;
  std::size_t document_;
  std::int64_t kv_head_;
  LayerRows& rows_;
  const Rounding& rounding_;
  Judgement& judgement_;
  const pack::Document& extent_;
  Magnitudes sums_;
  double uf_;
};

}  // namespace

// Nothing is skipped for d_lse: I2 and I6 have a term for it, the others hold with it. I1 is skipped unless V
// = 1 and I16 unless K = 0.
void check_invariants(const Case& point, std::int64_t layer,
                      const std::map<std::string, tensor::Tensor>& inputs, const LayerResults& results,
                      Judgement& judgement) {
  require_result_shapes(point, results);
  const Rounding rounding = rounding_of(results.out.dtype());
  LayerRows rows(inputs, point.inputs.d_lse, results);
  for (std::size_t document = 0; document < point.pack.documents.size(); ++document) {
    for (std::int64_t kv_head = 0; kv_head < point.kv_heads; ++kv_head) {
      Checker(point, layer, document, kv_head, rows, rounding, judgement).check();
    }
  }
}

}  // namespace straddle::harness
