#include "program.hpp"

namespace straddle::harness {
namespace {

Ended straddle(const std::string& arguments) {
  return shell(std::string("TERM=dumb " STRADDLE_PROGRAM " ") + arguments);
}

TEST_CASE("plan: the worked pack, by options and by case text, and a message where it is wrong") {
  const Ended plan =
      straddle("plan --documents 2,11,3 --ranks 4 --exchange halo --heads 4 --kv-heads 2 --head-dim 64");
  CHECK(plan.code == 0);
  CHECK(plan.says("b_3 = 10"));
  CHECK(plan.says("halo_short"));
  CHECK(straddle("plan --case W4/2,11,3+0/H4:2/D64/fp32/halo/cpu/s7").text == plan.text);
  CHECK(straddle("plan --documents 512x8 --ranks 4").says("8 documents"));
  CHECK(straddle("plan").code == 2);
  CHECK(straddle("plan --documents 2,-1").code == 2);
  CHECK(straddle("plan --documents 5 --slots 3").code == 2);
  CHECK(straddle("plan --documents 5 --exchange ring").code == 2);
  CHECK(straddle("plan --documents 5 --dtype int8").code == 2);
}

TEST_CASE("list: every case of the shipped scenarios with its place, and how many would run") {
  const Ended list = straddle("list " STRADDLE_SOURCE_DIR "/scenarios");
  CHECK(list.code == 0);
  CHECK(list.says("W4/2,11,3+0/"));
  CHECK(list.says("not applicable"));
  CHECK(straddle("list --ranks 2 " STRADDLE_SOURCE_DIR "/scenarios").says("# needs 4 ranks"));
}

TEST_CASE("doctor says what is here and what is missing") {
  const Ended doctor = straddle("doctor --ranks 3");
  CHECK(doctor.code == 0);
  CHECK(doctor.says("ranks      3 on 1 node"));
  CHECK(doctor.says("cuda (not built)"));
  const Ended launched = shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 " STRADDLE_MPIEXEC
                               " --oversubscribe --bind-to none -np 3 " STRADDLE_PROGRAM " doctor");
  CHECK(launched.code == 0);
  CHECK(launched.says("Open MPI"));
  CHECK(launched.text.find("straddle  ") == launched.text.rfind("straddle  "));
}

TEST_CASE("bench measures the kernel against the anchor of the same run") {
  const Ended bench = straddle("bench --slots 256 --head-dim 16 --threads 1 --rounds 1");
  CHECK(bench.code == 0);
  CHECK(bench.says("anchor"));
  CHECK(bench.says("8 x 32"));
  CHECK(straddle("bench --heads 4 --kv-heads 3").code == 2);
  CHECK(straddle("bench --kernel none --slots 64").code == 2);
}

TEST_CASE("help and version are exit 0, an unknown verb is exit 2") {
  CHECK(straddle("--help").code == 0);
  CHECK(straddle("run --help").says("--random"));
  CHECK(straddle("--version").says("straddle 0."));
  CHECK(straddle("judge").code == 2);
  CHECK(straddle("").code == 2);
}

}  // namespace
}  // namespace straddle::harness
