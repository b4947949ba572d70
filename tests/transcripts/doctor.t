# SPDX-License-Identifier: MIT
# requires: [ -e $LIBRARY ]
doctor: ok, warn and FAIL lines about the library, the directory, the settings, and programs of every kind.

Where all is well it says so, and makes nothing.
  $ export NVRTCCACHE_MAX_SIZE=1M # there is room for this
  $ nvrtccache doctor
  ok    not preloaded: 'nvrtccache run' preloads it into the program that it runs
  ok    library loads: $BUILD/libnvrtccache.so
  ok    directory $TMP/cache does not exist yet
  $ test -e cache
  [1]
  $ mkdir -m 700 cache; nvrtccache doctor
  ok    not preloaded: 'nvrtccache run' preloads it into the program that it runs
  ok    library loads: $BUILD/libnvrtccache.so
  ok    directory $TMP/cache belongs to you and can be written
  (ok  |warn)  .*file system.* (re)
  ok    * free, size limit 1.0 MiB (glob)
  $ ls -A cache

A library that is missing, that no loader takes, or that is another one is a FAIL.
  $ echo 'no library' >text.so; mkdir 'a b'; cp $LIBRARY 'a b'
  $ fails() { # what is not ok, but for the kind of the file system; the exit status, unless it is 1 with a FAIL, 0 without
  >     nvrtccache doctor "$@" >out; status=$?; grep -E '^(warn|FAIL)' out | grep -v '^warn  .*file system.*: '
  >     grep -q ^FAIL out; [ $((status + $?)) = 1 ] || echo "[$status]"
  > }
  $ for library in $TMP/nowhere.so $TMP/text.so "$TMP/a b/libnvrtccache.so" $NVRTC; do NVRTCCACHE_LIBRARY=$library fails; done
  FAIL  library: NVRTCCACHE_LIBRARY: '$TMP/nowhere.so' is not a readable file
  FAIL  library: the library cannot be loaded: $TMP/text.so: * (glob)
  FAIL  library: '$TMP/a b/libnvrtccache.so' cannot be preloaded: its path has a blank or a colon; NVRTCCACHE_LIBRARY can name a copy whose path has none
  FAIL  library: */libnvrtc.so.13: not libnvrtccache.so, but another library (glob)

What ld.so ignored of LD_PRELOAD is reported.
  $ LD_PRELOAD=libm.so.6 nvrtccache doctor | grep -i preload
  ok    not preloaded: 'nvrtccache run' preloads it into the program that it runs
  $ LD_PRELOAD=libm.so.6:$LIBRARY:libdl.so.2 nvrtccache doctor | grep -iE 'preload'
  ok    preloaded and active: $BUILD/libnvrtccache.so (*); 'nvrtccache run' adds no copy (glob)
  $ LD_PRELOAD=$TMP/nowhere.so nvrtccache doctor 2>/dev/null | grep LD_PRELOAD
  warn  LD_PRELOAD: ld.so ignored '$TMP/nowhere.so', which it cannot find or load

A copy of the library that ld.so ignored is a FAIL: a bare name that is in none of its directories, for example.
  $ for copy in libnvrtccache.so $TMP/nowhere/libnvrtccache.so; do (export LD_PRELOAD=$copy; fails) 2>/dev/null; done
  FAIL  LD_PRELOAD: ld.so ignored 'libnvrtccache.so', which it cannot find or load: 'nvrtccache env' prints a path that works
  FAIL  LD_PRELOAD: ld.so ignored '$TMP/nowhere/libnvrtccache.so', which it cannot find or load: 'nvrtccache env' prints a path that works

A directory that is not used is a FAIL, with the reason.
  $ chmod 777 cache; fails
  FAIL  directory $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  $ chmod $(sed -n 's/.*; chmod \([^ ]*\).*/\1/p' out) cache; fails
  $ chmod 770 cache; fails
  FAIL  directory $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  $ NVRTCCACHE_SHARED=1 fails
  $ chmod 700 cache; NVRTCCACHE_SHARED=1 fails
  $ ln -s cache link; for directory in $TMP/link /dev/null/x; do NVRTCCACHE_DIR=$directory fails; done
  FAIL  directory $TMP/link: a symbolic link, or not a directory
  FAIL  directory /dev/null/x: a symbolic link, or not a directory

