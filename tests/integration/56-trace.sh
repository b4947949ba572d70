#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The time line (NVRTCCACHE_TRACE) is one event a line in an array that stays open, whichever processes write it and
# however they end.
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
print(len([e["ts"] for e in json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]") if e.get("cat") != "wait"]))' "$1" 2>&1 | tail -n 1
}

# What a call was and how it ended, of the file's slices that hold it: [name, cat, args...]
told() { # FILE ARGS...
	python3 - "$@" <<'PY'
import json, sys
for event in json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]"):
    if event["ph"] == "X" and event["cat"] != "wait":
        print(event["name"], event["cat"], *(event["args"].get(name) for name in sys.argv[2:]))
PY
}
waits_lie_inside() { # FILES
	python3 - "$@" <<'PY'
import json, sys
for name in sys.argv[1:]:
    events = [event for event in json.loads(open(name).read().rstrip(",\n") + "]") if event["ph"] == "X"]
    for wait in (event for event in events if event["cat"] == "wait"):
        around = [e for e in events if e["cat"] != "wait" and e["pid"] == wait["pid"] and e["tid"] == wait["tid"]
                  and e["ts"] <= wait["ts"] and wait["ts"] + wait["dur"] <= e["ts"] + e["dur"] + 1]
        assert len(around) == 1 and around[0]["name"] == wait["name"] and around[0]["args"]["wait"] > 0, (name, wait)
        assert wait["args"] == around[0]["args"], (name, wait)
PY
}

export NVRTCCACHE_TRACE=$tmp/two.json NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=info
host 1 >/dev/null
unset NVRTCCACHE_LOG
key=$("$COMMAND" ls --json | sed -n 's/.*"key":"\([0-9a-f]*\)".*/\1/p')
facts="$key nvrtc 13.0 sm_90 ['-arch=sm_90'] 0"
check "A slice is named by its program; it says how the call ended, key, compiler, options and machine." \
	test "$(told "$tmp/two.json" key compiler version arch options result)" = "k.cu miss $facts"$'\n'"k.cu hit_memory $facts"
check "It says which file the compiler is, how the call came to it, and in which program." \
	test "$(told "$tmp/two.json" library reached command | sort -u)" = "k.cu hit_memory $SO dlsym life"$'\n'"k.cu miss $SO dlsym life"
check "A slice ends before the next one of its thread begins." \
	python3 -c 'import json, sys
first, second = [x for x in json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]") if x["ph"] == "X"]
assert 0 <= first["dur"] and first["ts"] + first["dur"] <= second["ts"], (first, second)' "$tmp/two.json"
line='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z nvrtccache\[[0-9]+\]: NVRTC: '
said_so() {
	cat "$tmp/log"
	[ "$(wc -l <"$tmp/log")" = 2 ] && grep -qE "${line}stored, [0-9]+ us, key ${key:0:8}, k\.cu$" "$tmp/log" &&
		grep -qE "${line}hit in memory, [0-9]+ us, key ${key:0:8}, k\.cu$" "$tmp/log"
}
check "The log has a line for each call: time, process, outcome, duration, key, program." said_so
year() { [[ $(head -c 13 "$tmp/log") =~ ^($(date -u +%Y-%m-%dT%H)|$(date -u -d '1 minute ago' +%Y-%m-%dT%H))$ ]]; }
check "Its time is that of the clock, in UTC." year

bad=0
for round in {1..15}; do
	export NVRTCCACHE_TRACE=$tmp/together-$round.json
	for _ in 1 2 3 4 5 6; do host 3 >/dev/null & done
	wait
	[ "$(events "$NVRTCCACHE_TRACE")" = 24 ] || bad=$((bad + 1))
done
check "Six processes that start together write one array, fifteen times." test "$bad" = 0
check "Waiting for another's compile is a slice inside one's own." waits_lie_inside "$tmp"/together-*.json

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
check "A later process continues after killed ones." test "$(events "$NVRTCCACHE_TRACE")" -gt 20

event='{"name":"k","ph":"X","ts":1}'
for begun in '' $'[\n' $'[\n{"na' $'[\n'"$event" $'[\n'"$event"$',\n' $'[\n'"$event"$',\n{"name":"k","args":{"program":"a},b]"}'; do
	export NVRTCCACHE_TRACE=$tmp/begun.json
	printf %s "$begun" >"$NVRTCCACHE_TRACE"
	host 0 >/dev/null
	events "$NVRTCCACHE_TRACE"
done >"$tmp/counts"
check "An array that was cut anywhere is continued where its last whole event ends." \
	test "$(tr '\n' ' ' <"$tmp/counts")" = "1 1 1 1 2 2 "

bad=0
for closed in '[' $'[\n'"$event"$'\n]' $'[\n'"$event"$',\n]' $'[\n'"$event"$',\n'"$event]" $'[\n'"$event,$event]" $'[\n'"$event"$',\n{"ph":"X","ts":1'; do
	export NVRTCCACHE_TRACE=$tmp/closed.json
	printf %s "$closed" >"$NVRTCCACHE_TRACE"
	host 0 >/dev/null
	[ "$(cat "$NVRTCCACHE_TRACE")" = "$closed" ] || bad=$((bad + 1))
done
check "One that another program has written is left alone." test "$bad" = 0

export NVRTCCACHE_TRACE=$tmp/options.json
# shellcheck disable=SC2046 # a thousand words
LD_PRELOAD=$LIBRARY "$LIFE" "$SO" trivial 0 $(printf -- '-DOPTION_%d=1 ' {1..1000}) >/dev/null
check "An event is short enough for a pipe, whatever its options are." \
	awk 'length($0) > 4000 { long++ } END { exit !(NR == 2 && !long) }' "$NVRTCCACHE_TRACE"

export NVRTCCACHE_TRACE=$tmp/thesis.tex
echo 'My thesis, chapter one.' >"$NVRTCCACHE_TRACE"
host 0 >/dev/null
check "A file with something else in it is left alone." test "$(cat "$NVRTCCACHE_TRACE")" = 'My thesis, chapter one.'

bad=0
for text in $'[package]\nname = "x"\n[dependencies]\nserde = { version = "1" }\n[profile.release]\nlto = true\n' '[ 1, 2,
{"a": 3}, 4 ]
' $'[\n {"a": 1},\n "precious",\n "gone"\n]\n' $'[\n{"a": 1},\n"precious",\n"gone"\n]\n' $'[\n{"a": 1}\n]\nprecious\n'; do
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
