#include <cmath>
#include <limits>
#include <optional>

#include "cpu/dense_rows.hpp"
#include "cpu/gradients.hpp"
#include "cpu/kernels.hpp"
#include "cpu/requirements.hpp"

namespace straddle::cpu {
namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

template <class T>
void read_head(const RowReader<T>& from, std::int64_t keys, std::int64_t head, std::vector<T>& rows,
               std::vector<T>& transposed) {
  const std::int64_t size = from.size();
  rows.resize(static_cast<std::size_t>(keys * size));
  transposed.resize(rows.size());
  for (std::int64_t j = 0; j < keys; ++j) {
    T* row = rows.data() + j * size;
    from.read(j, head, row);
    for (std::int64_t d = 0; d < size; ++d) transposed[static_cast<std::size_t>(d * keys + j)] = row[d];
  }
}

// K and V of one kv head, all keys of the problem.
template <class T>
struct Head {
  Head(const Problem<T>& problem, std::int64_t kv_head) : number(kv_head) {
    read_head(problem.k, problem.keys, kv_head, k, k_transposed);
    read_head(problem.v, problem.keys, kv_head, v, v_transposed);
  }

  std::int64_t number;
  std::vector<T> k, v;                        // [keys, head_dim], [keys, v_head_dim]
  std::vector<T> k_transposed, v_transposed;  // [head_dim, keys], [v_head_dim, keys]
};

// Forward of one row, query [head_dim] over all keys.
template <class T>
class ForwardRow {
 public:
  explicit ForwardRow(const Problem<T>& problem)
      : problem_(problem),
        query_(static_cast<std::size_t>(problem.q.size())),
        weights_(static_cast<std::size_t>(problem.keys)),
        out_(static_cast<std::size_t>(problem.v.size())) {}

  void run(const Head<T>& head, VisibleKeys visible, std::int64_t token, std::int64_t query_head,
           const RowWriter<T>& out, const RowValues<T>& lse) {
    problem_.q.read(token, query_head, query_.data());
    masked_logits(query_, head.k_transposed, problem_.scale, visible, weights_);
    T maximum = -kInfinity<T>;  // passes over a NaN, which is still there for exp
    for (const T logit : weights_) maximum = logit > maximum ? logit : maximum;
    const T base = maximum == -kInfinity<T> ? T{0} : maximum;
    for (T& weight : weights_) weight = std::exp(weight - base);
    const T sum = sum_of_visible(weights_, visible);
    if (sum == 0) {  // no key, or every logit was -inf
      out.write_zeros(token, query_head);
      lse.at(token, query_head) = -kInfinity<T>;
      return;
    }
    weighted_sum(weights_, head.v, visible, out_);
    for (T& value : out_) value /= sum;
    out.write(token, query_head, out_.data());
    lse.at(token, query_head) = maximum + std::log(sum);
  }

 private:
  const Problem<T>& problem_;
  std::vector<T> query_, weights_, out_;
};

// dK or dV of one kv head: sums over chunks of queries, added up.
template <class T>
class KeyGradient {
 public:
  KeyGradient(std::int64_t keys, std::int64_t size)
      : size_(static_cast<std::size_t>(size)),
        part_(static_cast<std::size_t>(keys) * size_),
        total_(part_.size()) {}

  // += weights[j] row for visible keys j; the others are left alone.
  void add(const std::vector<T>& weights, const std::vector<T>& row, VisibleKeys visible) {
    for (std::int64_t j = visible.begin; j < visible.end; ++j) {
      const auto key = static_cast<std::size_t>(j);
      add_scaled(weights[key], row.data(), part_.data() + key * size_, size_);
    }
  }
  void end_chunk(const Segment& segment) {
    const std::size_t end = static_cast<std::size_t>(segment.k_begin + segment.keys) * size_;
    for (std::size_t i = static_cast<std::size_t>(segment.k_begin) * size_; i < end; ++i) {
      total_[i] += part_[i];
      part_[i] = 0;
    }
  }
  void write(const RowWriter<T>& to, std::int64_t head, T factor) {
    for (T& value : total_) value *= factor;
    for (std::size_t key = 0; key * size_ < total_.size(); ++key) {
      to.write(static_cast<std::int64_t>(key), head, total_.data() + key * size_);
    }
  }

 private:
  std::size_t size_;
  std::vector<T> part_, total_;  // [keys, size]
};

// Backward of one row.
template <class T>
class BackwardRow {
 public:
  explicit BackwardRow(const Problem<T>& problem)
      : problem_(problem),
        query_(static_cast<std::size_t>(problem.q.size())),
        d_query_(query_.size()),
        out_(static_cast<std::size_t>(problem.v.size())),
        d_out_(out_.size()),
        p_(static_cast<std::size_t>(problem.keys)),
        d_logits_(p_.size()) {}

