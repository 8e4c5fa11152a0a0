#include "harness/judge/oracle.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <mutex>

#include "families.hpp"
#include "problem.hpp"
#include "reference/attention.hpp"

namespace straddle::harness {
namespace {

using namespace test;

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.shape() == b.shape() && std::memcmp(a.view().data(), b.view().data(), a.size_bytes()) == 0;
}

bool same_bits(const OracleLayer& a, const OracleLayer& b) {
  for (const std::string_view name : kResultNames) {
    if (!same_bits(a.results.by_name(name), b.results.by_name(name))) return false;
  }
  for (const auto& [name, tensor] : a.sigma) {
    if (!same_bits(tensor, b.sigma.at(name)) || !same_bits(a.tau.at(name), b.tau.at(name))) return false;
  }
  return a.largest_logit == b.largest_logit && a.float_reference_used == b.float_reference_used;
}

// The layers on rank 0 of a world of threads; checks that the others have none.
std::vector<OracleLayer> on_ranks(int ranks, const Case& point, const Inputs& inputs) {
  std::vector<OracleLayer> layers;
  std::mutex mutex;
  int empty = 0;
  comm::run_threads(ranks, [&](comm::World& world) {
    auto mine = compute_oracle(point, inputs, world.control());
    const std::scoped_lock lock(mutex);
    if (world.rank() == 0) {
      layers = std::move(mine);
    } else {
      empty += mine.empty() ? 1 : 0;
    }
  });
  CHECK(empty == ranks - 1);
  return layers;
}

// A case that is shared out: well over 2 MFLOP.
Case shared_case() {
  Case point = make_case({33, 1, 70, 2, 45}, 3, 2, DType::bf16, {.head_dim = 24, .v_head_dim = 16});
  point.layers = 2;
  point.inputs.d_lse = true;
  return point;
}

TEST_CASE("compute_oracle: the same bits on 1, 2, 3 and 8 ranks") {
  const Case point = shared_case();
  const TableInputs inputs(point, normal_but({}));
  const auto alone = oracle_of(point, inputs);
  REQUIRE(alone.size() == 2);
  for (const int ranks : {1, 2, 3, 8}) {
    const auto layers = on_ranks(ranks, point, inputs);
    REQUIRE(layers.size() == 2);
    CAPTURE(ranks);
    CHECK(same_bits(layers[0], alone[0]));
    CHECK(same_bits(layers[1], alone[1]));
  }
}

TEST_CASE("compute_oracle: tiny cases too, without a message") {
  const Case point = make_case({2, 1}, 1, 2);
  const TableInputs inputs(point, normal_but({}));
  CHECK(same_bits(on_ranks(3, point, inputs)[0], oracle_of(point, inputs)[0]));
}

TEST_CASE("compute_oracle: equals the reference over all documents and heads at once") {
  const Case point = shared_case();
  const TableInputs inputs(point, normal_but({}));
  const auto layers = oracle_of(point, inputs);
  const std::int64_t rows = point.pack.slots;
  const reference::Shape shape{rows, 4, 2, 24, 16, point.scale()};
  for (std::size_t layer = 0; layer < 2; ++layer) {
    std::map<std::string, Tensor> whole;
    const auto span = [&](const std::string& name) { return whole.at(name).view().span<double>(); };
    for (const std::string_view name : kResultNames) {
      whole.emplace(name, Tensor(DType::fp64, result_shape(point, name, rows)));
    }
    const auto in = [&](const std::string& name) {
      return inputs.layer(layer).at(name).view().span<double>();
    };
    std::vector<reference::Document> documents;
    for (const auto& document : point.pack.documents) documents.push_back({document.start, document.length});
    reference::attend_all<double>(shape, documents, {in("q"), in("k"), in("v"), in("d_out"), in("d_lse")},
                                  {span("out"), span("lse"), span("d_q"), span("d_k"), span("d_v")});
    for (const std::string_view name : kResultNames) {
      const Tensor& seen = layers[layer].results.by_name(name);
      REQUIRE(seen.shape() == result_shape(point, name, rows - 3));  // without the padding at the end
      double largest = 0;
      for (std::int64_t i = 0; i < seen.shape().numel(); ++i) {
        largest = std::max(largest, std::abs(get(seen, i) - get(whole.at(std::string(name)), i)));
      }
      CHECK(largest < 1e-12);
    }
  }
}

TEST_CASE("compute_oracle: sigma, tau and A of a document of two tokens, by their definitions") {
  const Case point =
      make_case({2}, 0, 1, DType::fp64, {.heads = 2, .kv_heads = 1, .head_dim = 2, .v_head_dim = 3});
  const TableInputs inputs(point, normal_but({}));
  const OracleLayer layer = std::move(oracle_of(point, inputs)[0]);
  const auto in = [&](const std::string& name, std::int64_t t, std::int64_t h, std::int64_t d) {
    return get(inputs.layer(0).at(name), index_of(inputs.layer(0).at(name), t, h, d));
  };
  double largest = 0;
  for (std::int64_t h = 0; h < 2; ++h) {
    for (std::int64_t i = 0; i < 2; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        double s = 0, squares = 0;
        for (std::int64_t d = 0; d < 2; ++d) {
          const double product = in("q", i, h, d) * in("k", j, 0, d);
          s += product;
          squares += product * product;
        }
        largest = std::max({largest, std::abs(s) * point.scale(), std::sqrt(squares) * point.scale()});
      }
    }
    // Row 1: P over keys 0 and 1 from LSE.
    for (std::int64_t d = 0; d < 3; ++d) {
      double sigma = 0;
      for (std::int64_t j = 0; j < 2; ++j) {
        const double s =
            (in("q", 1, h, 0) * in("k", j, 0, 0) + in("q", 1, h, 1) * in("k", j, 0, 1)) * point.scale();
        sigma += std::exp(s - get(layer.results.lse, 2 + h)) * std::abs(in("v", j, 0, d));
      }
      const std::int64_t at = index_of(layer.sigma.at("out"), 1, h, d);
      CHECK(get(layer.sigma.at("out"), at) == doctest::Approx(sigma));
      CHECK(get(layer.tau.at("out"), at) ==
            doctest::Approx(std::abs(in("v", 0, 0, d)) + std::abs(in("v", 1, 0, d))));
    }
  }
  CHECK(layer.largest_logit[0] == doctest::Approx(largest));
}

