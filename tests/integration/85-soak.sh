#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 45
# Many processes on one small cache: killed, edited under, pruned and cleared, every answer checked (tests/soak/soak.py in
# short; `make soak` for ten minutes of it). And what a group shares, and what is edited between a hit and its comparison.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
WORKER=$BUILD/tests/soak/worker
GATED=$BUILD/tests/fixtures/gated/gated
NVRTC=$FAKE/13/libnvrtc.so.13

if [ ! -x "$WORKER" ]; then
	skip_all "no worker in $BUILD"
fi

soak() { nice python3 tests/soak/soak.py "$BUILD" "$@" >"$tmp/soak.out" || { grep FAILED "$tmp/soak.out"; cat "$tmp/soak.out" && return 1; }; }
value() { sed -n "s/^$1 //p" "$tmp/soak.out"; }

killed_and_edited() {
	soak --seconds 10 --processes 16 --until kills,edits,evictions,hits_disk,verified
}
check "16 processes for 10 seconds, killed, edited under, pruned, cleared: no wrong answer, the cap and the sums hold." \
	killed_and_edited

agents_and_engine_die() {
	soak --agents --most-waited-ms 10000 --seconds 10 --processes 8 --until engine_deaths,hits_disk
}
lacks=
[ -x "$BUILD/nvrtccache-agent" ] && command -v redis-server >/dev/null || lacks="no agent was built, or no redis-server"
check_there "So do two nodes of 4 processes, with agents and an engine that die every few seconds: no wrong answer." agents_and_engine_die

# Users of one group; what one stores others find.
shared_by_a_group() {
	local place=$tmp/group
	mkdir "$place" "$place/tree" && chgrp 54321 "$place" && chmod 2770 "$place" && chmod 711 "$tmp" && mkdir "$place/cache" &&
		chmod 2770 "$place/cache" || return
	soak --seconds 4 --processes 4 --users 65501,65502 --groups 54321 --kinds disk,plain --environment NVRTCCACHE_SHARED=1 \
		--node "$place/cache,$place/tree" && [ "$(value hits_disk)" -gt 0 ] || return
	[ "$(find "$place/cache" -user 65501 -path '*/v1/??/*' | wc -l)" -gt 0 ] && [ "$(find "$place/cache" -user 65502 -path '*/v1/??/*' | wc -l)" -gt 0 ] &&
		[ -z "$(find "$place/cache" -perm -o+w)" ]
}
as_user() { # uid gid VARIABLE=VALUE...
	local user=$1 group=$2
	shift 2
	env SOAK_IN_ORDER=1 LD_PRELOAD="$LIBRARY" "$@" setpriv --reuid "$user" --regid "$group" --clear-groups \
		"$WORKER" "$NVRTC" "$tmp/served/tree" "$tmp/served/board" 0 16 1
}
# The counts, as a member sees them.
counted() { # COUNTER
	setpriv --reuid 65502 --regid 54321 --clear-groups env NVRTCCACHE_SHARED=1 "$COMMAND" stats --json | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | tail -n 1
}
one_serves_the_other() {
	local place=$tmp/served
	export NVRTCCACHE_DIR=$place/cache
	mkdir "$place" "$place/tree" && chmod 755 "$place" "$place/tree" && chmod 711 "$tmp" && truncate -s 1M "$place/board" && chmod 666 "$place/board" || return
	for ((i = 0; i < 8; i++)); do echo "// $i" >"$place/tree/h$i.h"; done
	touch -d yesterday "$place"/tree/*
	sleep 0.1
	mkdir "$place/cache" && chgrp 54321 "$place/cache" && chmod 2770 "$place/cache" || return
	as_user 65501 54321 NVRTCCACHE_SHARED=1 && [ "$(counted stores)" -eq 16 ] || return
	as_user 65502 54321 NVRTCCACHE_SHARED=1 && [ "$(counted hits_disk)" -eq 16 ] || return
	# one of another group, who may read all of it
	chmod -R o+rX "$place/cache" && as_user 65503 54999 NVRTCCACHE_SHARED=1 NVRTCCACHE_STATS=1 >"$tmp/stranger" 2>&1 && cat "$tmp/stranger" &&
		grep -q 'same 16 ' "$tmp/stranger" && grep -q ': hits: 0 in memory, 0 on disk' "$tmp/stranger" && chmod -R o-rX "$place/cache" || return
	# one of another group; one who was not told that it is shared; all of them, where everybody can write
	as_user 65503 54999 NVRTCCACHE_SHARED=1 && as_user 65502 54321 && chmod 2777 "$place/cache" && as_user 65502 54321 NVRTCCACHE_SHARED=1 &&
		chmod 2770 "$place/cache" && [ "$(counted hits_disk)" -eq 16 ] && [ "$(counted misses)" -eq 16 ]
}
if [ "$(id -u)" -ne 0 ] || ! setpriv --reuid 65501 --regid 54321 --clear-groups test -r "$LIBRARY" -a -x "$WORKER" -a -r "$NVRTC"; then
	skip "Two users of a group share a cache: each finds the other's entries, and no other user does." \
		"needs root, and a build that other users can read"
	skip "So do four processes of theirs for 4 seconds: no wrong answer, the cap and the sums hold." \
		"needs root, and a build that other users can read"
else
	check "Two users of a group share a cache: each finds the other's entries, and no other user does." one_serves_the_other
	check "So do four processes of theirs for 4 seconds: no wrong answer, the cap and the sums hold." shared_by_a_group
fi
fresh_cache

# Stops in the middle of a compile until open-a is there.
happened() { [ "$(find "$place" -name "$1.*" | wc -l)" -ge "$2" ]; }
until_event() { wait_for happened "$@"; }
compared() { # [NEW-TEXT]
	place=$(mktemp -d "$tmp/place.XXXXXX")
	mkdir "$place/h" && echo old >"$place/h/v.h" && touch -d yesterday "$place/h/v.h" && sleep 0.1 && : >"$place/open-a" || return
	fresh_cache
	preloaded "$GATED" "$NVRTC" "$place" a plain '#include "v.h"' "-I$place/h" >"$place/out" || return
	[ "$(entries)" -eq 1 ] || { "$COMMAND" stats && return 1; }
	NVRTCCACHE_VERIFY=1 preloaded "$GATED" "$NVRTC" "$place" b plain '#include "v.h"' "-I$place/h" >"$place/out" &
	until_event inside 2 && echo new >"$place/h/v.h" && : >"$place/open-b" && wait && [ "$(stat_of verified)" -eq 1 ] &&
		[ "$(stat_of errors.mismatch)" -eq 0 ]
}
if [ -x "$GATED" ]; then
	check "A header edited between a hit and its comparison is not a mismatch." compared
fi

plan
