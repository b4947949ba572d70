#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tests/run makes of a Criterion program that stands still, of one that says nothing, of what tests leave behind, and
# of signals.
. "$(dirname "$0")/lib.sh"
RUN=$(cd "$(dirname "$0")/.." && pwd)/run

# A build whose unit tests are this text. $1 is the file for TAP, $2 one that is there from the second run on.
unit_tests() {
	mkdir -p "$tmp/build"
	rm -f "$tmp/again"
	{
		echo '#!/bin/bash'
		echo "set -- \"\${1#--tap=}\" '$tmp/again'"
		cat
	} >"$tmp/build/unit-tests"
	chmod +x "$tmp/build/unit-tests"
}

closes_with() { # the last line of a run
	env -u TEST_SUMMARY TESTS=unit-tests CRITERION_PATIENCE=1 "$RUN" "$tmp/build" >"$tmp/said" 2>&1
	cat "$tmp/said"
	[ "$(tail -n 1 "$tmp/said")" = "$1" ]
}

unit_tests <<'EOF'
printf '1..2\nok - one\nok - two\n' >"$1"
EOF
check "A program that reports success has passed." closes_with '2 passed, 0 failed, 0 skipped'

unit_tests <<'EOF'
[ -e "$2" ] || { touch "$2"; exec python3 -c 'import time; time.sleep(100)'; }
printf '1..2\nok - one\nok - two\n' >"$1"
EOF
check "A program that hangs without a worker is run again." closes_with '2 passed, 0 failed, 0 skipped'
check "The repetition is reported." grep -q 'run 1 of unit-tests stood still without a worker' "$tmp/said"

unit_tests <<'EOF'
exec python3 -c 'import time; time.sleep(100)'
EOF
check "A program that hangs each time has failed." closes_with '0 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
sleep 3
printf '1..1\nok - one\n' >"$1"
EOF
check "A program with a slow worker is not ended." closes_with '1 passed, 0 failed, 0 skipped'

unit_tests <<'EOF'
exit 0
EOF
check "A program that ends without output has failed." closes_with '0 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
printf '1..2\nok - one\n' >"$1"
EOF
check "A program that ends before its last test has failed." closes_with '1 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
printf '1..1\nok - one\n' >"$1"
exit 3
EOF
check "A program that exits with an error although no test failed has failed." closes_with '1 passed, 1 failed, 0 skipped'

# Programs of a build without unit tests. They start in $tmp, where "said" is what the run has said.
program() {
	rm -f "$tmp/build/unit-tests"
	mkdir -p "$tmp/build/tests/tap"
	{ printf '#!/bin/bash\ncd %q\n' "$tmp" && cat; } >"$tmp/build/tests/tap/$1"
	chmod +x "$tmp/build/tests/tap/$1"
}
programs_close_with() {
	env -u TEST_SUMMARY TESTS=tap/ TEST_PROGRESS=1 TEST_JOBS=2 "$RUN" "$tmp/build" >"$tmp/said" 2>&1
	cat "$tmp/said"
	[ "$(tail -n 1 "$tmp/said")" = "$1" ]
}

