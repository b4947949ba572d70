#!/bin/bash
# needs: nvrtc
# A kernel of CUB with its hundreds of headers: a hit reads none of them, and opens one of each directory (may it?).
cd "$(dirname "$0")/../.." || exit 1
build=$(cd "$1" && pwd)
eval "$(scripts/nvrtc-env)" || exit 1
if [ ! -e "$CUDA_INCLUDE/cccl/cub/block/block_reduce.cuh" ] || ! command -v strace >/dev/null; then
	echo "ok 1 - A hit of a CUB kernel reads no header. # SKIP no CUB headers in $CUDA_INCLUDE/cccl, or no strace"
	echo "1..1"
	exit 0
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/nvrtccache-headers.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
kernel=("$NVRTC_LIB/$NVRTC_SONAME" cub 0 -arch=sm_90 "-I$CUDA_INCLUDE/cccl" "-I$CUDA_INCLUDE")
traced() { # output file
	strace -f -qq -y -e trace=open,openat,read,pread64 -o "$1" -E LD_PRELOAD="$build/libnvrtccache.so" -E NVRTCCACHE_DIR="$work/cache" \
		"$build/tests/life" "${kernel[@]}" >/dev/null
}
headers() { grep "$2" "$1" | grep -v O_PATH | grep -o "<$include/[^>]*>"; }
opened() { headers "$1" ' open\(at\)\?(.* = [0-9]' | grep -c .; }
read_from() { headers "$1" ' p\?read\(64\)\?(' | grep -c .; }
include=$(realpath "$CUDA_INCLUDE")
count() { NVRTCCACHE_DIR=$work/cache "$build/nvrtccache" stats --json | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" | tail -n 1; }
traced "$work/cold"
traced "$work/warm"
bad=0
check() { # condition number sentence
	if [ "$1" = 0 ]; then echo "ok $2 - $3"; else echo "not ok $2 - $3"; bad=1; fi
}
check "$([ "$(opened "$work/cold")" -gt 300 ]; echo $?)" 1 "A compile of a CUB kernel opens hundreds of headers."
check "$([ "$(count stores)" = 1 ] && [ "$(count hits_disk)" = 1 ]; echo $?)" 2 "It is cached, and the next process hits."
check "$([ "$(read_from "$work/cold")" -gt 300 ] && [ "$(read_from "$work/warm")" = 0 ]; echo $?)" 3 "A hit of a CUB kernel reads no header."
check "$([ $((5 * $(opened "$work/warm"))) -lt "$(opened "$work/cold")" ]; echo $?)" 4 "It opens one header of each directory, as they were spelled: fewer than one in five."
echo "1..4"
exit "$bad"
