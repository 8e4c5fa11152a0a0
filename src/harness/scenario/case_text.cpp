// print and parse_case: a case's one name and back.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "harness/scenario/case.hpp"
#include "harness/scenario/case_names.hpp"
#include "harness/scenario/hash.hpp"
#include "harness/scenario/limits.hpp"
#include "harness/scenario/text_cursor.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

constexpr std::size_t kLongestPackText = 120;

// Shortest text that reads back as the same double; "1e20", not "1e+20".
std::string shortest(double value) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  std::string text(buffer.data(), end);
  if (const std::size_t plus = text.find('+'); plus != std::string::npos) text.erase(plus, 1);
  return text;
}

// "2,11x3,0": equal neighbours as length x count.
std::string lengths_text(const pack::Pack& pack) {
  if (pack.documents.empty()) return "0";
  std::string text;
  const auto& documents = pack.documents;
  for (std::size_t i = 0; i < documents.size();) {
    std::size_t end = i + 1;
    while (end < documents.size() && documents[end].length == documents[i].length) ++end;
    text += fmt::format("{}{}", i == 0 ? "" : ",", documents[i].length);
    if (end - i > 1) text += fmt::format("x{}", end - i);
    i = end;
  }
  return text;
}

std::string gapped_text(const pack::Pack& pack) {
  std::string text = "g";
  for (std::size_t i = 0; i < pack.documents.size(); ++i) {
    text += fmt::format("{}{}:{}", i == 0 ? "" : ",", pack.documents[i].start, pack.documents[i].length);
  }
  return text;
}

std::string pack_text(const pack::Pack& pack) {
  const std::int64_t end = pack.documents.empty() ? 0 : pack.documents.back().end();
  std::string text = (pack.gapped() ? gapped_text(pack) : lengths_text(pack));
  text += fmt::format("+{}", pack.slots - end);
  if (text.size() <= kLongestPackText) return text;
  return fmt::format("p{:016x}", hash_text(text));
}

// "8x4" of [8, 8, 8, 8]; the count is bounded before anything is allocated.
void parse_lengths(TextCursor& cursor, std::vector<std::int64_t>& lengths) {
  std::int64_t sum = 0;
  do {
    const std::size_t at = cursor.position();
    const std::int64_t length = cursor.integer("a document's length", 0, kMaxSlots);
    const std::int64_t count = cursor.accept("x") ? cursor.integer("a count", 1, kMaxSlots) : 1;
    if (count > (kMaxSlots - sum) / std::max<std::int64_t>(length, 1)) {
      cursor.fail(at, fmt::format("the documents exceed {} slots", kMaxSlots));
    }
    sum += length * count;
    if (length == 0) continue;
    if (static_cast<std::int64_t>(lengths.size()) + count > kMaxDocuments) {
      cursor.fail(at, fmt::format("more than {} documents", kMaxDocuments));
    }
    lengths.insert(lengths.end(), static_cast<std::size_t>(count), length);
  } while (cursor.accept(","));
}

pack::Pack parse_pack(TextCursor& cursor) {
  const std::size_t at = cursor.position();
  std::vector<std::int64_t> starts, lengths;
  const bool gapped = cursor.accept("g");
  if (!gapped) {
    parse_lengths(cursor, lengths);
  } else {
    do {
      starts.push_back(cursor.integer("a document's start", 0, kMaxSlots));
      cursor.expect(":", "\":\" between start and length");
      lengths.push_back(cursor.integer("a document's length", 0, kMaxSlots));
    } while (cursor.accept(","));
  }
  cursor.expect("+", "\"+\" and the slots after the last document");
  const std::int64_t after = cursor.integer("the slots after the last document", 0, kMaxSlots);
  try {
    pack::Pack result = gapped ? pack::from_starts(starts, lengths) : pack::from_lengths(lengths);
    result.slots += after;
    if (result.slots < 1) cursor.fail(at, "expected at least one slot");
    if (result.slots > kMaxSlots) cursor.fail(at, fmt::format("the row exceeds {} slots", kMaxSlots));
    return result;
  } catch (const pack::PackError& error) {
    cursor.fail(at, error.what());
  }
}

