#include "reference/attention.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "reference/condition.hpp"
#include "reference/validate.hpp"
#include "reference/visible.hpp"

namespace straddle::reference {
namespace {

template <class Scalar>
using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Scalar>  // const Scalar: a read-only map
using Rows = Eigen::Map<
    std::conditional_t<std::is_const_v<Scalar>, const Matrix<std::remove_const_t<Scalar>>, Matrix<Scalar>>,
    Eigen::Unaligned, Eigen::OuterStride<>>;

// A document's rows of one head of a token-major tensor [tokens, heads, dim]: [length, dim], no copy.
template <class Scalar>
Rows<Scalar> head_rows(std::span<Scalar> tensor, std::int64_t heads, std::int64_t dim,
                       const Document& document, std::int64_t head) {
  return Rows<Scalar>(tensor.data() + (document.start * heads + head) * dim, document.length, dim,
                      Eigen::OuterStride<>(heads * dim));
}

// One document's rows of one query head and of the kv head it reads.
template <class Scalar>
struct HeadRows {
  HeadRows(const Shape& shape, const Document& document, std::int64_t head, std::int64_t kv_head,
           const Inputs<Scalar>& inputs, const Results<Scalar>& results)
      : q(head_rows(inputs.q, shape.heads, shape.head_dim, document, head)),
        k(head_rows(inputs.k, shape.kv_heads, shape.head_dim, document, kv_head)),
        v(head_rows(inputs.v, shape.kv_heads, shape.v_head_dim, document, kv_head)),
        d_out(head_rows(inputs.d_out, shape.heads, shape.v_head_dim, document, head)),
        out(head_rows(results.out, shape.heads, shape.v_head_dim, document, head)),
        lse(head_rows(results.lse, shape.heads, 1, document, head)),
        d_q(head_rows(results.d_q, shape.heads, shape.head_dim, document, head)),
        d_k(head_rows(results.d_k, shape.kv_heads, shape.head_dim, document, kv_head)),
        d_v(head_rows(results.d_v, shape.kv_heads, shape.v_head_dim, document, kv_head)) {
    if (inputs.d_lse.empty()) {
      d_lse = Matrix<Scalar>::Zero(document.length, 1);
    } else {
      d_lse = head_rows(inputs.d_lse, shape.heads, 1, document, head);
    }
  }

  Rows<const Scalar> q, k, v, d_out;
  Matrix<Scalar> d_lse;
  Rows<Scalar> out, lse, d_q, d_k, d_v;
};

// O_i = sum_j P_ij v_j and LSE_i for the block's rows (docs/math.md, "Forward"); leaves P in p
// [rows, keys].
template <class Scalar>
void forward(const Block& block, Scalar scale, HeadRows<Scalar>& head, Matrix<Scalar>& p) {
  p.noalias() = head.q.middleRows(block.begin, block.rows()) * head.k.topRows(block.keys()).transpose();
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    auto visible = p.row(row).head(block.visible(row));
    visible *= scale;
    head.lse(block.begin + row, 0) =
        softmax(std::span(visible.data(), static_cast<std::size_t>(visible.size())));
  }
  add_over_keys(block, p, head.v, head.out);
}

// The Jacobian of a softmax row: ds_j = P_j (dp_j - sum_l P_l dp_l) + P_j dLSE with dp_j = <dO_i, v_j>, then
// the products that s_ij = scale <q_i, k_j> and O_i = sum_j P_ij v_j give (docs/math.md, "Backward"). d_q,
// d_k still lack the scale.
template <class Scalar>
void backward(const Block& block, HeadRows<Scalar>& head, const Matrix<Scalar>& p, Matrix<Scalar>& d_s) {
  d_s.noalias() = head.d_out.middleRows(block.begin, block.rows()) * head.v.topRows(block.keys()).transpose();
  for (Eigen::Index row = 0; row < block.rows(); ++row) {
    const auto weights = p.row(row).head(block.visible(row)).array();
    auto ds = d_s.row(row).head(block.visible(row)).array();
    const Scalar mean = (weights * ds).sum();
    ds = weights * (ds - mean) + weights * head.d_lse(block.begin + row, 0);
  }
  add_over_queries(block, p, head.d_out, head.d_v);
  add_over_keys(block, d_s, head.k, head.d_q);
  add_over_queries(block, d_s, head.q, head.d_k);
}

// Rows that a document holds, [tokens]. Throws where two documents hold the same row.
std::vector<bool> real_rows(const Shape& shape, std::span<const Document> documents) {
  std::vector<bool> real(static_cast<std::size_t>(shape.tokens), false);
  for (const Document& document : documents) {
    validate(shape, document);
    for (std::int64_t row = document.start; row < document.start + document.length; ++row) {
      if (real[static_cast<std::size_t>(row)]) {
        throw std::invalid_argument("reference: row " + std::to_string(row) +
                                    " lies in two documents, expected at most one");
      }
      real[static_cast<std::size_t>(row)] = true;
    }
  }
  return real;
}

}  // namespace

