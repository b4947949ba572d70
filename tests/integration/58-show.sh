#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What results of the real compilers are of, what has become of their headers, and their artifacts as files.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
cd "$(dirname "$0")/../.." || exit 1
env=$(scripts/nvrtc-env 2>/dev/null) || skip_all "no NVRTC (scripts/setup gets one)"
eval "$env"
command -v python3 >/dev/null || skip_all "no python3"
DUMP=$PWD/tests/integration/dump_artifacts.py
NVRTC=$NVRTC_LIB/$NVRTC_SONAME
PTXAS=$NVRTC_ROOT/bin/ptxas # another release's may be too old for it
NVDISASM=$(command -v nvdisasm || echo "$NVRTC_ROOT/bin/nvdisasm")
CUOBJDUMP=$(command -v cuobjdump || echo "$NVRTC_ROOT/bin/cuobjdump")
work=$(mktemp -d "$tmp/work.XXXXXX") && cd "$work" || exit 1
work=$(pwd -P)

mkdir inc
echo 'inline __device__ float twice(float x) { return 2 * x; }' >inc/vec.h
echo 'inline __device__ float half_of(float x) { return x / 2; }' >inc/half.h
cat >add.cu <<'CU'
#include "vec.h"
#include "half.h"
template <typename T> __global__ void add(T *a, const T *b) { a[threadIdx.x] += twice(half_of(b[threadIdx.x])) + N; }
CU

plainly() { python3 "$DUMP" "$@" >"$tmp/code" 2>"$tmp/dumped" && [ "$(cat "$tmp/code")" = 0 ] || { cat "$tmp/code" "$tmp/dumped" && false; }; }
# The same call plainly and with the cache; the key of the one result is then in `key`.
cached() { # OUT KIND LIBRARY ...
	local out=$1 kind=$2 library=$3
	shift 3
	fresh_cache
	plainly "$kind" "$library" "$out" "$@" || return
	preloaded python3 "$DUMP" "$kind" "$library" "$out.cached" "$@" >"$tmp/code" 2>&1 && diff -r "$out" "$out.cached" || return
	key=$("$COMMAND" ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["key"])')
	[ "${#key}" -eq 64 ]
}
# Of what show says of the key.
shown_is() { gives 0 show --json "$key" && is "$@"; }
state() { gives 0 show "$key" && out_has "^(depends)? +$1 +$2( |\$)"; }

# Every artifact, byte for byte; text has no NUL at its end in a file.
extracts() { # OUT GETTER OPTION...
	local out=$1 getter=$2
	shift 2
	[ -e "$out/$getter" ] || { echo "no $getter in $out" && return 1; }
	gives 0 extract "$key" "$@" -o got && out_has '^wrote got \([0-9.]+ ([KM]iB|bytes?)\)$' || return
	case $* in
	--ptx | *log)
		[ "$(tail -c 1 "$out/$getter" | od -An -tx1 | tr -d ' ')" = 00 ] || { echo "no NUL at the end" && return 1; }
		cmp got <(head -c -1 "$out/$getter")
		;;
	*) cmp got "$out/$getter" ;;
	esac && gives 0 extract "$key" "$@" -o - && [ ! -s "$tmp/err" ] && cmp "$tmp/out" got
}

