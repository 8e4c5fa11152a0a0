// Text as XML 1.0 takes it.
#pragma once

#include <string>
#include <string_view>

namespace straddle::harness {

// For element content and attribute values in double quotes: markup as entities, line breaks and tabs kept
// (in an attribute as character references), control characters, bytes that are no UTF-8 and code points
// that XML forbids as \xHH.
[[nodiscard]] std::string xml_text(std::string_view text);
[[nodiscard]] std::string xml_attribute(std::string_view text);

}  // namespace straddle::harness
