#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "tensor/replacement_file.hpp"
#include "tensor/safetensors.hpp"
#include "tensor/safetensors_header.hpp"

namespace straddle::tensor {
namespace {

constexpr std::size_t kDataAlignment = 8;

// 1 for a shape without extents, as in the file; -1 when no count of elements.
std::int64_t elements_of(const std::vector<std::int64_t>& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0 || __builtin_mul_overflow(elements, extent, &elements)) return -1;
  }
  return elements;
}

// The bytes of a tensor that can be written under its name and shape.
std::span<const std::byte> checked_bytes(const SafetensorsTensor& tensor) {
  const std::string who = fmt::format("tensor {}", quoted(tensor.name));
  if (tensor.name == kMetadataKey) throw HeaderError(fmt::format("{}: this name is the format's own", who));
  if (elements_of(tensor.shape) != tensor.view.numel()) {
    throw HeaderError(fmt::format("{}: shape [{}] does not count the {} elements of its view {}", who,
                                  fmt::join(tensor.shape, ", "), tensor.view.numel(),
                                  tensor.view.shape().text()));
  }
  if (!tensor.view.contiguous()) {
    throw HeaderError(
        fmt::format("{}: its view {} is strided; copy it with convert()", who, tensor.view.shape().text()));
  }
  return tensor.view.bytes();
}

// The eight bytes of length and the header, with the spaces that let the data begin at a multiple of 8.
std::string file_head(const SafetensorsHeader& header) {
  std::string text = print_header(header);
  text.resize((text.size() + kDataAlignment - 1) / kDataAlignment * kDataAlignment, ' ');
  const std::uint64_t length = text.size();
  std::string head(sizeof length, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  return head + text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata) try {
  std::vector<const SafetensorsTensor*> order;
  for (const SafetensorsTensor& tensor : tensors) order.push_back(&tensor);
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [](const SafetensorsTensor* tensor) { return size_bytes(tensor->view.dtype()); });

  SafetensorsHeader header{{}, metadata};
  std::vector<std::span<const std::byte>> pieces;
  std::uint64_t end = 0;
  for (const SafetensorsTensor* tensor : order) {
    const std::uint64_t begin = end;
    pieces.push_back(checked_bytes(*tensor));
    end += pieces.back().size();
    const std::string dtype(dtype_name_of(tensor->view.dtype()));
    if (!header.tensors.try_emplace(tensor->name, HeaderTensor{dtype, tensor->shape, begin, end}).second) {
      throw HeaderError(fmt::format("tensor {} comes twice", quoted(tensor->name)));
    }
  }

  const std::string head = file_head(header);
  ReplacementFile file(path);
  file.write(std::as_bytes(std::span(head)));
  for (const auto piece : pieces) file.write(piece);
  file.commit();
} catch (const HeaderError& error) {
  throw SafetensorsError(fmt::format("{}: {}", path.string(), error.what()));
}

}  // namespace straddle::tensor
