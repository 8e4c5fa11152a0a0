#include "cpu/backward.hpp"

#include <limits>

#include "cpu/exp.hpp"
#include "cpu/gradients.hpp"
#include "cpu/panels.hpp"
#include "cpu/tasks.hpp"

namespace straddle::cpu {
namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

// One query tile of one (segment, kv head) on its way through the passes.
template <class T>
struct Tile {
  const Problem<T>& problem;
  const Segment& segment;
  std::int64_t kv_head;
  QueryTile queries;
  std::int64_t stride, v_stride;  // padded head_dim and v_head_dim
  BackwardWorkspace<T>& work;

  [[nodiscard]] std::int64_t token(std::int64_t row) const {
    return segment.q_begin + queries.first + row / queries.group;
  }
  [[nodiscard]] std::int64_t head(std::int64_t row) const {
    return kv_head * queries.group + row % queries.group;
  }
};

// <a, b> over `size` elements, a multiple of the lanes.
template <class T>
T inner_product(const T* a, const T* b, std::int64_t size) {
  Vector<T> sum{};
  for (std::int64_t d = 0; d < size; d += kLanes<T>) sum = mul_add(load(a + d), load(b + d), sum);
  return sum_of_lanes<T>(sum);
}

// Packs K and V of the segment, clears dK and dV.
template <class T>
void start_segment(const Problem<T>& problem, const Segment& segment, std::int64_t kv_head,
                   BackwardWorkspace<T>& work) {
  const std::int64_t head_dim = problem.k.size(), v_head_dim = problem.v.size(),
                     longest = problem.longest_keys;
  const std::int64_t stride = round_up(head_dim, kLanes<T>), v_stride = round_up(v_head_dim, kLanes<T>);
  T* stage = work.stage.resize(kPanelColumns<T> * std::max(stride, v_stride));
  T* keys_transposed = work.keys_transposed.resize(panelled_size<T>(head_dim, longest));
  T* keys = work.keys.resize(panelled_size<T>(longest, head_dim));
  T* values_transposed = work.values_transposed.resize(panelled_size<T>(v_head_dim, longest));
  panel_keys<T>(problem.k, segment.k_begin, segment.keys, kv_head, stage, keys_transposed, keys);
  panel_keys<T>(problem.v, segment.k_begin, segment.keys, kv_head, stage, values_transposed, nullptr);
  std::fill_n(work.d_keys.resize(longest * stride), segment.keys * stride, T{0});
  std::fill_n(work.d_values.resize(longest * v_stride), segment.keys * v_stride, T{0});
}

// Pass 0 of one row: Q times the scale, dO, LSE and Delta - dLSE. A row whose LSE is -inf gives nothing,
// whatever its Q, dO and O hold: they are zeroed, and exp(s - inf) is 0.
template <class T>
void start_row(const Tile<T>& tile, const Gradients<T>& gradients, std::int64_t row) {
  const std::int64_t token = tile.token(row), head = tile.head(row), head_dim = tile.problem.q.size();
  T* query = tile.work.queries.data() + row * head_dim;
  T* d_out = tile.work.d_out.data() + row * tile.v_stride;
  const T lse = gradients.lse.at(token, head);
  if (lse == -kInfinity<T>) {
    std::fill_n(query, head_dim, T{0});
    std::fill_n(d_out, tile.v_stride, T{0});
    tile.work.lse.data()[row] = kInfinity<T>;
    tile.work.offset.data()[row] = T{0};
    return;
  }
  tile.problem.q.read(token, head, query);
  for (std::int64_t d = 0; d < head_dim; ++d) query[d] *= tile.problem.scale;
  read_rows(gradients.d_out, token, 1, head, d_out, tile.v_stride);
  T* out = tile.work.stage.data();
  read_rows(gradients.out, token, 1, head, out, tile.v_stride);
  const T d_lse = gradients.d_lse ? gradients.d_lse->at(token, head) : T{0};
  tile.work.lse.data()[row] = lse;
  tile.work.offset.data()[row] = inner_product(d_out, out, tile.v_stride) - d_lse;
}

// Pass 0: the tile's rows, as rows and as panels; dQ = 0.
template <class T>
void start_tile(const Tile<T>& tile, const Gradients<T>& gradients) {
  const std::int64_t rows = tile.queries.rows(), head_dim = tile.problem.q.size(),
                     v_head_dim = tile.problem.v.size();
  BackwardWorkspace<T>& work = tile.work;
  work.queries.resize(rows * head_dim);
  work.d_out.resize(rows * tile.v_stride);
  work.lse.resize(rows);
  work.offset.resize(rows);
  work.probabilities.resize(rows * kLogitStride<T>);
  work.d_logits.resize(rows * kLogitStride<T>);
  for (std::int64_t row = 0; row < rows; ++row) start_row(tile, gradients, row);
  panel_rows(work.queries.data(), head_dim, rows, head_dim, rows,
             work.query_panels.resize(panelled_size<T>(rows, head_dim)));
  panel_rows(work.d_out.data(), tile.v_stride, rows, v_head_dim, rows,
             work.d_out_panels.resize(panelled_size<T>(rows, v_head_dim)));
  std::fill_n(work.d_queries.resize(rows * tile.stride), rows * tile.stride, T{0});
}

// Pass 1: left right^T for keys [key, key + keys) of the segment, i.e. S = sc Q K^T and dP = dO V^T; only
// where some row of a panel sees a key.
template <class T>
void compute_against_keys(const Tile<T>& tile, std::int64_t key, std::int64_t keys, const T* left,
                          std::int64_t left_stride, std::int64_t size, const T* panels, T* to) {
  for (std::int64_t column = 0; column < keys; column += kPanelColumns<T>) {
    multiply_panel<T, Left::rows, Into::set>(
        keys - column, tile.queries.first_row_that_sees(key + column), tile.queries.rows(),
        [size](std::int64_t, std::int64_t) {
          return Depth{0, size};
        },
        left, left_stride, panels + (key + column) * size, to + column, kLogitStride<T>);
  }
}

// Pass 2 of one row: P = exp(S - LSE) and dS = P (dP - Delta + dLSE) for its first `count` keys, 0 for the
// others up to `end`.
template <class T>
void differentiate_row(T* s, T* d_p, std::int64_t count, std::int64_t end, T row_lse, T row_offset) {
  constexpr std::int64_t kLane = kLanes<T>;
  const Vector<T> lse = broadcast(row_lse), offset = broadcast(row_offset);
  std::int64_t j = 0;
  for (; j + kLane <= count; j += kLane) {
    const Vector<T> p = exp<T>(load(s + j) - lse);
    store(s + j, p);
    store(d_p + j, p * (load(d_p + j) - offset));
  }
  if (j < count) {
    const Vector<T> p = exp<T>(load(s + j) - lse);
    store(s + j, first_lanes(p, count - j, T{0}));
    store(d_p + j, first_lanes(p * (load(d_p + j) - offset), count - j, T{0}));
    j += kLane;
  }
  for (; j < end; j += kLane) {
    store(s + j, Vector<T>{});
    store(d_p + j, Vector<T>{});
  }
}

template <class T>
void differentiate_rows(const Tile<T>& tile, std::int64_t key, std::int64_t keys) {
  for (std::int64_t row = tile.queries.first_row_that_sees(key); row < tile.queries.rows(); ++row) {
    const T lse = tile.work.lse.data()[row];
    const std::int64_t seen = std::min(tile.queries.visible_keys(row) - key, keys);
    differentiate_row(tile.work.probabilities.data() + row * kLogitStride<T>,
                      tile.work.d_logits.data() + row * kLogitStride<T>, lse == kInfinity<T> ? 0 : seen, keys,
                      lse, tile.work.offset.data()[row]);
  }
}

// Pass 3: to[key + j] += sum over rows of weights[row][j] right[row], i.e. dV += P^T dO and dK += dS^T (sc
// Q).
template <class T>
void add_to_keys(const Tile<T>& tile, std::int64_t key, std::int64_t keys, const T* weights, const T* panels,
                 std::int64_t size, T* to, std::int64_t stride) {
  const std::int64_t rows = tile.queries.rows();
  const auto rows_that_see = [&](std::int64_t first_key, std::int64_t) {
    return Depth{tile.queries.first_row_that_sees(key + first_key), rows};
  };
  for (std::int64_t d = 0; d < size; d += kPanelColumns<T>) {
    multiply_panel<T, Left::transposed, Into::add>(size - d, 0, keys, rows_that_see, weights, kLogitStride<T>,
                                                   panels + d * rows, to + key * stride + d, stride);
  }
}

// Pass 4: dQ += dS K.
template <class T>
void add_to_queries(const Tile<T>& tile, std::int64_t key, std::int64_t keys) {
  const std::int64_t head_dim = tile.problem.q.size();
  const auto seen = [&](std::int64_t, std::int64_t last_row) {
    return Depth{0, std::min(tile.queries.visible_keys(last_row) - key, keys)};
  };
  for (std::int64_t d = 0; d < head_dim; d += kPanelColumns<T>) {
    multiply_panel<T, Left::rows, Into::add>(
        head_dim - d, tile.queries.first_row_that_sees(key), tile.queries.rows(), seen,
        tile.work.d_logits.data(), kLogitStride<T>,
        tile.work.keys.data() + d * tile.segment.keys + key * kPanelColumns<T>,
        tile.work.d_queries.data() + d, tile.stride);
  }
}

template <class T>
void run_tile(const Tile<T>& tile, const Gradients<T>& gradients) {
  BackwardWorkspace<T>& work = tile.work;
  const std::int64_t head_dim = tile.problem.q.size(), v_head_dim = tile.problem.v.size();
  start_tile(tile, gradients);
  for (std::int64_t key = 0; key < tile.queries.keys(); key += kTileKeys) {
    const std::int64_t keys = std::min(kTileKeys, tile.queries.keys() - key);
    compute_against_keys(tile, key, keys, work.queries.data(), head_dim, head_dim,
                         work.keys_transposed.data(), work.probabilities.data());
    compute_against_keys(tile, key, keys, work.d_out.data(), tile.v_stride, v_head_dim,
                         work.values_transposed.data(), work.d_logits.data());
    differentiate_rows(tile, key, keys);
    add_to_keys(tile, key, keys, work.probabilities.data(), work.d_out_panels.data(), v_head_dim,
                work.d_values.data(), tile.v_stride);
    add_to_keys(tile, key, keys, work.d_logits.data(), work.query_panels.data(), head_dim, work.d_keys.data(),
                tile.stride);
    add_to_queries(tile, key, keys);
  }
  for (std::int64_t row = 0; row < tile.queries.rows(); ++row) {
    T* d_query = work.d_queries.data() + row * tile.stride;
    // + 0: no -0, whose sign may depend on the rows beside
    for (std::int64_t d = 0; d < head_dim; ++d) d_query[d] = d_query[d] * tile.problem.scale + T{0};
    gradients.d_q.write(tile.token(row), tile.head(row), d_query);
  }
}

template <class T>
void run_segment(const Problem<T>& problem, const Segment& segment, std::int64_t kv_head,
                 const Gradients<T>& gradients, BackwardWorkspace<T>& work) {
  const std::int64_t stride = round_up(problem.k.size(), kLanes<T>);
  const std::int64_t v_stride = round_up(problem.v.size(), kLanes<T>);
  start_segment(problem, segment, kv_head, work);
  const std::int64_t tokens = tile_tokens(problem.group);
  for (std::int64_t first = segment.first_query(); first < segment.queries; first += tokens) {
    run_tile(
        Tile<T>{problem, segment, kv_head, query_tile(segment, first, problem.group), stride, v_stride, work},
        gradients);
  }
  for (std::int64_t key = 0; key < segment.keys; ++key) {
    gradients.d_k.write(segment.k_begin + key, kv_head, work.d_keys.data() + key * stride);
    gradients.d_v.write(segment.k_begin + key, kv_head, work.d_values.data() + key * v_stride);
  }
}

}  // namespace

template <class T>
void Backward<T>::run(const kernel::VarlenProblem& varlen, const kernel::BackwardInputs& inputs,
                      const kernel::BackwardResults& results, int threads) {
  const Problem<T> problem(varlen);
  const Gradients<T> gradients(inputs, results);
  write_blind_rows(problem, gradients.d_q);
  write_unseen_rows(problem, gradients.d_k, gradients.d_v);

  order_by_cost(problem, order_);
  workspaces_.resize(static_cast<std::size_t>(threads));
  const auto tasks = static_cast<std::int64_t>(order_.size()) * problem.kv_heads;
  run_tasks(threads, tasks, [&](int worker, std::int64_t task) {
    const std::int64_t index = order_[static_cast<std::size_t>(task / problem.kv_heads)];
    run_segment(problem, problem.segment(index), task % problem.kv_heads, gradients,
                workspaces_[static_cast<std::size_t>(worker)]);
  });
}

template class Backward<float>;
template class Backward<double>;

}  // namespace straddle::cpu
