#!/usr/bin/env bash
# Configures and builds the release preset into build/release, printing one line unless something fails.
#   scripts/build.sh [TARGET ...]      default: all targets
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ ! -f build/release/build.ninja ]; then
  mkdir -p build
  if ! cmake --preset release >build/configure.log 2>&1; then
    cat build/configure.log >&2
    exit 2
  fi
fi
if ninja -C build/release -n "$@" 2>/dev/null | grep -q 'no work to do'; then exit 0; fi
echo "build: compiling straddle into build/release"
if ! ninja -C build/release "$@" >build/compile.log 2>&1; then
  grep -A 20 -m 3 'FAILED' build/compile.log >&2 || tail -n 40 build/compile.log >&2
  echo "build: failed; full log: build/compile.log" >&2
  exit 2
fi