  void run(const Head<T>& head, VisibleKeys visible, std::int64_t token, std::int64_t query_head,
           const Gradients<T>& gradients, KeyGradient<T>& d_k, KeyGradient<T>& d_v) {
    const T lse = gradients.lse.at(token, query_head);
    if (lse == -kInfinity<T>) return gradients.d_q.write_zeros(token, query_head);
    problem_.q.read(token, query_head, query_.data());
    gradients.out.read(token, query_head, out_.data());
    gradients.d_out.read(token, query_head, d_out_.data());
    T offset = gradients.d_lse ? -gradients.d_lse->at(token, query_head) : T{0};  // Delta - dLSE
    for (std::size_t d = 0; d < out_.size(); ++d) offset = std::fma(d_out_[d], out_[d], offset);

    masked_logits(query_, head.k_transposed, problem_.scale, visible, p_);
    for (T& logit : p_) logit = std::exp(logit - lse);
    inner_products(d_out_, head.v_transposed, d_logits_);  // dP, over all keys
    for (std::size_t j = 0; j < p_.size(); ++j) {
      d_logits_[j] = visible.has(static_cast<std::int64_t>(j)) ? p_[j] * (d_logits_[j] - offset) : T{0};
    }
    d_v.add(p_, d_out_, visible);
    d_k.add(d_logits_, query_, visible);
    weighted_sum(d_logits_, head.k, visible, d_query_);
    for (T& value : d_query_) value *= problem_.scale;
    gradients.d_q.write(token, query_head, d_query_.data());
  }

 private:
  const Problem<T>& problem_;
  std::vector<T> query_, d_query_, out_, d_out_, p_, d_logits_;
};

// Every query that sees a key, segment by segment: visit(token, the keys it sees); then end_of_chunk(segment)
// after each kSumChunk queries of a segment and after its last.
template <class T, class Visit, class EndOfChunk>
void for_each_query(const Problem<T>& problem, const Visit& visit, const EndOfChunk& end_of_chunk) {
  for (std::int64_t i = 0; i < problem.segments(); ++i) {
    const Segment segment = problem.segment(i);
    for (std::int64_t first = segment.first_query(); first < segment.queries; first += kSumChunk) {
      const std::int64_t end = std::min(first + kSumChunk, segment.queries);
      for (std::int64_t query = first; query < end; ++query) {
        visit(segment.q_begin + query, visible_keys(segment, query));
      }
      end_of_chunk(segment);
    }
  }
}

template <class T>
void run_forward(const kernel::VarlenProblem& varlen, const kernel::ForwardResults& results) {
  const Problem<T> problem(varlen);
  const RowWriter<T> out(results.out);
  const RowValues<T> lse(results.lse);
  write_blind_rows(problem, out, lse);
  ForwardRow<T> row(problem);
  for (std::int64_t kv_head = 0; kv_head < problem.kv_heads; ++kv_head) {
    const Head<T> keys(problem, kv_head);
    const auto visit = [&](std::int64_t token, VisibleKeys visible) {
      for (std::int64_t g = 0; g < problem.group; ++g) {
        row.run(keys, visible, token, kv_head * problem.group + g, out, lse);
      }
    };
    for_each_query(problem, visit, [](const Segment&) {});
  }
}

template <class T>
void run_backward(const kernel::VarlenProblem& varlen, const kernel::BackwardInputs& inputs,
                  const kernel::BackwardResults& results) {
  const Problem<T> problem(varlen);
  const Gradients<T> gradients(inputs, results);
  write_blind_rows(problem, gradients.d_q);
  BackwardRow<T> row(problem);
  for (std::int64_t kv_head = 0; kv_head < problem.kv_heads; ++kv_head) {
    const Head<T> keys(problem, kv_head);
    KeyGradient<T> d_k(problem.keys, problem.k.size()), d_v(problem.keys, problem.v.size());
    const auto visit = [&](std::int64_t token, VisibleKeys visible) {
      for (std::int64_t g = 0; g < problem.group; ++g) {
        row.run(keys, visible, token, kv_head * problem.group + g, gradients, d_k, d_v);
      }
    };
    for_each_query(problem, visit, [&](const Segment& segment) {
      d_k.end_chunk(segment);
      d_v.end_chunk(segment);
    });
    d_k.write(gradients.d_k, kv_head, problem.scale);
    d_v.write(gradients.d_v, kv_head, T{1});
  }
}

class DenseKernel final : public kernel::Kernel {
 public:
  [[nodiscard]] std::string_view name() const override { return "dense"; }
  [[nodiscard]] bool varlen() const override { return false; }
  [[nodiscard]] tensor::Memory& memory() const override { return tensor::host_memory(); }
  [[nodiscard]] std::optional<std::string> unsupported(
      const kernel::Requirements& requirements) const override {
    return unsupported_on_cpu(requirements);
  }

  void forward(const kernel::VarlenProblem& problem, const kernel::ForwardResults& results) override {
    kernel::validate(problem, results);
    const bool fp64 = problem.q.dtype() == tensor::DType::fp64;
    fp64 ? run_forward<double>(problem, results) : run_forward<float>(problem, results);
  }

  void backward(const kernel::VarlenProblem& problem, const kernel::BackwardInputs& inputs,
                const kernel::BackwardResults& results) override {
    kernel::validate(problem, inputs, results);
    const bool fp64 = problem.q.dtype() == tensor::DType::fp64;
    fp64 ? run_backward<double>(problem, inputs, results) : run_backward<float>(problem, inputs, results);
  }
};

}  // namespace

std::unique_ptr<kernel::Kernel> dense_kernel() { return std::make_unique<DenseKernel>(); }

}  // namespace straddle::cpu