template <class Choices, class Value>
void parse_choice(TextCursor& cursor, const Choices& choices, Value& value) {
  std::string names;
  for (const auto& choice : choices) {
    if (choice.short_name.empty()) continue;
    if (cursor.accept_word(choice.short_name)) {
      value = choice.value;
      return;
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", choice.short_name);
  }
  cursor.fail(cursor.position(), fmt::format("expected one of {}", names));
}

double parse_positive(TextCursor& cursor, std::string_view what) {
  const std::size_t at = cursor.position();
  const double value = cursor.number(what);
  if (!(value > 0) || !std::isfinite(value)) cursor.fail(at, fmt::format("{} must be positive", what));
  return value;
}

// The keys after the seed, in print's order and each at most once.
void parse_further(TextCursor& cursor, Case& point) {
  const auto key = [&](std::string_view name) { return cursor.accept_key(name); };
  if (key("reduce:")) {
    cursor.expect("library", "\"library\"");
    point.reduce = cp::Reduce::library;
  }
  if (key("apart")) point.first_segment_apart = true;
  if (key("layers:")) point.layers = cursor.integer("layers", 1, kMaxLayers);
  if (key("recompute")) point.recompute = true;
  if (key("scale:")) point.softmax_scale = parse_positive(cursor, "the softmax scale");
  if (key("in:")) parse_choice(cursor, kInputKinds, point.inputs.kind);
  if (key("amp:")) point.inputs.amplitude = parse_positive(cursor, "the amplitude");
  if (key("dlse")) point.inputs.d_lse = true;
  if (key("nanpad")) point.inputs.padding_rows = PaddingRows::nan;
  if (key("probe:")) parse_choice(cursor, kProbes, point.probe);
  cursor.end(
      "the end, or one of /reduce: /apart /layers: /recompute /scale: /in: /amp: /dlse /nanpad /probe: "
      "in this order");
}

void parse_attention(TextCursor& cursor, Case& point) {
  cursor.expect("/H", "\"/H\" and the query heads");
  point.heads = cursor.integer("query heads", 1, kMaxHeads);
  cursor.expect(":", "\":\" and the kv heads");
  const std::size_t at = cursor.position();
  point.kv_heads = cursor.integer("kv heads", 1, kMaxHeads);
  if (point.heads % point.kv_heads != 0) {
    cursor.fail(at, fmt::format("{} kv heads do not divide {} heads", point.kv_heads, point.heads));
  }
  cursor.expect("/D", "\"/D\" and the head size");
  point.head_dim = cursor.integer("the head size", 1, kMaxHeadDim);
  point.v_head_dim = point.head_dim;
  if (cursor.accept(":")) point.v_head_dim = cursor.integer("the head size of v", 1, kMaxHeadDim);
}

}  // namespace

CaseTextError::CaseTextError(std::string_view text, std::size_t position, const std::string& message)
    : std::invalid_argument(fmt::format("case \"{}\", character {}: {}", text, position, message)),
      position_(position) {}

std::string print(const Case& point) {
  std::string text = fmt::format("W{}/{}/H{}:{}/D{}", point.ranks, pack_text(point.pack), point.heads,
                                 point.kv_heads, point.head_dim);
  if (point.v_head_dim != point.head_dim) text += fmt::format(":{}", point.v_head_dim);
  text += fmt::format("/{}/{}/{}/s{}", tensor::name(point.dtype), pack::name(point.exchange), point.kernel,
                      point.inputs.seed);
  if (point.reduce == cp::Reduce::library) text += "/reduce:library";
  if (point.first_segment_apart) text += "/apart";
  if (point.layers != 1) text += fmt::format("/layers:{}", point.layers);
  if (point.recompute) text += "/recompute";
  if (point.softmax_scale) text += "/scale:" + shortest(*point.softmax_scale);
  const InputSpec& inputs = point.inputs;
  const bool from_file = inputs.kind == InputKind::file;
  if (!from_file && inputs.kind != InputKind::normal) {
    text += fmt::format("/in:{}", short_name(kInputKinds, inputs.kind));
  }
  if (inputs.amplitude != 1) text += "/amp:" + shortest(inputs.amplitude);
  if (inputs.d_lse) text += "/dlse";
  if (inputs.padding_rows == PaddingRows::nan) text += "/nanpad";
  if (point.probe != Probe::none) text += fmt::format("/probe:{}", short_name(kProbes, point.probe));
  if (from_file) text += fmt::format("/f{:016x}", inputs.file_hash);
  return text;
}

bool names_a_file(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (part.size() == 17 && (part[0] == 'p' || part[0] == 'f') &&
        part.find_first_not_of(kHex, 1) == std::string_view::npos) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

Case parse_case(std::string_view text) {
  TextCursor cursor(text);
  if (names_a_file(text)) {
    cursor.fail(0,
                "the text holds a hash (a long pack or inputs from a file): such a case is only found with "
                "its scenario file, give both");
  }
  Case point;
  cursor.expect("W", "\"W\" and the ranks");
  point.ranks = cursor.integer("ranks", 1, kMaxRanks);
  cursor.expect("/", "\"/\" and the documents");
  point.pack = parse_pack(cursor);
  parse_attention(cursor, point);

  cursor.expect("/", "\"/\" and the dtype");
  const std::size_t dtype_at = cursor.position();
  const auto dtype = tensor::parse_dtype(cursor.word());
  if (!dtype || !tensor::is_floating(*dtype)) cursor.fail(dtype_at, "expected fp64, fp32, bf16 or fp16");
  point.dtype = *dtype;
  cursor.expect("/", "\"/\" and the exchange");
  const std::size_t exchange_at = cursor.position();
  try {
    point.exchange = pack::parse_exchange(cursor.word());
  } catch (const pack::PackError& error) {
    cursor.fail(exchange_at, error.what());
  }
  cursor.expect("/", "\"/\" and the kernel");
  const std::size_t kernel_at = cursor.position();
  point.kernel = cursor.word();
  if (point.kernel.empty()) cursor.fail(kernel_at, "expected the name of a kernel");
  cursor.expect("/s", "\"/s\" and the seed");
  point.inputs.seed = cursor.unsigned_integer("the seed");
  parse_further(cursor, point);
  return point;
}

}  // namespace straddle::harness
