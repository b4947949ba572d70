# SPDX-License-Identifier: MIT
# requires: [ -e $LIBRARY ]
run: which library it preloads, what it sets for the program, and how it exits.

run preloads the library next to the command, inside another run too.
  $ nvrtccache run -- sh -c 'echo "$LD_PRELOAD"'
  /usr/$LIB/../../../..$BUILD/libnvrtccache.so
  $ nvrtccache run nvrtccache run sh -c 'echo "$LD_PRELOAD"'
  /usr/$LIB/../../../..$BUILD/libnvrtccache.so

run preserves existing preloads, after our library.
  $ LD_PRELOAD=libm.so.6 nvrtccache run sh -c 'echo "$LD_PRELOAD"'
  /usr/$LIB/../../../..$BUILD/libnvrtccache.so:libm.so.6

run finds the library in ../lib when installed, and in the machine's directory below that, as on Debian.
  $ for lib in prefix/lib "multiarch/lib/$(uname -m)-linux-gnu"; do
  >     bin=${lib%%/*}/bin; mkdir -p $bin $lib; cp $BUILD/nvrtccache $bin; cp $LIBRARY $lib
  >     $bin/nvrtccache run sh -c 'echo "$LD_PRELOAD"'
  > done
  /usr/$LIB/../../../..$TMP/prefix/lib/libnvrtccache.so
  /usr/$LIB/../../../..$TMP/multiarch/lib/*-linux-gnu/libnvrtccache.so (glob)

NVRTCCACHE_LIBRARY says which library run takes.
  $ cp $LIBRARY mine.so; NVRTCCACHE_LIBRARY=$TMP/mine.so nvrtccache run sh -c 'echo "$LD_PRELOAD"'
  /usr/$LIB/../../../..$TMP/mine.so

run warns of a variable that is misspelled, and of no other.
  $ NVRTCCACHE_DISBLE=1 nvrtccache run -- true
  2> nvrtccache: NVRTCCACHE_DISBLE: unknown variable (did you mean 'NVRTCCACHE_DISABLE'?)
  $ NVRTCCACHE_DISABLE=1 nvrtccache run -- true

run starts nothing when the library is not there, and exits with 125.
  $ NVRTCCACHE_LIBRARY=$TMP/nowhere.so nvrtccache run echo started
  2> nvrtccache: NVRTCCACHE_LIBRARY: '$TMP/nowhere.so' is not a readable file
  [125]

run starts nothing when the library cannot be loaded: text, nothing, its begin, of another class, for another machine.
  $ echo 'no library' >text.so; : >empty.so; head -c 100 $LIBRARY >short.so
  $ for bytes in '4 \001' '18 \377'; do
  >     cp $LIBRARY other-${bytes% *}.so; printf "${bytes#* }" | dd of=other-${bytes% *}.so bs=1 seek=${bytes% *} conv=notrunc status=none
  > done
  $ for name in text empty short other-4 other-18; do NVRTCCACHE_LIBRARY=$TMP/$name.so brief run echo started; done
  [125] nvrtccache: the library cannot be loaded: $TMP/text.so: * (glob)
  [125] nvrtccache: the library cannot be loaded: $TMP/empty.so: * (glob)
  [125] nvrtccache: the library cannot be loaded: $TMP/short.so: the file is cut short; install it again
  [125] nvrtccache: the library cannot be loaded: $TMP/other-4.so: * (glob)
  [125] nvrtccache: the library cannot be loaded: $TMP/other-18.so: * (glob)
  $ NVRTCCACHE_LIBRARY=$BUILD/nvrtccache brief run echo started
  [125] nvrtccache: the library cannot be loaded: $BUILD/nvrtccache: * (glob)

run says that a library is cut short, at whatever place it is cut, and does not start the program.
  $ bytes=$(stat -c %s $LIBRARY)
  $ for size in 100 4096 $((bytes / 2)) $((bytes - 1)); do
  >     head -c $size $LIBRARY >torn.so; NVRTCCACHE_LIBRARY=$TMP/torn.so brief run echo started
  > done
  [125] nvrtccache: the library cannot be loaded: $TMP/torn.so: the file is cut short; install it again
  [125] nvrtccache: the library cannot be loaded: $TMP/torn.so: the file is cut short; install it again
  [125] nvrtccache: the library cannot be loaded: $TMP/torn.so: the file is cut short; install it again
  [125] nvrtccache: the library cannot be loaded: $TMP/torn.so: the file is cut short; install it again
  $ cp $LIBRARY torn.so; NVRTCCACHE_LIBRARY=$TMP/torn.so nvrtccache run echo started
  started

run starts nothing when it is another library.
# requires: [ -e $NVRTC ]
  $ NVRTCCACHE_LIBRARY=$NVRTC nvrtccache run echo started
  2> nvrtccache: $BUILD/tests/fake/13/libnvrtc.so.13: not libnvrtccache.so, but another library
  [125]

run starts nothing when the library's path cannot be preloaded.
  $ mkdir 'a b'; touch 'a b/x.so'; NVRTCCACHE_LIBRARY="$TMP/a b/x.so" nvrtccache run echo started
  2> nvrtccache: '$TMP/a b/x.so' cannot be preloaded: its path has a blank or a colon; NVRTCCACHE_LIBRARY can name a copy whose path has none
  [125]

run --cudnn sets the variable that cuDNN reads.
  $ env -u CUDNN_NVRTC_RUNTIME_LINKING nvrtccache run --cudnn sh -c 'echo $CUDNN_NVRTC_RUNTIME_LINKING'
  1

run hands on the program's arguments as they are.
  $ nvrtccache run -- sh -c 'printf "<%s>\n" "$@"' name --cudnn 'a b' '' --
  <--cudnn>
  <a b>
  <>
  <-->

run exits as the program did, with 127 where there is none and 126 where it cannot be run.
  $ nvrtccache run sh -c 'exit 7'
  [7]
  $ echo 'no program' >text; chmod 644 text; printf '#!%s\n' "$TMP/gone/sh" >script; chmod 755 script
  $ : >k.py
  $ for program in $TMP/nowhere no-such-program-anywhere text ./k.py $TMP $TMP/script; do brief run $program; done
  [127] nvrtccache: $TMP/nowhere: No such file or directory
  [127] nvrtccache: no-such-program-anywhere: not found in PATH
  [127] nvrtccache: text: not found in PATH
  [126] nvrtccache: ./k.py: Permission denied
  [126] nvrtccache: $TMP: Permission denied
  [127] nvrtccache: $TMP/script: No such file or directory

run without a program, or with a bad value, starts nothing and exits with 2.
  $ for words in '' --cudnn --dir --cudnn=1; do brief run $words; done
  [2] nvrtccache: run: program is missing
  [2] nvrtccache: run: program is missing
  [2] nvrtccache: unrecognized option '--dir'
  [2] nvrtccache: option '--cudnn' doesn't allow an argument

The library names in its log, once, what is unknown or refused.
# requires: [ -x $LINKED ]
  $ NVRTCCACHE_LOG=$TMP/log NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_WAIT=long preloaded $LINKED >/dev/null; cut -d ' ' -f 2- log
  nvrtccache[*]: NVRTCCACHE_WAIT: bad value: it takes whole seconds; using the default (glob)
  nvrtccache[*]: NVRTCCACHE_MAXSIZE: unknown variable (did you mean 'NVRTCCACHE_MAX_SIZE'?) (glob)

It does not for processes that have nothing to compile, and never on a stderr that nobody has asked for.
# requires: [ -x $LINKED ]
  $ rm log; NVRTCCACHE_LOG=$TMP/log NVRTCCACHE_MAXSIZE=1G preloaded true; test -e log
  [1]
  $ NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_LOG=$TMP/nowhere/log preloaded $LINKED >/dev/null
