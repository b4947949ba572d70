#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Long work of the command: what a terminal shows of it, what an interrupt leaves, and what is said at the end.
# shellcheck disable=SC2016 # the text is Python's
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
SCALE=$BUILD/tests/scale
[ -x "$SCALE" ] || skip_all "no $SCALE"
python3 -c 'import pty, os; os.close(pty.openpty()[0])' 2>/dev/null || skip_all "no python3, or no pseudo-terminals"
export HOME=$tmp/home
mkdir "$HOME"
in_memory
ON=(python3 "$(dirname "$0")/terminal.py")
MANY=1000

plant() { "$SCALE" plant "$NVRTCCACHE_DIR" "$1" >"$tmp/planted"; }
# Python about `drawn`, the lines that a terminal was given one after the other, and `ended`.
drawn_says() {
	python3 - "$tmp/out" "$1" <<'PY' || { cat "$tmp/out" && false; }
import ast, re, sys
lines = open(sys.argv[1]).read().splitlines()
parts = [ast.literal_eval(line) for line in lines if line.startswith("b")]
drawn = [[one for one in re.split(r"\r", part.decode()) if one.strip()] for part in parts]
ended = int(lines[-1].split()[-1]) if lines[-1].startswith("ended") else None
sys.exit(not eval("(" + sys.argv[2] + ")", {"re": re, "parts": parts, "drawn": drawn, "ended": ended}))
PY
}

NVRTCCACHE_DIR=$memory/many
plant $MANY
bundle=$memory/many.nvb
"$COMMAND" export "$bundle" >"$tmp/out" || exit 1

counts_shown() {
	"${ON[@]}" shown "$@" >"$tmp/out" && drawn_says '
		any(re.search(r"^[a-z]+  [0-9]+ of [0-9]+ entries", line) for line in drawn[0]) and re.search(rb"\r +\r$", parts[0])
		and b"\x1b" not in parts[0] and all(len(line) < 80 for line in drawn[0])'
}
for verb in "export $memory/again.nvb" "ls" "verify"; do
	# shellcheck disable=SC2086 # several words
	check "${verb%% *} shows counts on a terminal, and wipes them at the end." counts_shown "$COMMAND" $verb
done
imports_shown() {
	fresh_cache
	counts_shown "$COMMAND" import "$bundle"
}
check "So has import." imports_shown
NVRTCCACHE_DIR=$memory/many

control_c() {
	fresh_cache
	"${ON[@]}" keys "$COMMAND" import "$bundle" >"$tmp/out" &&
		drawn_says 'ended == -2 and b"\rnvrtccache: standard input: interrupted; its sound entries so far are imported" in parts[1]' || return
	local some
	some=$(entries)
	[ "$some" -gt 0 ] && [ "$some" -lt $MANY ] && [ -z "$(find "$NVRTCCACHE_DIR" -name 'tmp.*')" ] || return
	gives 0 import "$bundle" && silent_err && [ "$(entries)" -eq $MANY ] &&
		out_has "^Imported $((MANY - some)) entr[a-z]+ .*; $some w[a-z]+ there already$"
}
check "^C ends an import with a clean terminal and whole results, and the next import continues." control_c

elsewhere() {
	fresh_cache
	gives 0 import "$bundle" && silent_err && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
		out_has "^Imported 1000 entries \([0-9.]+ KiB\) into $NVRTCCACHE_DIR in [0-9.]+ [a-z]+\$" &&
		gives 0 export "$memory/again.nvb" && silent_err && [ "$(wc -l <"$tmp/out")" -eq 1 ] &&
		out_has "^Exported 1000 entries \([0-9.]+ KiB\) from $NVRTCCACHE_DIR in [0-9.]+ [a-z]+\$"
}
check "Elsewhere there is one line at the end: how many, how large, how long it took." elsewhere

removals_shown() {
	plant $MANY
	counts_shown "$COMMAND" prune --max-size 1000 && [ "$(entries)" -lt 2 ] && plant $MANY || return
	"$COMMAND" prune >"$tmp/out" # which counts what was planted, as stores would have
	counts_shown "$COMMAND" clear && [ "$(entries)" -eq 0 ]
}
check "prune and clear show counts." removals_shown
counting_shown() {
	plant $MANY
	"${ON[@]}" shown "$COMMAND" stats --count >"$tmp/out" && drawn_says 'drawn[0][0].startswith("looking  ")' &&
		gives 0 stats --count && silent_err && out_has "^Entries +$MANY$"
}
check "So has stats --count." counting_shown

# Removals take 20 ms each, so that the signal comes in the middle; a second one would end the command at once.
stopped_removing() { # VERB...
	plant $MANY
	# not in the background of a script, where SIGINT is ignored
	python3 - "$NVRTCCACHE_DIR" strace -f -qq -o "$tmp/trace" -e trace=unlinkat -e inject=unlinkat:delay_exit=20000 "$COMMAND" "$@" >"$tmp/out" 2>"$tmp/err" <<'PY'
import glob, os, signal, subprocess, sys, time
def left():
    return len(glob.glob(sys.argv[1] + "/v1/??/*"))
before, process = left(), subprocess.Popen(sys.argv[2:])
while left() == before and process.poll() is None:
    time.sleep(0.01)
children = open(f"/proc/{process.pid}/task/{process.pid}/children").read().split()
os.kill(int(children[0]), signal.SIGINT)
code = process.wait()
sys.exit(code if code >= 0 else 128 - code)
PY
	[ $? -eq 130 ] && err_has '^nvrtccache: interrupted before the end$' && out_has '^Removed [0-9]+ entr' || { cat "$tmp/err" && return 1; }
	local removed left
	removed=$(sed -n 's/^Removed \([0-9]*\) entr.*/\1/p' "$tmp/out")
	left=$(entries)
	[ "$removed" -gt 0 ] && [ $((left + removed)) -eq $MANY ] && gives 0 stats && out_has "^Entries +$left$" &&
		gives 0 stats --count && out_has "^Entries +$left$" && gives 0 export "$memory/rest.nvb" && silent_err
}
if strace -f -qq -o /dev/null -e trace=write -e inject=write:signal=SIGCONT:when=1 true 2>/dev/null; then
	for verb in "prune --max-size 1000" "prune --older-than 1h" clear; do
		# shellcheck disable=SC2086 # several words
		check "^C ends '$verb' with what is left whole, and counted." stopped_removing $verb
	done
else
	skip "^C ends prune and clear with what is left whole, and counted." "no strace, or it may not trace here"
fi

beside_stores() {
	plant 600
	local pids=() i
	for i in 1 2 3; do
		NVRTCCACHE_MAX_SIZE=$((i * 100))K "$COMMAND" prune >"$tmp/prune.$i" 2>&1 &
		pids+=($!)
	done
	"$COMMAND" import "$bundle" >"$tmp/out" 2>"$tmp/err" && silent_err || return
	for i in "${pids[@]}"; do wait "$i" || return; done
	gives 0 export "$memory/rest.nvb" && silent_err
}
check "Concurrent prunes during stores remove only whole entries." beside_stores

plan
