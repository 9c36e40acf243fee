#!/usr/bin/env bash
# Checks lease.pml with Spin: the whole model keeps its assertions, and each guard taken away breaks one.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
for tool in spin gcc; do
  command -v "$tool" >/dev/null || { echo "spin.sh: $tool is not installed (Debian: apt-get install spin gcc)" >&2; exit 2; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

check() { # flags -> prints the verdict, leaves it in $errors
  rm -f pan* ./*.trail
  cp "$here/lease.pml" .
  # shellcheck disable=SC2086
  spin -a $1 lease.pml >spin.log || { cat spin.log >&2; exit 1; }
  gcc -O2 -w -DSAFETY -DCOLLAPSE -o pan pan.c
  ./pan -m100000 >pan.log
  if grep -q 'max search depth too small\|out of memory' pan.log; then cat pan.log >&2; exit 1; fi
  errors=$(sed -n 's/.*errors: \([0-9]*\).*/\1/p' pan.log)
  printf '%-12s %s errors, %s states\n' "${1:-whole}" "$errors" "$(awk '/states, stored/ {print $1; exit}' pan.log)"
}

failed=0
for bounds in '' '-DCRASHES=2'; do
  check "$bounds"
  [ "$errors" = 0 ] || failed=1
done
for guard in NOFENCE BYTASK UPSERT NOEXPIRY REPLYTRUST; do
  check "-D$guard"
  [ "$errors" != 0 ] || { echo "  $guard was not found out" >&2; failed=1; }
done
exit "$failed"
