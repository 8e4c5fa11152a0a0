#include "cp/preflight.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "cp/attention.hpp"
#include "cp/consensus.hpp"
#include "cp/rows.hpp"
#include "pack/validate.hpp"

namespace straddle::cp {
namespace {

// One rank's facts as int64 on the wire: the fields, then for each peer rows and first row of what is sent to
// it and received from it.
struct Record {
  std::int64_t plan_error = 0;
  std::int64_t kernel_unsupported = 0;
  std::int64_t dense_unsupported = 0;
  std::int64_t kernel_varlen = 0;
  std::int64_t spans_nodes = 0;
  std::int64_t allow_xnode = 0;
  std::int64_t case_hash = 0;
  std::int64_t pack_hash = 0;
  std::int64_t straddle = 0;
  std::int64_t max_straddle = 0;
  std::int64_t rows_per_rank = 0;
};
constexpr std::size_t kFields = sizeof(Record) / sizeof(std::int64_t);

// The transfers of all ranks as matrices of [source, destination] or its transpose, rank-major.
struct Transfers {
  std::vector<std::int64_t> sends, send_begins, receives, receive_begins;  // each [W * W]
};

struct AllFacts {
  std::vector<Record> records;  // [W]
  Transfers transfers;
};

// Rows and first rows by peer, [2 W].
std::vector<std::int64_t> by_peer(const std::vector<pack::Transfer>& transfers, std::size_t ranks) {
  std::vector<std::int64_t> values(2 * ranks, 0);
  for (const pack::Transfer& transfer : transfers) {
    values[to_size(transfer.peer)] = transfer.rows;
    values[ranks + to_size(transfer.peer)] = transfer.global_begin;
  }
  return values;
}

std::vector<std::int64_t> encode(const LocalFacts& facts, const pack::Plan& plan, std::size_t ranks) {
  const Record record{facts.plan_error.has_value(),
                      facts.kernel_unsupported.has_value(),
                      facts.dense_unsupported.has_value(),
                      facts.kernel_varlen,
                      facts.spans_nodes,
                      facts.allow_xnode,
                      static_cast<std::int64_t>(facts.case_hash),
                      static_cast<std::int64_t>(plan.pack_hash),
                      plan.straddle,
                      plan.max_straddle,
                      plan.rows_per_rank};
  std::vector<std::int64_t> wire(kFields);
  std::memcpy(wire.data(), &record, sizeof(Record));
  if (facts.plan_error) {  // peers of an invalid plan may be anything
    wire.resize(kFields + 4 * ranks, 0);
    return wire;
  }
  for (const auto* transfers : {&plan.sends, &plan.receives}) {
    const auto values = by_peer(*transfers, ranks);
    wire.insert(wire.end(), values.begin(), values.end());
  }
  return wire;
}

AllFacts gather_facts(const LocalFacts& facts, const pack::Plan& plan, comm::Transport& transport) {
  const auto ranks = static_cast<std::size_t>(transport.size());
  const std::vector<std::int64_t> mine = encode(facts, plan, ranks);
  std::vector<std::int64_t> all(ranks * mine.size());
  transport.all_gather("preflight", std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));

  AllFacts gathered;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const auto wire = std::span(all).subspan(rank * mine.size(), mine.size());
    gathered.records.push_back(
        {wire[0], wire[1], wire[2], wire[3], wire[4], wire[5], wire[6], wire[7], wire[8], wire[9], wire[10]});
    auto peers = wire.subspan(kFields);
    Transfers& to = gathered.transfers;
    for (auto* matrix : {&to.sends, &to.send_begins, &to.receives, &to.receive_begins}) {
      matrix->insert(matrix->end(), peers.begin(), peers.begin() + static_cast<std::ptrdiff_t>(ranks));
      peers = peers.subspan(ranks);
    }
  }
  return gathered;
}

using Records = std::vector<Record>;

std::optional<std::int64_t> first_rank(const Records& records,
                                       const std::function<bool(const Record&)>& holds) {
  const auto found = std::find_if(records.begin(), records.end(), holds);
  if (found == records.end()) return std::nullopt;
  return found - records.begin();
}

[[noreturn]] void refuse(std::int64_t rank, const pack::PlanViolation& violation) {
  throw ConsensusError(static_cast<int>(rank), "plan", violation.text());
}

