#!/usr/bin/env bash
# Checks format (clang-format) and code (clang-tidy) of everything tracked, changing nothing.
#   scripts/lint.sh [FILE.cpp ...]      default: every .cpp and .hpp of src/ and tests/
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh --lint
if [ $# -eq 0 ]; then mapfile -t files < <(git ls-files 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp'); else files=("$@"); fi
echo "lint: format of ${#files[@]} files"
clang-format --dry-run -Werror "${files[@]}"

if [ ! -f build/release/compile_commands.json ]; then cmake --preset release >/dev/null; fi
mapfile -t sources < <(printf '%s\n' "${files[@]}" | grep '^src/.*\.cpp$' | grep -v '^src/cpu/')  # src/cpu: g++'s vector builtins
echo "lint: clang-tidy over ${#sources[@]} sources"
# A header is checked with the source that includes it.
printf '%s\n' "${sources[@]}" | xargs -P "$(nproc)" -n 4 clang-tidy -p build/release --quiet --warnings-as-errors='*' 2>/dev/null
echo "lint: clean"