mkfifo "$tmp/here" "$tmp/there"
program one <<'EOF'
echo one >here && read -r word <there && printf 'ok 1 - %s\n1..1\n' "$word"
EOF
program two <<'EOF'
read -r word <here && echo two >there && printf 'ok 1 - %s\n1..1\n' "$word"
EOF
check "Two files run at a time." programs_close_with '2 passed, 0 failed, 0 skipped'
program one <<'EOF'
echo "$HOME $TMPDIR" >one && printf 'ok 1 - mine\n1..1\n'
EOF
program two <<'EOF'
echo "$HOME $TMPDIR" >two && touch "$TMPDIR/litter" && printf 'ok 1 - mine\n1..1\n'
EOF
own() { programs_close_with '2 passed, 1 failed, 0 skipped' && grep -q '^FAILED tap/two' "$tmp/said" && ! grep -qFf "$tmp/one" "$tmp/two"; }
check "Each file has its own directories, and fails if it leaves files there." own
program two <<'EOF'
mkdir "$TEST_MEMORY/litter" && touch "$TEST_MEMORY/litter/file" && chmod 0 "$TEST_MEMORY/litter"
echo "$TEST_MEMORY" >memory && printf 'ok 1 - mine\n1..1\n'
EOF
in_memory_too() {
	programs_close_with '2 passed, 1 failed, 0 skipped' && grep -q 'left behind in [^ ]*: litter$' "$tmp/said" && [ ! -e "$(cat "$tmp/memory")" ]
}
check "Files left in memory are found and removed, with any permissions." in_memory_too
rm "$tmp/build/tests/tap/two"
program one <<'EOF'
printf '1..2\nok 1 - one\nok 2 - two # SKIP three is needed\n'
EOF
skipped() { programs_close_with '1 passed, 0 failed, 1 skipped' && grep -q 'skipped: two (three is needed)$' "$tmp/said"; }
check "The reason of a skip is printed after the sentence." skipped
program one <<'EOF'
echo 'ok 1 - first'
until grep -q 'tap/one ([0-9]* s and 1 tests)' said; do sleep 0.1; done
printf 'ok 2 - second\n1..2\n'
EOF
check "While a file runs, its name, time and tests are printed." programs_close_with '2 passed, 0 failed, 0 skipped'
killed_by() { # SIGNAL
	program one <<EOF
echo 'ok 1 - first'
kill -$1 \$\$
EOF
	programs_close_with '1 passed, 2 failed, 0 skipped' && grep -q "ended by SIG$1, which the run did not send" "$tmp/said"
}
check "A file ended by a signal from outside is reported as such." killed_by TERM
check "A file killed from outside before its timeout is reported as such." killed_by KILL
late() {
	program one <<'EOF'
sleep 60
EOF
	TEST_TIMEOUT=1 programs_close_with '0 passed, 2 failed, 0 skipped' && grep -q 'killed after 1 seconds' "$tmp/said"
}
check "A file that exceeds its timeout is reported as such." late
program one <<'EOF'
trap 'touch ended; exit' TERM
touch begun
for ((i = 0; i < 600; i++)); do sleep 0.1; done
EOF
told_to_end() {
	mkdir "$tmp/place"
	TMPDIR=$tmp/place TESTS=tap/ "$RUN" "$tmp/build" >"$tmp/said" 2>&1 &
	until [ -e "$tmp/begun" ]; do sleep 0.1; done
	kill "$!"
	! wait "$!" && [ -e "$tmp/ended" ] && [ -z "$(ls "$tmp/place")" ]
}
check "A run that gets a signal ends its tests and leaves nothing." told_to_end

program one <<'EOF'
setsid sleep 1000 >/dev/null 2>&1 &
echo "$!" >daemon
printf 'ok 1 - first\n1..1\n'
EOF
daemon_ended() { programs_close_with '1 passed, 0 failed, 0 skipped' && grep -q 'still running, and killed: .*sleep 1000' "$tmp/said" && ! kill -0 "$(cat "$tmp/daemon")" 2>/dev/null; }
check "Processes that a file leaves running are ended and reported, even in another session." daemon_ended

cd "$(dirname "$0")/.." || exit 1
# /dev/shm itself belongs to everybody, so that nobody could say what was left there. Benchmarks are no tests: one wants
# another mount.
in_its_own() { ! grep -rn '/dev/shm' --include='*.sh' --include='*.[ch]' --include='*.py' . | grep -vE '^./(integration/00-runner|bench/)'; }
check "No test names the directory in memory itself." in_its_own
# tests/unit/support.h takes the fixture down first
by_skip_test() { ! grep -rnE '\bcr_skip(_test)?\(' --include='*.[ch]' . | grep -v '^./unit/support.h'; }
check "No unit test is skipped with its fixture standing." by_skip_test
plan
