#include "harness/report/record.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace straddle::harness {
namespace {

constexpr std::array kGravestFirst{6, 4, 3, 1, 5, 77, 0};

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return "pass";
    case Verdict::mismatch:
      return "mismatch";
    case Verdict::hang:
      return "hang";
    case Verdict::crash:
      return "crash";
    case Verdict::vacuous:
      return "vacuous";
    case Verdict::skipped:
      return "skipped";
    case Verdict::lost:
      return "lost";
    case Verdict::not_applicable:
      return "not applicable";
  }
  throw std::invalid_argument("no such verdict");
}

int exit_code(Verdict verdict) {
  switch (verdict) {
    case Verdict::pass:
      return 0;
    case Verdict::mismatch:
      return 1;
    case Verdict::hang:
      return 3;
    case Verdict::crash:
    case Verdict::lost:
      return 4;
    case Verdict::vacuous:
      return 5;
    case Verdict::skipped:
    case Verdict::not_applicable:
      return 77;
  }
  throw std::invalid_argument("no such verdict");
}

// A code outside the list is a slip of the program: as grave as 6, and kept as it is.
int gravest(int a, int b) {
  const auto place = [](int code) {
    const auto at = std::find(kGravestFirst.begin(), kGravestFirst.end(), code);
    return at == kGravestFirst.end() ? kGravestFirst.begin() : at;
  };
  return place(b) < place(a) ? b : a;
}

std::string_view exit_word(int code) {
  switch (code) {
    case 0:
      return "pass";
    case 1:
      return "mismatch";
    case 2:
      return "usage";
    case 3:
      return "hang";
    case 4:
      return "crash or lost rank";
    case 5:
      return "vacuous or uncovered";
    case 77:
      return "everything skipped";
    default:
      return "internal";
  }
}

bool is_bad(Verdict verdict) {
  return verdict != Verdict::pass && verdict != Verdict::skipped && verdict != Verdict::not_applicable;
}

}  // namespace straddle::harness
