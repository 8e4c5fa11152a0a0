#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <memory>
#include <optional>

#include "harness/cli/launch.hpp"
#include "harness/cli/verbs.hpp"
#include "harness/report/plan_picture.hpp"
#include "harness/scenario/case.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

struct PlanArguments {
  std::string text;  // --case
  std::vector<std::string> documents;
  std::vector<std::int64_t> cu_seqlens;
  std::optional<std::int64_t> slots;
  std::int64_t padding = 0;
  Case point;
  std::string exchange = "a2a";
  std::string dtype = "fp32";
  std::optional<std::int64_t> v_head_dim;
};

std::int64_t number(std::string_view text, std::string_view whole) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw UsageError(fmt::format("--documents: \"{}\" is neither a length nor LENGTHxCOUNT", whole));
  }
  return value;
}

// "2", or "512x8" for eight documents of 512.
std::vector<std::int64_t> lengths_of(const std::vector<std::string>& items) {
  std::vector<std::int64_t> lengths;
  for (const std::string& item : items) {
    const std::size_t times = item.find('x');
    const std::int64_t length = number(std::string_view(item).substr(0, times), item);
    const std::int64_t count =
        times == std::string::npos ? 1 : number(std::string_view(item).substr(times + 1), item);
    if (count < 0 || count > 100'000'000)
      throw UsageError(fmt::format("--documents: \"{}\" is too many", item));
    lengths.insert(lengths.end(), static_cast<std::size_t>(count), length);
  }
  return lengths;
}

pack::Pack pack_of(const PlanArguments& arguments) {
  std::optional<std::int64_t> slots = arguments.slots;
  if (!arguments.cu_seqlens.empty()) {
    if (!slots && arguments.padding > 0) slots = arguments.cu_seqlens.back() + arguments.padding;
    return pack::from_cu_seqlens(arguments.cu_seqlens, slots);
  }
  const auto lengths = lengths_of(arguments.documents);
  if (lengths.empty())
    throw UsageError("name a pack: --documents 2,11,3, --cu-seqlens 0,2,13,16, or --case TEXT");
  const pack::Pack pack = pack::from_lengths(lengths, slots);
  if (slots || arguments.padding == 0) return pack;
  return pack::from_lengths(lengths, pack.slots + arguments.padding);
}

void plan(const PlanArguments& arguments) {
  if (!speaks_before_ranks_meet()) return;
  Case point = arguments.text.empty() ? arguments.point : parse_case(arguments.text);
  if (arguments.text.empty()) {
    point.pack = pack_of(arguments);
    point.exchange = pack::parse_exchange(arguments.exchange);
    point.v_head_dim = arguments.v_head_dim.value_or(point.head_dim);
    const auto dtype = tensor::parse_dtype(arguments.dtype);
    if (!dtype || !tensor::is_floating(*dtype)) {
      throw UsageError(fmt::format("--dtype {}: one of fp64, fp32, bf16, fp16", arguments.dtype));
    }
    point.dtype = *dtype;
  }
  std::cout << plan_picture(point.pack, static_cast<int>(point.ranks), point.exchange,
                            {.heads = point.heads,
                             .kv_heads = point.kv_heads,
                             .head_dim = point.head_dim,
                             .v_head_dim = point.v_head_dim,
                             .dtype = point.dtype});
}

}  // namespace

void add_plan_verb(CLI::App& app, int& exit_code) {
  CLI::App* const verb =
      app.add_subcommand("plan", "Draw a pack over its ranks: cuts, straddles, exchange, work");
  const auto arguments = std::make_shared<PlanArguments>();
  arguments->point.ranks = 4;
  verb->add_option("--case", arguments->text, "A case by its text, in place of all other options");
  verb->add_option("--documents", arguments->documents, "Document lengths, 2,11,3 or 512x8")->delimiter(',');
  verb->add_option("--cu-seqlens", arguments->cu_seqlens, "Cumulative lengths, 0,2,13,16")->delimiter(',');
  verb->add_option("--slots", arguments->slots, "Length of the row; default: the documents' sum");
  verb->add_option("--padding", arguments->padding, "Padding slots after the documents")
      ->check(CLI::NonNegativeNumber);
  verb->add_option("--ranks", arguments->point.ranks, "CP size W")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 20))
      ->capture_default_str();
  verb->add_option("--exchange", arguments->exchange, "allgather, halo or a2a")->capture_default_str();
  verb->add_option("--heads", arguments->point.heads)->check(CLI::PositiveNumber)->capture_default_str();
  verb->add_option("--kv-heads", arguments->point.kv_heads)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--head-dim", arguments->point.head_dim)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--v-head-dim", arguments->v_head_dim, "Default: --head-dim")->check(CLI::PositiveNumber);
  verb->add_option("--dtype", arguments->dtype, "fp64, fp32, bf16 or fp16")->capture_default_str();
  verb->callback([arguments, &exit_code] {
    plan(*arguments);
    exit_code = 0;
  });
}

}  // namespace straddle::harness
