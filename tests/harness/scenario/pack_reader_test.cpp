#include "harness/scenario/pack_reader.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "pack/describe.hpp"
#include "scenario_texts.hpp"

namespace straddle::harness {
namespace {

using Lengths = std::vector<std::int64_t>;
using Lines = std::vector<std::string>;

TEST_CASE("each description of [5,3]+2 gives the same pack") {
  const pack::Pack pack = pack::from_lengths(Lengths{5, 3}, 10);
  for (const char* lines : {
           "documents = [5, 3]\nslots = 10",
           "documents = [5, 3]\npadding = 2",
           "documents = [5, 3]\npadding = 2\nslots = 10",
           "documents = [0, 5, 0, 3, 0]\nslots = 10",
           "cu_seqlens = [0, 5, 8]\nslots = 10",
           "cu_seqlens = [0, 5, 5, 8]\npadding = 2",
           "starts = [0, 5]\nlengths = [5, 3]\npadding = 2",
           "document_ids = [1, 1, 1, 1, 1, 2, 2, 2, 0, 0]",
           "document_ids = [[9, 9, 9, 9, 9, 4, 4, 4, 0, 0]]",
           "position_ids = [0, 1, 2, 3, 4, 0, 1, 2, 7, 7]\nreal = 8",
       }) {
    CAPTURE(lines);
    CHECK(pack_of(lines) == pack);
  }
  CHECK(pack_of("starts = [0, 4, 8]\nlengths = [3, 2, 4]\npadding = 4") ==
        pack::from_starts(Lengths{0, 4, 8}, Lengths{3, 2, 4}, 16));
  CHECK(pack_of("documents = []\nslots = 4").slots == 4);
  CHECK(pack_of("documents = [4]\npadding = 2\nmask = [1, 1, 1, 1, 0, 0]").slots == 6);
}

TEST_CASE("zero-length documents are counted") {
  const auto cases = cases_of("[matrix]\nranks = 1\n[[pack]]\ndocuments = [0, 5, 0, 3, 0]\n");
  CHECK(cases.at(0).empty_documents == 3);
}

TEST_CASE("documents drawn from the list of real lengths") {
  const std::string lines = "file = \"data/document_lengths.txt\"\nslots = 8192\nmax_document = 512\n";
  const pack::Pack pack = pack_of(lines + "seed = 3");
  CHECK(pack.slots == 8192);
  CHECK(pack.real_tokens() == 8192);
  CHECK(pack.documents.size() > 16);
  for (const auto& document : pack.documents) CHECK(document.length <= 512);
  CHECK(pack_of(lines + "seed = 3") == pack);
  CHECK_FALSE(pack_of(lines + "seed = 4") == pack);
  CHECK(pack_of(lines + "padding = 100").real_tokens() == 8092);
}

TEST_CASE("documents drawn at random") {
  const pack::Pack pack =
      pack_of("random = { slots = 100, seed = 3, max_document = 7, zero = 0.2, one = 0.3, padding = 10 }");
  CHECK(pack.slots == 100);
  CHECK(pack.real_tokens() == 90);
  for (const auto& document : pack.documents) CHECK(document.length <= 7);
  CHECK(pack_of("random = { slots = 100 }").real_tokens() == 100);
}

TEST_CASE("a pack must be described, and once") {
  CHECK(pack_findings("") ==
        Lines{"1:1: [[pack]] says nothing about its documents [one of documents, cu_seqlens, starts, "
              "document_ids, position_ids, file, random]"});
  CHECK(pack_findings("documents = [5]\ncu_seqlens = [0, 5]") ==
        Lines{"3:1: [[pack]] describes its documents twice: documents, cu_seqlens [keep one of them]"});
}

// Every rule of src/pack/describe.hpp arrives with its index, and the finding points at that entry.
TEST_CASE("a broken rule of a pack is a finding at the entry that breaks it") {
  const auto check = [](const char* lines, const char* place, const char* message) {
    CAPTURE(lines);
    const Lines findings = pack_findings(lines);
    REQUIRE(findings.size() == 1);
    CHECK(findings[0].substr(0, findings[0].find(": ")) == place);
    CHECK(findings[0].find(message) != std::string::npos);
  };
  check("documents = [5, -1]", "2:17", "documents[1] = -1: must not be negative");
  check("documents = [5, 3]\nslots = 7", "2:13", "ends at 8, past the end of the row: slots = 7");
  check("documents = [9223372036854775807, 1]", "2:14", "does not fit into 64 bits");
  check("documents = [9223372036854775807]\npadding = 5", "2:1", "kernels take int32");
  check("documents = [3000000000]", "2:1", "kernels take int32");
  check("documents = [5, 3]\nslots = 10\npadding = 3", "2:13",
        "the documents end at 8 and padding = 3 makes 11, but slots = 10");
  check("documents = []", "2:1", "no slots");
  check("documents = [0, 0]", "2:1", "no slots");
  check("cu_seqlens = [0, 8, 520, 16]\nslots = 528", "2:26", "cu_seqlens[3]");
  check("cu_seqlens = [8, 8]", "2:15", "cu_seqlens[0] = 8: the first entry must be 0");
  check("cu_seqlens = [0, 8, 16, 24]\nslots = 8", "2:25", "24");
  check("cu_seqlens = []", "2:14", "cu_seqlens is empty");
  check("starts = [0, 4]\nlengths = [5, 3]", "2:14", "starts[1]");
  check("starts = [0, 4]\nlengths = [4]", "2:10", "2 starts but 1 lengths");
  check("starts = [0, 4]\nlengths = [4, -2]", "3:15", "lengths[1]");
  check("starts = [0, 4]", "1:1", "starts need lengths");
  check("document_ids = [1, 2, 1]", "2:23", "document_ids[2] = 1 comes back");
  check("document_ids = [1, 0, 2]", "2:23", "document_ids[2] = 2 follows padding");
  check("document_ids = [[1, 2], [1, 2]]", "2:16", "document_ids of shape [2, 2]");
  check("document_ids = [[1, 2], [1]]", "2:25", "equal length");
  check("document_ids = [[1, true]]", "2:21", "must hold integers, not a boolean");
  check("position_ids = [4, 5, 6, 7]", "2:17", "not the whole pack");
  check("position_ids = [0, 1, 3]", "2:23", "position_ids[2] = 3");
  check("position_ids = [0, 1]\nreal = 3", "2:16", "real");
  check("documents = [2, 2]\nmask = [1, 1, 1, 1]", "2:13", "validity mask");
  check("documents = [2]\nmask = [1, 0]", "3:12", "contradicts the pack");
}

TEST_CASE("keys that don't belong to a description are refused") {
  CHECK(pack_findings("documents = [5]\nlengths = [5]\nreal = 5\nseed = 1\nmax_document = 3") ==
        Lines{"3:1: lengths can't be given here: it belongs to starts",
              "4:1: real can't be given here: it belongs to position_ids",
              "5:1: seed can't be given here: it belongs to file",
              "6:1: max_document can't be given here: it belongs to file"});
  CHECK(pack_findings("document_ids = [1]\nslots = 5\npadding = 4") ==
        Lines{"3:1: slots can't be given here: document_ids says how long the row is",
              "4:1: padding can't be given here: document_ids says how long the row is"});
  CHECK(pack_findings("document = [5]\n").at(0) == pack_findings("document = [5]\n").front());
  CHECK(pack_findings("documents = [5]\npading = 1").at(0).find("did you mean \"padding\"?") !=
        std::string::npos);
}

TEST_CASE("wrong types and sizes") {
  CHECK(pack_findings("documents = 5") ==
        Lines{"2:13: documents must be a list of integers, not an integer"});
  CHECK(pack_findings("documents = [5, \"3\"]") ==
        Lines{"2:17: documents[1] must be an integer, not a string"});
  CHECK(pack_findings("documents = [5]\nslots = 0") == Lines{"3:9: slots must be 1 to 2147479551, not 0"});
  CHECK(pack_findings("documents = [5]\npadding = -1") ==
        Lines{"3:11: padding must be 0 to 2147479551, not -1"});
  CHECK(pack_findings("random = 3").at(0).find("random must be a table, not an integer") !=
        std::string::npos);
  CHECK(pack_findings("random = { seed = 3 }") == Lines{"2:1: random needs slots: how long the row is"});
  CHECK(pack_findings("random = { slots = 8, zero = 0.6, one = 0.6 }").size() == 1);
  CHECK(pack_findings("random = { slots = 8, padding = 8 }").size() == 1);
  CHECK(pack_findings("random = { slots = 99999999999 }").size() == 1);
  CHECK(pack_findings("file = \"data/document_lengths.txt\"") ==
        Lines{"2:1: file needs slots: how many the drawn documents fill"});
  CHECK(pack_findings("file = \"gone.txt\"\nslots = 8") ==
        Lines{"2:8: no file gone.txt [seen from this file's folder, or from the folder above]"});
  CHECK(pack_findings("file = \"CMakeLists.txt\"\nslots = 8").at(0).find("document's length") !=
        std::string::npos);
}

}  // namespace
}  // namespace straddle::harness
