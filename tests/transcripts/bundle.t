# SPDX-License-Identifier: MIT
# requires: [ -x $LINKED ] && [ -x $BUILD/tests/life ] && [ -e $NVRTC ]
export and import: a warm cache as one file, on another machine or in an image.

A cache is exported to a file.
  $ preloaded $LINKED >cold; entries
  3
  $ nvrtccache export kernels.nvb
  Exported 3 entries (* KiB) from $TMP/cache in * *s (glob)
  $ ls -A
  cache
  cold
  home
  kernels.nvb

A program that finds an imported cache compiles nothing and sees the same.
  $ NVRTCCACHE_DIR=$TMP/second; nvrtccache import kernels.nvb
  Imported 3 entries (* KiB) into $TMP/second in * *s (glob)
  $ preloaded $LINKED >warm; diff cold warm
  28c28
  < compiles 3
  ---
  > compiles 0
  [1]
  $ nvrtccache stats | grep -E '^Misses'
  Misses           0 (0.0 %)

Equal caches give equal bundles, and to import one again changes nothing.
  $ NVRTCCACHE_DIR=$TMP/third; nvrtccache import kernels.nvb
  Imported 3 entries (* KiB) into $TMP/third in * *s (glob)
  $ for time in 1 2; do nvrtccache export again.nvb >/dev/null; cmp kernels.nvb again.nvb; done
  $ (cd second/v1; sha256sum ??/*) >before; NVRTCCACHE_DIR=$TMP/second nvrtccache import kernels.nvb; (cd second/v1; sha256sum ??/*) | diff before -
  Imported 0 entries (0 bytes) into $TMP/second in * *s; 3 were there already (glob)

Entries that are there already are not counted as imported.
  $ nvrtccache import kernels.nvb
  Imported 0 entries (0 bytes) into $TMP/third in * *s; 3 were there already (glob)
  $ rm $(file 1); nvrtccache import kernels.nvb; entries
  Imported 1 entry (*) into $TMP/third in * *s; 2 were there already (glob)
  3

Standard output and input will do.
  $ NVRTCCACHE_DIR=$TMP/cache nvrtccache export - | NVRTCCACHE_DIR=$TMP/fourth nvrtccache import -
  Imported 3 entries (* KiB) into $TMP/fourth in * *s (glob)
  2> Exported 3 entries (* KiB) from $TMP/cache in * *s (glob)
  $ (cd third/v1; sha256sum ??/*) >before; (cd fourth/v1; sha256sum ??/*) | diff before -

So will a pipe.
  $ mkfifo pipe; NVRTCCACHE_DIR=$TMP/cache nvrtccache export pipe & cmp pipe kernels.nvb; wait $!; test -p pipe
  Exported 3 entries (* KiB) from $TMP/cache in * *s (glob)

Several results of one request are all imported, in addition to existing ones.
  $ version() { echo "int version_$1;" >h && touch -d "2001-01-$1" h; } # its time counts, because the option is not known
  $ versions() { for ((i = $1; i <= $2; i++)); do version $i && sleep 0.1 && compile --fake-open=$TMP/h; done; }
  $ NVRTCCACHE_DIR=$TMP/there; versions 1 3; nvrtccache export three.nvb
  Exported 3 entries (* KiB) from $TMP/there in * *s (glob)
  $ NVRTCCACHE_DIR=$TMP/here; versions 4 5; nvrtccache import three.nvb; entries
  Imported 3 entries (* KiB) into $TMP/here in * *s (glob)
  1
  $ nvrtccache export five.nvb
  Exported 5 entries (* KiB) from $TMP/here in * *s (glob)

All of them are found, and what a hit has noted does not make them others.
  $ versions 1 5; nvrtccache stats --json | json 'told["stores"], told["hits_disk"]'
  (2, 5)
  $ nvrtccache import three.nvb
  Imported 0 entries (0 bytes) into $TMP/here in * *s; 3 were there already (glob)

No request has more than sixteen results after an import.
  $ fresh; versions 10 23; nvrtccache import three.nvb; versions 24 24; nvrtccache import three.nvb
  Imported 3 entries (* KiB) into $TMP/here in * *s (glob)
  Imported 0 entries (0 bytes) into $TMP/here in * *s; 3 were there already (glob)
  $ nvrtccache export sixteen.nvb
  Exported 16 entries (* KiB) from $TMP/here in * *s (glob)

A smaller cache imports the last used entries of a bundle and stays below its cap.
  $ many=$TMP/many; NVRTCCACHE_DIR=$many; for n in {1..24}; do compile -DNUMBER=$n; done
  $ n=0; for path in $(files); do touch -d "@$((EPOCHSECONDS - 3600 * (n += 1)))" $path; done
  $ nvrtccache export many.nvb
  Exported 24 entries (* KiB) from $TMP/many in * *s (glob)
  $ size=$(stat -c %s $(files) | sort -n | tail -n 1); blocks=$(stat -c '%b*%B' $(files) | tail -n 1); NVRTCCACHE_DIR=$TMP/smaller
  $ NVRTCCACHE_MAX_SIZE=$((blocks * 10)) nvrtccache import many.nvb
  Imported 24 entries (* KiB) into $TMP/smaller in * *s (glob)
  $ entries; nvrtccache stats | grep Evictions
  10
  Evictions        14
  $ diff <(cd many; ls -d v1/??/* | head -n 8) <(cd smaller; ls -d v1/??/* | head -n 8)

An entry larger than an eighth of the cap is left out, and said to be.
  $ fresh; NVRTCCACHE_MAX_SIZE=$((size * 8 - 1)) nvrtccache import many.nvb
  Imported 0 entries (0 bytes) into $TMP/smaller in * *s (glob)
  2> nvrtccache: many.nvb: left out: 24 entries larger than an eighth of the size limit

An existing file is replaced, also through a link, and keeps its mode; a new one has the mode of the umask.
  $ NVRTCCACHE_DIR=$TMP/cache; echo old >old.nvb; chmod 640 old.nvb; ln -s old.nvb link.nvb
  $ nvrtccache export link.nvb >/dev/null; (umask 027; nvrtccache export new.nvb) >/dev/null
  $ for name in old link new; do cmp $name.nvb kernels.nvb; stat -c '%A %n' $name.nvb; done
  -rw-r----- old.nvb
  lrwxrwxrwx link.nvb
  -rw-r----- new.nvb

A bundle that cannot be written leaves the old file and nothing else.
  $ echo old >kept.nvb; (ulimit -f 1; nvrtccache export kept.nvb)
  2> nvrtccache: kept.nvb: File too large
  [1]
  $ cat kept.nvb
  old
  $ for name in nowhere/x.nvb . none/; do brief export $name; done; ls -A | grep '[.]nvb[.]'
  [1] nvrtccache: nowhere/x.nvb: No such file or directory
  [1] nvrtccache: .: Is a directory
  [1] nvrtccache: none/: No such file or directory
  [1]

A device is written to as it is, and its errors are said.
# requires: [ -c /dev/full ] && [ -w /dev/full ]
  $ nvrtccache export /dev/full
  2> nvrtccache: /dev/full: No space left on device
  [1]
  $ test -c /dev/full

An interrupted export leaves the old file and nothing else.
# requires: strace -qq -o /dev/null -e trace=write -e inject=write:signal=SIGCONT:when=1 true
  $ strace -qq -o /dev/null -e trace=write -e inject=write:signal=SIGTERM:when=1 nvrtccache export kept.nvb 2>said; echo $?
  143
  2> Terminated
  $ grep -v Terminated said; cat kept.nvb; ls -A | grep '[.]nvb[.]'
  nvrtccache: kept.nvb: interrupted; the file is not written
  old
  [1]

Damaged files are left out of a bundle, and left alone; one line reports them.
  $ cp -a cache damaged; NVRTCCACHE_DIR=$TMP/damaged; bad=$(file 1)
  $ printf x | dd of=$bad bs=1 seek=300 conv=notrunc status=none; ln -s $bad ${bad%?}g; cp $bad $bad.x
  $ nvrtccache export less.nvb; ls $bad | wc -l
  Exported 2 entries (* KiB) from $TMP/damaged in * *s (glob)
  1
  2> nvrtccache: left out: 1 damaged or untrusted file; 'nvrtccache verify' names them
  $ NVRTCCACHE_DIR=$TMP/less nvrtccache import less.nvb
  Imported 2 entries (* KiB) into $TMP/less in * *s (glob)

A cache that is not there gives an empty bundle, and nothing is made for one.
  $ NVRTCCACHE_DIR=$TMP/none; nvrtccache export empty.nvb; nvrtccache import empty.nvb; test -e none
  Exported 0 entries (0 bytes) from $TMP/none in * *s (glob)
  Imported 0 entries (0 bytes) into $TMP/none in * *s (glob)
  [1]

A directory that others can write takes no bundle, and gives none.
  $ NVRTCCACHE_DIR=$TMP/open; mkdir -p open/v1; chmod 777 open
  $ brief import kernels.nvb; entries
  [1] nvrtccache: $TMP/open: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  0
  $ brief export none.nvb; test -e none.nvb
  [1] nvrtccache: $TMP/open: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  [1]

Neither is done where the cache may not be written, or the file is none.
  $ NVRTCCACHE_DIR=$TMP/none; NVRTCCACHE_READONLY=1 nvrtccache import kernels.nvb
  2> nvrtccache: $TMP/none: not written, because NVRTCCACHE_READONLY is set
  [1]
  $ for words in 'import nowhere' "import $TMP" "import $LINKED" import 'export a b'; do brief $words; done; test -e none
  [1] nvrtccache: nowhere: No such file or directory
  [1] nvrtccache: $TMP: Is a directory
  [1] nvrtccache: $BUILD/tests/fixtures/loader/linked: not a bundle that 'nvrtccache export' wrote
  [2] nvrtccache: import: FILE is missing
  [2] nvrtccache: export: b: unexpected argument
  [1]
  $ NVRTCCACHE_READONLY=1 NVRTCCACHE_DIR=$TMP/cache nvrtccache export again.nvb
  Exported 3 entries (* KiB) from $TMP/cache in * *s (glob)

Another user's cache is not changed, even by root.
# requires: [ "$(id -u)" = 0 ] && : >owned && chown 65534 owned
  $ NVRTCCACHE_DIR=$TMP/theirs; mkdir theirs; chown 65534 theirs
  $ for words in 'import kernels.nvb' 'export none.nvb' ls prune clear verify 'stats --zero' 'show 00' 'explain 00'; do brief $words; done | uniq -c
        9 [1] nvrtccache: $TMP/theirs: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  $ ls -A theirs; test -e none.nvb
  [1]

Bundles of other formats are refused by their number.
  $ NVRTCCACHE_DIR=$TMP/none
  $ for format in 0 2 255; do
  >     cp kernels.nvb other.nvb; printf "\\x$(printf %02x $format)" | dd of=other.nvb bs=1 seek=8 conv=notrunc status=none; brief import other.nvb
  > done; test -e none
  \[1\] nvrtccache: other.nvb: bundle of format 0 with entries of format \d+; this version reads format 3 with format \d+ (re)
  \[1\] nvrtccache: other.nvb: bundle of format 2 with entries of format \d+; this version reads format 3 with format \d+ (re)
  \[1\] nvrtccache: other.nvb: bundle of format 255 with entries of format \d+; this version reads format 3 with format \d+ (re)
  [1]

A damaged entry is left out, and the others are imported.
  $ cp kernels.nvb bad.nvb; printf x | dd of=bad.nvb bs=1 seek=330 conv=notrunc status=none
  $ nvrtccache import bad.nvb
  Imported 2 entries (* KiB) into $TMP/none in * *s (glob)
  2> nvrtccache: bad.nvb: damaged or cut short; its sound entries so far are imported
  [1]

No bundle is written to a terminal.
# requires: python3 -c 'import pty, os; os.close(pty.openpty()[0])'
  $ NVRTCCACHE_DIR=$TMP/cache python3 $TOP/tests/integration/terminal.py printed $BUILD/nvrtccache export -
  nvrtccache: standard output: a bundle is not written to a terminal
  [1]
