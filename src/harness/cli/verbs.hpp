// The verbs of the command line: each adds its options to `app` and, when chosen, puts its exit code into
// `exit_code`.
#pragma once

namespace CLI {
class App;
}

namespace straddle::harness {

void add_run_verb(CLI::App& app, int& exit_code);
void add_list_verb(CLI::App& app, int& exit_code);
void add_plan_verb(CLI::App& app, int& exit_code);
void add_bench_verb(CLI::App& app, int& exit_code);
void add_doctor_verb(CLI::App& app, int& exit_code);

// The whole program: parses, runs one verb, turns every exception into a message and an exit code (2 usage, 6
// internal).
int run_program(int argc, char** argv);

}  // namespace straddle::harness
