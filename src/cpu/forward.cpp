#include "cpu/forward.hpp"

#include <cmath>
#include <limits>

#include "cpu/exp.hpp"
#include "cpu/gradients.hpp"
#include "cpu/panels.hpp"
#include "cpu/tasks.hpp"

namespace straddle::cpu {
namespace {

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();

// One query tile of one kv head on its way through the passes.
template <class T>
struct Tile {
  const Problem<T>& problem;
  const Segment& segment;
  std::int64_t kv_head;
  QueryTile queries;
  std::int64_t out_stride;
  ForwardWorkspace<T>& work;
};

template <class T>
void pack_keys(const Problem<T>& problem, std::int64_t index, std::int64_t kv_head,
               ForwardWorkspace<T>& work) {
  if (work.packed_segment == index && work.packed_head == kv_head) return;
  const Segment segment = problem.segment(index);
  const std::int64_t head_dim = problem.k.size(), v_head_dim = problem.v.size();
  T* stage = work.stage.resize(kPanelColumns<T> * std::max(head_dim, v_head_dim));
  T* keys = work.keys.resize(panelled_size<T>(head_dim, problem.longest_keys));
  T* values = work.values.resize(panelled_size<T>(problem.longest_keys, v_head_dim));
  panel_keys<T>(problem.k, segment.k_begin, segment.keys, kv_head, stage, keys, nullptr);
  panel_keys<T>(problem.v, segment.k_begin, segment.keys, kv_head, stage, nullptr, values);
  work.packed_segment = index;
  work.packed_head = kv_head;
}

// Pass 0: Q times the scale; empty sums.
template <class T>
void start_tile(const Tile<T>& tile) {
  const std::int64_t rows = tile.queries.rows(), head_dim = tile.problem.q.size();
  T* queries = tile.work.queries.resize(rows * head_dim);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t token = tile.segment.q_begin + tile.queries.first + r / tile.queries.group;
    const std::int64_t head = tile.kv_head * tile.queries.group + r % tile.queries.group;
    T* row = queries + r * head_dim;
    tile.problem.q.read(token, head, row);
    for (std::int64_t d = 0; d < head_dim; ++d) row[d] *= tile.problem.scale;
  }
  tile.work.logits.resize(rows * kLogitStride<T>);
  std::fill_n(tile.work.out.resize(rows * tile.out_stride), rows * tile.out_stride, T{0});
  std::fill_n(tile.work.row_max.resize(rows), rows, -kInfinity<T>);
  std::fill_n(tile.work.row_sum.resize(rows), rows, T{0});
}

// Pass 1: S = sc Q K^T for keys [key, key + keys) of the segment; only where some row of a panel sees a key.
template <class T>
void compute_logits(const Tile<T>& tile, std::int64_t key, std::int64_t keys) {
  const std::int64_t head_dim = tile.problem.q.size();
  for (std::int64_t column = 0; column < keys; column += kPanelColumns<T>) {
    multiply_panel<T, Left::rows, Into::set>(
        keys - column, tile.queries.first_row_that_sees(key + column), tile.queries.rows(),
        [head_dim](std::int64_t, std::int64_t) {
          return Depth{0, head_dim};
        },
        tile.work.queries.data(), head_dim, tile.work.keys.data() + (key + column) * head_dim,
        tile.work.logits.data() + column, kLogitStride<T>);
  }
}

// Largest of the first `count` > 0 logits and `so_far`. A NaN among them is passed over: it is still there
// for exp.
template <class T>
T row_maximum(const T* logits, std::int64_t count, T so_far) {
  constexpr std::int64_t kLane = kLanes<T>;
  Vector<T> largest[2] = {broadcast(so_far), broadcast(so_far)};
  std::int64_t j = 0;
  for (; j + 2 * kLane <= count; j += 2 * kLane) {
    largest[0] = larger(load(logits + j), largest[0]);
    largest[1] = larger(load(logits + j + kLane), largest[1]);
  }
  for (; j < count; j += kLane) {
    largest[0] = larger(first_lanes(load(logits + j), count - j, -kInfinity<T>), largest[0]);
  }
  return largest_lane<T>(larger(largest[0], largest[1]));
}

// The first `count` logits become P = exp(s - maximum), the others up to `end` become 0. Returns the sum of
// P, each lane's part added in the order of the keys.
template <class T>
T exponentiate_row(T* logits, std::int64_t count, std::int64_t end, T maximum) {
  constexpr std::int64_t kLane = kLanes<T>;
  const Vector<T> base = broadcast(maximum);
  Vector<T> sum[2] = {};
  const auto one_vector = [&](std::int64_t j, Vector<T> s, Vector<T>& into) {
    const Vector<T> p = exp<T>(s - base);
    store(logits + j, p);
    into += p;
  };
  std::int64_t j = 0;
  for (; j + 2 * kLane <= count; j += 2 * kLane) {
    one_vector(j, load(logits + j), sum[0]);
    one_vector(j + kLane, load(logits + j + kLane), sum[1]);
  }
  for (int parity = 0; j < count; j += kLane, ++parity) {
    one_vector(j, first_lanes(load(logits + j), count - j, -kInfinity<T>), sum[parity]);
  }
  for (; j < end; j += kLane) store(logits + j, Vector<T>{});
  return sum_of_lanes<T>(sum[0] + sum[1]);
}

// Pass 2: P = exp(S - m) with the new maximum m; O and l move from the old one to it. A row whose maximum
// stays is not touched.
template <class T>
void soften_rows(const Tile<T>& tile, std::int64_t key, std::int64_t keys) {
  for (std::int64_t r = tile.queries.first_row_that_sees(key); r < tile.queries.rows(); ++r) {
    T* logits = tile.work.logits.data() + r * kLogitStride<T>;
    T& row_max = tile.work.row_max.data()[r];
    T& row_sum = tile.work.row_sum.data()[r];
    const std::int64_t count = std::min(tile.queries.visible_keys(r) - key, keys);
    const T maximum = row_maximum(logits, count, row_max);
    const T base = maximum == -kInfinity<T> ? T{0} : maximum;  // all logits -inf: exp gives 0, not NaN
    const T sum = exponentiate_row(logits, count, keys, base);
    if (maximum != row_max) {
      const Vector<T> correction = exp<T>(broadcast(row_max - base));
      T* out = tile.work.out.data() + r * tile.out_stride;
      for (std::int64_t d = 0; d < tile.out_stride; d += kLanes<T>)
        store(out + d, load(out + d) * correction);
      row_sum *= correction[0];
      row_max = maximum;
    }
    row_sum += sum;
  }
}

// Pass 3: O += P V.
template <class T>
void add_values(const Tile<T>& tile, std::int64_t key, std::int64_t keys) {
  const std::int64_t v_head_dim = tile.problem.v.size();
  const auto seen = [&](std::int64_t, std::int64_t last_row) {
    return Depth{0, std::min(tile.queries.visible_keys(last_row) - key, keys)};
  };
  for (std::int64_t d = 0; d < v_head_dim; d += kPanelColumns<T>) {
    multiply_panel<T, Left::rows, Into::add>(
        v_head_dim - d, tile.queries.first_row_that_sees(key), tile.queries.rows(), seen,
        tile.work.logits.data(), kLogitStride<T>,
        tile.work.values.data() + d * tile.segment.keys + key * kPanelColumns<T>, tile.work.out.data() + d,
        tile.out_stride);
  }
}

// Pass 4: out = O / l, lse = m + ln l.
template <class T>
void finish_tile(const Tile<T>& tile, const RowWriter<T>& out, const RowValues<T>& lse) {
  for (std::int64_t r = 0; r < tile.queries.rows(); ++r) {
    const std::int64_t token = tile.segment.q_begin + tile.queries.first + r / tile.queries.group;
    const std::int64_t head = tile.kv_head * tile.queries.group + r % tile.queries.group;
    const T row_sum = tile.work.row_sum.data()[r];
    if (row_sum == 0) {  // every logit was -inf
      out.write_zeros(token, head);
      lse.at(token, head) = -kInfinity<T>;
      continue;
    }
    T* row = tile.work.out.data() + r * tile.out_stride;
    for (std::int64_t d = 0; d < tile.out_stride; d += kLanes<T>) {
      store(row + d, load(row + d) / row_sum + T{0});  // + 0: no -0, whose sign may depend on the rows beside
    }
    out.write(token, head, row);
    lse.at(token, head) = tile.work.row_max.data()[r] + std::log(row_sum);
  }
}

}  // namespace

