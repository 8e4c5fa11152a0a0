#include "harness/report/rank_places.hpp"

#include <doctest/doctest.h>

#include "comm/recorder.hpp"

namespace straddle::harness {
namespace {

TEST_CASE("ranks at the same operation are one place, whatever their waits") {
  const auto places = places_of_ranks(
      {"#2 all_gather K/V forward, 1024 B out, posted 2.0 s ago; before it #1 all_reduce_max preflight",
       "#2 all_reduce_max consensus, 8 B out, posted 3.5 s ago",
       "#2 all_gather K/V forward, 2048 B out, posted 2.5 s ago; before it #1 all_reduce_max preflight"});
  REQUIRE(places.size() == 2);
  CHECK(places[0].ranks == std::vector<std::int64_t>{0, 2});
  CHECK(places[0].call == "#2 all_gather K/V forward");
  CHECK(sent_text(places[0]) == "1024-2048 B");
  CHECK(places[0].posted_s == 2.5);
  CHECK(places[0].before == "#1 all_reduce_max preflight");
  CHECK(!places[0].past);
  CHECK(places[1].ranks == std::vector<std::int64_t>{1});
  CHECK(places[1].before.empty());
  CHECK(odd_one_out(places) == &places[1]);
}

TEST_CASE("before, in and past a call are places of their own") {
  CHECK(places_of_ranks({"#2 barrier a", "past #2 barrier a"}).size() == 2);
  CHECK(places_of_ranks({"#2 barrier a; before it #1 barrier b", "#2 barrier a"}).size() == 2);
}

TEST_CASE("no rank is odd where all are alike or equally many differ") {
  CHECK(odd_one_out(places_of_ranks({"#1 barrier a", "#1 barrier a"})) == nullptr);
  CHECK(odd_one_out(places_of_ranks({"#1 barrier a", "#2 barrier b"})) == nullptr);
  CHECK(odd_one_out(places_of_ranks({})) == nullptr);
}

TEST_CASE("of many places the rarest are shown") {
  std::vector<std::string> where;
  for (int rank = 0; rank < 40; ++rank) {
    where.push_back(rank == 33 ? "#9 barrier end" : "#" + std::to_string(rank % 13) + " barrier step");
  }
  const auto places = places_of_ranks(where);
  REQUIRE(places.size() == 14);
  const auto shown = rarest(places, 8);
  REQUIRE(shown.size() == 8);
  CHECK(shown.back().ranks == std::vector<std::int64_t>{33});
  for (std::size_t i = 1; i < shown.size(); ++i) CHECK(shown[i - 1].ranks.front() < shown[i].ranks.front());
  CHECK(rarest(places, 20).size() == 14);
}

TEST_CASE("a text of another form is shown whole") {
  const auto places = places_of_ranks({"no operation yet", "no operation yet", "a, b out of c"});
  REQUIRE(places.size() == 2);
  CHECK(places[0].call == "no operation yet");
  CHECK(places[0].posted_s == -1);
  CHECK(sent_text(places[0]).empty());
  CHECK(places[1].call == "a, b out of c");
}

TEST_CASE("what the recorder says is understood") {
  comm::Recorder recorder;
  CHECK(places_of_ranks({recorder.where()})[0].call == recorder.where());
  recorder.end(recorder.begin(comm::OpKind::barrier, "a, b", 0, 0));
  recorder.begin(comm::OpKind::all_gather, "K/V, forward", 77, 0);
  const RankPlace waits = places_of_ranks({recorder.where()})[0];
  CHECK(waits.call == "#2 all_gather K/V, forward");
  CHECK(sent_text(waits) == "77 B");
  CHECK(waits.posted_s >= 0);
  CHECK(waits.before == "#1 barrier a, b");
  recorder.end(1);
  CHECK(places_of_ranks({recorder.where()})[0].past);
}

}  // namespace
}  // namespace straddle::harness
