#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 5400
# weight: 900
# The case files against other versions of NVRTC, nvJitLink and libNVVM than the toolkit's, and what the tables say of each of them.
# scripts/setup gets each into build/, once. MATRIX is the list of versions: the oldest, one with the signs of most that
# changed, and the newest; where the oldest cannot be had, the oldest of PyPI's too. make matrix takes more.
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
get() { NVRTCCACHE_TOOLKIT=wheel:$1 scripts/setup >"$tmp/setup" 2>&1; }
versions=${MATRIX:-11.2 12.9 13}
eval "$(scripts/nvrtc-env 2>/dev/null)"
toolkit=${NVRTC_LIB:+$NVRTC_LIB/$NVRTC_SONAME}
[ -n "${MATRIX:-}" ] || get 11.2 || versions="11.2 11.8 12.9 13"
for version in $versions; do
	if ! get "$version"; then
		skip "The case files hold for NVRTC $version." "it could not be had: $(tail -1 "$tmp/setup")"
		continue
	fi
	eval "$(NVRTCCACHE_TOOLKIT=wheel:$version scripts/nvrtc-env)"
	library=$NVRTC_LIB/$NVRTC_SONAME
	if [ -z "${MATRIX:-}" ] && [ -n "$toolkit" ] && cmp -s "$toolkit" "$library"; then
		echo "# NVRTC $version is the toolkit's: 29-linkers, 30-differential and 31-versions ask all of this and more."
		continue
	fi
	# packages of distributions have no path to their builtins
	retell "$version" < <(LD_LIBRARY_PATH=$RUN_PATH python3 tests/cases/versions.py "$library" 2>&1)
	retell "$version" < <(LD_LIBRARY_PATH=$RUN_PATH CUDA_INCLUDE=$CUDA_INCLUDE NVRTC_LIB=$library \
		NVJITLINK_LIB=$NVJITLINK_LIB NVVM_LIB=$NVVM_LIB \
		CASES_PLACES=1 CASES_ARMS='cold disk memory' python3 tests/cases/differential.py "$BUILD" 2>&1)
done
plan
