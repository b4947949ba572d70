#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 300
# Faults under the library, at every call that it makes: errors, short reads and writes, no memory, SIGKILL; torn files;
# strange things in the places of its files; strange names. What hosts see must stay what NVRTC gives (tests/faults;
# states.py has what needs no fault in a call).
#
# FAULTS_STRIDE=N tries every N-th fault, evenly over all calls (default: 29); `make faults` tries all of them.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
FAULTS=$BUILD/tests/faults/faults
stride=${FAULTS_STRIDE:-29}
some=$((stride > 2 ? 2 : stride))
# freed memory is overwritten, so that its use shows
export MALLOC_PERTURB_=165

# Thousands of small directories.
in_memory

# Each lane has directories of its own, and runs one part after the other.
lane() { # name part...
	local base=$memory/$1 part faults
	shift
	mkdir "$base" "$base.states"
	"$FAULTS" expect "$base" "$FAKE" && python3 tests/faults/states.py expect "$base.states" "$BUILD" ||
		echo "not ok - NVRTC's own answers are written down"
	for part; do
		# shellcheck disable=SC2086 # WHAT, then STRIDE PART PARTS
		set -- $part
		case $1 in
		sweep | memory | crowd) faults=("$FAULTS" "$1" "$base" "$FAKE") ;;
		*) faults=(python3 tests/faults/states.py "$1" "$base.states" "$BUILD") ;;
		esac
		LD_PRELOAD=$LIBRARY "${faults[@]}" "${@:2}" || echo "# $part ended with $?"
	done
}
lane a "sweep $stride 0 2" "memory $some 0 2" "torn $((stride / 2 + 1))" "names 1" >"$tmp/a.out" 2>&1 &
lane b "sweep $stride 1 2" "memory $some 1 2" "crowd $((stride / 2 + 1))" "places 1" >"$tmp/b.out" 2>&1 &
wait
# what explains a failure comes before its line there, and after it in TAP
awk '/^1\.\./ { next } /^#/ { held = held $0 "\n"; next } { printf "%s\n%s", $0, held; held = "" } END { printf "%s", held }' \
	"$tmp/a.out" "$tmp/b.out"
awk '/^# total:/ { scenarios += $4; calls += $6; injected += $8; wrong += $10 }
END { print "# in all: " scenarios " scenarios, " calls " calls, " injected " faults injected, " wrong " wrong results" }' \
	"$tmp/a.out" "$tmp/b.out"
tap_number=$(cat "$tmp/a.out" "$tmp/b.out" | grep -cE '^(not )?ok ')
tap_failed=$(cat "$tmp/a.out" "$tmp/b.out" | grep -c '^not ok ')
check "every part came to its end" test "$(cat "$tmp/a.out" "$tmp/b.out" | grep -c '^1\.\.')" = 8
plan
