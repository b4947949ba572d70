# SPDX-License-Identifier: MIT
Settings: what is in effect, what is refused, and what cannot be used.

config shows each setting and where it comes from.
  $ NVRTCCACHE_MAX_SIZE=1536m NVRTCCACHE_WAIT=7 NVRTCCACHE_VERIFY=on NVRTCCACHE_LOG_LEVEL=4 nvrtccache config
  environment NVRTCCACHE_DIR         $TMP/cache
  environment NVRTCCACHE_MAX_SIZE    1.5 GiB
  default     NVRTCCACHE_MEM_SIZE    64.0 MiB
  default     NVRTCCACHE_DISABLE     no
  default     NVRTCCACHE_READONLY    no
  default     NVRTCCACHE_LOWER       (none)
  default     NVRTCCACHE_RECACHE     no
  environment NVRTCCACHE_VERIFY      yes
  default     NVRTCCACHE_SHARED      no
  default     NVRTCCACHE_FSYNC       no
  environment NVRTCCACHE_WAIT        7
  default     NVRTCCACHE_NAMESPACE   (none)
  default     NVRTCCACHE_RECORD      no
  default     NVRTCCACHE_SLOPPINESS  (none)
  default     NVRTCCACHE_LOG         (none)
  environment NVRTCCACHE_LOG_LEVEL   debug
  default     NVRTCCACHE_STATS       no
  default     NVRTCCACHE_TRACE       (none)
  default     NVRTCCACHE_AGENT       (none)
  default     NVRTCCACHE_AGENT_WAIT  300ms

A bad value is named with what would be right, and what is shown is in effect.
  $ nvrtccache config >config
  $ for setting in MAX_SIZE=1.5X MEM_SIZE=1.5 LOWER=/a:b WAIT=1s LOG_LEVEL=loud SLOPPINESS=foo SLOPPINESS=time_macros,foo \
  >     {DISABLE,READONLY,RECACHE,VERIFY,SHARED,FSYNC,STATS}=perhaps; do
  >     env "NVRTCCACHE_$setting" nvrtccache config | diff config -
  > done
  2> nvrtccache: NVRTCCACHE_MAX_SIZE: bad value '1.5X' is ignored: it takes a size such as 4096, 500M or 1.5G, with K, M, G or T
  2> nvrtccache: NVRTCCACHE_MEM_SIZE: bad value '1.5' is ignored: it takes a size such as 4096, 500M or 1.5G, with K, M, G or T
  2> nvrtccache: NVRTCCACHE_LOWER: bad value '/a:b' is ignored: it takes absolute paths with colons between them
  2> nvrtccache: NVRTCCACHE_WAIT: bad value '1s' is ignored: it takes whole seconds
  2> nvrtccache: NVRTCCACHE_LOG_LEVEL: bad value 'loud' is ignored: it takes error, warning, info or debug
  2> nvrtccache: NVRTCCACHE_SLOPPINESS: bad value 'foo' is ignored: it takes the words time_macros and debug_paths
  2> nvrtccache: NVRTCCACHE_SLOPPINESS: bad value 'time_macros,foo' is ignored: it takes the words time_macros and debug_paths
  2> nvrtccache: NVRTCCACHE_DISABLE: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_READONLY: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_RECACHE: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_VERIFY: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_SHARED: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_FSYNC: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  2> nvrtccache: NVRTCCACHE_STATS: bad value 'perhaps' is ignored: it takes 1 or 0, yes or no, true or false, on or off
  $ NVRTCCACHE_DIR=relative nvrtccache config | diff <(env -u NVRTCCACHE_DIR nvrtccache config) -
  2> nvrtccache: NVRTCCACHE_DIR: bad value 'relative' is ignored: it takes an absolute path

An unknown NVRTCCACHE_ variable is reported with the closest known one.
  $ for verb in config stats ls; do NVRTCCACHE_MAXSIZE=1G NVRTCCACHE_LIBRARY=/l nvrtccache $verb >/dev/null; done
  2> nvrtccache: NVRTCCACHE_MAXSIZE: unknown variable (did you mean 'NVRTCCACHE_MAX_SIZE'?)
  2> nvrtccache: NVRTCCACHE_MAXSIZE: unknown variable (did you mean 'NVRTCCACHE_MAX_SIZE'?)
  2> nvrtccache: NVRTCCACHE_MAXSIZE: unknown variable (did you mean 'NVRTCCACHE_MAX_SIZE'?)
  $ NVRTCCACHE_XYZZY=1 nvrtccache config >/dev/null
  2> nvrtccache: NVRTCCACHE_XYZZY: unknown variable
  $ NVRTCCACHE_LOGS='' nvrtccache config >/dev/null

