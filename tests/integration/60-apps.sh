#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# weight: 10
# The sample programs behave the same without the cache, with a cold one and with a warm one; and a warm run opens
# exactly one file of the cache; hosts with AddressSanitizer start.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:?usage: 60-apps.sh BUILD}
if ! env=$(scripts/nvrtc-env 2>/dev/null); then
	echo '1..0 # SKIP no NVRTC here'
	exit 0
fi
eval "$env"

library=$(realpath "$build/libnvrtccache.so")
asan=$(cc -print-file-name=libasan.so)
sanitizer=$(readelf -dW "$library" | sed -n 's/.*NEEDED.*\[\(lib[a-z]*san\)\..*/\1/p')
if [ "$sanitizer" = libasan ] && ! (LD_PRELOAD="$asan $library" /bin/true) 2>/dev/null; then
	echo "1..0 # SKIP an instrumented dlsym runs before AddressSanitizer's runtime is up"
	exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/apps.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
scripts/smoke --tap "$build" | tee "$work/tap"
smoke=${PIPESTATUS[0]}
number=$(grep -cE '^(not )?ok ' "$work/tap")

what='a warm run opens exactly one entry of the cache, for reading'
number=$((number + 1))
if ! command -v strace >/dev/null; then
	echo "ok $number - $what # SKIP no strace"
elif ! strace -o /dev/null true 2>/dev/null; then
	echo "ok $number - $what # SKIP strace may not trace here"
elif [ -n "$sanitizer" ]; then
	echo "ok $number - $what # SKIP a sanitizer build cannot be preloaded alone"
else
	path=$RUN_PATH
	[ -n "$CUDA_DRIVER" ] || path=$path:$build/apps/stub
	export NVRTCCACHE_DIR=$work/cache
	traced=(strace -f -y -qq -e "trace=open,openat,openat2" -o "$work/trace" -E "LD_LIBRARY_PATH=$path"
		-E "LD_PRELOAD=$library" "$build/apps/saxpy")
	"${traced[@]}" >/dev/null 2>&1 # cold
	"${traced[@]}" >/dev/null 2>&1
	# -y prints what a returned descriptor is open on: <cache>/v1/<2 hex>/<62 hex>
	grep -E "= [0-9]+<$work/cache/v1/[0-9a-f]{2}/[0-9a-f]{62}>" "$work/trace" >"$work/entries"
	if [ "$(wc -l <"$work/entries")" = 1 ] && grep -q O_RDONLY "$work/entries"; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		grep "$work/cache" "$work/trace" | sed 's/^/#   /'
		smoke=1
	fi
fi

# A host with AddressSanitizer calls dlsym while its own interceptors of strcmp and the like are not yet filled in.
if [ -n "$sanitizer" ] || ! echo 'int main(void) { return 0; }' | cc -fsanitize=address -x c -o "$work/host" - 2>/dev/null; then
	skip=' # SKIP no AddressSanitizer to try, or the library itself has one'
fi
try() { # what variables...
	local what=$1
	shift
	number=$((number + 1))
	if [ -n "${skip:-}" ]; then
		echo "ok $number - $what$skip"
	elif (env "$@" "$work/host") >"$work/host.out" 2>&1; then
		echo "ok $number - $what"
	else
		echo "not ok $number - $what"
		sed 's/^/#   /' "$work/host.out"
		smoke=1
	fi
}
try "a host with AddressSanitizer runs with its runtime first" "LD_PRELOAD=$asan $library"
try "a host with AddressSanitizer runs with the order left unchecked" "LD_PRELOAD=$library" \
	ASAN_OPTIONS=verify_asan_link_order=0
echo "1..$number"
[ "$smoke" = 0 ]
