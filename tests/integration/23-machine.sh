#!/bin/bash
# needs: nvrtc
# What a compiler asks the machine for is a dependency of the result: -split-compile=0 takes the number of processors.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
player=$BUILD/tests/player
library=$NVRTC_LIB/$NVRTC_SONAME
work=$tmp/work
mkdir "$work"
machine=$BUILD/tests/fixtures/libother_processors.so

printf '=== A process.\nsource <<\n%s\nEND\n' "$(python3 tests/cases/spoilers.py --source)" >"$tmp/plain.case"
cp "$tmp/plain.case" "$tmp/split.case"
printf 'create\ncompile -arch=compute_80\nall\ndestroy\n' >>"$tmp/plain.case"
printf 'create\ncompile -arch=compute_80 -split-compile=0\nall\ndestroy\n' >>"$tmp/split.case"

# PROCESSORS CASE FILE : what the compiler gives on such a machine
plainly() {
	PROCESSORS=$1 LD_PRELOAD=$machine timeout 300 "$player" "$library" "$work" "$tmp/$2.case" /dev/null 1 >"$3" 2>&1
}
cached() { PROCESSORS=$1 after=$machine preloaded "$player" "$library" "$work" "$tmp/$2.case" /dev/null 1 >"$3" 2>&1; }

plainly 2 split "$tmp/two"
plainly 1 split "$tmp/one"
sentence="A result of -split-compile=0 is not another machine's, which has other processors."
if cmp -s "$tmp/one" "$tmp/two"; then
	skip "$sentence" "this NVRTC makes the same of one processor as of two"
else
	fresh_cache
	cached 2 split "$tmp/first"
	cached 1 split "$tmp/second"
	check "$sentence" cmp "$tmp/second" "$tmp/one"
fi
fresh_cache
cached 2 split "$tmp/first"
key=$("$COMMAND" ls --json | sed -n 's/.*"key":"\([0-9a-f]*\)".*/\1/p' | head -1)
if ! PROCESSORS=2 LD_PRELOAD=$machine "$COMMAND" show "$key" >"$tmp/shown" 2>&1 || ! grep -q 'number of processors' "$tmp/shown"; then
	skip "What the compiler asked for is shown, compared and explained." "this NVRTC asks for no number of processors"
else
	check "show prints the number, and whether it is unchanged." grep -q 'unchanged .*the number of processors was 2' "$tmp/shown"
	PROCESSORS=3 LD_PRELOAD=$machine "$COMMAND" show "$key" >"$tmp/shown" 2>&1
	check "It is shown as changed on another machine." grep -q 'changed .*the number of processors was 2' "$tmp/shown"
	PROCESSORS=3 LD_PRELOAD=$machine "$COMMAND" show --json "$key" >"$tmp/shown" 2>&1
	check "It is shown as JSON." grep -q '"kind":"machine","state":"changed","question":"number of processors","answer":2' "$tmp/shown"
	cached 2 split "$tmp/again"
	check "The same machine hits." test "$(stat_of hits_disk)" = 1 -a "$(stat_of misses)" = 1
	cached 3 split "$tmp/other"
	"$COMMAND" explain --last >"$tmp/explained" 2>&1
	check "Another machine misses, and why is explained." grep -q 'the number of processors was 2, and now it is 3' "$tmp/explained"
fi
fresh_cache
cached 2 plain "$tmp/first"
cached 7 plain "$tmp/second"
check "A result for which no machine was asked hits on any." test "$(stat_of hits_disk)" = 1
plan
