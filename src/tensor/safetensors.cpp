#include "tensor/safetensors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cstring>
#include <utility>

#include "tensor/mapped_file.hpp"
#include "tensor/safetensors_header.hpp"

namespace straddle::tensor {
namespace {

// Header lengths, offsets and elements are little-endian in the file and are used as they lie there.
static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's limit

// The JSON text of the header.
std::string_view header_text(std::span<const std::byte> bytes) {
  if (bytes.size() < kLengthBytes) {
    throw HeaderError(fmt::format(
        "a safetensors file begins with the length of its header in {} bytes, this file has {} bytes",
        kLengthBytes, bytes.size()));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const std::uint64_t rest = bytes.size() - kLengthBytes;
  if (length > rest) {
    throw HeaderError(
        fmt::format("the header's length (bytes [0, 8)) is {}, but only {} bytes follow; cut off, or no "
                    "safetensors file",
                    length, rest));
  }
  if (length > kMaxHeaderBytes) {
    throw HeaderError(fmt::format("the header's length (bytes [0, 8)) is {}, the format allows {}", length,
                                  kMaxHeaderBytes));
  }
  return {reinterpret_cast<const char*>(bytes.data() + kLengthBytes), static_cast<std::size_t>(length)};
}

}  // namespace

struct SafetensorsFile::Impl {
  explicit Impl(const std::filesystem::path& file_path) : path(file_path), file(file_path) {
    const std::string_view text = header_text(file.bytes());
    const auto data = file.bytes().subspan(kLengthBytes + text.size());
    SafetensorsHeader header = parse_header(text, data.size());
    metadata = std::move(header.metadata);
    for (auto& [name, tensor] : header.tensors) {
      if (const auto dtype = dtype_of(tensor.dtype_name)) {
        entries.emplace(name, SafetensorsEntry{*dtype, std::move(tensor.shape),
                                               data.subspan(tensor.begin, tensor.end - tensor.begin)});
      } else {
        unread.emplace(name, tensor.dtype_name);
      }
    }
  }

  std::filesystem::path path;
  MappedFile file;
  std::map<std::string, SafetensorsEntry> entries;
  std::map<std::string, std::string> unread;  // tensor -> its dtype, which DType does not have
  std::map<std::string, std::string> metadata;
};

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) try
    : impl_(std::make_unique<Impl>(path)) {
} catch (const HeaderError& error) {
  throw SafetensorsError(fmt::format("{}: {}", path.string(), error.what()));
}

SafetensorsFile::~SafetensorsFile() = default;
SafetensorsFile::SafetensorsFile(SafetensorsFile&&) noexcept = default;
SafetensorsFile& SafetensorsFile::operator=(SafetensorsFile&&) noexcept = default;

const std::map<std::string, SafetensorsEntry>& SafetensorsFile::entries() const { return impl_->entries; }
const std::map<std::string, std::string>& SafetensorsFile::metadata() const { return impl_->metadata; }
const std::filesystem::path& SafetensorsFile::path() const { return impl_->path; }

bool SafetensorsFile::has(const std::string& name) const {
  return impl_->entries.contains(name) || impl_->unread.contains(name);
}

const SafetensorsEntry& SafetensorsFile::entry(const std::string& name) const {
  if (const auto found = impl_->entries.find(name); found != impl_->entries.end()) return found->second;
  const std::string path = impl_->path.string();
  if (const auto found = impl_->unread.find(name); found != impl_->unread.end()) {
    throw SafetensorsError(fmt::format("{}: tensor {} is {}, but only F64 F32 BF16 F16 I64 I32 are read",
                                       path, quoted(name), found->second));
  }
  std::vector<std::string> names;
  for (const auto& [there, entry] : impl_->entries) names.push_back(quoted(there));
  for (const auto& [there, dtype] : impl_->unread) names.push_back(quoted(there));
  throw SafetensorsError(fmt::format("{}: there is no tensor {}; there are {}: {}", path, quoted(name),
                                     names.size(), fmt::join(names, " ")));
}

}  // namespace straddle::tensor