What follows from a directory that is not used is not reported again.
# requires: [ -x $LINKED ]
  $ NVRTCCACHE_AGENT=1 NVRTCCACHE_DIR=/dev/null/x fails $LINKED
  FAIL  directory /dev/null/x: a symbolic link, or not a directory
  warn  nvrtc: 3 not cached: directory: the entry cannot be stored: /dev/null/x: not a directory
  $ NVRTCCACHE_READONLY=1 NVRTCCACHE_DIR=$TMP/missing fails
  warn  directory $TMP/missing does not exist yet
  $ (unset NVRTCCACHE_DIR; HOME=relative fails; HOME=$TMP/no-home fails)
  FAIL  no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path
  FAIL  directory $TMP/no-home/.cache/nvrtccache: $HOME or $XDG_CACHE_HOME is missing or belongs to another user: set NVRTCCACHE_DIR

Nor is another user's.
# requires: [ $(id -u) = 0 ] && chmod 711 . .. && setpriv --reuid=23456 --clear-groups $BUILD/nvrtccache version
  $ mkdir others; chown 12345 others; NVRTCCACHE_DIR=$TMP/others setpriv --reuid=23456 --clear-groups nvrtccache doctor | grep FAIL
  FAIL  directory $TMP/others: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it

Free space and the cap are named; no space is a FAIL.
# requires: unshare -m true
  $ mkdir small; cat >fill.sh <<'EOF'
  > mount -t tmpfs -o size=1m,nr_inodes=100 none small && export NVRTCCACHE_DIR=$TMP/small/cache && mkdir -m 700 small/cache
  > NVRTCCACHE_MAX_SIZE=1000K nvrtccache doctor
  > cat /dev/zero >small/file
  > nvrtccache doctor
  > EOF
  $ unshare -m sh fill.sh 2>/dev/null | grep -E ' free|limit'
  ok    * free, size limit 1000.0 KiB (glob)
  FAIL  the file system has no free space or no free inodes

A read-only file system is a FAIL, unless NVRTCCACHE_READONLY says so.
# requires: unshare -m true
  $ unshare -m sh -c 'mount -t tmpfs none small && mkdir -m 700 small/cache && mount -o remount,ro small
  >     export NVRTCCACHE_DIR=$TMP/small/cache; nvrtccache doctor; NVRTCCACHE_READONLY=1 nvrtccache doctor' | grep -E 'small|file system'
  FAIL  directory $TMP/small/cache cannot be written: Read-only file system
  warn  file system in memory: entries are lost at a reboot
  ok    directory $TMP/small/cache is only read, because NVRTCCACHE_READONLY is set
  warn  file system in memory: entries are lost at a reboot

Settings that are in the way are warnings; those that are refused or unknown are reported as by other commands.
  $ for setting in MAXSIZE=1G MAX_SIZE=much DISABLE=1 VERIFY=1 LOG_LEVEL=debug LOWER=$TMP/nowhere TRACE=$TMP/nowhere/t; do
  >     (export NVRTCCACHE_$setting; fails)
  > done
  warn  NVRTCCACHE_DISABLE is set: every call goes to the real compiler
  warn  NVRTCCACHE_VERIFY is set: every hit is compiled as well
  2> nvrtccache: NVRTCCACHE_MAXSIZE: unknown variable (did you mean 'NVRTCCACHE_MAX_SIZE'?)
  2> nvrtccache: NVRTCCACHE_MAX_SIZE: bad value 'much' is ignored: it takes a size such as 4096, 500M or 1.5G, with K, M, G or T
  2> nvrtccache: NVRTCCACHE_LOWER: '$TMP/nowhere' cannot be used: No such file or directory
  2> nvrtccache: NVRTCCACHE_TRACE: '$TMP/nowhere/t' cannot be used: No such file or directory
  $ NVRTCCACHE_RECACHE=1 fails
  warn  NVRTCCACHE_RECACHE is set: nothing is looked up