TEST_CASE("compute_oracle: the float reference is measured where it is cheap, and not for fp64") {
  const Case point = make_case({5, 2}, 0, 1);
  const TableInputs inputs(point, normal_but({}));
  const auto used = oracle_of(point, inputs)[0].float_reference_used;
  REQUIRE(used.size() == 2);
  for (const double ratio : used[0]) CHECK((ratio > 0 && ratio < 0.5));
  Case fp64 = point;
  fp64.dtype = DType::fp64;
  CHECK(oracle_of(fp64, inputs)[0].float_reference_used.empty());
  const Case large =
      make_case({700}, 0, 1, DType::fp32, {.heads = 2, .kv_heads = 1, .head_dim = 64, .v_head_dim = 64});
  const TableInputs many(large, normal_but({}));
  CHECK(std::isnan(oracle_of(large, many)[0].float_reference_used[0][0]));
}

TEST_CASE("compute_oracle: rows between documents are 0 and -inf; padding that is NaN is not read") {
  Case point = make_case({3, 2}, 0, 1);
  point.pack.documents = {{1, 3}, {6, 2}};
  point.pack.slots = 10;
  const TableInputs inputs(point, [](const std::string& name, std::int64_t token, auto h, auto d) {
    const bool real = (token >= 1 && token < 4) || (token >= 6 && token < 8);
    return real ? normal_at(name, token, h, d) : std::numeric_limits<double>::quiet_NaN();
  });
  const OracleLayer layer = std::move(oracle_of(point, inputs)[0]);
  REQUIRE(layer.results.out.shape().size(tensor::Axis::token) == 8);
  for (const std::int64_t token : {0, 4, 5}) {
    CHECK(get(layer.results.out, index_of(layer.results.out, token, 3, 2)) == 0);
    CHECK(get(layer.results.lse, token * 4) == -std::numeric_limits<double>::infinity());
    CHECK(get(layer.sigma.at("d_k"), index_of(layer.sigma.at("d_k"), token, 1, 3)) == 0);
  }
  for (std::int64_t i = 0; i < layer.results.d_q.shape().numel(); ++i) {
    CHECK(std::isfinite(get(layer.results.d_q, i)));
  }
}

// Fails on one rank, when it reads document 2.
class FailingInputs : public Inputs {
 public:
  FailingInputs(const Inputs& inner, bool fails) : inner_(inner), fails_(fails) {}
  void fill(InputName input, std::int64_t layer, std::int64_t begin,
            const tensor::View& rows) const override {
    if (fails_) throw std::runtime_error("no such rows");
    inner_.fill(input, layer, begin, rows);
  }

 private:
  const Inputs& inner_;
  bool fails_;
};

TEST_CASE("compute_oracle: a failure on one rank is everybody's, with the rank and its cause") {
  const Case point = shared_case();
  const TableInputs inputs(point, normal_but({}));
  std::mutex mutex;
  std::vector<std::string> messages;
  comm::run_threads(3, [&](comm::World& world) {
    const FailingInputs failing(inputs, world.rank() == 1);
    try {
      static_cast<void>(compute_oracle(point, failing, world.control()));
    } catch (const std::runtime_error& error) {
      const std::scoped_lock lock(mutex);
      messages.emplace_back(error.what());
    }
  });
  REQUIRE(messages.size() == 3);
  CHECK(messages[0].ends_with("failed on rank 1: no such rows"));
  CHECK(messages[1] == messages[0]);
  CHECK(messages[2] == messages[0]);
}

}  // namespace
}  // namespace straddle::harness
