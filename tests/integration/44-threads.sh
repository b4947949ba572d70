#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 50
# Threads that create, compile, ask and destroy at random: the same results as without us, and nothing that
# ThreadSanitizer or helgrind could report. The library is built once more for each of the two.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/hosts.sh"
cd "$(dirname "$0")/../.." || exit 1
unset LD_LIBRARY_PATH
[ -x "$HOSTS/storm" ] || skip_all "no $HOSTS/storm"
eval "$(scripts/nvrtc-env 2>/dev/null)"
real=${NVRTC_LIB:+$NVRTC_LIB/$NVRTC_SONAME}
ordinary=$LIBRARY

# Cold and warm results of many threads; a warm run may still miss what a cold one could not keep (threads that NVRTC
# calls getenv from while others compile), so hits are asked for, and no more.
stormy() { # command...
	three_runs "$@" || { cat "$tmp/difference" && return 1; }
	[ -n "${NVRTCCACHE_VERIFY:-}" ] || [ "${warm% *}" != "0 0" ] || { echo "cold $cold, warm $warm" && return 1; }
	grep -qx 'bad 0' "$tmp/warm" && [ "$(stat_of errors.mismatch)" -eq 0 ]
}
check "Eight threads get what they get without us." stormy "$HOSTS/storm" "$SO13" 8 200 16
NVRTCCACHE_MEM_SIZE=20K check "So they do with a memory front that is always full." stormy "$HOSTS/storm" "$SO13" 8 200 16
NVRTCCACHE_MAX_SIZE=40K check "So they do with a directory that is always full." stormy "$HOSTS/storm" "$SO13" 8 200 16
needs "no NVRTC here" [ -n "$real" ]
LD_LIBRARY_PATH=${RUN_PATH:-} check_there "So they do with a real NVRTC." stormy "$HOSTS/storm" "$real" 4 8 4

# Its first run compiles, so that libc's hazard is met by no compilation: in the others all are hits. Of 5,000 hits that
# read the environment by getenv(), four ended the program. 20,000 hits were too many: clearenv() frees the array before
# it sets `environ`, and in 2 of 150 runs a hit read the pointers in between, as getenv() may.
setting() {
	fresh_cache
	preloaded "$HOSTS/setter" "$SO13" 0 && preloaded "$HOSTS/setter" "$SO13" 8000 >"$tmp/set" && grep -qx 'others 0' "$tmp/set"
}
check "A thread that sets variables beside 8,000 hits does not end the program." setting

# Fixed addresses: ThreadSanitizer of gcc 12 does not know where kernels since 6.6 map programs (vm.mmap_rnd_bits=32)
quiet() { # library threads rounds variants
	stormy "$host" "$@" || return
	! grep -h -A25 'ThreadSanitizer' "$tmp/cold.err" "$tmp/warm.err"
}
LIBRARY=$HOSTS/tsan/libnvrtccache.so
host=$HOSTS/storm-tsan-gcc
# Names of loaded objects are the loader's, which ThreadSanitizer does not see at work: around dl_iterate_phdr it forgets
# who wrote them, but not the byte behind (internal_strlen in its dl_iterate_phdr_cb), which strrchr reads.
echo 'race:match_loaded' >"$tmp/known"
export TSAN_OPTIONS=suppressions=$tmp/known
lacks=
if [ ! -x "$host" ] || [ ! -e "$LIBRARY" ]; then
	lacks="gcc has no ThreadSanitizer here"
elif ! setarch -R true 2>/dev/null; then
	lacks="addresses cannot be fixed here"
elif ! timeout 600 setarch -R "$host" "$SO13" 1 1 1 >"$tmp/probe" 2>&1; then
	lacks="ThreadSanitizer does not run here: $(tail -n 1 "$tmp/probe")"
fi
wrap=(setarch -R)
export LD_LIBRARY_PATH=$FAKE/13 # it looks into dlopen, which loses the RUNPATH of who calls it
check_there "ThreadSanitizer has nothing to report of eight threads." quiet "$SO13" 8 200 16
NVRTCCACHE_MEM_SIZE=20K check_there "Nor with a memory front that is always full." quiet "$SO13" 8 200 16
NVRTCCACHE_MAX_SIZE=40K check_there "Nor with a directory that is always full." quiet "$SO13" 8 200 16
NVRTCCACHE_VERIFY=1 check_there "Nor when every hit is compiled too." quiet "$SO13" 4 100 16
NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=debug NVRTCCACHE_TRACE=$tmp/events NVRTCCACHE_STATS=1 \
	check_there "Nor with log, trace and counters enabled." quiet "$SO13" 4 100 16
[ -n "$real" ] || lacks="no NVRTC here"
LD_LIBRARY_PATH=${NVRTC_LIB:-} check_there "Nor with a real NVRTC." quiet "$real" 4 6 4
unset LD_LIBRARY_PATH
wrap=()

LIBRARY=$HOSTS/helgrind/libnvrtccache.so
# The loader's words are read without its lock, on purpose (interpose/elf/loaded.h).
for function in is_frozen is_held is_busy loaded_generation; do
	printf '{\n\t%s\n\tHelgrind:Race\n\tfun:%s\n}\n' "$function" "$function"
done >"$tmp/loader"
helgrind=(timeout 600 valgrind -q --tool=helgrind --error-exitcode=7 --suppressions="$tmp/loader")
library_storm() {
	local name
	"$HOSTS/storm" "$SO13" 4 30 16 >"$tmp/bare"
	fresh_cache
	for name in cold warm; do
		LD_PRELOAD=$LIBRARY "${helgrind[@]}" "$HOSTS/storm" "$SO13" 4 30 16 >"$tmp/$name" 2>"$tmp/$name.err" ||
			{ cat "$tmp/$name.err" && return 1; }
		diff <(lines_of "$tmp/bare") <(lines_of "$tmp/$name") || return
	done
}
needs "no valgrind" [ -e "$LIBRARY" -a -x "$(command -v valgrind)" ]
check_there "Helgrind has nothing to report of a host with four threads." library_storm
NVRTCCACHE_MEM_SIZE=20K NVRTCCACHE_MAX_SIZE=40K check_there "Nor where memory front and directory are always full." library_storm
LIBRARY=$ordinary
plan
