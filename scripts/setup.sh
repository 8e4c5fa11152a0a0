#!/usr/bin/env bash
# Installs what straddle needs and this machine lacks: Debian packages, as root or through sudo, else the exact line to run is printed.
#   scripts/setup.sh [--lint]      --lint: also what the format and lint checks need
# Quick and silent when nothing is missing.
set -euo pipefail

packages=(g++ cmake ninja-build libopenmpi-dev openmpi-bin libeigen3-dev libfmt-dev libtomlplusplus-dev libcli11-dev
          nlohmann-json3-dev librandom123-dev doctest-dev)
if [ "${1:-}" = --lint ]; then packages+=(clang-format clang-tidy); fi

if ! command -v dpkg-query >/dev/null; then
  echo "setup: not a Debian system; install the equivalents of: ${packages[*]}" >&2
  exit 2
fi
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
  if [ "$status" != installed ]; then missing+=("$package"); fi
done
if [ ${#missing[@]} -eq 0 ]; then exit 0; fi

install="apt-get update -qq && apt-get install -y -qq --no-install-recommends ${missing[*]}"
if [ "$(id -u)" -eq 0 ]; then
  as_root=(bash -c)
elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
  as_root=(sudo bash -c)
else
  echo "setup: missing packages; run this, then try again:" >&2
  echo "  sudo bash -c '$install'" >&2
  exit 2
fi
echo "setup: installing ${missing[*]}"
log=$(mktemp)
if ! DEBIAN_FRONTEND=noninteractive "${as_root[@]}" "export DEBIAN_FRONTEND=noninteractive; $install" >"$log" 2>&1; then
  tail -n 20 "$log" >&2
  echo "setup: installing failed; full log: $log" >&2
  exit 2
fi
rm -f "$log"
