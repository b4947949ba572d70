#!/bin/bash
# needs: nvrtc
# weight: 10
# NVRTC goes on obeying some options in later compiles of a process, whatever those ask for. What it makes then is not
# what their key says, and must not be found by another process.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
player=$BUILD/tests/player
library=$NVRTC_LIB/$NVRTC_SONAME
work=$tmp/work
mkdir "$work"

# OPTIONS... : one compile of a kernel for each, as a case file
compiles() {
	local options
	printf '=== A process.\nsource <<\n%s\nEND\n' \
		'__device__ int half(int a) { return a / 2; }
__device__ __noinline__ float third(float a) { return a / 3; }
extern "C" __global__ void f(float *p) { p[0] = third(p[1]) + third(p[2]) * 2; }
extern "C" __global__ void k(int *p, const int *q) { for (int i = 0; i < 4; i++) p[i] = half(q[i]); }'
	for options; do
		printf 'create\ncompile %s\nall\ndestroy\nmark .\n' "$options"
	done
}

# FILE OPTIONS... : what the last compile of a process gives, into FILE
last_plain() {
	local file=$1
	shift
	compiles "$@" >"$tmp/cases"
	"$player" "$library" "$work" "$tmp/cases" /dev/null 1 2>&1 | last_answer >"$file"
}

last_cached() {
	local file=$1
	shift
	compiles "$@" >"$tmp/cases"
	preloaded "$player" "$library" "$work" "$tmp/cases" /dev/null 1 2>&1 | last_answer >"$file"
}

last_answer() {
	awk '/^(round|===) / { next } $0 == "." { last = answer; answer = ""; next } { answer = answer $0 "\n" } END { printf "%s", last }'
}

check "Every option that this NVRTC knows is in the table, or left out on purpose." nice scripts/sticky --library "$library" --unlisted

base='-arch=sm_90'
last_plain "$tmp/alone" "$base"
for option in -restrict -opt-info=inline; do
	last_plain "$tmp/after" "$base $option" "$base $option" "$base"
	if cmp -s "$tmp/alone" "$tmp/after"; then
		skip "What NVRTC makes after $option is not cached." "it does not linger in this NVRTC, or is not known"
		continue
	fi
	fresh_cache
	last_cached "$tmp/spoilt" "$base $option" "$base $option" "$base"
	kept=$(reason_of sticky_options)
	last_cached "$tmp/next" "$base"
	if [ "$kept" = 1 ] && cmp -s "$tmp/alone" "$tmp/next"; then
		ok "What NVRTC makes after $option is not cached."
	else
		diff "$tmp/alone" "$tmp/next" >"$tmp/difference"
		not_ok "What NVRTC makes after $option is not cached." "$tmp/difference"
	fi
done

# 12.0 alone. What is compiled between changes those with the option too, so nothing of such a process is kept.
sentence="What NVRTC makes after -split-compile=2 is not cached."
last_plain "$tmp/after" "$base -split-compile=2" "$base"
sed 's,// callseq.*,,' "$tmp/after" >"$tmp/after.ptx"
if sed 's,// callseq.*,,' "$tmp/alone" | cmp -s - "$tmp/after.ptx"; then
	skip "$sentence" "it does not linger in this NVRTC, or is not known"
else
	fresh_cache
	last_cached "$tmp/spoilt" "$base -split-compile=2" "$base" "$base -split-compile=2"
	kept="$(reason_of sticky_options) $(stat_of stores)"
	last_cached "$tmp/next" "$base"
	check "$sentence" test "$kept" = "3 0" -a "$(cat "$tmp/next")" = "$(cat "$tmp/alone")"
fi

# Of a source that is large enough for it.
sentence="What NVRTC makes of -split-compile=2 after -dlto -gen-opt-lto is not cached."
large() { # command FILE OPTIONS...
	printf '=== A process.\nsource <<\n%s\nEND\n' "$(python3 tests/cases/spoilers.py --source)" >"$tmp/large"
	local options
	for options in "${@:3}"; do
		printf 'create\ncompile %s\nall\ndestroy\nmark .\n' "$options"
	done >>"$tmp/large"
	"$1" "$player" "$library" "$work" "$tmp/large" /dev/null 1 2>&1 | last_answer | sed 's,// callseq.*,,' >"$2"
}
plainly() { timeout 300 "$@"; }
split="$base -split-compile=2"
large plainly "$tmp/split" "$split"
large plainly "$tmp/after" "$base -dlto -gen-opt-lto" "$split"
if cmp -s "$tmp/split" "$tmp/after"; then
	skip "$sentence" "it does not linger in this NVRTC, or is not known"
else
	fresh_cache
	large preloaded "$tmp/spoilt" "$base -dlto -gen-opt-lto" "$split"
	kept="$(reason_of sticky_options) $(stat_of stores)"
	large preloaded "$tmp/next" "$split"
	check "$sentence" test "$kept" = "1 1" -a "$(cat "$tmp/next")" = "$(cat "$tmp/split")"
fi

# Nobody has searched -Xcudafe: what it is told may be anything.
fresh_cache
last_cached "$tmp/first" "$base -Xcudafe --display_error_number" "$base" "$base -Xcudafe --display_error_number -DSAME" \
	"$base -Xcudafe --no_warnings"
check "After an uncleared option only compiles with the same option are cached." test \
	"$(reason_of uncleared_options) $(stat_of stores)" = "2 2"
fresh_cache
stored=
for process in 1 2 3 4; do
	last_cached "$tmp/$process" "$base" "$base -Xcudafe --display_error_number" "$base -DONE" "$base -Xcudafe --no_warnings" "$base -DTWO"
	stored="$stored $(stat_of stores)"
done
check "Each process caches more, up to the next uncleared option, until all are hits." test "$stored" = " 2 4 5 5"
fresh_cache
last_cached "$tmp/first" "$base --bogus -Xcudafe --display_error_number" "$base" "$base -DMORE"
check "Options that NVRTC rejects have no lasting effect: later compiles are cached." test \
	"$(reason_of uncleared_options) $(reason_of return_code) $(stat_of stores)" = "0 1 2"

for option in -restrict -opt-info=inline; do
	fresh_cache
	last_cached "$tmp/first" "$base $option" "$base $option -DANOTHER"
	last_cached "$tmp/second" "$base $option" "$base $option -DANOTHER"
	if [ "$(stat_of misses)" = 2 ] && cmp -s "$tmp/first" "$tmp/second"; then
		ok "If all compiles have $option, they are cached."
	else
		not_ok "If all compiles have $option, they are cached." "$tmp/second"
	fi
done

fresh_cache
last_cached "$tmp/first" "$base -restrict"
last_cached "$tmp/second" "$base -restrict" "$base"
if cmp -s "$tmp/alone" "$tmp/second" && [ "$(stat_of stores)" = 2 ]; then
	ok "A hit has no lasting effect: later compiles are cached."
else
	not_ok "A hit has no lasting effect: later compiles are cached." "$tmp/second"
fi

fresh_cache
last_cached "$tmp/first" "$base"
last_cached "$tmp/first" "$base -restrict"
NVRTCCACHE_VERIFY=1 last_cached "$tmp/second" "$base -restrict" "$base -restrict" "$base"
check "A hit is not measured by what a process makes after an option that lingers." test \
	"$(stat_of verified) $(stat_of errors.mismatch)" = "3 0"
plan
