#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is not cached, each with the reason that is counted: one compile of the fake NVRTC, which does what its options say.
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$LIFE" ] && [ -e "$NVRTC" ] || skip_all "no fake NVRTC in $BUILD"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
cd "$tmp" || exit 1

compile() { preloaded "$LIFE" "$NVRTC" trivial 0 "$@" >"$tmp/out" 2>&1; }
kept() { # OPTION...
	fresh_cache
	compile "$@"
	[ "$(stat_of misses) $(stat_of stores) $(entries)" = '1 1 1' ] || { "$COMMAND" stats && false; }
}
not_kept() { # REASON OPTION...
	local reason=$1
	shift
	fresh_cache
	compile "$@"
	[ "$(stat_of stores) $(entries) $(reason_of "$reason")" = '0 0 1' ] || { "$COMMAND" stats && false; }
}
header() { # NAME TEXT: an old one
	printf '%s\n' "$2" >"$1" && touch -d 2001-01-01 "$1" && sleep 0.1
}

check "A compile without any of these reasons is cached." kept -arch=sm_90
header "$tmp/plain.h" 'int plain;'
check "A compile that read an old header is cached." kept "--fake-open=$tmp/plain.h"

check "A compile that looked up a path longer than PATH_MAX is cached." kept "--fake-open=$(printf '/%0.s12345678901' {1..400})" "--fake-open=$tmp/plain.h"

check "A compile in which the watch saw no call counts as not watched." not_kept not_watched --fake-silent
check "A compile whose import slots were overwritten counts as not watched." not_kept not_watched --fake-rehook
check "A compile that wrote a file has a side effect." not_kept side_effects "--fake-write=$tmp/written"
check "A compile that removed a file has a side effect." not_kept side_effects "--fake-unlink=$tmp/written"
check "A compile that ran a process has a side effect." not_kept side_effects --fake-fork
check "A compile that listed a directory is not cached." not_kept files "--fake-list=$tmp"
check "A compile that reads in another thread is not cached." not_kept threads "--fake-thread-open=$tmp/plain.h"

later_header() { printf '%s\n' "$1" >"$tmp/later.h" && touch -d 2100-01-01 "$tmp/later.h" && sleep 0.1; }
future_header() {
	later_header 'int one;' && kept "--fake-open=$tmp/later.h" && compile "--fake-open=$tmp/later.h" && [ "$(stat_of hits_disk)" = 1 ] &&
		later_header 'int two;' && compile "--fake-open=$tmp/later.h" && [ "$(stat_of misses) $(stat_of hits_disk)" = '2 1' ]
}
check "A header from the future is compared by its content." future_header

for code in 1 2 3 4 7 11; do
	check "Return code $code is not cached." not_kept return_code "--fake-rc=$code"
done

check "The time in an option is not cached." not_kept time_macros -DNOW=__TIME__
check "The date in an option is not cached." not_kept time_macros -DTODAY=__DATE__
for word in __TIME__ __DATE__ '__TI\
ME__'; do
	header "$tmp/time.h" "const char *t = $word;"
	check "${word//[^A-Z_]/} in a header is not cached." not_kept time_macros "--fake-open=$tmp/time.h"
done
sloppy_header() {
	export NVRTCCACHE_SLOPPINESS=time_macros
	kept "--fake-open=$tmp/time.h" && compile "--fake-open=$tmp/time.h" && [ "$(stat_of hits_disk)" = 1 ] &&
		unset NVRTCCACHE_SLOPPINESS && compile "--fake-open=$tmp/time.h" && [ "$(stat_of hits_disk)" = 1 ]
}
header "$tmp/time.h" "const char *t = __TIME__;"
check "A result cached with time_macros for a header with the time is no hit without the setting." sloppy_header
unset NVRTCCACHE_SLOPPINESS
trap_not_kept() { # MODE TEXT: a source, or a name expression
	fresh_cache
	preloaded "$LOADER/traps" "$1" "$NVRTC" "$2" >"$tmp/out" 2>&1
	[ "$(stat_of misses) $(stat_of stores) $(reason_of time_macros)" = '1 0 1' ] || { "$COMMAND" stats && false; }
}
for word in __TIME__ __DATE__; do
	check "$word in the source is not cached." trap_not_kept source "const char *t = $word;"
	check "$word in a name expression is not cached." trap_not_kept named "k<sizeof($word)>"
done
restored() {
	fresh_cache
	preloaded "$LOADER/traps" restored "$NVRTC" "const char *t = __TIME__;" >"$tmp/out" 2>&1
	grep -q '^exchanged [1-9]' "$tmp/out" && [ "$(stat_of stores) $(reason_of not_watched)" = '1 2' ] || { cat "$tmp/out" && "$COMMAND" stats && false; }
}
check "A tool that restores the import slots after a compile lets no later one of the handle be cached." restored
variable() { HOST_SAYS=1 not_kept environment --fake-env=HOST_SAYS; }
check "A compile that read a set unlisted variable is not cached." variable
unset_variable() { kept --fake-env=HOST_SAYS && HOST_SAYS=1 compile --fake-env=HOST_SAYS && [ "$(stat_of hits_disk)" = 0 ] &&
	compile --fake-env=HOST_SAYS && [ "$(stat_of hits_disk)" = 1 ]; }
check "A result compiled without a variable is a hit only while it is not set." unset_variable
not_stored() { # files are where its directory can be
	fresh_cache && mkdir -p -m 700 "$NVRTCCACHE_DIR/v1" && chmod 700 "$NVRTCCACHE_DIR" && touch "$NVRTCCACHE_DIR/v1/"{{0..9},{a..f}}{{0..9},{a..f}} &&
		NVRTCCACHE_STATS=1 compile -arch=sm_90 && "$COMMAND" explain >>"$tmp/out" && grep -qF '1 not cached' "$tmp/out" &&
		grep -qF 'NOT CACHED: directory' "$tmp/out" && grep -qF "the entry cannot be stored: $NVRTCCACHE_DIR: not a directory" "$tmp/out"
}
check "A result that cannot be stored is counted under the name of the error, and explain says the cause." not_stored
plan
