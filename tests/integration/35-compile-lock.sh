#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One compile, not N: threads and processes that miss on the same key. The compiles stop in the middle (tests/fixtures/gated) and go on
# when a test says so; tests look at who is inside, never at a clock. NVRTCCACHE_WAIT is longer than any test may take.
. "$(dirname "$0")/lib.sh"
GATED=$BUILD/tests/fixtures/gated/gated
NVRTC=$FAKE/13/libnvrtc.so.13
export NVRTCCACHE_WAIT=100000
number=0

# A new cache, and a new place for the events.
begin() {
	fresh_cache
	number=$((number + 1))
	place=$tmp/place-$number
	mkdir "$place"
}

# start NAME STAGE MODE SOURCE OPTION...: in the background; prints into $place/NAME.out
start() {
	local name=$1
	shift
	preloaded "$GATED" "$NVRTC" "$place" "$@" >"$place/$name.out" 2>&1 &
}

events() { find "$place" -name "$1.*" | wc -l; }

# until_event EVENT COUNT: has it happened so often?
happened() { [ "$(events "$1")" -ge "$2" ]; }
until_event() { wait_for happened "$@" || { echo "$1: $(events "$1") of $2" && return 1; }; }

now() { : >"$place/$1"; }

# The process that said EVENT first.
who() { find "$place" -name "$1.*" -printf '%T@ %f\n' | sort -n | sed -n '1s/.*\.\([0-9]*\)\.[0-9]*$/\1/p'; }

