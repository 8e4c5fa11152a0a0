#!/usr/bin/env bash
# Installs what is missing, builds, and judges scenarios under mpirun.
#   scripts/mpirun/parity.sh [-n RANKS] [arguments of straddle run]      default: 8 ranks, scenarios/
#   HOSTFILE=FILE scripts/mpirun/parity.sh ..                            ranks on several hosts
# Exit status: straddle's own, also where the launcher would give another (0 pass, 1 mismatch, 2 usage, 3 hang, 4 crash or lost
# rank, 5 vacuous, 6 internal, 77 nothing applicable).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

ranks=8
if [ "${1:-}" = -n ]; then
  ranks=${2:-}
  if ! [[ $ranks =~ ^[1-9][0-9]*$ ]]; then
    echo "parity: -n takes a number of ranks from 1, got '$ranks'" >&2
    exit 2
  fi
  shift 2
fi
if [ $# -eq 0 ]; then set -- scenarios; fi

scripts/setup.sh
scripts/build.sh straddle

launcher=(mpirun -np "$ranks" --bind-to none)
if [ -n "${HOSTFILE:-}" ]; then launcher+=(--hostfile "$HOSTFILE"); else launcher+=(--oversubscribe); fi
if [ "$(id -u)" -eq 0 ]; then export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; fi

run=$(date +%s%N | sha1sum | cut -c1-6)
code=0
"${launcher[@]}" build/release/bin/straddle run --transport mpi --run-id "$run" "$@" || code=$?
# A launcher changes exit codes (128 + signal when a rank dies); the run's folder has the true one if the run came to its end.
if [ -f "runs/$run/exit" ]; then
  code=$(cat "runs/$run/exit")
elif [ -d "runs/$run" ] || [ "$code" -ge 128 ]; then
  echo "parity: a rank was lost before the run ended; what was measured is in runs/$run" >&2
  code=4
fi
exit "$code"