template <class Scalar>
double attend(const Shape& shape, const Document& document, std::int64_t kv_head,
              const Inputs<Scalar>& inputs, const Results<Scalar>& results, const Condition* condition) {
  validate(shape);
  validate(shape, document);
  validate(shape, inputs, results);
  if (condition != nullptr) validate(shape, *condition);
  if (kv_head < 0 || kv_head >= shape.kv_heads) {
    throw std::invalid_argument("reference: kv head " + std::to_string(kv_head) + " of " +
                                std::to_string(shape.kv_heads) + " does not exist");
  }
  if (document.length == 0) return 0;

  const std::int64_t group = shape.heads / shape.kv_heads;
  const auto scale = static_cast<Scalar>(shape.softmax_scale);
  auto d_k = head_rows(results.d_k, shape.kv_heads, shape.head_dim, document, kv_head);
  auto d_v = head_rows(results.d_v, shape.kv_heads, shape.v_head_dim, document, kv_head);
  d_k.setZero();
  d_v.setZero();
  Matrix<Scalar> p, d_s;  // [block rows, block keys]
  for (std::int64_t head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    HeadRows<Scalar> rows(shape, document, head, kv_head, inputs, results);
    rows.out.setZero();
    rows.d_q.setZero();
    for_each_block(document.length, [&](const Block& block) {
      forward(block, scale, rows, p);
      backward(block, rows, p, d_s);
    });
    rows.d_q *= scale;
  }
  d_k *= scale;
  return condition == nullptr ? 0 : measure_condition(shape, document, kv_head, inputs, *condition);
}

template <class Scalar>
void attend_all(const Shape& shape, std::span<const Document> documents, const Inputs<Scalar>& inputs,
                const Results<Scalar>& results) {
  validate(shape);
  validate(shape, inputs, results);
  const std::vector<bool> real = real_rows(shape, documents);
  const auto fill_row = [](std::span<Scalar> tensor, std::size_t row, std::int64_t width, Scalar value) {
    const auto elements = static_cast<std::size_t>(width);
    std::ranges::fill(tensor.subspan(row * elements, elements), value);
  };
  for (std::size_t row = 0; row < real.size(); ++row) {
    if (real[row]) continue;
    fill_row(results.out, row, shape.heads * shape.v_head_dim, 0);
    fill_row(results.lse, row, shape.heads, -std::numeric_limits<Scalar>::infinity());
    fill_row(results.d_q, row, shape.heads * shape.head_dim, 0);
    fill_row(results.d_k, row, shape.kv_heads * shape.head_dim, 0);
    fill_row(results.d_v, row, shape.kv_heads * shape.v_head_dim, 0);
  }
  for (const Document& document : documents) {
    for (std::int64_t kv_head = 0; kv_head < shape.kv_heads; ++kv_head) {
      attend(shape, document, kv_head, inputs, results);
    }
  }
}

template double attend<double>(const Shape&, const Document&, std::int64_t, const Inputs<double>&,
                               const Results<double>&, const Condition*);
template double attend<float>(const Shape&, const Document&, std::int64_t, const Inputs<float>&,
                              const Results<float>&, const Condition*);
template void attend_all<double>(const Shape&, std::span<const Document>, const Inputs<double>&,
                                 const Results<double>&);
template void attend_all<float>(const Shape&, std::span<const Document>, const Inputs<float>&,
                                const Results<float>&);

}  // namespace straddle::reference
