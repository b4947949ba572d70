#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 1500
# The case files against other versions of NVRTC than the toolkit's, and what the tables say of each of them.
# scripts/setup gets each from PyPI's wheels into build/, once. MATRIX is the list of versions; make matrix takes more.
# For the time that it takes, hits of another directory and the arm that verifies are left to 30-differential.sh.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1

# VERSION < TAP of another program : told again as our own
retell() {
	local line planned=
	while IFS= read -r line; do
		case $line in
		'ok '* | 'not ok '*)
			tap_number=$((tap_number + 1))
			[ "${line%% *}" = ok ] || tap_failed=$((tap_failed + 1))
			printf '%s %d - NVRTC %s: %s\n' "${line%% [0-9]*}" "$tap_number" "$1" "${line#* - }"
			;;
		1..*) planned=1 ;;
		*) printf '%s\n' "$line" ;;
		esac
	done
	[ -n "$planned" ] || not_ok "The tests of NVRTC $1 come to their end."
}

[ "$(uname -m)" = x86_64 ] || skip_all "wheels of these versions are for x86-64"
for version in ${MATRIX:-11.8 12.9 13}; do
	export NVRTCCACHE_TOOLKIT=wheel:$version
	if ! scripts/setup >"$tmp/setup" 2>&1; then
		skip "The case files hold for NVRTC $version." "it could not be had: $(tail -1 "$tmp/setup")"
		continue
	fi
	eval "$(scripts/nvrtc-env)"
	unset NVRTCCACHE_TOOLKIT
	retell "$version" < <(python3 tests/cases/versions.py "$NVRTC_LIB/$NVRTC_SONAME" 2>&1)
	retell "$version" < <(CUDA_INCLUDE=$CUDA_INCLUDE NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME \
		CASES_PLACES=1 CASES_ARMS='cold disk memory' python3 tests/cases/differential.py "$BUILD" 2>&1)
done
plan
