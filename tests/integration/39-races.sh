#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# weight: 100
# Random compiles of a process whose directory, environment and headers are others for a moment (tests/hosts/races.py),
# and then the same compiles at rest: what is kept under way must not show. `make races` for long runs: RACES_COUNT
# compiles for each seed from RACES_SEED on, RACES_SEEDS of them.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || skip_all "no python3"
eval "$(scripts/nvrtc-env)" || exit 1
library=$NVRTC_LIB/$NVRTC_SONAME
seed=${RACES_SEED:-1} seeds=${RACES_SEEDS:-2} count=${RACES_COUNT:-60}

python3 tests/hosts/races.py "$library" "$tmp" world >"$tmp/out" 2>&1 || {
	not_ok "A world is made." "$tmp/out"
	plan
}
sleep 2.1 # its files are old to every compile, also where file times are whole seconds

# What differs at rest from what NVRTC gives, after compiles under way have filled a cache.
differing() { # seed
	fresh_cache
	NVRTCCACHE_RECACHE=1 preloaded python3 tests/hosts/races.py "$library" "$tmp" race "$1" "$count" >"$tmp/out" 2>&1 || return
	timeout 300 python3 tests/hosts/races.py "$library" "$tmp" rest "$1" "$count" >"$tmp/plain" 2>>"$tmp/out" || return
	preloaded python3 tests/hosts/races.py "$library" "$tmp" rest "$1" "$count" >"$tmp/cached" 2>>"$tmp/out" || return
	diff "$tmp/plain" "$tmp/cached" >>"$tmp/out"
}

hits=0
for ((last = seed + seeds; seed < last; seed++)); do
	sentence="What $count compiles under way leave does not show at rest (seed $seed)."
	if differing "$seed"; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/out"
	fi
	hits=$((hits + $(stat_of hits_disk) + $(stat_of hits_memory)))
done
check "Some results that were compiled during the races are hits afterwards." test "$hits" -gt 0
plan
