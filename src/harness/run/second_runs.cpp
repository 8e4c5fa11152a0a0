#include "harness/run/second_runs.hpp"

#include <algorithm>
#include <cmath>

namespace straddle::harness {
namespace {

tensor::Tensor copy(const tensor::Tensor& from) {
  tensor::Tensor to(from.dtype(), from.shape());
  tensor::convert(from.view(), to.view());
  return to;
}

}  // namespace

std::int64_t probed(const Case& point) {
  const auto& documents = point.pack.documents;
  const std::int64_t cut = point.rows_per_rank();
  std::size_t document = documents.size() - 1;
  std::int64_t token = documents.back().start;
  if (point.ranks > 1) {
    const auto after = std::find_if(documents.begin(), documents.end(),
                                    [&](const pack::Document& d) { return d.start >= cut; });
    if (after != documents.begin()) {
      document = static_cast<std::size_t>(std::prev(after) - documents.begin());
      token = std::min(documents[document].end(), cut) - 1;
    }
  }
  return point.probe == Probe::change_token ? token : static_cast<std::int64_t>(document);
}

SecondRun run_probe(const Case& point, const Inputs& inputs, Subject& subject, comm::World& world) {
  const std::int64_t changed = probed(point);
  const auto document = [&] { return point.pack.documents[static_cast<std::size_t>(changed)]; };
  const auto other = point.probe == Probe::change_token
                         ? change_token(inputs, point.dtype, changed)
                         : poison_rows(inputs, document().start, document().end());
  return {changed, subject.run(point, *other, world)};
}

bool has_stored_results(const Case& point) {
  if (point.inputs.kind != InputKind::file || point.dtype == tensor::DType::fp64) return false;
  const InputFile file = read_input_file(point.inputs.file);
  const bool exact = point.dtype == file.dtype || point.dtype == tensor::DType::fp32;
  return file.has_results && exact && point.layers == 1 && !point.inputs.d_lse &&
         point.scale() == file.softmax_scale.value_or(1 / std::sqrt(static_cast<double>(file.head_dim)));
}

OracleLayer with_stored_results(const Case& point, const OracleLayer& oracle) {
  auto stored = read_stored_results(point.inputs.file);
  OracleLayer layer;
  for (const auto result : kResultNames)
    layer.results.by_name(result) = std::move(stored.at(std::string(result)));
  for (const auto& [name, values] : oracle.sigma) layer.sigma.emplace(name, copy(values));
  for (const auto& [name, values] : oracle.tau) layer.tau.emplace(name, copy(values));
  layer.largest_logit = oracle.largest_logit;
  return layer;
}

}  // namespace straddle::harness