if cached one nvrtc "$NVRTC" add.cu add.cu -e 'add<float>' -e 'add<double>' -Iinc -DN=4 -arch=sm_80; then
	check "PTX of NVRTC is what the program got." extracts one PTX --ptx
	check "So is CUBIN." extracts one CUBIN --cubin
	check "So is the log." extracts one ProgramLog --log
	assembles() { gives 0 extract "$key" --ptx -o add.ptx && [ -s add.ptx ] && "$PTXAS" -arch=sm_80 add.ptx -o from-ptx.cubin && [ -s from-ptx.cubin ]; }
	needs "no ptxas" [ -x "$PTXAS" ]
	check_there "ptxas reads the PTX." assembles
	for tool in "$NVDISASM" "$CUOBJDUMP -sass"; do
		reads() { gives 0 extract "$key" --cubin -o add.cubin && $tool add.cubin >"$tmp/read" && grep -q _Z3addIfEvPT_PKS0_ "$tmp/read"; }
		name=${tool##*/} name=${name%% *}
		needs "no $name" [ -x "${tool%% *}" ]
		check_there "$name reads the CUBIN." reads
	done
	missing() { gives 1 extract "$key" --tileir -o none && err_has 'has no such artifact; it has --ptx, --cubin' && [ ! -e none ]; }
	check "A missing artifact is reported together with the existing ones." missing
	places() {
		gives 1 extract "$key" --ptx -o missing/x && err_has '^nvrtccache: missing/x: No such file or directory$' &&
			gives 1 extract "$key" --ptx -o inc && err_has '^nvrtccache: inc: Is a directory$' &&
			gives 1 extract "$key" --ptx -o /dev/full && err_has 'No space left on device' || return
		if "$COMMAND" extract "$key" --ptx -o - >/dev/full 2>"$tmp/err"; then return 1; fi
		err_has 'standard output: No space left on device'
	}
	check "A file that cannot be written is named." places
	overwrites() {
		echo old >there && chmod 640 there && ln -sf there link && gives 0 extract "$key" --cubin -o link &&
			[ -L link ] && cmp there one/CUBIN && [ "$(stat -c %a there)" = 640 ] && ! compgen -G 'tmp.*'
	}
	check "An existing file is replaced whole, also through a link, and keeps its mode." overwrites
	on_terminal() {
		python3 - "$COMMAND" "$key" <<'PY'
import os, pty, sys
def shown(*arguments):
    got = []
    status = pty.spawn([sys.argv[1], "extract", sys.argv[2], *arguments, "-o", "-"], lambda fd: got.append(os.read(fd, 65536)) or got[-1])
    return os.waitstatus_to_exitcode(status), b"".join(got)
sys.stdout = sys.stderr
code, text = shown("--cubin")
assert code == 1 and b"not written to a terminal" in text and b"\x7fELF" not in text, (code, text)
PY
	}
	check "A terminal gets no artifact." on_terminal

	check "show says what it was asked by." shown_is '[told[0][name] for name in ("program", "compiler", "arch", "options", "expressions", "returned")]' \
		"['add.cu', 'nvrtc', 'sm_80', ['-Iinc', '-DN=4', '-arch=sm_80'], ['add<float>', 'add<double>'], 0]"
	for_people() {
		gives 0 show "${key:0:6}" && out_has "^key       $key\$" && out_has '^compiler  NVRTC [0-9.]+$' && out_has '^options   -Iinc -DN=4 -arch=sm_80$' &&
			out_has '^names     add<float>  _Z3addIfEvPT_PKS0_$' && out_has '^made      20.* by python3' && out_has '^bound to  nothing$' &&
			out_has "^ +relative paths are relative to $work, the working directory\$"
	}
	check "For people too, and from where it looked." for_people
	check "A header that is the same is unchanged." state unchanged "inc/vec\\.h  [0-9]+ bytes"
	check "One that would be found first was not there." state unchanged 'vec\.h  did not exist'
	mv inc/half.h inc/other.h
	check "A header that was removed is gone." state gone 'inc/half\.h'
	check "And the others are still looked at." state unchanged 'inc/vec\.h'
	mv inc/other.h inc/half.h
	echo '// more' >>inc/vec.h
	check "A header that was edited has changed." state changed 'inc/vec\.h'
	touch half.h
	check "One that would now be found first has appeared." state appeared 'half\.h'
	check "JSON has the same." shown_is 'sorted((c["path"], c["state"]) for c in told[0]["dependencies"] if c["state"] not in ("unchanged", "not checked"))' \
		"[('half.h', 'appeared'), ('inc/vec.h', 'changed')]"
	rm half.h
	mkdir elsewhere
	from() {
		cd elsewhere && gives 0 show "$key" && out_has '^ +gone +inc/vec\.h' && out_has "relative to $work/elsewhere, the working directory"
		local status=$?
		cd "$work" && return "$status"
	}
	check "Relative paths are looked up from the working directory." from
	second() {
		preloaded python3 "$DUMP" nvrtc "$NVRTC" again add.cu add.cu -e 'add<float>' -e 'add<double>' -Iinc -DN=4 -arch=sm_80 >/dev/null || return
		shown_is 'len(told)' 2 && gives 0 show "$key" && out_has '^entry 1 of 2 under this key, the newest$' && out_has '^entry 2 of 2 under this key$' || return
		shown_is '[sum(c["state"] == "changed" for c in one["dependencies"]) for one in told]' '[0, 1]' &&
			gives 0 extract "$key" --cubin -o got && cmp got one/CUBIN
	}
	check "Both results of a key are shown, each with its own headers." second
else
	not_ok "NVRTC compiles the same with the cache." "$tmp/code"
fi

rooted() {
	cached two nvrtc "$NVRTC" "$work/add.cu" add.cu -e 'add<float>' "-I$work/inc" -DN=5 -arch=compute_80 && state unchanged "$work/inc/vec\\.h" &&
		shown_is 'told[0]["bound"]' '[]' && cd / && state unchanged "$work/inc/vec\\.h"
	local status=$?
	cd "$work" && return "$status"
}
check "Headers under an absolute -I are looked up where they were, wherever one is." rooted
lineinfo() {
	cached three nvrtc "$NVRTC" add.cu add.cu -e 'add<float>' -Iinc -DN=4 -arch=compute_80 -lineinfo && gives 0 show "$key" &&
		out_has "^bound to  $work  by -lineinfo\$" && touch -d '2001-01-01' inc/half.h && state touched "($work/)?inc/half\\.h"
}
check "-lineinfo binds to the working directory, and makes times count." lineinfo
found_in_output() {
	echo '__device__ const char *where() { return __FILE__; }' >inc/file.h
	echo '#include "file.h"
__global__ void k(const char **p) { *p = where(); }' >file.cu
	cached four nvrtc "$NVRTC" file.cu file.cu "-I$work/inc" -arch=compute_80 && gives 0 show "$key" && out_has "^(bound to)? +$work(/inc)?  by __FILE__ and the like: the path is in the result"
}
check "A directory whose name is in the result is named with that reason." found_in_output
cached five nvrtc "$NVRTC" add.cu add.cu -e 'add<float>' -Iinc -DN=4 -arch=sm_80 -dlto
check "LTO-IR of NVRTC is what the program got." extracts five LTOIR --ltoir
lto=$work/five/LTOIR
OPTIX=(nvrtc "$NVRTC" add.cu add.cu -e 'add<float>' -Iinc -DN=4 -arch=compute_80 --optix-ir)
if cached six "${OPTIX[@]}"; then
	check "So is OptiX IR." extracts six OptiXIR --optixir
else
	not_ok "NVRTC makes OptiX IR the same with the cache." "$tmp/check.out"
fi
failure() {
	echo 'int x = ;' >bad.cu
	fresh_cache
	preloaded python3 "$DUMP" nvrtc "$NVRTC" seven bad.cu bad.cu -arch=compute_80 >/dev/null
	key=$("$COMMAND" ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["key"])')
	gives 0 show "$key" && out_has '^returned  6, a cached failure$' && gives 0 extract "$key" --log -o - && out_has 'error: expected an expression'
}
check "A cached failure is reported as one, and has its log." failure

if [ -n "${NVJITLINK_LIB:-}" ] && [ -s "$lto" ]; then
	links() { cached linked nvjitlink "$NVJITLINK_LIB" 3 "$lto" -arch=sm_80 -lto && extracts linked LinkedCubin --cubin; }
	check "A linked CUBIN is what the program got." links
	# what it says has its run time in it: each link another
	info() {
		fresh_cache
		preloaded python3 "$DUMP" nvjitlink "$NVJITLINK_LIB" spoken 3 "$lto" -arch=sm_80 -lto -Xptxas=-v -no-cache >/dev/null
		key=$("$COMMAND" ls --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["key"])')
		extracts spoken InfoLog --info-log
	}
	check "And what the link said." info
	linked_ptx() { cached linked-ptx nvjitlink "$NVJITLINK_LIB" 3 "$lto" -arch=sm_80 -lto -ptx && extracts linked-ptx LinkedPtx --ptx && gives 0 show "$key" && out_has '^compiler  nvJitLink [0-9.]+, link$'; }
	check "So is linked PTX, and show names the step." linked_ptx
	relink() {
		key=''
		cached relinked nvrtc "$NVRTC" add.cu add.cu -e 'add<float>' -Iinc -DN=4 -arch=sm_80 -dlto && gives 0 extract "$key" --ltoir -o got.ltoir &&
			plainly nvjitlink "$NVJITLINK_LIB" from-file 3 got.ltoir -arch=sm_80 -lto && [ -s from-file/LinkedCubin ]
	}
	check "nvJitLink reads extracted LTO-IR." relink
else
	skip "A linked CUBIN is what the program got." "no nvJitLink"
fi

cat >k.ll <<'LL'
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @k() { ret void }
!nvvm.annotations = !{!0}
!0 = !{void ()* @k, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0}
LL
if [ -n "${NVVM_LIB:-}" ]; then
	nvvm() { cached nvvm nvvm "$NVVM_LIB" k.ll k.ll -arch=compute_80 && extracts nvvm CompiledResult --ptx; }
	check "PTX of libNVVM is what the program got." nvvm
	nvvm_lto() { cached nvvm-lto nvvm "$NVVM_LIB" k.ll k.ll -arch=compute_80 -gen-lto && extracts nvvm-lto CompiledResult --ltoir; }
	check "So is its LTO-IR." nvvm_lto
else
	skip "PTX of libNVVM is what the program got." "no libNVVM"
fi
plan
