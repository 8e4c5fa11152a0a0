#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests.
#   scripts/test.sh [ctest arguments]      e.g. scripts/test.sh -R pack
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scripts/setup.sh
scripts/build.sh
exec ctest --test-dir build/release --output-on-failure --no-tests=error -j "$(nproc)" "$@"
