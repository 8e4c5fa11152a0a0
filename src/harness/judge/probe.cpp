// What one changed token or one poisoned document must leave alone (invariants I8 and I9).
#include <fmt/format.h>

#include <stdexcept>

#include "harness/judge/bit_rows.hpp"
#include "harness/judge/judge.hpp"
#include "harness/judge/layout.hpp"

namespace straddle::harness {
namespace {

// Elements that changed though they had to stay, and the first of them.
struct Leaks {
  std::int64_t count = 0;
  std::string first;
};

void require_equal(const LayerResults& first, const LayerResults& second, std::string_view name,
                   std::int64_t begin, std::int64_t end, Leaks& leaks) {
  const BitRows rows(first.by_name(name), second.by_name(name));
  for (std::int64_t token = begin; token < end; ++token) {
    const auto element = rows.first_difference(token);
    if (!element) continue;
    if (leaks.count == 0) leaks.first = rows.describe(name, token, *element);
    leaks.count += rows.differing(token);
  }
}

void require_equal_documents(const Case& point, std::size_t but, const LayerResults& first,
                             const LayerResults& second, Leaks& leaks) {
  for (std::size_t index = 0; index < point.pack.documents.size(); ++index) {
    if (index == but) continue;
    const pack::Document& document = point.pack.documents[index];
    for (const std::string_view name : kResultNames) {
      require_equal(first, second, name, document.start, document.end(), leaks);
    }
  }
}

std::size_t document_of(const Case& point, std::int64_t token) {
  for (std::size_t index = 0; index < point.pack.documents.size(); ++index) {
    const pack::Document& document = point.pack.documents[index];
    if (document.start <= token && token < document.end()) return index;
  }
  throw std::invalid_argument(fmt::format(
      "a changed token must be a real one, but token {} of {} belongs to no document", token, print(point)));
}

InvariantVerdict verdict_of(std::string_view id, std::int64_t layer, std::size_t document,
                            const std::string& law, const Leaks& leaks) {
  InvariantVerdict verdict;
  verdict.id = id;
  verdict.layer = layer;
  verdict.document = static_cast<std::int64_t>(document);
  verdict.used = static_cast<double>(leaks.count);
  verdict.allowed = 0;
  verdict.sentence = leaks.first.empty() ? law : law + "; seen " + leaks.first;
  return verdict;
}

// I8. Rows before the token see neither its key nor its value; their own d_k and d_v do see its query. The
// token sees itself, so its own row of out changes.
InvariantVerdict changed_token(const Case& point, std::int64_t layer, std::int64_t token,
                               const LayerResults& first, const LayerResults& second) {
  const std::size_t index = document_of(point, token);
  const std::int64_t start = point.pack.documents[index].start;
  Leaks leaks;
  for (const std::string_view name : {"out", "lse", "d_q"}) {
    require_equal(first, second, name, start, token, leaks);
  }
  require_equal_documents(point, index, first, second, leaks);
  if (leaks.count == 0 && BitRows(first.out, second.out).differing(token) == 0) {
    leaks.count = 1;
    leaks.first = fmt::format("no change of out in token {} itself", token);
  }
  const std::string law = fmt::format(
      "changing token {} leaves earlier rows and other documents alone and changes its row", token);
  return verdict_of("I8", layer, index, law, leaks);
}

// I9.
InvariantVerdict poisoned_document(const Case& point, std::int64_t layer, std::int64_t document,
                                   const LayerResults& first, const LayerResults& second) {
  const auto documents = static_cast<std::int64_t>(point.pack.documents.size());
  if (document < 0 || document >= documents) {
    throw std::invalid_argument(fmt::format("{} has documents [0, {}), but document {} was made NaN",
                                            print(point), documents, document));
  }
  Leaks leaks;
  const auto index = static_cast<std::size_t>(document);
  require_equal_documents(point, index, first, second, leaks);
  return verdict_of("I9", layer, index, fmt::format("NaN in document {} reaches no other document", document),
                    leaks);
}

}  // namespace

void compare_probe(const Case& point, std::int64_t layer, std::int64_t token_or_document,
                   const LayerResults& first, const LayerResults& second, Judgement& judgement) {
  require_result_shapes(point, first);
  require_result_shapes(point, second);
  switch (point.probe) {
    case Probe::change_token:
      judgement.invariants.push_back(changed_token(point, layer, token_or_document, first, second));
      return;
    case Probe::nan_document:
      judgement.invariants.push_back(poisoned_document(point, layer, token_or_document, first, second));
      return;
    case Probe::none:
      throw std::invalid_argument(fmt::format("{} has no probe, so it has no second run", print(point)));
  }
}

}  // namespace straddle::harness
