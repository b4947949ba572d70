#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where nobody has asked for a cache none is made: in another root, instead of a home that is missing, in another's home.
# shellcheck disable=SC2015,SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
SO=$FAKE/13/libnvrtc.so.13

# Compiles A, goes to another root if one is named, and compiles B.
cat >"$tmp/host.py" <<'END'
import ctypes, os, sys
nvrtc = ctypes.CDLL(sys.argv[1])
def compile(text):
    program = ctypes.c_void_p()
    if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"x.cu", 0, None, None) or nvrtc.nvrtcCompileProgram(program, 0, None):
        sys.exit("NVRTC failed")
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
compile(b"__global__ void a() {}")
if len(sys.argv) > 2:
    os.chroot(sys.argv[2])
    os.chdir("/")
compile(b"__global__ void b() {}")
END
host() { preloaded python3 "$tmp/host.py" "$SO" "$@"; }

another_root() {
	mkdir "$tmp/jail"
	host "$tmp/jail" && [ "$(entries)" -eq 1 ] && [ -z "$(ls -A "$tmp/jail")" ]
}
if python3 -c 'import os, sys; os.chroot(sys.argv[1])' "$tmp" 2>/dev/null; then
	check "After a chroot, a host finds no file of ours in its new root." another_root
else
	skip "After a chroot, a host finds no file of ours in its new root." "needs root"
fi

unset NVRTCCACHE_DIR XDG_CACHE_HOME
at_home() {
	mkdir "$tmp/home"
	HOME=$tmp/home host && [ "$(NVRTCCACHE_DIR=$tmp/home/.cache/nvrtccache entries)" -eq 2 ]
}
check "By default the cache is made below HOME." at_home
missing_home() {
	HOME=$tmp/none host && [ ! -e "$tmp/none" ]
}
check "A HOME that is missing is not made for it." missing_home
anothers_home() {
	HOME=$tmp/theirs host && [ -z "$(ls -A "$tmp/theirs")" ]
}
mkdir "$tmp/theirs"
if chown 12345 "$tmp/theirs" 2>/dev/null; then
	check "Nor is it created in a HOME of another user." anothers_home
else
	skip "Nor is it created in a HOME of another user." "needs root"
fi
import_says() {
	! HOME=$tmp/none "$COMMAND" import "$tmp/bundle" 2>"$tmp/says" && cat "$tmp/says" && grep -q 'HOME is missing' "$tmp/says" && [ ! -e "$tmp/none" ]
}
NVRTCCACHE_DIR=$tmp/home/.cache/nvrtccache "$COMMAND" export "$tmp/bundle" >/dev/null 2>&1
check "An import into it says why not." import_says
plan
