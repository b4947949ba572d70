#!/bin/bash
# timeout: 600
# weight: 40
# What a hit costs in instructions and system calls, neither of which hangs on the load (make bench-check).
. "$(dirname "$0")/lib.sh"
sentence="No hit costs more instructions or system calls than tests/bench/counts.txt says."
if ! tests/bench/counts.py "$BUILD" >"$tmp/counts" 2>&1; then
	not_ok "$sentence" "$tmp/counts"
elif grep -q '^SKIP' "$tmp/counts"; then
	skip "$sentence" "$(sed -n 's/^SKIP //p' "$tmp/counts")"
else
	ok "$sentence"
fi
plan
