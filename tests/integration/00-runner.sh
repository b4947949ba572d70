#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What tests/run makes of a Criterion program that stands still, and of one that says nothing.
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
check "A program that says all went well is believed." closes_with '2 passed, 0 failed, 0 skipped'

unit_tests <<'EOF'
[ -e "$2" ] || { touch "$2"; exec python3 -c 'import time; time.sleep(100)'; }
printf '1..2\nok - one\nok - two\n' >"$1"
EOF
check "A program that stands still without a worker is run again." closes_with '2 passed, 0 failed, 0 skipped'
check "That it was is told." grep -q 'run 1 of unit-tests stood still without a worker' "$tmp/said"

unit_tests <<'EOF'
exec python3 -c 'import time; time.sleep(100)'
EOF
check "One that stands still each time has failed." closes_with '0 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
sleep 3
printf '1..1\nok - one\n' >"$1"
EOF
check "One whose worker takes its time is left alone." closes_with '1 passed, 0 failed, 0 skipped'

unit_tests <<'EOF'
exit 0
EOF
check "One that ends without a word has failed." closes_with '0 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
printf '1..2\nok - one\n' >"$1"
EOF
check "One that ends before its last test has failed." closes_with '1 passed, 1 failed, 0 skipped'

unit_tests <<'EOF'
printf '1..1\nok - one\n' >"$1"
exit 3
EOF
check "One that ends with an error although no test failed has failed." closes_with '1 passed, 1 failed, 0 skipped'
plan
