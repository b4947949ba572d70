#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Hosts that do what makes a cache go wrong: each sentence was once false. A run with the filled cache must print what a
# run without us prints.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH
traps=$LOADER/traps
so13=$FAKE/13/libnvrtc.so.13

lines() {
	grep -v '^compiles ' "$1"
}

# Runs the command without us and with us, and compares; the cache is as it was left.
same() {
	local sentence=$1
	shift
	timeout 600 env ${bare_preload:+"${EMULATED:-LD_PRELOAD}=$bare_preload"} "$@" >"$tmp/bare" 2>&1
	echo "exit $?" >>"$tmp/bare"
	preloaded "$@" >"$tmp/ours" 2>&1
	echo "exit $?" >>"$tmp/ours"
	check "$sentence" diff <(lines "$tmp/bare") <(lines "$tmp/ours")
}

compiles() {
	sed -n 's/^compiles //p' "$1"
}

settled() { # files as old as that count as unchanging, their ctime too
	sleep 0.3
}

header=$tmp/header.h
first=(sticky "$so13" -arch=sm_90 "--pre-include=$header") # an option that nothing lingers of
fresh_cache
echo one >"$header"
settled
preloaded "$traps" "${first[@]}" >"$tmp/first" 2>&1
preloaded "$traps" "${first[@]}" >"$tmp/second" 2>&1
check "A handle compiled twice gets two hits." test "$(compiles "$tmp/second")" = 0
echo other >"$header"
settled
same "The cubin that a second compile leaves alone is of the header as it is now." "$traps" "${first[@]}"
clock=(sticky "$so13" -arch=sm_90 --fake-time -DNOW=__TIME__)
preloaded "$traps" "${clock[@]}" >"$tmp/first" 2>&1
preloaded "$traps" "${clock[@]}" >"$tmp/second" 2>&1
check "A second compile that leaves a cubin with the time in it is not a hit." test "$(compiles "$tmp/second")" = 2

fresh_cache
preloaded "$traps" once "$so13" --fake-env=TRAP >"$tmp/first" 2>&1
preloaded "$traps" once "$so13" --fake-env=TRAP >"$tmp/second" 2>&1
check "A result for which the compiler read an unset unlisted variable is a hit." test "$(compiles "$tmp/second")" = 0
export TRAP=1
same "It is not a hit once the variable is set." "$traps" once "$so13" --fake-env=TRAP
unset TRAP

fresh_cache
slow=(-lineinfo --fake-sleep-ms=500)
mkdir "$tmp/here" "$tmp/there"
ln -s here "$tmp/link"
cd "$tmp/here" || exit 1
preloaded env -u PWD "$traps" moved "$so13" "$tmp/there" "${slow[@]}" >"$tmp/first" 2>&1
same "If another thread changes the working directory meanwhile, no wrong result is cached." env -u PWD "$traps" once "$so13" "${slow[@]}"
fresh_cache
export PWD=$tmp/here
preloaded "$traps" changed "$so13" "PWD=$tmp/link" "${slow[@]}" >"$tmp/first" 2>&1
same "If another thread changes a variable meanwhile, no wrong result is cached." "$traps" once "$so13" "${slow[@]}"
cd "$tmp" || exit 1

fresh_cache
text='extern "C" __global__ void k(const char **t) { *t = __TIME__; }'
NVRTCCACHE_SLOPPINESS=time_macros preloaded "$traps" source "$so13" "$text" >"$tmp/first" 2>&1
NVRTCCACHE_SLOPPINESS=time_macros preloaded "$traps" source "$so13" "$text" >"$tmp/second" 2>&1
check "With NVRTCCACHE_SLOPPINESS=time_macros a result with the time is a hit." test "$(compiles "$tmp/second")" = 0
preloaded "$traps" source "$so13" "$text" >"$tmp/second" 2>&1
check "Without the setting it is not." test "$(compiles "$tmp/second")" = 1
preloaded "$traps" named "$so13" "k<__TIME__[7]>" >"$tmp/first" 2>&1
preloaded "$traps" named "$so13" "k<__TIME__[7]>" >"$tmp/second" 2>&1
check "A name expression with the time in it is not a hit." test "$(compiles "$tmp/second")" = 1

fresh_cache
preloaded "$traps" once "$so13" --fake-rc=6 >"$tmp/first" 2>&1
check "A failure without an explanation is not cached." test "$(entries)" = 0

fresh_cache
same "A host whose fork handlers wait for the thread that compiles does not hang." "$traps" fork "$so13"

fresh_cache
same "A handle that is compiled four thousand times does not grow." "$traps" again "$so13" 4000
same "Nor does it when its compiles could be hits." "$traps" again "$so13" 4000

fresh_cache
mkdir "$tmp/place"
cp "$FAKE/13/libnvrtc-builtins.so.13.0" "$tmp/place"
preloaded "$traps" once "$so13" -arch=sm_90 >"$tmp/first" 2>&1
# another build of the same layout: other answers, another build-id
sed 's/plain/other/g' "$so13" >"$tmp/other.so"
note=$(readelf -SW "$so13" | sed -n 's/.*\.note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
printf '\377\377' | dd of="$tmp/other.so" bs=1 seek=$((16#$note + 16)) conv=notrunc 2>/dev/null
same "A library that was replaced on disk and opened again is another one." \
	"$traps" replaced "$so13" "$tmp/other.so" "$tmp/place/libnvrtc.so.13"
same "A linked module that is loaded and unloaded at twenty addresses gets no error of ours." "$traps" reloaded "$LOADER/probing.so" 20
timeout 600 "$traps" absent | grep -c '^error' >"$tmp/bare"
preloaded "$traps" absent | grep -c '^error' >"$tmp/ours"
check "dlvsym finds no function in a program without NVRTC, by its own handle neither." diff "$tmp/bare" "$tmp/ours"

fresh_cache
preloaded "$LOADER/passing_by12" >"$tmp/first" 2>&1
same "A linked program's flow callback is called and obeyed where we do not export its setter." "$LOADER/passing_by12" veto
preloaded "$LOADER/passing_by_future" >"$tmp/first" 2>&1
same "An unknown function of a linked program sees a compiled program." "$LOADER/passing_by_future"

mkdir "$tmp/real"
echo '#define REAL 1' >"$tmp/real/x.h"
settled
export REDIRECT=$tmp/real
bare_preload=$LOADER/redirect.so
for place in before after; do
	fresh_cache
	[ $place = before ] && before=$bare_preload || after=$bare_preload
	same "NVRTC's files are found through a preload $place us that redirects paths." "$traps" source "$so13" '#include "x.h"' -I/virtual
	before='' after=''
done

# /virtual is not there for who is not redirected: here he finds another header, or a later place of the same name
mkdir "$tmp/early" "$tmp/late" "$tmp/shown"
echo '#define REAL 2' >"$tmp/late/x.h"
echo '#define REAL 3' >"$tmp/shown/x.h"
settled
export REDIRECT=$tmp/shown
for from in late early; do
	for place in before after; do
		fresh_cache
		preloaded "$traps" source "$so13" '#include "x.h"' -I"$tmp/early" -I"$tmp/late" >"$tmp/first" 2>&1
		export REDIRECT_FROM=$tmp/$from/
		[ $place = before ] && before=$bare_preload || after=$bare_preload
		same "A cached result is no hit if a preload $place us shows the compiler another $from directory." \
			"$traps" source "$so13" '#include "x.h"' -I"$tmp/early" -I"$tmp/late"
		before='' after=''
		unset REDIRECT_FROM
	done
done
plan
