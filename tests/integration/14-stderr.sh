#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What was asked for on stderr goes there, and never into a file that the program has opened in the place of descriptor 2.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
runs_here python3 || skip_all "no python3 of this machine"
so13=$FAKE/13/libnvrtc.so.13
cat >"$tmp/host.py" <<'PROGRAM'
"""host.py MOMENT WHAT DATA NVRTC: puts WHAT in the place of descriptor 2, and compiles."""
import ctypes, fcntl, os, socket, sys

moment, what, data, nvrtc = sys.argv[1:]


def replace(now):
    if now != moment:
        return
    again = os.readlink("/proc/self/fd/2")
    os.close(2)
    if what == "same":
        made = os.open(again, os.O_WRONLY | os.O_APPEND)
    elif what != "closed":
        made = os.open(data, os.O_RDWR | os.O_CREAT)
    if what == "inherited":  # as fopen() without "e"
        fcntl.fcntl(2, fcntl.F_SETFD, 0)
    if what == "written":
        os.write(2, b"data")
    assert what == "closed" or made == 2, made


replace("first")
library, program = ctypes.CDLL(nvrtc), ctypes.c_void_p()
for name in ("nvrtcCreateProgram", "nvrtcCompileProgram", "nvrtcDestroyProgram"):
    getattr(library, name)
replace("looked-up")
for _ in range(2):
    assert library.nvrtcCreateProgram(ctypes.byref(program), b"extern int i;", b"k.cu", 0, None, None) == 0
    replace("created")
    moment = "" if moment == "created" else moment
    assert library.nvrtcCompileProgram(program, 0, None) == 0
    replace("compiled")
    moment = "" if moment == "compiled" else moment
    assert library.nvrtcDestroyProgram(ctypes.byref(program)) == 0
replace("last")
PROGRAM

asked() { # as people ask for text on stderr
	printf '%s\n' "NVRTCCACHE_STATS=1 NVRTCCACHE_LOG=stderr" "NVRTCCACHE_LOG=/dev/stderr NVRTCCACHE_TRACE=/dev/stderr"
}
run_host() { # SETTINGS MOMENT WHAT
	fresh_cache
	rm -f "$tmp/data"
	# shellcheck disable=SC2086 # several words
	env $1 NVRTCCACHE_LOG_LEVEL=info "LD_PRELOAD=$LIBRARY" python3 "$tmp/host.py" "$2" "$3" "$tmp/data" "$so13" </dev/null 2>"$tmp/err" ||
		{ echo "$*: exit $?" && cat "$tmp/err" && return 1; }
}
keeps() { # MOMENT WHAT CONTENT: the program's file has what the program wrote
	local setting
	while read -r setting; do
		run_host "$setting" "$1" "$2" || return
		[ "$(cat "$tmp/data")" = "$3" ] || { echo "$setting: $(head -c 200 "$tmp/data")" && return 1; }
	done < <(asked)
}
for moment in looked-up created compiled last; do
	check "A file that takes the place of descriptor 2 stays empty ($moment)." keeps $moment inherited ""
	check "A file with content in the place of descriptor 2 stays unchanged ($moment)." keeps $moment written data
done
check "A file that the program opened there before it looked NVRTC up, to be closed by exec, stays empty." keeps first file ""
goes_to_stderr() { # MOMENT WHAT
	local setting
	while read -r setting; do
		run_host "$setting" "$1" "$2" || return
		[ -s "$tmp/err" ] || { echo "$setting: nothing on stderr" && return 1; }
	done < <(asked)
}
check "Text is written to an unchanged descriptor 2." goes_to_stderr never ""
check "Text is written to a descriptor 2 that was closed and opened as the same file again." goes_to_stderr created same
survives() {
	local setting moment
	while read -r setting; do
		for moment in first looked-up created compiled last; do
			run_host "$setting" $moment closed || return
		done
	done < <(asked)
}
check "A program without descriptor 2 runs on." survives
plan
