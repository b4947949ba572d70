#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Other libraries that hook dlsym, dlvsym or dlopen beside this one: each way in which a hook can ask for the real
# function, at each moment, preloaded before this library, behind it, on both sides, and linked into the program. A
# combination that works without this library works with it, and the program is cached.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
so13=$FAKE/13/libnvrtc.so.13
all_ways=(guarded {next,default,program,libc}-{old,new} helper-{default,program}-new)

preloading() { # LIST COMMAND...
	if [ -n "${in_system:-}" ]; then
		local code=0
		tr : '\n' <<<"$1" >/etc/ld.so.preload
		timeout 300 "${@:2}" || code=$?
		: >/etc/ld.so.preload
		return $code
	fi
	timeout 300 env ${1:+"${EMULATED:-LD_PRELOAD}=$1"} "${@:2}"
}
run() { # OUTPUT LIST
	preloading "$2" "$host" hooked "$so13" >"$1" 2>&1
	echo "exit $?" >>"$1"
}
lines() { grep -vE "^compiles |${unlike:-^-}" "$1"; }

# Prints what differs. A hook before this library that asks libc itself, or a helper behind it, leaves this library out.
row() { # HOOK ORDER
	local hook=$LOADER/lib$1.so alone with host=$LOADER/lookup leaves_out=none unlike=''
	case $2 in
	before) alone=$hook with=$hook:$LIBRARY leaves_out='*libc-*' ;;
	behind) alone=$hook with=$LIBRARY:$hook ;;
	around) # the first hook then reaches the second one too, which libc's dlvsym skips
		alone=$other:$hook with=$other:$LIBRARY:$hook leaves_out='*@(libc|helper)-*' unlike='^hooked by '
		;;
	linked) alone='' with=$LIBRARY host=$LOADER/lookup_$1 ;;
	esac
	fresh_cache
	run "$tmp/alone" "$alone"
	grep -qx 'exit 0' "$tmp/alone" || return 0
	works=$((works + 1))
	run "$tmp/cold" "$with"
	diff <(lines "$tmp/alone") <(lines "$tmp/cold") || return
	run "$tmp/warm" "$with"
	diff <(lines "$tmp/alone") <(lines "$tmp/warm") || return
	# shellcheck disable=SC2053 # a pattern
	grep -qx 'compiles 0' "$tmp/warm" || [[ $HOOK_WAY = $leaves_out ]] || echo "it compiles again"
}
rows() { # HOOK ORDER MOMENT...
	local works=0 HOOK_WAY HOOK_MOMENT hook=$1 order=$2
	shift 2
	export HOOK_WAY HOOK_MOMENT
	: >"$tmp/failures"
	for HOOK_WAY in "${ways[@]}"; do
		for HOOK_MOMENT in "$@"; do
			row "$hook" "$order" >"$tmp/said"
			[ ! -s "$tmp/said" ] || { echo "$HOOK_WAY, $HOOK_MOMENT:" && cat "$tmp/said"; } >>"$tmp/failures"
		done
	done
	cat "$tmp/failures"
	echo "$works combinations work without this library"
	[ ! -s "$tmp/failures" ] && [ "$works" -ge $((${#ways[@]} * $# / 2)) ] && [ "$works" -gt 0 ]
}
other=$LOADER/neighbour.so # a hook, too

# All preloads are in /etc/ld.so.preload: in a mount namespace, where a directory lies over /etc.
lay_over_etc() {
	in_memory
	mkdir "$memory/up" "$memory/work" && mount -t overlay -o "lowerdir=/etc,upperdir=$memory/up,workdir=$memory/work" overlay /etc
}
if [ -n "${in_system:-}" ]; then
	lay_over_etc || exit
	[ "$in_system" = rows ] || exit 0
	ways=("${all_ways[@]}")
	rows hook_dlsym behind call && rows hook_dlsym before call && rows hook_dlopen behind call
	exit
fi
in_system() { in_system=$1 unshare -m --propagation private bash "$0" "$BUILD"; }
lacks=
[ "$(id -u)" = 0 ] && in_system try 2>/dev/null || lacks="takes root, and mount namespaces"
check_there "A hook and this library in /etc/ld.so.preload work as the hook alone there." in_system rows
for order in before behind around linked; do
	ways=("${all_ways[@]}")
	check "A hook of dlsym $order works as without this library, and the program is cached." rows hook_dlsym $order call
	ways=(guarded next-old default-new)
	check "So it does if it asks early." rows hook_dlsym $order early constructor
	check "So does one without tail calls." rows hook_dlsym_plain $order call
	check "So does a hook of dlopen." rows hook_dlopen $order call
	ways=(next-old)
	[ $order = around ] || check "So does a hook of dlvsym." rows hook_dlvsym $order call early
done
by_name() { # a program that looks dlsym up by its name, and then NVRTC with that
	cat >"$tmp/by_name.py" <<-'PROGRAM'
		import ctypes, sys
		dlsym = ctypes.CDLL(None).dlsym
		dlsym.restype, dlsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
		nvrtc, program = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
		def function(name, *types):
		    return ctypes.CFUNCTYPE(ctypes.c_int, *types)(dlsym(nvrtc._handle, name))
		create = function(b"nvrtcCreateProgram", ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
		create(ctypes.addressof(program), b"extern int i;", b"k.cu", 0, None, None)
		sys.exit(function(b"nvrtcCompileProgram", ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(program, 0, None))
	PROGRAM
	fresh_cache
	preloaded python3 "$tmp/by_name.py" "$so13" && [ "$(stat_of stores)" = 1 ]
}
needs "no python3 of this machine" runs_here python3
check_there "Without another hook, a dlsym that was looked up by name is this library's." by_name
plan
