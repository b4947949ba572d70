# SPDX-License-Identifier: MIT
# requires: [ -e $LIBRARY ] && [ -e $NVRTC ]
Where nobody has asked for a cache none is made: in another root, instead of a home that is missing, in another's home.

A host compiles A, goes to another root if one is named, and compiles B.
  $ cat >host.py <<'EOF'
  > import ctypes, os, sys
  > nvrtc = ctypes.CDLL(sys.argv[1])
  > def compile(text):
  >     program = ctypes.c_void_p()
  >     if nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"x.cu", 0, None, None) or nvrtc.nvrtcCompileProgram(program, 0, None):
  >         sys.exit("NVRTC failed")
  >     nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
  > compile(b"__global__ void a() {}")
  > if len(sys.argv) > 2:
  >     os.chroot(sys.argv[2])
  >     os.chdir("/")
  > compile(b"__global__ void b() {}")
  > EOF

After a chroot, a host finds no file of ours in its new root.
# requires: python3 -c 'import os; os.chroot(".")'
  $ mkdir jail; preloaded python3 host.py $NVRTC jail; ls -A jail; entries
  1

By default the cache is made below HOME.
  $ unset NVRTCCACHE_DIR; preloaded python3 host.py $NVRTC; NVRTCCACHE_DIR=$HOME/.cache/nvrtccache entries
  2

A HOME that is missing is not made for it.
  $ HOME=$TMP/none preloaded python3 host.py $NVRTC; test -e none
  [1]

Nor is it created in a HOME of another user.
# requires: mkdir theirs && chown 12345 theirs
  $ HOME=$TMP/theirs preloaded python3 host.py $NVRTC; ls -A theirs

An import into a HOME that is missing says why not.
  $ nvrtccache export bundle
  Exported 2 entries (* KiB) from $TMP/home/.cache/nvrtccache in * *s (glob)
  $ HOME=$TMP/none nvrtccache import bundle
  2> nvrtccache: $TMP/none/.cache/nvrtccache: cannot be created: $HOME or $XDG_CACHE_HOME is missing or belongs to another user: set NVRTCCACHE_DIR
  [1]
  $ test -e none
  [1]
