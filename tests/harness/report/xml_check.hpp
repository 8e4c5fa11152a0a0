// Is a text well-formed XML, as far as these tests need it: one root, tags that close in order, attributes in
// double quotes and once each, known entities, no bare markup and no forbidden control characters.
#pragma once

#include <cctype>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace straddle::harness {

class XmlCheck {
 public:
  struct Element {
    std::string name;
    std::vector<std::pair<std::string, std::string>> attributes;  // decoded
    std::string text;                                             // decoded, of this element itself
    [[nodiscard]] std::string attribute(const std::string& key) const {
      for (const auto& [attribute_name, value] : attributes) {
        if (attribute_name == key) return value;
      }
      throw std::invalid_argument("no attribute " + key + " in " + name);
    }
  };

  // Throws std::invalid_argument that says where it is not well-formed.
  explicit XmlCheck(std::string_view xml) : xml_(xml) {
    expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    while (at_ < xml_.size()) {
      if (xml_[at_] == '<') {
        tag();
      } else {
        const std::size_t end = std::min(xml_.find('<', at_), xml_.size());
        const std::string text = decoded(xml_.substr(at_, end - at_));
        if (!open_.empty()) elements_[open_.back()].text += text;
        if (open_.empty() && text.find_first_not_of("\n ") != std::string::npos)
          fail("text outside the root");
        at_ = end;
      }
    }
    if (!open_.empty()) fail("an element is not closed");
    if (roots_ != 1) fail("not one root");
  }

  [[nodiscard]] std::vector<Element> all(const std::string& name) const {
    std::vector<Element> found;
    for (const Element& element : elements_) {
      if (element.name == name) found.push_back(element);
    }
    return found;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("byte " + std::to_string(at_) + ": " + what);
  }

  void expect(std::string_view text) {
    if (xml_.substr(at_, text.size()) != text) fail("expected " + std::string(text));
    at_ += text.size();
  }

  void blanks() {
    while (at_ < xml_.size() && xml_[at_] == ' ') ++at_;
  }

  std::string word() {
    std::string result;
    while (at_ < xml_.size() && std::isalpha(static_cast<unsigned char>(xml_[at_])) != 0)
      result += xml_[at_++];
    if (result.empty()) fail("expected a name");
    return result;
  }

  void tag() {
    expect("<");
    if (xml_.substr(at_, 1) == "/") {
      ++at_;
      const std::string name = word();
      if (open_.empty() || elements_[open_.back()].name != name) fail("closes another element than is open");
      open_.pop_back();
      return expect(">");
    }
    Element element{.name = word(), .attributes = {}, .text = {}};
    std::set<std::string> seen;
    for (blanks(); xml_.substr(at_, 1) != ">" && xml_.substr(at_, 1) != "/"; blanks()) {
      const std::string key = word();
      if (!seen.insert(key).second) fail("an attribute twice");
      expect("=\"");
      const std::size_t end = xml_.find('"', at_);
      if (end == std::string_view::npos) fail("an open attribute");
      element.attributes.emplace_back(key, decoded(xml_.substr(at_, end - at_)));
      at_ = end + 1;
    }
    if (open_.empty()) ++roots_;
    elements_.push_back(element);
    if (xml_.substr(at_, 1) == "/") {
      ++at_;
    } else {
      open_.push_back(elements_.size() - 1);
    }
    expect(">");
  }

  [[nodiscard]] std::string decoded(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x20 && text[i] != '\n' && text[i] != '\t') fail("a control character");
      if (text[i] == '<') fail("bare markup");
      if (text[i] != '&') {
        result += text[i];
        continue;
      }
      const std::size_t end = text.find(';', i);
      const std::string entity(text.substr(i + 1, std::min(end, text.size()) - i - 1));
      i = end;
      if (entity == "amp") {
        result += '&';
      } else if (entity == "lt") {
        result += '<';
      } else if (entity == "gt") {
        result += '>';
      } else if (entity == "quot") {
        result += '"';
      } else if (entity == "#10") {
        result += '\n';
      } else if (entity == "#9") {
        result += '\t';
      } else {
        fail("unknown entity " + entity);
      }
    }
    return result;
  }

  std::string_view xml_;
  std::size_t at_ = 0;
  std::vector<Element> elements_;
  std::vector<std::size_t> open_;
  int roots_ = 0;
};

}  // namespace straddle::harness
