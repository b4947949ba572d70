#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The aarch64 build, under qemu where this is another machine: trampolines and thunks, watching, hits, with the fake NVRTC
# and with NVIDIA's own. AARCH64=all (make aarch64) takes every way to reach it, and more releases.
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS LD_LIBRARY_PATH
[ "$(uname -m)" != aarch64 ] || skip_all "this machine is one, and all other tests are of it"
command -v qemu-aarch64 >/dev/null || skip_all "no qemu-aarch64 (package qemu-user)"
packaging/toolchain >"$tmp/said" 2>&1 || skip_all "$(tail -1 "$tmp/said")"
releases=(13.0 13)
[ "${AARCH64:-}" != all ] || releases=(12.4 12.9 13.0 13)
packaging/emulated "${releases[@]}" >"$tmp/emulated" 2>"$tmp/said" || skip_all "$(tail -1 "$tmp/said")"
root=$(head -1 "$tmp/emulated")

made=$top/build/portable/aarch64
mkdir -p "$made"
fixtures=$made/tests/fixtures/loader
so13=$made/tests/fake/13/libnvrtc.so.13
targets=(libnvrtccache.so nvrtccache tests/life tests/fixtures/loader/{linked,lookup,host,plain,bare,next,module{11,12,13}.so,table_taker.so,table_user.so}
	tests/fake/{11/libnvrtc{.so.11.2,-builtins.so.11.8},12/libnvrtc{.so.12,-builtins.so.12.9},13/libnvrtc{.so.13,-builtins.so.13.0}})
check "It is built by one variable of make." flock build/portable/aarch64 make -s ARCH=aarch64 "${targets[@]/#/build/portable/aarch64/}"

emulate() { # [NAME=VALUE...] PROGRAM...: the variables are the program's, not qemu's
	local variables=()
	while [[ $1 == *=* ]]; do
		variables+=(-E "$1")
		shift
	done
	timeout 600 qemu-aarch64 -L "$root" "${variables[@]}" "$@"
}
with_us() { emulate "LD_PRELOAD=$made/libnvrtccache.so" "$@"; }
stats() { emulate "$made/nvrtccache" stats --json | tr -d ' \t\n'; }
# The same lines without us, with an empty cache and with the filled one; where it compiles at all, not with the last.
same_lines() { # cached|uncached PROGRAM...
	local cached=$1
	shift
	fresh_cache
	emulate "$@" >"$tmp/bare" 2>&1
	with_us "$@" >"$tmp/cold" 2>&1
	with_us "$@" >"$tmp/warm" 2>&1
	tail -n 30 "$tmp/warm"
	diff <(grep -v '^compiles ' "$tmp/bare") <(grep -v '^compiles ' "$tmp/cold") &&
		diff <(grep -v '^compiles ' "$tmp/bare") <(grep -v '^compiles ' "$tmp/warm") || return
	[ "$cached" = uncached ] || { grep -q '^compiles [1-9]' "$tmp/cold" && ! grep -q '^compiles [1-9]' "$tmp/warm"; }
}
check "A linked program is cached." same_lines cached "$fixtures/linked"
check "dlopen and dlsym are cached." same_lines cached "$fixtures/lookup" handle "$so13"
check "dlvsym is cached." same_lines cached "$fixtures/lookup" dlvsym "$so13" libnvrtc.so.13
check "RTLD_NEXT of a program is cached." same_lines cached "$fixtures/lookup" next "$so13"
check "Modules of three versions are cached." same_lines cached \
	"$fixtures/host" modules "$fixtures/module13.so" "$fixtures/module12.so" "$fixtures/module11.so"
check "A program without NVRTC finds nothing of it." same_lines uncached "$fixtures/plain"
if [ "${AARCH64:-}" = all ]; then
	check "A linked program in eight threads is cached." same_lines cached "$fixtures/linked" threads
	check "A forked child is cached." same_lines cached "$fixtures/linked" in-child
	check "Addresses of functions are cached." same_lines cached "$fixtures/host" table "$fixtures/table_taker.so" "$fixtures/table_user.so"
	for mode in old map reopen; do
		check "The dlsym of other kinds is cached ($mode)." same_lines cached "$fixtures/lookup" $mode "$so13"
	done
	for mode in errors semantics; do
		check "Answers are those of the real library ($mode)." same_lines uncached "$fixtures/lookup" $mode "$so13"
	done
	check "A program with libc alone lives." same_lines uncached "$fixtures/bare"
fi

of_nvidia() { # LIBRARY
	local run
	fresh_cache
	run=(LD_LIBRARY_PATH="$(dirname "$1")" "$made/tests/life" "$1" trivial 0 -arch=sm_90)
	with_us "${run[@]}" && with_us "${run[@]}" && stats >"$tmp/stats" && cat "$tmp/stats" &&
		grep -q '"hits_disk":1,' "$tmp/stats" && grep -q '"misses":1,' "$tmp/stats" && grep -q '"stores":1,' "$tmp/stats"
}
for release in "${releases[@]}"; do
	library=$(sed -n "s/^$release //p" "$tmp/emulated")
	if [ -n "$library" ]; then
		check "NVIDIA's NVRTC $release is watched while it compiles, and the second process hits." of_nvidia "$library"
	else
		skip "NVIDIA's NVRTC $release is watched while it compiles, and the second process hits." "PyPI has none for aarch64, or cannot be reached"
	fi
done
plan
