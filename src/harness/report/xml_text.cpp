#include "harness/report/xml_text.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace straddle::harness {
namespace {

// Bytes of the well-formed UTF-8 sequence at the start of the text that XML allows, 0 if there is none
// (RFC 3629, section 4: no overlong forms, no surrogates, at most U+10FFFF).
std::size_t sequence_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  const std::size_t size = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (size == 0 || text.size() < size) return 0;
  std::uint32_t code = lead & (0xffU >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < kLeast[size] || surrogate || code > 0x10ffff || code == 0xfffe || code == 0xffff ? 0 : size;
}

std::string escaped(std::string_view text, bool in_attribute) {
  std::string result;
  while (!text.empty()) {
    const char c = text.front();
    const auto byte = static_cast<std::uint8_t>(c);
    std::size_t taken = 1;
    if (c == '&') {
      result += "&amp;";
    } else if (c == '<') {
      result += "&lt;";
    } else if (c == '>') {
      result += "&gt;";
    } else if (c == '"' && in_attribute) {
      result += "&quot;";
    } else if (c == '\n' || c == '\t') {
      result += in_attribute ? fmt::format("&#{};", byte) : std::string(1, c);
    } else if (byte >= 0x20 && byte < 0x7f) {
      result += c;
    } else if (const std::size_t size = sequence_bytes(text); byte >= 0x80 && size > 0) {
      result += text.substr(0, size);
      taken = size;
    } else {
      result += fmt::format("\\x{:02x}", byte);
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace

std::string xml_text(std::string_view text) { return escaped(text, false); }

std::string xml_attribute(std::string_view text) { return escaped(text, true); }

}  // namespace straddle::harness
