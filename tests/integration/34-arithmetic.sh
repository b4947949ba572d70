#!/bin/bash
# SPDX-License-Identifier: MIT
# needs: nvrtc
# NVRTC folds constants with the host's mathematics library: results of one library are not for hosts of another.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
eval "$(scripts/nvrtc-env)" || exit 1
other=$BUILD/tests/fixtures/libother_libm.so
case_file=$tmp/fold.case

write_case() { # expression
	printf '%s\n' '=== One kernel.' 'source <<' "extern \"C\" __global__ void k(double *p) { p[0] = $1; }" END create \
		'compile -arch=sm_90' all destroy >"$case_file"
}

play() { # name, other preload; the first round alone
	rm -rf "$tmp/work"
	mkdir "$tmp/work"
	env ${3:-} LD_PRELOAD="$2" NVRTCCACHE_MEM_SIZE=0 "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/work" "$case_file" |
		sed '/^round 2/,$d' >"$tmp/$1"
}

differ() { ! cmp -s "$1" "$2"; }

write_case 'sin(1.0) + pow(1.5, 2.5)'
play plain ''
play plain-other "$other"
if cmp -s "$tmp/plain" "$tmp/plain-other"; then
	skip "Results of one mathematics library are not for hosts of another." "this NVRTC folds with no host library"
	plan
fi
fresh_cache
play cold "$LIBRARY"
play other-late "$LIBRARY $other"
check "Where NVRTC is bound late, a host with another mathematics library gets what NVRTC makes with it." cmp \
	"$tmp/plain-other" "$tmp/other-late"
fresh_cache
play cold "$LIBRARY"
play other-cold "$LIBRARY $other" LD_BIND_NOW=1
check "A host with another mathematics library gets what NVRTC makes with it." cmp "$tmp/plain-other" "$tmp/other-cold"
stores=$(stat_of stores) hits=$(stat_of hits_disk)
play other-warm "$other $LIBRARY" LD_BIND_NOW=1
play warm "$LIBRARY"
check "Both results are cached, and each host hits its own." test \
	"$(stat_of stores) $(stat_of hits_disk)" = "$stores $((hits + 4))"
check "The hit with the other library is what NVRTC makes with it." cmp "$tmp/plain-other" "$tmp/other-warm"
check "The hit with the first library is what NVRTC makes with that." cmp "$tmp/plain" "$tmp/warm"
play bound "$LIBRARY" LD_BIND_NOW=1
check "A function bound when NVRTC was loaded is the function that is bound at its first call." test \
	"$(stat_of stores) $(stat_of hits_disk)" = "$stores $((hits + 6))"

write_case 'p[1] * 2.5'
fresh_cache
play cold "$LIBRARY"
play other-warm "$LIBRARY $other"
check "A kernel without such constants hits whatever the library is." test "$(stat_of stores) $(stat_of misses)" = "1 1"
# ptxas reads the constants of inline assembly by the locale: with a decimal comma, 1.5 is another number.
cat >"$tmp/decimal.py" <<'PY'
import ctypes, hashlib, locale, sys
library, how, name = sys.argv[1:4]
libc = ctypes.CDLL(None)
if how == "process":
    locale.setlocale(locale.LC_ALL, name)
elif how == "thread":
    libc.newlocale.restype = libc.uselocale.restype = ctypes.c_void_p
    libc.newlocale.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p]
    libc.uselocale.argtypes = [ctypes.c_void_p]
    made = libc.newlocale(1 << locale.LC_NUMERIC, name.encode(), None)
    assert made, "no such locale"
    libc.uselocale(made)
nvrtc = ctypes.CDLL(library)
for _ in range(2):
    program = ctypes.c_void_p()
    source = b'__global__ void k(float *p) { float r; asm("mov.f32 %0, 1.5;" : "=f"(r)); *p = r; }'
    option = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"k.cu", 0, None, None) == 0
    code = nvrtc.nvrtcCompileProgram(program, 1, option)
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    cubin = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, cubin)
    print(code, hashlib.sha256(cubin.raw).hexdigest())
PY
decimal() { # process or thread, locale
	LOCPATH=$tmp/locales python3 "$tmp/decimal.py" "$NVRTC_LIB/$NVRTC_SONAME" "$@"
}
comma=de_DE.UTF-8
sentence="What a host with a decimal comma compiled is not for one with a dot, nor the other way round:"
mkdir "$tmp/locales"
if ! localedef -c -i de_DE -f UTF-8 "$tmp/locales/$comma" >/dev/null 2>&1 && ! [ -e "$tmp/locales/$comma/LC_NUMERIC" ]; then
	skip "$sentence" "no locale with a decimal comma can be made (package locales)"
	plan
fi
decimal none C >"$tmp/dot"
for how in process thread; do
	decimal "$how" "$comma" >"$tmp/comma"
	check "$sentence they differ without the cache ($how)." differ "$tmp/dot" "$tmp/comma"
	for first in dot comma; do
		fresh_cache
		for run in "$first" dot comma dot comma; do
			words=(none C)
			[ "$run" = dot ] || words=("$how" "$comma")
			LD_PRELOAD=$LIBRARY decimal "${words[@]}" >"$tmp/cached"
			cmp -s "$tmp/cached" "$tmp/$run" || echo "$run behind $first"
		done >"$tmp/wrong"
		check "$sentence the first was one with a $first ($how)." test ! -s "$tmp/wrong"
	done
	check "And each of them hits ($how)." test "$(stat_of hits_disk) $(stat_of misses)" = "3 2"
done
plan
