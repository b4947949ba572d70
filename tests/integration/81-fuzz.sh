#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 40
# Each harness reads every input that is kept in tests/fuzz/corpus, and then 20,000 in all that are made from a fixed seed, so
# that a change fails for what it changed. New seeds: make fuzz FUZZ_SECONDS=3600.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
cc=${FUZZ_CC:-clang}
command -v "$cc" >/dev/null || skip_all "no $cc"
echo 'int LLVMFuzzerTestOneInput(const char *bytes, unsigned long size) { return !bytes && size; }' |
	"$cc" -x c -fsanitize=fuzzer,address,undefined -o "$tmp/probe" - >"$tmp/probe.log" 2>&1 ||
	skip_all "no libFuzzer with $cc: $(tail -n 1 "$tmp/probe.log")"
"$tmp/probe" -runs=1 >/dev/null 2>&1 || skip_all "programs with sanitizers do not run here"

# a make of its own, not part of the one that runs the tests
FUZZ_SEED=${FUZZ_SEED:-1} FUZZ_RUNS=${FUZZ_RUNS:-20000} env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -j2 BUILD="$BUILD" FUZZ_SECONDS="${FUZZ_SECONDS:-600}" fuzz >"$tmp/log" 2>&1
status=$?
grep -E '^[a-z_]+ +[0-9?]+ runs,' "$tmp/log" | tr -s ' ' >"$tmp/lines"
while read -r name line; do
	case $line in
	*': fine') ok "$name: ${line%: fine}" ;;
	*) sed -n "/^$name .*FAILED/,/ runs,.*: fine/p" "$tmp/log" >"$tmp/failure" && not_ok "$name: $line" "$tmp/failure" ;;
	esac
done <"$tmp/lines"
wanted=$(find tests/fuzz -name 'fuzz_*.c' | wc -l)
[ -e "$BUILD/agent.a" ] || wanted=$((wanted - 2)) # those of bundles and engines need what the agent needs
all_ran() {
	[ "$tap_number" -eq "$wanted" ] && { [ "$status" -eq 0 ] || [ "$tap_failed" -gt 0 ]; } || { tail -n 30 "$tmp/log" && false; }
}
check "Every harness has run." all_ran
plan
