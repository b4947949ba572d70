#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 150
# The aarch64 build, under qemu where this is another machine: trampolines and thunks, watching, hits, with the fake NVRTC
# and with NVIDIA's own, and the unit tests of that. AARCH64=all (make aarch64) takes all unit tests, more releases, and
# scripts that take the build for one of this machine. What does not fit under qemu is skipped, with its reason.
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS LD_LIBRARY_PATH
[ "$(uname -m)" != aarch64 ] || skip_all "this machine is one, and all other tests are of it"
command -v qemu-aarch64 >/dev/null || skip_all "no qemu-aarch64 (package qemu-user)"
packaging/toolchain >"$tmp/said" 2>&1 || skip_all "$(tail -1 "$tmp/said")"
releases=(13.0 13)
units=unit-slice
[ "${AARCH64:-}" != all ] || releases=(12.4 12.9 13.0 13) units=unit-tests
packaging/emulated "${releases[@]}" >"$tmp/emulated" 2>"$tmp/said" || skip_all "$(tail -1 "$tmp/said")"
root=$(head -1 "$tmp/emulated")

made=$top/build/portable/aarch64
mkdir -p "$made"
fixtures=$made/tests/fixtures/loader
so13=$made/tests/fake/13/libnvrtc.so.13
targets=(libnvrtccache.so nvrtccache $units tests/life tests/fixtures/loader/{linked,lookup,host,plain,bare,next,module{11,12,13}.so,table_taker.so,table_user.so}
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
check "A program with libc alone lives." same_lines uncached "$fixtures/bare"

# What speaks TAP, with each of its results.
relay() { # NAME COMMAND...
	local name=$1 result sentence
	shift
	"$@" >"$tmp/relayed" 2>"$tmp/said"
	while read -r result; do
		sentence="$name: ${result#*- }"
		case $result in
		*' # SKIP '*) skip "${sentence%% # SKIP *}" "${sentence#* # SKIP }" ;;
		ok*) ok "$sentence" ;;
		*) not_ok "$sentence" <(sed "1,/^${result%% - *} /d; /^[^#]/,\$d" "$tmp/relayed"; tail -n 5 "$tmp/said") ;;
		esac
	done < <(grep -E '^(not )?ok ' "$tmp/relayed")
	check "$name comes to its end." grep -qE '^1\.\.[1-9]' "$tmp/relayed"
}

# Some become another user. Those of NVRTC take NVIDIA's own.
nvidia=$(dirname "$(sed -n 's/^13\.0 //p' "$tmp/emulated")")
chmod 711 "$tmp"
mkdir -m 755 "$tmp/units" "$tmp/cuda"
ln -s "$nvidia" "$tmp/cuda/lib"
relay "$units" env "CUDA_HOME=$tmp/cuda" "TMPDIR=$tmp/units" timeout 1200 qemu-aarch64 -L "$root" -E "LD_LIBRARY_PATH=$nvidia" \
	"$made/$units" --unfit tests/emulated/unfit

if [ "${AARCH64:-}" = all ]; then
	here=$top/build/emulated/aarch64
	check "All that scripts need is built." flock build/portable/aarch64 make -s ARCH=aarch64 fixtures
	check "Programs of this machine are used for those." flock build/portable/aarch64 tests/emulated/stand-ins "$made" "$root" "$here"
	for script in 10-loader 15-traps 18-nvvm 19-nvjitlink; do
		relay "$script" env EMULATED=LAUNCH_PRELOAD bash "tests/integration/$script.sh" "$here"
	done
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
	needs "PyPI has none for aarch64, or cannot be reached" [ -n "$library" ]
	check_there "NVIDIA's NVRTC $release is watched while it compiles, and the second process hits." of_nvidia "$library"
done
plan
