# SPDX-License-Identifier: MIT
# requires: [ -x $BUILD/tests/life ] && [ -e $NVRTC ]
Reading every entry of a cache: what is sound, what is bad and why, and what is removed; keys that name no entry.

An empty cache is sound, and is not made.
  $ nvrtccache verify; test -e cache
  Verified 0 sound entries in $TMP/cache, 0 bytes read, in * *s (glob)
  [1]
  $ nvrtccache verify --json
  {"bad":[],"dir":"$TMP/cache","results":0,"bytes":0,"sound":0,"damaged":0,"untrusted":0,"other_format":0,"foreign":0,"temporaries":0,"unreadable":0,"out_of_date":0,"removed":0,"complete":true}

Sound entries are counted.
  $ three() { fresh; for n in 1 2 3; do compile -DN=$n; done; [ $(entries) = 3 ]; }
  $ three
  $ nvrtccache verify
  Verified 3 sound entries in $TMP/cache, * read, in * *s (glob)

They are not used by that.
  $ touch -a -d '2001-01-01' $(file 1); nvrtccache verify >/dev/null; stat -c %x $(file 1)
  2001-01-01 00:00:00.000000000 +0000

A changed bit of an entry is found; the entry is left, and goes with --remove.
  $ flip() { python3 -c 'import sys
  > with open(sys.argv[2], "r+b") as file:
  >     file.seek(int(sys.argv[1])); byte = file.read(1)[0]; file.seek(-1, 1); file.write(bytes([byte ^ 0x10]))' "$@"; }
  $ bad=$(file 1); flip 300 $bad
  $ names() { sed "s#$bad#FILE#; s#/v1/../.*/[0-9a-f]\{62\}#/FILE#"; }
  $ nvrtccache verify 2>&1 | names
  nvrtccache: FILE: damaged: wrong checksum
  Verified 2 sound entries in $TMP/cache, * read, in * *s (glob)
             1  damaged
  $ nvrtccache verify --json | names | grep -o '^[^]]*]'
  {"bad":[{"file":"FILE","verdict":"damaged","reason":"wrong checksum","removed":false}]
  $ entries; nvrtccache verify --remove 2>&1 | names; entries
  3
  nvrtccache: FILE: damaged: wrong checksum; removed
  Verified 2 sound entries in $TMP/cache, * read, in * *s (glob)
             1  damaged
             1  removed of these
  2
  $ nvrtccache verify
  Verified 2 sound entries in $TMP/cache, * read, in * *s (glob)

So is one of its header, a file that is cut short, one that is cut in its header, one that a crash left empty, an entry of
another key, a directory in its place, and a symbolic link.
  $ verify_bad() { # COMMAND: makes the first file bad; shown are the error, its JSON, its removal, and what is left
  >     three; bad=$(file 1); eval "$1"
  >     (brief verify | tail -n 1; nvrtccache verify --json | json '[*told["bad"][0].values()]'; brief verify --remove | grep -oE '^\[.\]|removed$'
  >         test -e $bad && echo there; nvrtccache verify | cut -d ' ' -f 1-4) | names | paste -sd ' '
  > }
  $ for change in 'flip 40' 'truncate -s 400' 'truncate -s 20' 'head -c 4096 /dev/zero >' "cp $(file 2)"; do verify_bad "$change \$bad"; done
  [1] nvrtccache: FILE: damaged: truncated, or a wrong header ['FILE', 'damaged', 'truncated, or a wrong header', False] [0] removed Verified 2 sound entries
  [1] nvrtccache: FILE: damaged: truncated, or a wrong header ['FILE', 'damaged', 'truncated, or a wrong header', False] [0] removed Verified 2 sound entries
  [1] nvrtccache: FILE: damaged: truncated ['FILE', 'damaged', 'truncated', False] [0] removed Verified 2 sound entries
  [1] nvrtccache: FILE: damaged: truncated, or a wrong header ['FILE', 'damaged', 'truncated, or a wrong header', False] [0] removed Verified 2 sound entries
  [1] nvrtccache: FILE: damaged: truncated, or a wrong header ['FILE', 'damaged', 'truncated, or a wrong header', False] [0] removed Verified 2 sound entries
  $ verify_bad 'rm $bad; mkdir $bad'
  [1] nvrtccache: FILE: damaged: not a regular file ['FILE', 'damaged', 'not a regular file', False] [0] removed Verified 2 sound entries
  $ verify_bad 'mv $bad away; ln -s $TMP/away $bad'
  [1] nvrtccache: FILE: damaged: not a regular file ['FILE', 'damaged', 'not a regular file', False] [0] removed Verified 2 sound entries

A file writable by others is not trusted.
  $ verify_bad 'chmod 666 $bad'
  [1] nvrtccache: FILE: not trusted: other users can write to it ['FILE', 'untrusted', 'other users can write to it', False] [0] removed Verified 2 sound entries

Nor is a file of another user.
# requires: [ $(id -u) = 0 ]
  $ verify_bad 'chown 12345 $bad'
  [1] nvrtccache: FILE: not trusted: other users can write to it ['FILE', 'untrusted', 'other users can write to it', False] [0] removed Verified 2 sound entries

Bytes after a sound entry are found, and the entry is counted.
  $ three; bad=$(file 1); head -c 300 /dev/urandom >>$bad; nvrtccache verify 2>&1 | names
  nvrtccache: FILE: damaged: truncated, or a wrong header
  Verified 3 sound entries in $TMP/cache, * read, in * *s (glob)
             1  damaged

Foreign files are not removed.
  $ three; shard=$(dirname $(file 1)); echo mine >$shard/README; head -c 500 /dev/zero | tr '\0' x >$shard/$(printf 'a%.0s' {1..62}); echo mine >$shard/$(printf 'b%.0s' {1..62})
  $ nvrtccache verify --remove
  Verified 3 sound entries in $TMP/cache, * read, in * *s (glob)
             3  not made by this cache: left alone
  $ cat $shard/README $shard/bbb*; entries
  mine
  mine
  5

Neither are those whose dependencies have another format.
# requires: [ -x $BUILD/tests/scale ]
  $ fresh; $BUILD/tests/scale plant $NVRTCCACHE_DIR 2 >/dev/null; nvrtccache verify --remove
  Verified 0 sound entries in $TMP/cache, * read, in * *s (glob)
             2  in the format of another version: left alone

Entries of another format are not reported as damaged, and are not removed.
  $ three; python3 -c 'import sys; file = open(sys.argv[1], "r+b"); file.seek(8); file.write(bytes([7, 0, 0, 0]))' $(file 1)
  $ nvrtccache verify --remove; entries
  Verified 2 sound entries in $TMP/cache, * read, in * *s (glob)
             1  in the format of another version: left alone
  3

A temporary file is counted.
  $ three; : >$(dirname $(file 1))/tmp.1.0123456789abcdef; nvrtccache verify
  Verified 3 sound entries in $TMP/cache, * read, in * *s (glob)
             1  temporary: 'nvrtccache prune' removes stale ones

A cache that is only read loses nothing.
  $ three; bad=$(file 1); truncate -s 400 $bad
  $ NVRTCCACHE_READONLY=1 brief verify --remove | names; entries
  [1] nvrtccache: $TMP/cache: nothing is removed, because NVRTCCACHE_READONLY is set
  3

A directory that others can write to is not read.
  $ three; chmod 777 cache; nvrtccache verify
  2> nvrtccache: $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  [1]
  $ nvrtccache verify --json 2>/dev/null | json 'told["complete"], told["bad"]'
  (False, [])
  $ for words in 'show 00' 'extract 00 --ptx'; do brief $words; done | uniq -c
        2 [1] nvrtccache: $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it

A full disk is reported.
# requires: [ -w /dev/full ]
  $ three; nvrtccache verify >/dev/full
  2> nvrtccache: standard output: No space left on device
  [1]

An interrupt ends it between two files, with the counts so far.
  $ mkdir -p -m 700 cache/v1/ab; cat >interrupt.py <<'EOF'
  > import os, signal, subprocess
  > os.umask(0o077)
  > signal.signal(signal.SIGINT, signal.SIG_DFL) # a background job of a shell ignores it
  > for number in range(1000): # so many that it is still at work when the signal comes: nobody reads what it says of them
  >     with open(f"cache/v1/ab/{number:062x}", "wb") as file:
  >         file.write(bytes(300))
  > work = subprocess.Popen(["nvrtccache", "verify", "--remove"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
  > work.stderr.read(1)
  > work.send_signal(signal.SIGINT)
  > out, err = work.communicate()
  > print(out.decode(), work.returncode, 0 < len(os.listdir("cache/v1/ab")) < 1000)
  > EOF
  $ python3 interrupt.py
  Interrupted: * sound entr* in $TMP/cache, * read, in * *s (glob)
   +\d+  damaged (re)
   +\d+  removed of these (re)
   -2 True

What does not go together is refused.
  $ for words in 'verify now' show 'show a b' 'extract --ptx' 'extract ab' 'extract ab --ptx --cubin -o x'; do brief $words; done
  [2] nvrtccache: verify: now: unexpected argument
  [2] nvrtccache: show: KEY is missing
  [2] nvrtccache: show: b: unexpected argument
  [2] nvrtccache: extract: KEY is missing
  [2] nvrtccache: extract: it takes one artifact: --ptx, --cubin, ...
  [2] nvrtccache: extract: it takes one artifact: --ptx, --cubin, ...

A malformed key is reported, and a key without an entry.
  $ three; zeros=$(printf '0%.0s' {1..64})
  $ for verb in show 'extract --log'; do for key in xyz '' ${zeros}0 $zeros; do brief $verb "$key" | sed s/$zeros/ZEROS/; done; done
  [2] nvrtccache: xyz: not a key: it takes the first of its 64 hexadecimal digits, as 'nvrtccache ls' shows them
  [2] nvrtccache: show: KEY is empty
  [2] nvrtccache: ZEROS0: not a key: it takes the first of its 64 hexadecimal digits, as 'nvrtccache ls' shows them
  [1] nvrtccache: ZEROS: 0 keys in $TMP/cache begin with it; 'nvrtccache ls' lists them
  [2] nvrtccache: xyz: not a key: it takes the first of its 64 hexadecimal digits, as 'nvrtccache ls' shows them
  [2] nvrtccache: extract: KEY is empty
  [2] nvrtccache: ZEROS0: not a key: it takes the first of its 64 hexadecimal digits, as 'nvrtccache ls' shows them
  [1] nvrtccache: ZEROS: 0 keys in $TMP/cache begin with it; 'nvrtccache ls' lists them

A beginning of several keys is refused; one of them is a key, in capital letters too.
  $ fresh; for n in {1..17}; do compile -DN=$n; done; entries # of sixteen first digits one comes twice
  17
  $ digit=$(files | sed -E 's,.*/v1/(.).*,\1,' | sort | uniq -d | head -n 1)
  $ nvrtccache show $digit 2>&1 | sed "s/ $digit:/ DIGIT:/"
  nvrtccache: DIGIT: \d+ keys in .* begin with it; 'nvrtccache ls' lists them (re)
  $ digits=$(key 1 | cut -c 1-63); for key in $digits ${digits^^}; do nvrtccache show $key | head -n 2 | sed "s/$digits.*/DIGITS/"; done
  key       DIGITS
  program   k.cu
  key       DIGITS
  program   k.cu

An entry that is damaged is neither shown nor extracted.
  $ three; key=$(key 1); bad=$(file 1); flip 300 $bad
  $ for words in "show $key" "extract $key --ptx -o no"; do brief $words | names; done; test -e no
  [1] nvrtccache: FILE: damaged; 'nvrtccache verify' says more
  [1] nvrtccache: FILE: damaged; 'nvrtccache verify' says more
  [1]

Bytes that command a terminal do not reach one, and JSON has them.
  $ fresh; compile "-DA=$(printf '\033[31m')"; nvrtccache show $(key 1) | grep -E $'DA|\033'
  options   -DA=?[31m
  $ nvrtccache show --json $(key 1) | json 'told[0]["options"]'
  ['-DA=\x1b[31m']