// Tiles of one (segment, kv head) follow each other, so that its keys are packed once a thread; the tile with
// the most keys first.
template <class T>
void Forward<T>::plan(const Problem<T>& problem) {
  order_by_cost(problem, order_);
  tasks_.clear();
  for (const std::int64_t index : order_) {
    const Segment segment = problem.segment(index);
    const std::int64_t tokens = tile_tokens(problem.group), first = segment.first_query();
    const std::int64_t tiles = (segment.queries - first + tokens - 1) / tokens;
    for (std::int64_t kv_head = 0; kv_head < problem.kv_heads; ++kv_head) {
      for (std::int64_t tile = tiles - 1; tile >= 0; --tile)
        tasks_.push_back({index, kv_head, first + tile * tokens});
    }
  }
}

template <class T>
void Forward<T>::run(const kernel::VarlenProblem& varlen, const kernel::ForwardResults& results,
                     int threads) {
  const Problem<T> problem(varlen);
  const RowWriter<T> out(results.out);
  const RowValues<T> lse(results.lse);
  write_blind_rows(problem, out, lse);

  plan(problem);
  workspaces_.resize(static_cast<std::size_t>(threads));
  for (auto& work : workspaces_) work.packed_segment = work.packed_head = -1;
  run_tasks(threads, static_cast<std::int64_t>(tasks_.size()), [&](int worker, std::int64_t index) {
    const Task& task = tasks_[static_cast<std::size_t>(index)];
    const Segment segment = problem.segment(task.segment);
    auto& work = workspaces_[static_cast<std::size_t>(worker)];
    const Tile<T> tile{problem,
                       segment,
                       task.kv_head,
                       query_tile(segment, task.first_query, problem.group),
                       round_up(problem.v.size(), kLanes<T>),
                       work};
    pack_keys(problem, task.segment, task.kv_head, work);
    start_tile(tile);
    for (std::int64_t key = 0; key < tile.queries.keys(); key += kTileKeys) {
      const std::int64_t keys = std::min(kTileKeys, tile.queries.keys() - key);
      compute_logits(tile, key, keys);
      soften_rows(tile, key, keys);
      add_values(tile, key, keys);
    }
    finish_tile(tile, out, lse);
  });
}

template class Forward<float>;
template class Forward<double>;

}  // namespace straddle::cpu
