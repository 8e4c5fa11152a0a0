#include "reference/validate.hpp"

#include <stdexcept>
#include <string>

namespace straddle::reference {
namespace {

void check_size(const char* tensor, std::size_t seen, std::int64_t tokens, std::int64_t heads,
                std::int64_t dim) {
  if (seen == static_cast<std::size_t>(tokens * heads * dim)) return;
  throw std::invalid_argument("reference: " + std::string(tensor) + " has " + std::to_string(seen) +
                              " elements, expected " + std::to_string(tokens) + " tokens x " +
                              std::to_string(heads) + " heads x " + std::to_string(dim));
}

void check_at_least(const char* name, std::int64_t seen, std::int64_t least) {
  if (seen >= least) return;
  throw std::invalid_argument("reference: " + std::string(name) + " is " + std::to_string(seen) +
                              ", expected at least " + std::to_string(least));
}

}  // namespace

void validate(const Shape& shape) {
  check_at_least("tokens", shape.tokens, 0);
  check_at_least("heads", shape.heads, 1);
  check_at_least("kv_heads", shape.kv_heads, 1);
  check_at_least("head_dim", shape.head_dim, 1);
  check_at_least("v_head_dim", shape.v_head_dim, 1);
  if (shape.heads % shape.kv_heads != 0) {
    throw std::invalid_argument("reference: kv_heads " + std::to_string(shape.kv_heads) +
                                " does not divide heads " + std::to_string(shape.heads));
  }
}

void validate(const Shape& shape, const Document& document) {
  if (document.start >= 0 && document.length >= 0 && document.start <= shape.tokens - document.length) return;
  throw std::invalid_argument("reference: document of " + std::to_string(document.length) +
                              " rows from row " + std::to_string(document.start) + " does not lie in " +
                              std::to_string(shape.tokens) + " tokens");
}

void validate(const Shape& s, const Condition& condition) {
  check_size("sigma_out", condition.sigma_out.size(), s.tokens, s.heads, s.v_head_dim);
  check_size("sigma_d_q", condition.sigma_d_q.size(), s.tokens, s.heads, s.head_dim);
  check_size("sigma_d_k", condition.sigma_d_k.size(), s.tokens, s.kv_heads, s.head_dim);
  check_size("sigma_d_v", condition.sigma_d_v.size(), s.tokens, s.kv_heads, s.v_head_dim);
  check_size("tau_out", condition.tau_out.size(), s.tokens, s.heads, s.v_head_dim);
  check_size("tau_d_q", condition.tau_d_q.size(), s.tokens, s.heads, s.head_dim);
  check_size("tau_d_k", condition.tau_d_k.size(), s.tokens, s.kv_heads, s.head_dim);
  check_size("tau_d_v", condition.tau_d_v.size(), s.tokens, s.kv_heads, s.v_head_dim);
}

template <class Scalar>
void validate(const Shape& s, const Inputs<Scalar>& inputs, const Results<Scalar>& results) {
  check_size("q", inputs.q.size(), s.tokens, s.heads, s.head_dim);
  check_size("k", inputs.k.size(), s.tokens, s.kv_heads, s.head_dim);
  check_size("v", inputs.v.size(), s.tokens, s.kv_heads, s.v_head_dim);
  check_size("d_out", inputs.d_out.size(), s.tokens, s.heads, s.v_head_dim);
  if (!inputs.d_lse.empty()) check_size("d_lse", inputs.d_lse.size(), s.tokens, s.heads, 1);
  check_size("out", results.out.size(), s.tokens, s.heads, s.v_head_dim);
  check_size("lse", results.lse.size(), s.tokens, s.heads, 1);
  check_size("d_q", results.d_q.size(), s.tokens, s.heads, s.head_dim);
  check_size("d_k", results.d_k.size(), s.tokens, s.kv_heads, s.head_dim);
  check_size("d_v", results.d_v.size(), s.tokens, s.kv_heads, s.v_head_dim);
}

template void validate<double>(const Shape&, const Inputs<double>&, const Results<double>&);
template void validate<float>(const Shape&, const Inputs<float>&, const Results<float>&);

}  // namespace straddle::reference
