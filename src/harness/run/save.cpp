#include "harness/run/save.hpp"

#include <fmt/format.h>

#include "tensor/safetensors.hpp"

namespace straddle::harness {

void save_results(const std::filesystem::path& folder, const Case& point,
                  const std::vector<LayerResults>& layers) {
  std::vector<tensor::SafetensorsTensor> tensors;
  for (std::size_t layer = 0; layer < layers.size(); ++layer) {
    const std::string prefix = layer == 0 ? "" : fmt::format("layer{}.", layer);
    for (const auto name : kResultNames) {
      const auto rows = layers[layer].by_name(name).view().slice(tensor::Axis::token, 0, point.pack.slots);
      std::vector<std::int64_t> shape;
      for (const auto& extent : rows.shape().extents()) shape.push_back(extent.size);
      tensors.push_back({prefix + std::string(name), shape, rows});
    }
  }
  const bool whole = !point.pack.gapped();
  const std::vector<std::int64_t> cu_seqlens = whole ? point.pack.cu_seqlens() : std::vector<std::int64_t>{};
  if (whole) {
    const auto entries = static_cast<std::int64_t>(cu_seqlens.size());
    tensors.push_back({"cu_seqlens",
                       {entries},
                       {reinterpret_cast<const std::byte*>(cu_seqlens.data()), tensor::DType::i64,
                        tensor::Shape{{tensor::Axis::token, entries}}}});
  }
  tensor::write_safetensors(folder / fmt::format("{:08x}.safetensors", case_id(point)), tensors,
                            {{"case", print(point)},
                             {"softmax_scale", fmt::format("{}", point.scale())},
                             {"lse_base", "e"},
                             {"layout", "global"}});
}

}  // namespace straddle::harness
