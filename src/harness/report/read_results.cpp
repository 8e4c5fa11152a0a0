#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "harness/report/json_lines.hpp"
#include "harness/report/json_text.hpp"

namespace straddle::harness {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::int64_t line, const std::string& message) {
  throw ResultsError(fmt::format("{}:{}: {}", path.string(), line, message));
}

// "straddle.case/1" is ("straddle.case", "1").
std::pair<std::string_view, std::string_view> split_schema(std::string_view schema) {
  const std::size_t slash = std::min(schema.find('/'), schema.size());
  return {schema.substr(0, slash), schema.substr(std::min(slash + 1, schema.size()))};
}

void add_line(const std::filesystem::path& path, std::int64_t line, const ResultLine& parsed,
              Results& results) {
  const auto [kind, number] = split_schema(parsed.schema);
  const bool known = kind == "straddle.run" || kind == "straddle.case" || kind == "straddle.summary";
  if (line == 1 && kind != "straddle.run") {
    fail(path, line,
         fmt::format("expected a record straddle.run/1, not {}: is this a results.jsonl?", parsed.schema));
  }
  if (known && number != "1") {
    fail(path, line,
         fmt::format(
             "schema {} is of another version; this build reads /1: read it with the build that wrote it",
             parsed.schema));
  }
  if (kind == "straddle.run") results.run_id = parsed.run_id;
  if (kind == "straddle.case") results.cases.push_back(parsed.result);
  if (kind == "straddle.summary") results.complete = true;
}

}  // namespace

Results read_results(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw ResultsError(fmt::format("{}: {}; name the folder of a run, or its id", path.string(),
                                   error ? error.message() : std::string("not a file")));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw ResultsError(fmt::format("{}: can't be read", path.string()));
  Results results;
  std::int64_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const bool is_last = file.peek() == std::ifstream::traits_type::eof();
    if (const auto parsed = parse_result_line(line)) {
      add_line(path, number, *parsed, results);
    } else if (is_last && number > 1) {
      results.last_line_cut = true;
    } else {
      fail(path, number, "expected one JSON object with a schema on this line");
    }
  }
  if (number == 0)
    throw ResultsError(
        fmt::format("{}: the file is empty: the run was cut off before its first case", path.string()));
  return results;
}

}  // namespace straddle::harness
