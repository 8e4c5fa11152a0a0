#include "harness/cli/verbs.hpp"

int main(int argc, char** argv) { return straddle::harness::run_program(argc, argv); }