config says which files and directories of the settings cannot be used, and why. Nothing is made meanwhile.
  $ mkdir open good && chmod 777 open && : >good/file
  $ NVRTCCACHE_LOWER=$TMP/nowhere:$TMP/open::$TMP/good nvrtccache config >/dev/null
  2> nvrtccache: NVRTCCACHE_LOWER: '$TMP/nowhere' cannot be used: No such file or directory
  2> nvrtccache: NVRTCCACHE_LOWER: '$TMP/open' cannot be used: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  2> nvrtccache: NVRTCCACHE_LOWER: '$TMP/good' cannot be used: No such file or directory
  $ for path in nowhere/file good good/new good/file; do
  >     for name in LOG TRACE; do env NVRTCCACHE_$name=$TMP/$path nvrtccache config >/dev/null; done
  > done
  2> nvrtccache: NVRTCCACHE_LOG: '$TMP/nowhere/file' cannot be used: No such file or directory
  2> nvrtccache: NVRTCCACHE_TRACE: '$TMP/nowhere/file' cannot be used: No such file or directory
  2> nvrtccache: NVRTCCACHE_LOG: '$TMP/good' cannot be used: Is a directory
  2> nvrtccache: NVRTCCACHE_TRACE: '$TMP/good' cannot be used: Is a directory
  $ NVRTCCACHE_LOG=stderr nvrtccache config >/dev/null
  $ NVRTCCACHE_DIR=/dev/null/x nvrtccache config >/dev/null
  2> nvrtccache: NVRTCCACHE_DIR: '/dev/null/x' cannot be used: a symbolic link, or not a directory
  $ ls good
  file

A directory that is not there and cannot be made is an error, not an empty cache.
  $ NVRTCCACHE_DIR=/dev/null/x nvrtccache stats --json
  2> nvrtccache: /dev/null/x: cannot be created: a symbolic link, or not a directory
  [1]
  $ for verb in stats ls prune clear 'export bundle'; do NVRTCCACHE_DIR=/dev/null/a/b brief $verb; done | uniq -c
        5 [1] nvrtccache: /dev/null/a/b: cannot be created: a symbolic link, or not a directory

A size may have a fraction, in variables and arguments.
  $ NVRTCCACHE_MAX_SIZE=1.5G NVRTCCACHE_MEM_SIZE=0.5k nvrtccache config | grep SIZE
  environment NVRTCCACHE_MAX_SIZE    1.5 GiB
  environment NVRTCCACHE_MEM_SIZE    512 bytes
  $ plant 4 && nvrtccache prune --max-size 10.5K && fresh
  Removed 2 entries (8.0 KiB) from $TMP/cache in * *s (glob)
  2 entries left, 8.0 KiB of 10.5 KiB

The directory defaults to one in XDG_CACHE_HOME or HOME.
  $ env -u NVRTCCACHE_DIR nvrtccache config | head -n 1
  default     NVRTCCACHE_DIR         $TMP/home/.cache/nvrtccache
  $ env -u NVRTCCACHE_DIR XDG_CACHE_HOME=$TMP/x nvrtccache config | head -n 1
  default     NVRTCCACHE_DIR         $TMP/x/nvrtccache

Without any directory it says which variables it looked at.
  $ env -u NVRTCCACHE_DIR HOME= nvrtccache stats
  2> nvrtccache: no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path
  [1]
  $ env -u NVRTCCACHE_DIR HOME=relative nvrtccache clear
  2> nvrtccache: no cache directory: none of NVRTCCACHE_DIR, XDG_CACHE_HOME and HOME is an absolute path
  [1]
  $ env -u NVRTCCACHE_DIR HOME= nvrtccache config | head -n 1
  default     NVRTCCACHE_DIR         (none)

A directory's name cannot command a terminal.
  $ NVRTCCACHE_DIR=$TMP/$'a\033[31m\nb'
  $ for verb in stats verify prune clear "export armed.nvb" "import armed.nvb" config doctor; do
  >     nvrtccache $verb | grep 31m
  > done
  Directory        $TMP/a?[31m?b
  Verified 0 sound entries in $TMP/a?[31m?b, 0 bytes read, in * *s (glob)
  Removed 0 entries (0 bytes) from $TMP/a?[31m?b in * *s (glob)
  Removed 0 entries (0 bytes) from $TMP/a?[31m?b in * *s (glob)
  Exported 0 entries (0 bytes) from $TMP/a?[31m?b in * *s (glob)
  Imported 0 entries (0 bytes) into $TMP/a?[31m?b in * *s (glob)
  environment NVRTCCACHE_DIR         $TMP/a?[31m?b
  ok    directory $TMP/a?[31m?b does not exist yet
  $ nvrtccache stats --json | json 'told["dir"] == os.environ["NVRTCCACHE_DIR"]'
  True
