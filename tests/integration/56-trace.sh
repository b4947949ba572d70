#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The time line (NVRTCCACHE_TRACE) is JSON from its first byte, whoever writes it and however they end.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
SO=$FAKE/13/libnvrtc.so.13
command -v python3 >/dev/null || skip_all "no python3"

host() { # rounds, words before the program
	local rounds=$1
	shift
	LD_PRELOAD=$LIBRARY "$@" "$LIFE" "$SO" trivial "$rounds" -arch=sm_90
}

events() { # file; how many calls it has, or why it has none
	python3 -c 'import json, sys
print(len([e["ts"] for e in json.load(open(sys.argv[1])) if e["ph"] == "X" and e.get("cat") != "wait"]))' "$1" 2>&1 | tail -n 1
}

bad=0
for round in {1..15}; do
	export NVRTCCACHE_TRACE=$tmp/together-$round.json
	for _ in 1 2 3 4 5 6; do host 3 >/dev/null & done
	wait
	[ "$(events "$NVRTCCACHE_TRACE")" = 24 ] || bad=$((bad + 1))
done
check "Six processes that start together write one array, fifteen times." test "$bad" = 0

export NVRTCCACHE_TRACE=$tmp/killed.json
for round in {1..20}; do
	LD_PRELOAD=$LIBRARY "$LIFE" "$SO" trivial 1000000 >/dev/null 2>&1 &
	pids="$! "
	LD_PRELOAD=$LIBRARY "$LIFE" "$SO" trivial 1000000 >/dev/null 2>&1 &
	pids+=$!
	# until both have written for a while
	until [ "$(stat -c %s "$NVRTCCACHE_TRACE" 2>/dev/null || echo 0)" -gt $((round * 20000)) ]; do sleep 0.01; done
	# shellcheck disable=SC2086 # two numbers
	kill -KILL $pids
	# shellcheck disable=SC2086
	wait $pids 2>/dev/null
	host 0 >/dev/null
done
check "A next process closes what killed ones have left." test "$(events "$NVRTCCACHE_TRACE")" -gt 20

for torn in '[' $'[\n' $'[\n{"ph":"X","ts":1' $'[\n{"ph":"X","ts":1},\n' $'[\n{"ph":"X","ts":1}\n]\n' $'[\n{"ph":"X","ts":1}\n{"na}]' \
	$'[\n{"ph":"X","ts":1},\n{"ph":"X","ts":1,"args":{"program":"a},b]"}' $'[\n]\n'; do
	export NVRTCCACHE_TRACE=$tmp/torn.json
	printf %s "$torn" >"$NVRTCCACHE_TRACE"
	host 0 >/dev/null
	[ "$torn" = '[' ] || events "$NVRTCCACHE_TRACE"
done >"$tmp/counts"
check "An array that was cut anywhere is taken up where its last whole event ends." \
	test "$(tr '\n' ' ' <"$tmp/counts")" = "1 1 2 2 2 2 1 "

export NVRTCCACHE_TRACE=$tmp/thesis.tex
echo 'My thesis, chapter one.' >"$NVRTCCACHE_TRACE"
host 0 >/dev/null
check "A file with something else in it is left alone." test "$(cat "$NVRTCCACHE_TRACE")" = 'My thesis, chapter one.'

bad=0
for text in $'[package]\nname = "x"\n[dependencies]\nserde = { version = "1" }\n[profile.release]\nlto = true\n' '[ 1, 2,
{"a": 3}, 4 ]
'; do
	export NVRTCCACHE_TRACE=$tmp/settings
	printf %s "$text" >"$NVRTCCACHE_TRACE"
	host 0 >/dev/null
	[ "$(cat "$NVRTCCACHE_TRACE")" = "${text%$'\n'}" ] || bad=$((bad + 1))
done
check "So are settings that begin with a bracket, and an array of another's making." test "$bad" = 0

export NVRTCCACHE_TRACE=$tmp/limited.json
host 0 >/dev/null
size=$(stat -c %s "$NVRTCCACHE_TRACE")
bad=0
for more in 0 1 2 3 100 200 300 400; do
	host 3 prlimit --fsize=$((size + more)) | cat >/dev/null
	[ "${PIPESTATUS[0]}" = 0 ] && [ "$(events "$NVRTCCACHE_TRACE")" -gt 0 ] 2>/dev/null || bad=$((bad + 1))
done
check "A limit on the size of files cuts no event in two, and ends no host." test "$bad" = 0

mkfifo "$tmp/pipe"
cat "$tmp/pipe" >"$tmp/piped" &
export NVRTCCACHE_TRACE=$tmp/pipe
exec 9>"$tmp/pipe"
host 2 >/dev/null
exec 9>&-
wait
check "A pipe gets one event after the other." test "$(grep -c '^{"name".*},$' "$tmp/piped")" = 3
plan
