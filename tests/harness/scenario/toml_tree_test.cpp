#include "harness/scenario/toml_tree.hpp"

#include <doctest/doctest.h>

namespace straddle::harness {
namespace {

TEST_CASE("values know their kind and where they stand, keys come in the order of the file") {
  const auto parsed = parse_toml(
      "zeta = 1\n"
      "alpha = [true, \"two\", 3.0, 2001-01-01]\n"
      "[[pack]]\n"
      "documents = { a = -4 }\n");
  const auto& table = std::get<TomlTable>(parsed);
  REQUIRE(table.size() == 3);
  CHECK(table[0].key == "zeta");
  CHECK(table[1].key == "alpha");
  CHECK(*table[0].value.as<std::int64_t>() == 1);
  CHECK(table[0].place.column == 1);
  CHECK(table[0].place.length == 4);
  CHECK(table[0].value.place.column == 8);

  const auto& list = *table[1].value.as<TomlArray>();
  REQUIRE(list.size() == 4);
  CHECK(list[0].kind() == "a boolean");
  CHECK(list[1].kind() == "a string");
  CHECK(list[1].place.line == 2);
  CHECK(list[1].place.column == 16);
  CHECK(list[1].place.length == 5);
  CHECK(list[2].kind() == "a float");
  CHECK(list[3].kind() == "a date or a time");
  CHECK(table[1].value.kind() == "a list");
  CHECK(table[0].value.kind() == "an integer");

  const auto& packs = *find(table, "pack")->value.as<TomlArray>();
  REQUIRE(packs.size() == 1);
  CHECK(packs[0].place.line == 3);
  CHECK(packs[0].kind() == "a table");
  CHECK(find(table, "gamma") == nullptr);
}

TEST_CASE("a syntax error has the line and column of the parser") {
  const auto parsed = parse_toml("a = 1\nb = [1, 2\nc = 3\n");
  const auto& error = std::get<TomlSyntaxError>(parsed);
  CHECK(error.place.line == 3);
  CHECK_FALSE(error.message.empty());
  CHECK(std::holds_alternative<TomlSyntaxError>(parse_toml("a = \"\xff\xfe\"")));
  CHECK(std::get<TomlTable>(parse_toml("")).empty());
}

}  // namespace
}  // namespace straddle::harness
