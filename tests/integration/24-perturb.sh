#!/usr/bin/env bash
# needs: nvrtc
# Imports that answer about the process or the moment are cleared by evidence, and the harness that makes it sees what it
# should: the number of processors changes what -split-compile=0 makes.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

sed -n 's/.*CALL\(_OF\)\{0,1\}([0-9]*, [^,]*, \([a-z_A-Z0-9]*\),.*/\2/p' tests/perturb/shim.c | sort -u >"$tmp/calls"
grep -o 'PERTURBED([a-z_A-Z0-9]*)' interpose/watch/imports.h | sed 's/.*(\(.*\))/\1/' | grep -v '^name$' | sort -u >"$tmp/cleared"
comm -23 "$tmp/cleared" "$tmp/calls" >"$tmp/without"
check "Every import that is cleared by evidence is one that the harness answers for." test ! -s "$tmp/without" -a -s "$tmp/cleared"
tr '\t' '\n' <tests/perturb/evidence.txt | sed -n 's/^\([A-Za-z0-9_]*\)[ 0-9]*: [1-9].*/\1/p' | sort -u | comm -12 - "$tmp/cleared" >"$tmp/changed"
check "No output depends on one of them." test ! -s "$tmp/changed"
if command -v cc >/dev/null; then
	BUILD=$BUILD scripts/perturb --quick --import get_nprocs --import getrlimit >"$tmp/said" 2>&1
	code=$?
	if grep -q '^NVRTC .* get_nprocs: ' "$tmp/said"; then
		check "The number of processors is found to change -split-compile=0." grep -q '^NVRTC .* get_nprocs: [1-9].*-split-compile=0' "$tmp/said"
		check "The limits of the process are found to change nothing." test "$code" = 0
	else
		skip "The number of processors is found to change -split-compile=0." "this NVRTC does not ask for it"
	fi
else
	skip "The harness finds what it should." "no compiler for its shim"
fi
plan
