# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
# lib: what every integration script shares. Source it first: . "$(dirname "$0")/lib.sh"
#
# Sets (from $1, the build directory): BUILD, LIBRARY, COMMAND, FAKE, LOADER, and `tmp`, a private directory that goes
# away with the script. NVRTCCACHE_DIR always names a directory in there, and no other NVRTCCACHE_* is inherited.
#
#   ok SENTENCE                 the test passed                 (TAP)
#   not_ok SENTENCE [FILE]      it failed; FILE is shown
#   skip SENTENCE REASON        it could not be run here
#   check SENTENCE CMD...       ok if the command succeeds, not_ok with its output otherwise
#   needs REASON CMD...         sets `lacks`: to the reason if the command fails, else to nothing
#   check_there SENTENCE CMD... the same as check; skipped while something `lacks`
#   plan                        last line of a script: the plan, and exit 1 where any test failed
#   fresh_cache                 NVRTCCACHE_DIR is a new and missing directory
#   preloaded CMD...            runs CMD with the cache in front ($before and $after: other preloads around it)
#   runs_here TOOL              is there such a tool, which also is of the machine of this build?
#   stat_of NAME                a counter: stat_of misses, stat_of bypassed.unwatchable
#   reason_of NAME              how often that was why a result was not cached or a call passed through
#   entries                     how many results the directory holds
#   wait_for CMD...             until it succeeds; fails after a minute ($WAIT_FOR seconds), which no load makes too short
#   without_processes           why Python's multiprocessing does not work here; fails where it does
#   in_memory                   sets `memory`, a private directory in memory where tests/run gives one, else in `tmp`

set -u
export LC_ALL=C TERM=xterm
BUILD=$(cd "${1:?usage: $0 BUILD-DIRECTORY}" && pwd) || exit 1
LIBRARY=$BUILD/libnvrtccache.so
COMMAND=$BUILD/nvrtccache
FAKE=$BUILD/tests/fake
LOADER=$BUILD/tests/fixtures/loader
before=''
after=''
tap_number=0
tap_failed=0
cache_number=0
# what else of the caller's environment changes what programs print
unset LD_PRELOAD "${!NVRTCCACHE_@}" NO_COLOR COLUMNS LINES POSIXLY_CORRECT CDPATH

tmp=$(mktemp -d "${TMPDIR:-/tmp}/nvrtccache-test.XXXXXX") || exit 1
memory=$tmp
clean_up() {
	# some test takes permissions away from directories
	chmod -R u+rwX "$tmp" "$memory" 2>/dev/null
	rm -rf "$tmp" "$memory"
}
trap clean_up EXIT
trap 'exit 1' HUP INT TERM

ok() {
	tap_number=$((tap_number + 1))
	printf 'ok %d - %s\n' "$tap_number" "$1"
}

not_ok() {
	tap_number=$((tap_number + 1))
	tap_failed=$((tap_failed + 1))
	printf 'not ok %d - %s\n' "$tap_number" "$1"
	if [ -n "${2:-}" ] && [ -e "$2" ]; then
		# the last line may lack its end, and the plan shall not hang on it
		head -n 40 "$2" | awk '{ print "#   " $0 }'
	fi
}

skip() {
	tap_number=$((tap_number + 1))
	printf 'ok %d - %s # SKIP %s\n' "$tap_number" "$1" "$2"
}

skip_all() {
	printf '1..0 # SKIP %s\n' "$1"
	exit 0
}

check() {
	local sentence=$1
	shift
	if "$@" >"$tmp/check.out" 2>&1; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/check.out"
	fi
}

needs() {
	local reason=$1
	shift
	if "$@" >/dev/null 2>&1; then lacks=''; else lacks=$reason; fi
}

check_there() {
	if [ -n "$lacks" ]; then
		skip "$1" "$lacks"
	else
		check "$@"
	fi
}

wait_for() {
	local end=$((SECONDS + ${WAIT_FOR:-60}))
	until "$@"; do
		[ "$SECONDS" -lt "$end" ] || { echo "waited in vain for: $*" >&2 && return 1; }
		sleep 0.02
	done
}

plan() {
	printf '1..%d\n' "$tap_number"
	[ "$tap_failed" -eq 0 ]
	exit
}

fresh_cache() {
	cache_number=$((cache_number + 1))
	export NVRTCCACHE_DIR=$tmp/cache-$cache_number
}

preloaded() {
	timeout 600 env "${EMULATED:-LD_PRELOAD}=$before${before:+ }$LIBRARY${after:+ }$after" "$@"
}

# Where it is emulated, $EMULATED is the variable that preloads into its programs (tests/emulated/launch.c).
runs_here() { [ -z "${EMULATED:-}" ] && command -v "$1" >/dev/null; }

stat_of() {
	local group=${1%%.*} name=${1##*.} json
	json=$("$COMMAND" stats --json 2>/dev/null | tr -d ' \t\n')
	if [ "$group" != "$name" ]; then
		json=$(printf '%s' "$json" | sed -n "s/.*\"$group\":{\([^}]*\)}.*/\1/p")
	fi
	json=$(printf '%s' "$json" | sed -n "s/.*\"$name\":\([0-9][0-9]*\).*/\1/p")
	printf '%s\n' "${json:-0}"
}

reason_of() { echo $(($(stat_of "not_kept.$1") + $(stat_of "bypassed.$1"))); }

without_processes() {
	command -v python3 >/dev/null || { echo 'no python3' && return; }
	! python3 -c 'import multiprocessing; multiprocessing.Lock()' 2>/dev/null || return
	echo 'no semaphores for multiprocessing: no directory in memory can be written'
}

in_memory() {
	memory=$(mktemp -d "${TEST_MEMORY:-$tmp}/nvrtccache-test.XXXXXX") || exit 1
}

entries() {
	find "$NVRTCCACHE_DIR" -type f 2>/dev/null | grep -cE '/v1/[0-9a-f]{2}/[0-9a-f]{62}$'
}

# A sanitized library cannot be preloaded into programs that are not: the unit tests run with sanitizers instead.
if [ -e "$LIBRARY" ] && grep -qE '__(asan|tsan|ubsan)_' "$LIBRARY"; then
	skip_all "the library is built with a sanitizer"
fi
fresh_cache
