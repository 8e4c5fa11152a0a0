// Records and runs made by hand, for tests of the reports: no kernel computed these numbers.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "harness/report/record.hpp"

namespace straddle::harness::hand_made {

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A run of four ranks on one host.
inline RunInfo run() {
  RunInfo info;
  info.run_id = "5e1c09";
  info.version = "0.4.0";
  info.commit = "1a2b3c4";
  info.cases = 9;
  info.files = 2;
  info.titles = {
      {"scenarios/three_ranks.toml", "A document over three and more ranks (halo is not legal at W = 4)"},
      {"scenarios/leaks.toml", "Documents that meet on a cut"}};
  info.ranks = 4;
  info.hosts = {"dev01", "dev01", "dev01", "dev01"};
  info.under_mpi = true;
  info.transport = "mpi (Open MPI 4.1.4)";
  info.kernels = {"dense", "cpu (AVX2, 1 thread)"};
  info.not_here = {"cuda (not built)", "W > 4 (4 ranks started)"};
  info.folder = "runs/5e1c09";
  return info;
}

inline CaseEntry entry(const std::string& text, const std::string& file = "scenarios/three_ranks.toml",
                       std::int64_t line = 11) {
  CaseEntry made;
  made.point = parse_case(text);
  made.text = text;
  made.file = file;
  made.line = line;
  return made;
}

// Passes with `used` of `allowed`, on the ranks that own rows of the document.
inline TensorVerdict passing(const Case& point, std::int64_t layer, std::string_view tensor,
                             std::int64_t document, double used, double allowed) {
  const auto& pack_document = point.pack.documents[static_cast<std::size_t>(document)];
  const std::int64_t rows = point.rows_per_rank();
  TensorVerdict verdict;
  verdict.tensor = tensor;
  verdict.layer = layer;
  verdict.document = document;
  verdict.tokens = pack_document.length;
  verdict.criterion = Criterion::element;
  verdict.used = used;
  verdict.allowed = allowed;
  verdict.ratio = used / allowed;
  verdict.float_reference = verdict.ratio / 2;
  verdict.heads = tensor == "d_k" || tensor == "d_v" ? point.kv_heads : point.heads;
  verdict.worst = Place{.token = pack_document.start,
                        .rank = pack_document.start / rows,
                        .local_row = pack_document.start % rows,
                        .got = 0.5,
                        .want = 0.5};
  for (std::int64_t rank = 0; rank < point.ranks; ++rank) {
    const bool owns = pack_document.start < (rank + 1) * rows && pack_document.end() > rank * rows;
    verdict.relative_by_rank.push_back(owns ? used : kNaN);
    verdict.wrong_by_rank.push_back(false);
  }
  return verdict;
}

inline TensorVerdict& tensor_of(Judgement& judgement, std::string_view tensor, std::int64_t document,
                                std::int64_t layer = 0) {
  for (TensorVerdict& verdict : judgement.tensors) {
    if (verdict.tensor == tensor && verdict.document == document && verdict.layer == layer) return verdict;
  }
  throw std::logic_error("the hand-made judgement has no such tensor");
}

// Turns a passing verdict red on the ranks and rows named.
inline void make_wrong(TensorVerdict& verdict, const std::vector<std::int64_t>& ranks,
                       const std::vector<std::pair<std::int64_t, std::int64_t>>& rows, double used,
                       double allowed) {
  verdict.used = used;
  verdict.allowed = allowed;
  verdict.ratio = used / allowed;
  verdict.wrong_ranges = rows;
  for (const auto& [begin, end] : rows) verdict.wrong_rows += end - begin;
  for (std::int64_t head = 0; head < verdict.heads; ++head) verdict.wrong_heads.push_back(head);
  for (const std::int64_t rank : ranks) {
    verdict.wrong_by_rank[static_cast<std::size_t>(rank)] = true;
    verdict.relative_by_rank[static_cast<std::size_t>(rank)] = used;
  }
  verdict.first = verdict.worst;
}

// All tensors x documents pass, d_q of document 0 with the most of its bound; bits as W = 1; facts as given.
inline CaseRecord pass(const CaseEntry& made, std::int64_t forward_bytes = 0) {
  CaseRecord record;
  record.entry = made;
  record.verdict = Verdict::pass;
  const Case& point = made.point;
  for (std::int64_t layer = 0; layer < point.layers; ++layer) {
    for (const std::string_view tensor : kResultNames) {
      for (std::size_t document = 0; document < point.pack.documents.size(); ++document) {
        const bool worst = tensor == "d_q" && document == 0 && layer == 0;
        record.judgement.tensors.push_back(passing(point, layer, tensor, static_cast<std::int64_t>(document),
                                                   worst ? 3.2e-7 : 1.9e-7, worst ? 2.3e-6 : 2.5e-6));
      }
      PaddingVerdict padding;
      padding.tensor = tensor;
      padding.layer = layer;
      record.judgement.padding.push_back(padding);
    }
    for (const std::string_view id : {"I2", "I3", "I4", "I5", "I6"}) {
      for (std::size_t document = 0; document < point.pack.documents.size(); ++document) {
        record.judgement.invariants.push_back({.id = std::string(id),
                                               .layer = layer,
                                               .document = static_cast<std::int64_t>(document),
                                               .head = 0,
                                               .used = 1e-7,
                                               .allowed = 2e-6,
                                               .sentence = "a sum is a sum"});
      }
    }
  }
  record.judgement.bits.compared = true;
  record.facts.rows_per_rank = point.rows_per_rank();
  record.facts.path.asked = record.facts.path.taken = point.exchange;
  record.facts.kernel = point.kernel;
  record.facts.forward_bytes = record.facts.forward_bytes_form = forward_bytes;
  record.facts.backward_bytes = record.facts.backward_bytes_form = forward_bytes;
  record.checksums = {{"out", 0x9d3e50e701dda4f3U},
                      {"lse", 0x35baf3efbb30bc61U},
                      {"d_q", 0x72bd39e17fc18174U},
                      {"d_k", 0x1U},
                      {"d_v", 0xffffffffffffffffU}};
  record.ms = 0.8;
  return record;
}

// d_k and d_v of document 1 lack a contribution on ranks 0 and 1.
inline CaseRecord mismatch(const CaseEntry& made = entry("W4/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7")) {
  CaseRecord record = pass(made, 18432);
  record.verdict = Verdict::mismatch;
  record.facts.straddles = {0, 2, 6, 10};
  record.facts.real_rows = {4, 4, 4, 4};
  record.facts.pairs = {6, 18, 34, 17};
  record.ms = 1.6;
  TensorVerdict& d_k = tensor_of(record.judgement, "d_k", 1);
  make_wrong(d_k, {0, 1}, {{2, 8}}, 4.72e-1, 2.52e-6);
  d_k.relative_by_rank = {4.3e-1, 5.8e-1, 1.7e-7, 1.9e-7};
  d_k.first = Place{.token = 2, .rank = 0, .local_row = 2, .document_row = 0, .dim = 3, .got = 1, .want = 2};
  d_k.worst = Place{.token = 7,
                    .rank = 1,
                    .local_row = 3,
                    .document_row = 5,
                    .head = 0,
                    .dim = 51,
                    .got = -0.042,
                    .want = -1.8292};
  TensorVerdict& d_v = tensor_of(record.judgement, "d_v", 1);
  make_wrong(d_v, {0, 1}, {{2, 8}}, 4.2e-1, 2.52e-6);
  d_v.first = d_k.first;
  d_v.worst = Place{.token = 6,
                    .rank = 1,
                    .local_row = 2,
                    .document_row = 4,
                    .head = 0,
                    .dim = 7,
                    .got = 0.0557,
                    .want = 1.7702};
  for (InvariantVerdict& invariant : record.judgement.invariants) {
    if (invariant.document == 1 && invariant.id != "I6") invariant.used = 0.3;
  }
  return record;
}

inline CaseRecord vacuous() {
  CaseRecord record = pass(entry("W2/4,4+0/H4:2/D64/fp32/halo/cpu/s7", "scenarios/leaks.toml", 14));
  record.verdict = Verdict::vacuous;
  record.reasons = {"expected a straddle, but b = 0 0"};
  record.facts.straddles = {0, 0};
  record.facts.real_rows = {4, 4};
  record.facts.pairs = {10, 10};
  return record;
}

inline CaseRecord left_out(Verdict verdict, const CaseEntry& made, const std::string& reason) {
  CaseRecord record;
  record.entry = made;
  record.verdict = verdict;
  record.reasons = {reason};
  return record;
}

inline CaseRecord skipped() {
  return left_out(Verdict::skipped, entry("W8/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7"),
                  "needs 8 ranks, 4 started");
}

// Rank 3 left out a collective of its group.
inline CaseRecord hang() {
  CaseRecord record;
  record.entry = entry("W4/1,7,3+5/H4:2/D64/fp32/allgather/cpu/s7", "scenarios/padding_ranks.toml", 9);
  record.verdict = Verdict::hang;
  record.reasons = {"all_gather \"K/V forward\" on rank 0: the deadline passed: waits for rank 3"};
  for (int rank = 0; rank < 3; ++rank) {
    record.where.push_back("#2 all_gather K/V forward, 12288 B out, posted " + std::to_string(9 + rank) +
                           ".5 s ago; before it #1 all_reduce_max preflight");
  }
  record.where.emplace_back(
      "#2 all_reduce_max consensus, 24 B out, posted 10.0 s ago; before it #1 all_reduce_max preflight");
  return record;
}

inline CaseRecord crash() {
  CaseRecord record;
  record.entry = entry("W2/5,3+0/H4:2/D64/fp32/a2a/cpu/s7");
  record.verdict = Verdict::crash;
  record.reasons = {"rank 1: the kernel failed: out of memory"};
  record.where = {
      "past #3 all_reduce_max consensus, 8 B out, posted 0.1 s ago; before it #2 all_to_all_v K/V forward",
      "past #3 all_reduce_max consensus, 8 B out, posted 0.2 s ago; before it #2 all_to_all_v K/V forward"};
  return record;
}

// The small run of the golden files, with its control arm, other exchanges, and one case of each verdict.
inline std::vector<CaseRecord> small_run() {
  CaseRecord control = pass(entry("W1/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7"));
  control.ms = 0.4;
  CaseRecord halo = mismatch(entry("W4/2,11,3+0/H4:2/D64/fp32/halo/cpu/s7"));
  halo.facts.path = {.asked = pack::ExchangeKind::halo,
                     .taken = pack::ExchangeKind::a2a,
                     .reason = pack::PathReason::halo_short,
                     .detail = "rank 2 needs 6 rows to its left, rank 1 owns 4"};
  return {control,
          pass(entry("W2/2,11,3+0/H4:2/D64/fp32/allgather/cpu/s7"), 16384),
          pass(entry("W2/2,11,3+0/H4:2/D64/fp32/a2a/cpu/s7"), 6144),
          halo,
          mismatch(),
          skipped(),
          vacuous(),
          left_out(Verdict::not_applicable,
                   entry("W2/4,4+0/H4:2/D64/fp32/a2a/dense/s7", "scenarios/leaks.toml", 14),
                   "dense needs all keys: allgather only"),
          pass(entry("W2/1,6,3+2/H4:2/D64/fp32/a2a/cpu/s7", "scenarios/leaks.toml", 20), 6144)};
}

inline RunTotals totals(const std::vector<CaseRecord>& records) {
  RunTotals made;
  for (const CaseRecord& record : records) {
    ++made.count[record.verdict];
    made.exit_code = gravest(made.exit_code, is_bad(record.verdict) ? exit_code(record.verdict) : 0);
  }
  made.seconds = 21.4;
  return made;
}

}  // namespace straddle::harness::hand_made
