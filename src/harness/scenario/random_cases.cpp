#include "harness/scenario/random_cases.hpp"

#include <algorithm>

#include "harness/scenario/draw.hpp"
#include "harness/scenario/drawn_lengths.hpp"
#include "pack/describe.hpp"

namespace straddle::harness {
namespace {

using Lengths = std::vector<std::int64_t>;

constexpr std::int64_t kMostSlots = 2048;
constexpr std::int64_t kMostDenseSlots = 128;
constexpr double kUsualFlop = 2e7;  // at most, of nearly all cases: milliseconds on one core
constexpr double kRareFlop = 2e8;

// In a document of few tokens large logits leave one key all the weight and no gradient to judge, so a ramp
// rises by at most so much from key to key, and large amplitudes need more than a few tokens.
constexpr double kSteepestStep = 8;
constexpr double kFewTokens = 8;

// Multiplications and additions of one forward and backward: per visible pair and head the products of
// docs/math.md take 2 (D + Dv) forward and 2 (3 D + 2 Dv) backward.
double useful_flop(const Case& point) {
  double pairs = 0;
  for (const auto& document : point.pack.documents) {
    const auto length = static_cast<double>(document.length);
    pairs += length * (length + 1) / 2;
  }
  const auto dims = static_cast<double>(8 * point.head_dim + 6 * point.v_head_dim);
  return pairs * dims * static_cast<double>(point.heads * point.layers);
}

// cheap: few heads and small sizes, which is what a long row can have within the limit.
void draw_attention(Draw& draw, bool cheap, Case& point) {
  const auto group =
      cheap ? draw.one_of<std::int64_t>({1, 2}) : draw.one_of<std::int64_t>({1, 1, 2, 2, 3, 4, 8});
  point.kv_heads = cheap ? draw.one_of<std::int64_t>({1, 2}) : draw.one_of<std::int64_t>({1, 1, 2, 2, 3, 4});
  point.heads = group * point.kv_heads;
  point.head_dim = draw.chance(0.2) ? draw.log_between(1, cheap ? 32 : 256)
                   : cheap          ? draw.one_of<std::int64_t>({8, 16, 32})
                                    : draw.one_of<std::int64_t>({8, 16, 32, 64, 64, 80, 96, 128, 256});
  point.v_head_dim = point.head_dim;
  if (draw.chance(0.2)) {
    point.v_head_dim =
        cheap ? draw.one_of<std::int64_t>({1, 4, 16}) : draw.one_of<std::int64_t>({1, 4, 16, 32, 64, 128});
  }
  if (draw.chance(0.1)) point.softmax_scale = draw.one_of({0.0625, 0.125, 0.3, 1.0});
  point.layers = draw.chance(0.1) ? draw.between(2, 3) : 1;
  point.recompute = draw.chance(0.15);
  point.first_segment_apart = draw.chance(0.15);
}

// Slots that documents fill: each power of two up to 2048 equally often, but 1 to 3 less so.
std::int64_t draw_real_slots(Draw& draw) {
  return draw.chance(0.1) ? draw.between(1, 3) : draw.log_between(4, kMostSlots);
}

// Of at most `longest` tokens.
Lengths draw_documents(Draw& draw, std::int64_t real, std::int64_t longest) {
  const double kind = draw.share();
  if (kind < 0.15 && longest >= real) return {real};
  if (kind < 0.25) {  // equal lengths
    const std::int64_t length = draw.log_between(1, longest);
    Lengths lengths(static_cast<std::size_t>(real / length), length);
    if (real % length > 0) lengths.push_back(real % length);
    return lengths;
  }
  RandomLengths wanted;
  wanted.slots = real;
  wanted.max_document = draw.chance(0.5) ? longest : std::max<std::int64_t>(longest / draw.between(2, 16), 1);
  wanted.zero = draw.one_of({0.0, 0.0, 0.1, 0.3});
  wanted.one = draw.one_of({0.0, 0.1, 0.5});
  wanted.seed = draw.bits();
  return draw_lengths(wanted);
}

std::int64_t draw_padding(Draw& draw, std::int64_t real, std::int64_t ranks) {
  const double kind = draw.share();
  const std::int64_t most = kMostSlots - real;
  if (kind < 0.4) return 0;
  if (kind < 0.7) return std::min(draw.between(1, 8), most);
  if (kind < 0.9) return std::min(draw.between(1, std::max<std::int64_t>(real, 1)), most);
  return std::min(real * (ranks - 1), most);  // all ranks but one own padding only
}

// Gaps of up to three slots before some documents.
pack::Pack with_gaps(Draw& draw, const pack::Pack& pack) {
  pack::Pack result = pack;
  std::int64_t shift = 0;
  for (auto& document : result.documents) {
    if (draw.chance(0.5)) shift += draw.between(1, 3);
    document.start += shift;
  }
  result.slots += shift;
  return result;
}

void draw_pack(Draw& draw, std::int64_t real, std::int64_t longest, CaseEntry& entry) {
  const Lengths lengths = draw_documents(draw, real, longest);
  entry.empty_documents = std::count(lengths.begin(), lengths.end(), 0);
  pack::Pack& pack = entry.point.pack;
  pack = pack::from_lengths(lengths);
  pack.slots += draw_padding(draw, real, entry.point.ranks);
  if (draw.chance(0.08)) {
    const pack::Pack gapped = with_gaps(draw, pack);
    if (gapped.slots <= kMostSlots) pack = gapped;
  }
}

std::int64_t longest_document(const pack::Pack& pack) {
  std::int64_t longest = 0;
  for (const auto& document : pack.documents) longest = std::max(longest, document.length);
  return longest;
}

void draw_inputs(Draw& draw, Case& point) {
  InputSpec& inputs = point.inputs;
  const double kind = draw.share();
  inputs.seed = static_cast<std::uint64_t>(draw.between(0, 9999));
  if (kind > 0.75) {
    inputs.kind = draw.one_of({InputKind::k_zero, InputKind::v_one, InputKind::same_keys, InputKind::ramp});
  }
  const auto longest = static_cast<double>(longest_document(point.pack));
  if (inputs.kind == InputKind::normal && draw.chance(0.3)) {
    inputs.amplitude = longest < kFewTokens ? draw.one_of({0.1, 2.0}) : draw.one_of({0.1, 2.0, 4.0, 8.0});
  }
  if (inputs.kind == InputKind::ramp) {
    inputs.amplitude =
        std::min(draw.one_of({1.0, 20.0, 60.0}), kSteepestStep / 2 * std::max(longest - 1, 1.0));
  }
  inputs.d_lse = draw.chance(0.15);
  const bool has_padding = point.padded().slots > point.pack.real_tokens();
  if (has_padding && draw.chance(0.4)) inputs.padding_rows = PaddingRows::nan;
  if (inputs.kind != InputKind::normal || !draw.chance(0.05)) return;
  const bool several = point.pack.documents.size() > 1;
  point.probe = several && draw.chance(0.5) ? Probe::nan_document : Probe::change_token;
}

void draw_matrix(Draw& draw, const std::vector<std::string>& kernels, Case& point) {
  using tensor::DType;
  const auto last = static_cast<std::int64_t>(kernels.size()) - 1;
  point.kernel = kernels[static_cast<std::size_t>(draw.between(0, last))];
  point.dtype = draw.one_of({DType::fp32, DType::fp32, DType::fp32, DType::bf16, DType::fp16, DType::fp64});
  point.exchange =
      draw.one_of({pack::ExchangeKind::allgather, pack::ExchangeKind::halo, pack::ExchangeKind::a2a});
  if (point.kernel == "dense") point.exchange = pack::ExchangeKind::allgather;
  if (point.exchange == pack::ExchangeKind::allgather && draw.chance(0.3)) {
    point.reduce = cp::Reduce::library;
  }
}

// The row's length is drawn once; the rest anew, with ever shorter documents, until the work fits.
CaseEntry draw_case(Draw draw, std::int64_t max_ranks, const std::vector<std::string>& kernels) {
  const double limit = draw.chance(0.02) ? kRareFlop : kUsualFlop;
  const std::int64_t ranks = draw.between(1, max_ranks);
  const std::int64_t drawn_real = draw_real_slots(draw);
  for (std::int64_t tries = 0;; ++tries) {
    CaseEntry entry;
    Case& point = entry.point;
    point.ranks = ranks;
    draw_matrix(draw, kernels, point);
    draw_attention(draw, tries >= 4, point);
    const std::int64_t real = point.kernel == "dense" ? std::min(drawn_real, kMostDenseSlots) : drawn_real;
    draw_pack(draw, real, std::max<std::int64_t>(real >> std::min<std::int64_t>(tries / 2, 11), 1), entry);
    draw_inputs(draw, point);
    if (useful_flop(point) > limit) continue;
    entry.expect.zero = exact_zeros(point);
    entry.text = print(point);
    return entry;
  }
}

}  // namespace

std::vector<CaseEntry> random_cases(std::int64_t count, std::uint64_t seed, std::int64_t max_ranks,
                                    const std::vector<std::string>& kernels) {
  std::vector<CaseEntry> cases;
  for (std::int64_t i = 0; i < count; ++i) {
    cases.push_back(draw_case(Draw(seed, static_cast<std::uint64_t>(i)), max_ranks, kernels));
  }
  return cases;
}

}  // namespace straddle::harness
