// Checks for ranks: they throw, since a test framework's own assertions belong to one thread of one process.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "comm/errors.hpp"

namespace straddle::comm {

template <class... Args>
void expect(bool holds, fmt::format_string<Args...> text, Args&&... args) {
  if (!holds) throw std::runtime_error("expected " + fmt::format(text, std::forward<Args>(args)...));
}

inline void expect_contains(std::string_view text, std::string_view part) {
  expect(text.find(part) != std::string_view::npos, "\"{}\" in \"{}\"", part, text);
}

// The message of the Error that `act` must throw.
template <class Error, class Act>
std::string message_of(std::string_view name, Act&& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  throw std::runtime_error(fmt::format("expected an error: {}", name));
}

}  // namespace straddle::comm
