#include "reference/condition.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "reference/visible.hpp"

namespace straddle::reference {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// A document's rows of one head of a token-major tensor [tokens, heads, dim], as double [length, dim].
template <class Scalar>
Matrix gather(std::span<const Scalar> tensor, std::int64_t heads, std::int64_t dim, const Document& document,
              std::int64_t head) {
  Matrix rows(document.length, dim);
  const Scalar* first = tensor.data() + (document.start * heads + head) * dim;
  for (std::int64_t row = 0; row < document.length; ++row) {
    std::copy_n(first + row * heads * dim, dim, rows.row(row).data());
  }
  return rows;
}

// The inverse of gather.
void scatter(const Matrix& rows, std::span<double> tensor, std::int64_t heads, const Document& document,
             std::int64_t head) {
  const std::int64_t dim = rows.cols();
  double* first = tensor.data() + (document.start * heads + head) * dim;
  for (std::int64_t row = 0; row < document.length; ++row) {
    std::copy_n(rows.row(row).data(), dim, first + row * heads * dim);
  }
}

// sum over rows 0 .. i, in place.
void prefix_sums(Matrix& rows) {
  for (Eigen::Index row = 1; row < rows.rows(); ++row) rows.row(row) += rows.row(row - 1);
}

// sum over rows i .. last, in place.
void suffix_sums(Matrix& rows) {
  for (Eigen::Index row = rows.rows() - 1; row > 0; --row) rows.row(row - 1) += rows.row(row);
}

// Keys and values of the kv head, and sums over its group of query heads: all [length, head_dim or
// v_head_dim].
struct Keys {
  Keys(Matrix keys, Matrix values)
      : k(std::move(keys)),
        v(std::move(values)),
        abs_k(k.cwiseAbs()),
        square_k(k.cwiseAbs2()),
        abs_v(v.cwiseAbs()),
        sigma_d_k(Matrix::Zero(k.rows(), k.cols())),
        sigma_d_v(Matrix::Zero(v.rows(), v.cols())),
        tau_d_k(sigma_d_k),
        tau_d_v(sigma_d_v) {}

  Matrix k, v, abs_k, square_k, abs_v;
  Matrix sigma_d_k, sigma_d_v, tau_d_k, tau_d_v;
};

// One query head: all [length, head_dim or v_head_dim], d_lse [length, 1].
struct Queries {
  Queries(Matrix queries, Matrix d_outs, Matrix d_lses)
      : q(std::move(queries)),
        d_lse(d_lses.cwiseAbs()),
        abs_q(q.cwiseAbs()),
        square_q(q.cwiseAbs2()),
        abs_d_out(d_outs.cwiseAbs()),
        out(Matrix::Zero(d_outs.rows(), d_outs.cols())),
        sigma_out(out),
        sigma_d_q(Matrix::Zero(q.rows(), q.cols())),
        tau_d_q(sigma_d_q) {}

  Matrix q, d_lse, abs_q, square_q, abs_d_out;
  Matrix out, sigma_out, sigma_d_q, tau_d_q;
};

// The largest of |s_ij| and |sc| sqrt(sum_d (q_id k_jd)^2) over the block's visible pairs and `largest`.
// logits [rows, keys] holds s_ij. A pair that is NaN does not count.
double largest_logit(const Block& block, double scale, const Matrix& logits, const Matrix& square_sums,
                     double largest) {
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    for (Eigen::Index key = 0; key < block.visible(row); ++key) {
      const double spread = std::abs(scale) * std::sqrt(square_sums(row, key));
      if (std::abs(logits(row, key)) > largest) largest = std::abs(logits(row, key));
      if (spread > largest) largest = spread;
    }
  }
  return largest;
}