What is no program, or may not be run, is a FAIL.
  $ echo 'no program' >text; chmod 755 text
  $ for program in no-such-program-anywhere $TMP $TMP/text $'\e[31mred\377'; do fails "$program"; done
  FAIL  no-such-program-anywhere cannot be run: No such file or directory
  FAIL  $TMP cannot be run: Permission denied
  FAIL  $TMP/text cannot be run: Exec format error
  FAIL  ?[31mred? cannot be run: No such file or directory

A program is run under the cache; the compiler that it called and the outcome of each call are reported.
# requires: [ -x $LINKED ]
  $ nvrtccache doctor $LINKED | grep '  nvrtc'
  ok    nvrtc 13.0, $BUILD/tests/fake/13/libnvrtc.so.13, linked
  ok    nvrtc: 3 stored
  $ nvrtccache doctor -- $LINKED | grep '  nvrtc'; entries; ls -A | grep doctor
  ok    nvrtc 13.0, $BUILD/tests/fake/13/libnvrtc.so.13, linked
  ok    nvrtc: 3 hit on disk
  3
  [1]

A program that looks functions up and a linked one are distinguished.
# requires: [ -x $LINKED ]
  $ nvrtccache doctor ${LINKED%/*}/lookup handle $NVRTC | grep '  nvrtc'
  ok    nvrtc 13.0, $BUILD/tests/fake/13/libnvrtc.so.13, through dlopen and dlsym
  ok    nvrtc: 3 hit on disk

What the program starts counts too.
# requires: [ -x $LINKED ]
  $ nvrtccache doctor sh -c "$LINKED && $LINKED" | grep '  nvrtc'
  ok    nvrtc 13.0, $BUILD/tests/fake/13/libnvrtc.so.13, linked
  ok    nvrtc: 6 hit on disk

A compiler that cannot be watched is a FAIL, with the library's own words.
# requires: [ -x $LINKED ]
  $ LD_LIBRARY_PATH=$FAKE/unwatchable fails $LINKED
  warn  nvrtc: 1 not cached: unwatchable
  FAIL  nvrtc: 2 bypassed: unwatchable
  warn  bypassing $BUILD/tests/fake/unwatchable/libnvrtc.so.13: nftw

Calls that cannot be intercepted are a FAIL, and the module that makes them is reported.
# requires: [ -x $LINKED ] && $BUILD/tests/fixtures/modules/host $FAKE/link/13.2/libnvJitLink.so.13 seal
  $ fails $BUILD/tests/fixtures/modules/host $FAKE/link/13.2/libnvJitLink.so.13 now=$BUILD/tests/fixtures/modules/now.so seal run
  FAIL  nvjitlink: 1 bypassed: exports: the module $BUILD/tests/fixtures/modules/now.so calls the compiler without the cache
  warn  the module $BUILD/tests/fixtures/modules/now.so calls the compiler without the cache
  $ fails $LINKED

A static program, and one with the compiler inside, are FAILs. A static launcher is a warning.
# requires: [ -x $LINKED ]
  $ fails ${LINKED%/*}/static
  FAIL  $BUILD/tests/fixtures/loader/static did not load the library: it is linked statically, setuid or setgid, has capabilities, is for another machine, or has a loader other than glibc's
  $ fails ${LINKED%/*}/static $LINKED
  warn  $BUILD/tests/fixtures/loader/static did not load the library, but a program that it started did: it is linked statically, setuid or setgid, has capabilities, is for another machine, or has a loader other than glibc's
  $ fails ${LINKED%/*}/private_linked
  warn  no compilation reached the library
  FAIL  inside: NVRTC is linked statically into $BUILD/tests/fixtures/loader/private_linked, where the cache cannot intercept it: not cached

So is one whose compiler has no symbols, as in Warp: a message of NVRTC is found.
  $ cp /bin/true inside; fails ./inside
  warn  no compilation reached the library
  $ printf 'nvrtc: error: invalid value for --gpu-architecture (%s)' >>inside; fails ./inside
  warn  no compilation reached the library
  FAIL  inside: NVRTC is linked statically into ./inside, where the cache cannot intercept it: not cached

Of cuDNN 9.22 and later it names what makes it load libnvrtc.
  $ printf "\0CUDNN_NVRTC_RUNTIME_LINKING" >>inside; fails ./inside
  warn  no compilation reached the library
  FAIL  inside: NVRTC is linked statically into ./inside, where the cache cannot intercept it: not cached; nvrtccache run --cudnn makes it load libnvrtc

A setuid program is a FAIL.
# requires: [ -x $LINKED ] && [ $(id -u) = 0 ]
  $ cp $LINKED privileged; chown 12345 privileged; chmod 4755 privileged; fails ./privileged
  FAIL  ./privileged did not load the library: it is linked statically, setuid or setgid, has capabilities, is for another machine, or has a loader other than glibc's

A compiler that is loaded and not called is reported.
# requires: [ -x $BUILD/tests/nvvm/linked ]
  $ fails $BUILD/tests/nvvm/linked
  warn  no compilation reached the library
  warn  loaded: $BUILD/tests/fake/nvvm/libnvvm.so.4, and no call reached the cache: none was made, or by private functions, as cuTile does

A script is run, with its arguments.
  $ printf '#!/bin/sh\necho "$@"\n' >script; chmod 755 script; nvrtccache doctor ./script a 'b c' | grep -vE '^ok    [dlnsLS0-9]|file system in memory'
  a b c
  warn  no compilation reached the library

Its exit is reported.
  $ fails sh -c 'echo said; exit 7'; grep said out
  warn  no compilation reached the library
  warn  the program ended with status 7
  said

Without a library that loads, the program is not run.
  $ NVRTCCACHE_LIBRARY=$TMP/text.so nvrtccache doctor touch was-run >/dev/null
  [1]
  $ test -e was-run
  [1]
