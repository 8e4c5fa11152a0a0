// Reads a case text from left to right; every failure says where, what was expected and what was seen.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "harness/scenario/case.hpp"

namespace straddle::harness {

class TextCursor {
 public:
  explicit TextCursor(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t position() const { return position_; }

  [[noreturn]] void fail(std::size_t position, const std::string& message) const {
    throw CaseTextError(text_, position, message);
  }

  [[nodiscard]] bool accept(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    position_ += token.size();
    return true;
  }

  void expect(std::string_view token, std::string_view what) {
    if (!accept(token)) fail_expected(what);
  }

  // "/name", where a name that does not end with ':' must end there.
  [[nodiscard]] bool accept_key(std::string_view name) {
    if (!rest().starts_with('/') || !rest().substr(1).starts_with(name)) return false;
    if (name.back() != ':' && !ends_word(1 + name.size())) return false;
    position_ += 1 + name.size();
    return true;
  }

  [[nodiscard]] bool accept_word(std::string_view name) {
    return rest().starts_with(name) && ends_word(name.size()) && accept(name);
  }

  // Up to the next '/'.
  [[nodiscard]] std::string word() {
    const std::string_view result = rest().substr(0, rest().find('/'));
    position_ += result.size();
    return std::string(result);
  }

  [[nodiscard]] std::int64_t integer(std::string_view what, std::int64_t least, std::int64_t most) {
    const std::size_t at = position_;
    const auto value = read<std::int64_t>(fmt::format("{} ({} to {})", what, least, most));
    if (value < least || value > most) {
      fail(at, fmt::format("{} must be {} to {}, not {}", what, least, most, value));
    }
    return value;
  }

  [[nodiscard]] std::uint64_t unsigned_integer(std::string_view what) {
    return read<std::uint64_t>(std::string(what));
  }

  [[nodiscard]] double number(std::string_view what) { return read<double>(std::string(what)); }

  void end(std::string_view what) const {
    if (!rest().empty()) fail_expected(what);
  }

 private:
  [[nodiscard]] std::string_view rest() const { return text_.substr(position_); }
  [[nodiscard]] bool ends_word(std::size_t size) const {
    return rest().size() == size || rest()[size] == '/';
  }

  [[noreturn]] void fail_expected(std::string_view what) const {
    const std::string_view seen = rest().substr(0, 20);
    fail(position_,
         fmt::format("expected {}, not {}", what, seen.empty() ? "the end" : fmt::format("\"{}\"", seen)));
  }

  template <class Number>
  [[nodiscard]] Number read(const std::string& what) {
    Number value{};
    const auto [end, error] = std::from_chars(rest().data(), rest().data() + rest().size(), value);
    if (error != std::errc{}) fail_expected(what);
    position_ += static_cast<std::size_t>(end - rest().data());
    return value;
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace straddle::harness
