#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# weight: 40
# Is what is stored a function of the key? Some case files, each under two surroundings that differ in everything that is in
# no key (tests/cases/stored.py); `make stored` plays all of them. And a difference is found.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
command -v python3 >/dev/null || skip_all "no python3"
export CUDA_INCLUDE NVJITLINK_LIB NVVM_LIB NVRTC_LIB=$NVRTC_LIB/$NVRTC_SONAME

files=()
for name in 10-calls 20-names 40-memory-headers 50-headers 100-nvvm 113-linker-wrong; do files+=("$PWD/tests/cases/$name.case"); done
TMPDIR=$tmp python3 tests/cases/stored.py "$BUILD" "${files[@]}" >"$tmp/told" 2>&1
for name in "${files[@]}"; do
	name=${name##*/}
	sentence="What the cases of ${name%.case} store is a function of the key."
	line=$(grep -E "^(not )?ok [0-9]+ - ${name%.case}: " "$tmp/told")
	case $line in
	*'# SKIP '*) skip "$sentence" "${line##*# SKIP }" ;;
	'ok '*) ok "$sentence" ;;
	*) sed -n "/ - ${name%.case}: /,/^ok /p" "$tmp/told" >"$tmp/why" && [ -s "$tmp/why" ] || cp "$tmp/told" "$tmp/why" && not_ok "$sentence" "$tmp/why" ;;
	esac
done
counted() { # all that was stored has a counterpart, and it was not nothing
	tail -n 2 "$tmp/told"
	grep -qE '^# [1-9][0-9]+ same, [0-9]+ ids, [0-9]+ sealed, 0 different, 0 elsewhere, 0 missing$' "$tmp/told"
}
check "Each result has been stored under the same key, for the same files, a second time." counted

# A function whose result is not: __TIME__, where that is allowed.
printf '=== The time.\nsource <<\n__device__ const char t[] = __TIME__;\nEND\ncreate\ncompile -arch=sm_80\n' >"$tmp/time.case"
finds() {
	export NVRTCCACHE_SLOPPINESS=time_macros
	! TMPDIR=$tmp python3 tests/cases/stored.py "$BUILD" "$tmp/time.case" >"$tmp/told" && grep -q '^# DIFFERENT ' "$tmp/told"
}
check "A result that is none is found." finds
plan
