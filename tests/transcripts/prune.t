# SPDX-License-Identifier: MIT
What removes entries, how many, and where nothing is removed.

clear removes every entry and says how many.
  $ plant 7; nvrtccache clear; entries
  Removed 7 entries (28.0 KiB) from $TMP/cache in * *s (glob)
  0
  $ nvrtccache clear
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)

prune removes what was used longest ago, down to the size, and stale files.
  $ plant 8; touch -d '2 hours ago' cache/v1/00/tmp.1.1
  $ nvrtccache prune
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)
  8 entries left, 32.0 KiB of 5.0 GiB
  $ nvrtccache prune --max-size 12K
  Removed 5 entries (20.0 KiB) from $TMP/cache in * *s (glob)
  3 entries left, 12.0 KiB of 12.0 KiB
  $ files | grep -o '.$'
  0
  1
  2

prune removes what was not used for so long, and then down to the size.
  $ fresh; plant 8
  $ for words in '--older-than 330m' '--older-than 270m --max-size 12K' '-o 5h' '--older-than 1w'; do nvrtccache prune $words; done
  Removed 2 entries (8.0 KiB) from $TMP/cache in * *s (glob)
  6 entries left, 24.0 KiB of 5.0 GiB
  Removed 3 entries (12.0 KiB) from $TMP/cache in * *s (glob)
  3 entries left, 12.0 KiB of 12.0 KiB
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)
  3 entries left, 12.0 KiB of 5.0 GiB
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)
  3 entries left, 12.0 KiB of 5.0 GiB
  $ files | grep -o '.$'
  0
  1
  2
  $ nvrtccache prune --older-than 0s
  Removed 3 entries (12.0 KiB) from $TMP/cache in * *s (glob)
  0 entries left, 0 bytes of 5.0 GiB

A bad age is refused with what would be right.
  $ plant 3
  $ for age in 3 d 1.d .5d 1.5d -1d +1d '1 d' 1D 1dd 1y 1e3s 0x1s 99999999999w 999999999999999999999s; do
  >     brief prune --older-than "$age" | sed "s/'$age'/AGE/"
  > done | uniq -c
       15 [2] nvrtccache: prune: --older-than: bad value AGE: it takes a whole number and s, m, h, d or w, such as 36h or 2w
  $ brief prune --older-than
  [2] nvrtccache: option '--older-than' requires an argument
  $ entries
  3

prune and stats know a cache without a cap.
  $ NVRTCCACHE_MAX_SIZE=0 nvrtccache prune
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)
  3 entries left, 12.0 KiB of no limit
  $ NVRTCCACHE_MAX_SIZE=0 nvrtccache stats | grep Size
  Size             about 12.0 KiB of no limit
  $ NVRTCCACHE_MAX_SIZE=8K nvrtccache prune
  Removed 1 entry (4.0 KiB) from $TMP/cache in * *s (glob)
  2 entries left, 8.0 KiB of 8.0 KiB

prune refuses what it cannot do, and makes no directory.
  $ brief prune --max-size much
  [2] nvrtccache: prune: --max-size: bad value 'much': it takes a size such as 4096, 500M or 1.5G, with K, M, G or T
  $ brief prune now
  [2] nvrtccache: prune: now: unexpected argument
  $ NVRTCCACHE_READONLY=1 nvrtccache prune --max-size 1
  2> nvrtccache: $TMP/cache: not written, because NVRTCCACHE_READONLY is set
  [1]
  $ entries
  2
  $ fresh; nvrtccache prune; test -e cache
  Removed 0 entries (0 bytes) from $TMP/cache in * *s (glob)
  0 entries left, 0 bytes of 5.0 GiB
  [1]

clear leaves a read-only cache alone and says why.
  $ plant 3; NVRTCCACHE_READONLY=1 nvrtccache clear
  2> nvrtccache: $TMP/cache: not written, because NVRTCCACHE_READONLY is set
  [1]
  $ entries
  3

A directory that others can write is neither read nor cleared.
  $ chmod 777 cache
  $ nvrtccache stats
  2> nvrtccache: $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  [1]
  $ nvrtccache clear
  2> nvrtccache: $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  [1]
  $ entries
  3