// Rank 0's word is what the others are compared with.
void check_same_case(const Records& records) {
  const Record& first = records.front();
  if (const auto rank =
          first_rank(records, [&](const Record& r) { return r.case_hash != first.case_hash; })) {
    throw ConsensusError(
        static_cast<int>(*rank), "preflight",
        fmt::format("ranks disagree about case or configuration: hash {:016x} on rank {}, {:016x} on rank 0",
                    static_cast<std::uint64_t>(records[to_size(*rank)].case_hash), *rank,
                    static_cast<std::uint64_t>(first.case_hash)));
  }
  if (const auto rank =
          first_rank(records, [&](const Record& r) { return r.pack_hash != first.pack_hash; })) {
    throw ConsensusError(
        static_cast<int>(*rank), "preflight",
        fmt::format("ranks disagree about the pack: hash {:016x} on rank {}, {:016x} on rank 0",
                    static_cast<std::uint64_t>(records[to_size(*rank)].pack_hash), *rank,
                    static_cast<std::uint64_t>(first.pack_hash)));
  }
  if (const auto rank =
          first_rank(records, [&](const Record& r) { return r.rows_per_rank != first.rows_per_rank; })) {
    refuse(*rank, {"rows per rank are the same on all ranks", "rows_per_rank",
                   fmt::format("{}", records[to_size(*rank)].rows_per_rank),
                   fmt::format("{}, as on rank 0", first.rows_per_rank)});
  }
}

// The halo has one width on all ranks: the largest straddle.
void check_halo_width(const Records& records, std::int64_t max_straddle) {
  if (const auto rank =
          first_rank(records, [&](const Record& r) { return r.max_straddle != max_straddle; })) {
    refuse(*rank, {"max_straddle is the largest straddle of all ranks", "max_straddle",
                   fmt::format("{}", records[to_size(*rank)].max_straddle), fmt::format("{}", max_straddle)});
  }
}

// Send matrix = transposed receive matrix (docs/math.md, I12), then the rows themselves and not only their
// number.
void check_transfers(const Transfers& transfers, std::size_t ranks) {
  const auto W = static_cast<std::int64_t>(ranks);
  for (std::size_t source = 0; source < ranks; ++source) {
    for (std::size_t to = 0; to < ranks; ++to) {
      const std::size_t sent = source * ranks + to, expected = to * ranks + source;
      if (transfers.sends[sent] != transfers.receives[expected]) {
        const auto mismatch = pack::find_mismatch(transfers.sends, transfers.receives, W);
        throw ConsensusError(static_cast<int>(source), "plan",
                             mismatch ? mismatch->text() : "transfers differ");
      }
      const std::int64_t sent_begin = transfers.send_begins[sent];
      const std::int64_t expected_begin = transfers.receive_begins[expected];
      if (transfers.sends[sent] == 0 || sent_begin == expected_begin) continue;
      refuse(static_cast<std::int64_t>(source),
             {"what a rank sends is what its peer expects",
              fmt::format("first row from rank {} to rank {}", source, to),
              fmt::format("{} sent", sent_begin), fmt::format("{} by rank {}", expected_begin, to)});
    }
  }
}

}  // namespace

Agreement preflight(const LocalFacts& facts, const pack::Plan& plan, pack::ExchangeKind asked,
                    comm::Transport& transport) {
  const AllFacts all = gather_facts(facts, plan, transport);
  const Records& records = all.records;

  const auto invalid = first_rank(records, [](const Record& r) { return r.plan_error != 0; });
  if (invalid) {
    const auto texts = gather_texts(facts.plan_error.value_or(""), transport);
    throw ConsensusError(static_cast<int>(*invalid), "plan", texts[to_size(*invalid)]);
  }
  const auto widest = std::max_element(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return a.straddle < b.straddle;
  });
  check_same_case(records);
  check_halo_width(records, widest->straddle);
  check_transfers(all.transfers, records.size());

  const auto without_kernel = first_rank(records, [](const Record& r) { return r.kernel_unsupported != 0; });
  pack::PathFacts path_facts;
  path_facts.kernel_varlen = !first_rank(records, [](const Record& r) { return r.kernel_varlen == 0; });
  path_facts.spans_nodes =
      first_rank(records, [](const Record& r) { return r.spans_nodes != 0; }).has_value();
  path_facts.allow_xnode = records.front().allow_xnode != 0;
  path_facts.preflight_failed_rank = without_kernel;
  path_facts.max_straddle = widest->straddle;
  path_facts.max_straddle_rank = widest - records.begin();
  path_facts.rows_per_rank = records.front().rows_per_rank;
  Agreement agreement{pack::select_path(asked, path_facts), without_kernel.has_value()};
  if (!without_kernel) return agreement;

  const auto texts = gather_texts(facts.kernel_unsupported.value_or(""), transport);
  if (agreement.path.reason == pack::PathReason::preflight_failed) {
    agreement.path.detail += fmt::format(": {}", texts[to_size(*without_kernel)]);
  }
  if (const auto nowhere = first_rank(records, [](const Record& r) { return r.dense_unsupported != 0; })) {
    const auto dense_texts = gather_texts(facts.dense_unsupported.value_or(""), transport);
    throw ConsensusError(
        static_cast<int>(*nowhere), "preflight",
        fmt::format("the kernel asked for can't run on rank {} ({}), nor the dense kernel on rank {} ({})",
                    *without_kernel, texts[to_size(*without_kernel)], *nowhere,
                    dense_texts[to_size(*nowhere)]));
  }
  return agreement;
}

}  // namespace straddle::cp