// Adds what the block's queries contribute; returns A over what was seen so far. Sums of d_q, d_k still lack
// |sc|.
double add_block(const Block& block, double scale, Queries& head, Keys& keys, double largest) {
  // s_ij, A, P_ij: [rows, keys]
  Matrix p =
      scale * (head.q.middleRows(block.begin, block.rows()) * keys.k.topRows(block.keys()).transpose());
  Matrix m =
      head.square_q.middleRows(block.begin, block.rows()) * keys.square_k.topRows(block.keys()).transpose();
  largest = largest_logit(block, scale, p, m, largest);
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    softmax(std::span(p.row(row).data(), static_cast<std::size_t>(block.visible(row))));
  }
  add_over_keys(block, p, keys.v, head.out);
  add_over_keys(block, p, keys.abs_v, head.sigma_out);
  add_over_queries(block, p, head.abs_d_out, keys.sigma_d_v);

  // M_ij / P_ij = sum_d |dO_id v_jd| + sum_d |dO_id O_id| + |dLSE_i|, whose sums are tau; then M_ij.
  m.noalias() =
      head.abs_d_out.middleRows(block.begin, block.rows()) * keys.abs_v.topRows(block.keys()).transpose();
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    const Eigen::Index query = block.begin + row;
    m.row(row).array() +=
        head.abs_d_out.row(query).dot(head.out.row(query).cwiseAbs()) + head.d_lse(query, 0);
  }
  add_over_keys(block, m, keys.abs_k, head.tau_d_q);
  add_over_queries(block, m, head.abs_q, keys.tau_d_k);
  m.array() *= p.array();
  add_over_keys(block, m, keys.abs_k, head.sigma_d_q);
  add_over_queries(block, m, head.abs_q, keys.sigma_d_k);
  return largest;
}

}  // namespace

template <class Scalar>
double measure_condition(const Shape& shape, const Document& document, std::int64_t kv_head,
                         const Inputs<Scalar>& inputs, const Condition& condition) {
  const std::int64_t group = shape.heads / shape.kv_heads;
  const double abs_scale = std::abs(shape.softmax_scale);
  Keys keys(gather(inputs.k, shape.kv_heads, shape.head_dim, document, kv_head),
            gather(inputs.v, shape.kv_heads, shape.v_head_dim, document, kv_head));
  double largest = 0;
  for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    Queries head(gather(inputs.q, shape.heads, shape.head_dim, document, h),
                 gather(inputs.d_out, shape.heads, shape.v_head_dim, document, h),
                 inputs.d_lse.empty() ? Matrix(Matrix::Zero(document.length, 1))
                                      : gather(inputs.d_lse, shape.heads, 1, document, h));
    for_each_block(document.length, [&](const Block& block) {
      largest = add_block(block, shape.softmax_scale, head, keys, largest);
    });
    keys.tau_d_v += head.abs_d_out;
    scatter(head.sigma_out, condition.sigma_out, shape.heads, document, h);
    scatter(abs_scale * head.sigma_d_q, condition.sigma_d_q, shape.heads, document, h);
    scatter(abs_scale * head.tau_d_q, condition.tau_d_q, shape.heads, document, h);
  }
  suffix_sums(keys.tau_d_v);
  scatter(keys.sigma_d_v, condition.sigma_d_v, shape.kv_heads, document, kv_head);
  scatter(keys.tau_d_v, condition.tau_d_v, shape.kv_heads, document, kv_head);
  scatter(abs_scale * keys.sigma_d_k, condition.sigma_d_k, shape.kv_heads, document, kv_head);
  scatter(abs_scale * keys.tau_d_k, condition.tau_d_k, shape.kv_heads, document, kv_head);
  prefix_sums(keys.abs_v);  // tau of out: the same for every query head of the group
  for (std::int64_t h = kv_head * group; h < (kv_head + 1) * group; ++h) {
    scatter(keys.abs_v, condition.tau_out, shape.heads, document, h);
  }
  return largest;
}

template double measure_condition<double>(const Shape&, const Document&, std::int64_t, const Inputs<double>&,
                                          const Condition&);
template double measure_condition<float>(const Shape&, const Document&, std::int64_t, const Inputs<float>&,
                                         const Condition&);

}  // namespace straddle::reference