# The test's processes are at their end; so many compiles went to NVRTC; everybody who came to an end has one result.
ended() { # inside compiles
	local total
	wait
	[ "$(events inside)" -eq "$1" ] || { echo "$(events inside) were inside, not $1" && return 1; }
	total=$(sed -n 's/^rc .* compiles \([0-9]*\) .*/\1/p' "$place"/*.out | awk '{ n += $1 } END { print n + 0 }')
	[ "$total" -eq "$2" ] || { echo "$total compiles, not $2" && cat "$place"/*.out && return 1; }
	! grep -hE '^rc ' "$place"/*.out | grep -vE '^rc 0 .* descriptors 0$' &&
		[ "$(grep -hoE 'digest [0-9a-f]+' "$place"/*.out | sort -u | wc -l)" -eq 1 ]
}

# Ends what a failed test left; nothing of it is to be waited for in vain.
finish() {
	local result=$?
	local stage
	for stage in open-a open-b open-c child-may-go exec-now cancel-now compile-now; do now "$stage"; done
	wait
	return "$result"
}

tested() {
	local sentence=$1
	shift
	begin
	check "$sentence" run_tested "$@"
}
run_tested() { "$@"; finish || { head -n 3 "$place"/*.out && return 1; }; }

if [ ! -x "$GATED" ] || [ ! -e "$NVRTC" ]; then
	skip_all "no fake NVRTC in $BUILD"
fi

thirty_two() {
	local i
	for ((i = 0; i < 32; i++)); do start "$i" a plain same; done
	until_event calling 32 && until_event inside 1 && now open-a && ended 1 1
}
tested "32 processes that want the same compile it once." thirty_two

thirty_two_others() {
	local i
	for ((i = 0; i < 32; i++)); do start "$i" a plain "source $i"; done
	until_event inside 32 && now open-a && wait && [ "$(entries)" -eq 32 ]
}
tested "32 processes that want 32 things compile at the same time." thirty_two_others

threads() { start threads a threads=16 same && until_event calling 16 && until_event inside 1 && now open-a && ended 1 1; }
tested "16 threads that want the same compile it once." threads

threads_without_directory() {
	local NVRTCCACHE_DIR=/dev/null/nowhere
	threads
}
tested "So they do without a directory." threads_without_directory

threads_and_processes() {
	local i
	for ((i = 0; i < 4; i++)); do start "$i" a threads=8 same; done
	until_event calling 32 && until_event inside 1 && now open-a && ended 1 1
}
tested "4 processes with 8 threads each compile it once." threads_and_processes

# One inside, the others waiting; the holder's pid is in $holder.
hold() { # mode waiters
	local i
	start holder a "$1" same && until_event inside 1 || return
	holder=$(who inside)
	for ((i = 0; i < $2; i++)); do start "waiter-$i" b plain same; done
	until_event calling $(($2 + 1)) && [ "$(events inside)" -eq 1 ]
}

killed() { hold plain 5 && kill -KILL "$holder" && until_event inside 2 && now open-b && ended 2 1; }
tested "If the process that compiles is killed, one of the waiting processes takes over." killed

stopped() {
	hold plain 2 && kill -STOP "$holder" && until_event inside 3 && now open-b && now open-a &&
		until_event_out waiter-0 && until_event_out waiter-1 && kill -CONT "$holder" && ended 3 3
}
until_event_out() { wait_for grep -q '^rc ' "$place/$1.out"; }
tested "Nobody waits for one that is stopped." stopped

forked() {
	hold fork 2 && until_event child 1 && now open-a && until_event_out waiter-0 && until_event_out waiter-1 &&
		[ ! -e "$place/child-may-go" ] && now child-may-go && ended 1 1
}
tested "A child that is forked during a compile delays no other process." forked

forked_and_killed() {
	hold "$1" 2 && until_event child 1 && kill -KILL "$holder" && until_event inside 2 && now open-b &&
		until_event_out waiter-0 && until_event_out waiter-1 && now child-may-go
}
tested "Nor does it when its parent is killed." forked_and_killed fork
tested "Nor does one that was made past the handlers of fork." forked_and_killed clone

closed() {
	start holder a close same && until_event inside 1 && start waiter-0 b plain same && until_event inside 2 && now open-a && now open-b && ended 2 2 && grep -q '^others stayed' "$place/holder.out"
}
tested "A host that closes every descriptor meanwhile keeps those that it opens afterwards." closed

exec_elsewhere() {
	hold exec 1 && now exec-now && until_event idle 1 && until_event inside 2 && now open-b && until_event_out waiter-0 &&
		now open-a && ended 2 1
}
tested "When another thread runs another program, the compile is taken over." exec_elsewhere

cancelled() {
	hold cancel 1 && now cancel-now && until_event inside 2 && now open-b && until_event_out waiter-0 &&
		[ "$(events inside)" -eq 2 ] && now compile-now && ended 2 2 && grep -q 'compiles 1 ' "$place/holder.out"
}
tested "When the thread that compiles is cancelled, another process takes over, and its own process gets that result." cancelled

side_by_side() { # two of them are inside at once
	start 1 a plain same && start 2 a plain same && until_event inside 2 && now open-a && ended 2 2
}
unwaiting() { NVRTCCACHE_WAIT=0 side_by_side; }
tested "NVRTCCACHE_WAIT=0: no process waits." unwaiting

bounded() {
	local NVRTCCACHE_WAIT=1
	hold plain 1 && until_event inside 2 && now open-b && until_event_out waiter-0 && now open-a && ended 2 2
}
tested "NVRTCCACHE_WAIT=1: a process that has waited one second compiles." bounded

no_directory_is_open() { # in the process that compiles now
	! find "/proc/$(find "$place" -name 'inside.*' -printf '%T@ %f\n' | sort -n | sed -n '$s/.*\.\([0-9]*\)\.[0-9]*$/\1/p')/fd" -lname "$NVRTCCACHE_DIR*" | grep .
}
hit_and_compile() {
	now open-a && start first a plain same && wait && NVRTCCACHE_VERIFY=1 start second b plain same && until_event inside 2 &&
		no_directory_is_open && now open-b && wait && NVRTCCACHE_READONLY=1 start third a plain same && ended 2 2
}
tested "After a hit the cache's directory is open no longer than to the record, nor while NVRTC compiles." hit_and_compile

read_only() {
	mkdir -m 700 "$NVRTCCACHE_DIR"
	NVRTCCACHE_READONLY=1 side_by_side && [ ! -e "$NVRTCCACHE_DIR/v1" ]
}
tested "Nobody waits in a directory that is read-only by setting, and nothing is made there." read_only

unwritable() {
	mkdir -m 500 "$NVRTCCACHE_DIR"
	side_by_side
}
if [ "$(id -u)" -eq 0 ]; then
	skip "Nobody waits in a directory that cannot be written." "root can write everywhere"
else
	tested "Nobody waits in a directory that cannot be written." unwritable
fi

elsewhere() { NVRTCCACHE_DIR=$1 side_by_side; }
tested "Nobody waits where there can be no directory." elsewhere /dev/null/nowhere

untrusted() {
	mkdir "$NVRTCCACHE_DIR" && chmod 777 "$NVRTCCACHE_DIR"
	side_by_side && [ ! -e "$NVRTCCACHE_DIR/v1" ]
}
tested "Nobody waits in a directory that others can write." untrusted

recached() { NVRTCCACHE_RECACHE=1 side_by_side; }
tested "NVRTCCACHE_RECACHE=1: everybody compiles." recached

unkeepable() {
	local i write="--fake-write=$tmp/written"
	start holder a plain same "$write" && until_event inside 1 || return
	for ((i = 0; i < 3; i++)); do start "waiter-$i" b plain same "$write"; done
	until_event calling 4 && [ "$(events inside)" -eq 1 ] && now open-a && until_event inside 4 || return
	start late-0 c plain same "$write" && start late-1 c plain same "$write" && until_event inside 6 &&
		now open-b && now open-c && ended 6 6 && [ "$(entries)" -eq 0 ]
}
tested "A result that is not cached makes no process wait twice: the waiters compile side by side, later ones at once." unkeepable

unkeepable_threads() {
	start threads a threads=8 same --fake-silent && until_event calling 8 && until_event inside 1 && now open-a && ended 8 8
}
tested "So it is with threads." unkeepable_threads

# The same names, other content: one key, results with other conditions.
other_headers() {
	mkdir "$place/1" "$place/2" && echo one >"$place/1/v.h" && echo two >"$place/2/v.h" && sleep 0.1 || return
	(cd "$place/1" && start holder a plain '#include "v.h"' -I. && wait) &
	until_event inside 1 || return
	(cd "$place/2" && start w-0 b plain '#include "v.h"' -I. && start w-1 b plain '#include "v.h"' -I. && wait) &
	until_event calling 3 && [ "$(events inside)" -eq 1 ] && now open-a && until_event inside 2 && now open-b && wait && [ "$(events inside)" -eq 2 ] || return
	[ "$(grep -hoE 'digest [0-9a-f]+' "$place"/w-*.out | sort -u | wc -l)" -eq 1 ] &&
		! grep -q "$(grep -oE 'digest [0-9a-f]+' "$place/holder.out")" "$place/w-0.out"
}
tested "Of those for whom the result does not hold, one compiles for all that want the same." other_headers

nested() {
	now open-a
	start nested a nested same && wait && [ "$(grep -c 'rc 0' "$place/nested.out")" -eq 3 ] || { cat "$place/nested.out" && return 1; }
}
tested "A flow callback may compile the same and others." nested

later() {
	now open-a
	start first a plain same && wait && start second a plain same && ended 1 1 &&
		[ "$(stat -c %a "$NVRTCCACHE_DIR/v1/compile-lock")" = 600 ] && [ "$(stat -c %s "$NVRTCCACHE_DIR/v1/compile-lock")" -le 65536 ]
}
tested "A hit takes no compile lock; the file of the locks is private and small." later

plan
