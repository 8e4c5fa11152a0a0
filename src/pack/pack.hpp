// The canonical form of a pack: which slots of a row belong to which document.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace straddle::pack {

// A rule of the input was broken; the message names the rule, the index and the values.
class PackError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

struct Document {
  std::int64_t start;   // first slot
  std::int64_t length;  // > 0
  [[nodiscard]] std::int64_t end() const { return start + length; }
  bool operator==(const Document&) const = default;
};

// Documents in slot order, none empty, none overlapping; slots outside of them are padding. Without gaps the
// documents lie end to end from slot 0 and padding is a tail; the gapped form may also have padding before
// and between documents.
struct Pack {
  std::vector<Document> documents;
  std::int64_t slots = 0;  // S

  [[nodiscard]] std::int64_t real_tokens() const;
  [[nodiscard]] bool gapped() const;  // padding that is not a tail

  // [documents + 1], the end of each document after a 0; throws PackError for a gapped pack, which has none.
  [[nodiscard]] std::vector<std::int64_t> cu_seqlens() const;

  // S rounded up, documents unchanged; throws PackError for ranks < 1 and where 64 bits don't hold S.
  [[nodiscard]] Pack padded_to_multiple_of(std::int64_t ranks) const;

  void validate() const;  // throws PackError naming document and rule
  bool operator==(const Pack&) const = default;
};

}  // namespace straddle::pack
