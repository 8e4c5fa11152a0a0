#include "harness/report/xml_text.hpp"

#include <doctest/doctest.h>

#include "xml_check.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("markup, quotes and line breaks are escaped where they must be") {
  CHECK(xml_text("a < b && \"c\" > 'd'\n\te") == "a &lt; b &amp;&amp; \"c\" &gt; 'd'\n\te");
  CHECK(xml_attribute("a \"b\"\n\tc") == "a &quot;b&quot;&#10;&#9;c");
}

TEST_CASE("every byte alone: itself, an entity, or \\xHH") {
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    const std::string escaped = xml_text(text);
    CAPTURE(byte);
    const bool is_kept =
        (byte >= 0x20 && byte < 0x7f && text != "<" && text != ">" && text != "&") || byte == 9 || byte == 10;
    CHECK((escaped == text) == is_kept);
    const XmlCheck document("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a b=\"" + xml_attribute(text) +
                            "\">" + escaped + "</a>");
    if (byte == 9 || byte == 10 || (byte >= 0x20 && byte < 0x7f)) {
      CHECK(document.all("a")[0].text == text);
      CHECK(document.all("a")[0].attribute("b") == text);
    }
  }
}

TEST_CASE("well-formed UTF-8 stays; overlong forms, surrogates, cut sequences and non-characters don't") {
  for (const char* good : {"\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xef\xbf\xbd"}) {
    CHECK(xml_text(good) == std::string(good));
  }
  CHECK(xml_text("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(xml_text("\xe0\x80\xaf") == "\\xe0\\x80\\xaf");
  CHECK(xml_text("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(xml_text("\xef\xbf\xbf") == "\\xef\\xbf\\xbf");
  CHECK(xml_text("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(xml_text("\xe2\x82") == "\\xe2\\x82");
  CHECK(xml_text("\xe2\x28\xa1") == "\\xe2(\\xa1");
}

}  // namespace
}  // namespace straddle::harness
