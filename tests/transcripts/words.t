# SPDX-License-Identifier: MIT
What the command prints about itself, and how it answers words that it does not know.

The overview names every command.
  $ nvrtccache help
  usage: nvrtccache <command> [argument...]
  
  Caches the results of CUDA's run-time compilers for unmodified programs.
  
  Commands:
    run      run a program with the cache
    env      print shell commands that turn the cache on or off
    stats    show hit rates, bypass reasons and cache size
    ls       list the entries, most recently used first
    show     show what an entry contains and depends on
    extract  write an artifact of an entry
    verify   check the integrity of all entries
    explain  explain why a compilation was not served from the cache
    prune    evict the least recently used entries
    clear    remove all entries
    warm     compile recorded requests again, for other compilers or architectures
    export   write all entries to a file ('-': standard output) or a directory
    import   add the entries of an exported file ('-': standard input)
    doctor   find out why a program's compilations are not cached
    report   turn traces (NVRTCCACHE_TRACE) into an HTML page
    config   show the settings in effect
    version  show the version
    help     show this text, or the help of a command
  
  Options:
    -h, --help     show this text
    -V, --version  show the version
  
  'nvrtccache help COMMAND' shows the options of a command, and 'nvrtccache help
  environment' the variables.
  $ nvrtccache help >overview; for option in --help -h; do nvrtccache $option | cmp - overview; done

help environment names the variables.
  $ nvrtccache help environment
  NVRTCCACHE_DIR         cache directory ($XDG_CACHE_HOME/nvrtccache or ~/.cache/nvrtccache)
  NVRTCCACHE_MAX_SIZE    size limit of the directory; 0: none
  NVRTCCACHE_MEM_SIZE    size limit of the cache in memory; 0: off
  NVRTCCACHE_DISABLE     every call goes to the real compiler
  NVRTCCACHE_READONLY    the directory is never written
  NVRTCCACHE_LOWER       read-only caches searched after the directory, dir:dir
  NVRTCCACHE_RECACHE     every call is compiled, and its result stored again
  NVRTCCACHE_VERIFY      every hit is compiled as well, and compared
  NVRTCCACHE_SHARED      the directory is shared by its group
  NVRTCCACHE_FSYNC       entries are synced to the disk before they appear
  NVRTCCACHE_WAIT        seconds to wait for another process that compiles the same key
  NVRTCCACHE_NAMESPACE   part of every key
  NVRTCCACHE_RECORD      requests are stored too, with their sources, for 'nvrtccache warm'
  NVRTCCACHE_SLOPPINESS  differences to tolerate: time_macros, debug_paths
  NVRTCCACHE_LOG         log file, or stderr
  NVRTCCACHE_LOG_LEVEL   error, warning, info or debug (1 to 4)
  NVRTCCACHE_STATS       one line of counts on stderr at exit
  NVRTCCACHE_TRACE       trace-event JSON file of every compile and hit
  NVRTCCACHE_AGENT       socket of the node's nvrtccache-agent; 1: in the directory
  NVRTCCACHE_AGENT_WAIT  how long to wait for what the agent fetches
  NVRTCCACHE_LIBRARY     the library that 'run', 'env' and 'doctor' preload

--version, -V and version print the name and three numbers.
  $ for word in --version -V version; do nvrtccache $word; done
  nvrtccache [0-9]+\.[0-9]+\.[0-9]+ (re)
  nvrtccache [0-9]+\.[0-9]+\.[0-9]+ (re)
  nvrtccache [0-9]+\.[0-9]+\.[0-9]+ (re)

Without a command it says so on stderr and exits with 2.
  $ nvrtccache
  2> nvrtccache: no command given
  2> nvrtccache: see 'nvrtccache help'
  [2]

Unknown commands, options and arguments are named on stderr, with exit status 2.
  $ nvrtccache bogus
  2> nvrtccache: bogus: unknown command
  2> nvrtccache: see 'nvrtccache help'
  [2]
  $ nvrtccache help stats clear
  2> nvrtccache: help: clear: unexpected argument
  2> nvrtccache: see 'nvrtccache help help'
  [2]
  $ for words in --bogus 'help bogus'; do brief $words; done
  [2] nvrtccache: --bogus: unknown option
  [2] nvrtccache: bogus: unknown command

A mistyped word is answered with the closest one.
  $ for word in stat lsit prun xyzzy --hlep 'help exprot'; do brief $word; done
  [2] nvrtccache: stat: unknown command (did you mean 'stats'?)
  [2] nvrtccache: lsit: unknown command (did you mean 'ls'?)
  [2] nvrtccache: prun: unknown command (did you mean 'prune'?)
  [2] nvrtccache: xyzzy: unknown command
  [2] nvrtccache: --hlep: unknown option (did you mean '--help'?)
  [2] nvrtccache: exprot: unknown command (did you mean 'export'?)

A mistyped option is named as other programs do.
  $ for option in --xyzzy -x --json=1 --js=1; do brief stats $option; done
  [2] nvrtccache: unrecognized option '--xyzzy'
  [2] nvrtccache: invalid option -- 'x'
  [2] nvrtccache: option '--json' doesn't allow an argument
  [2] nvrtccache: option '--json' doesn't allow an argument
  $ brief prune -s
  [2] nvrtccache: option requires an argument -- 's'
  $ nvrtccache stats --js | cmp - <(nvrtccache stats --json)

It is escaped for the terminal.
  $ brief $'e\033[31m\302\233v\377il'
  [2] nvrtccache: e?[31m??v?il: unknown command

A file without a name is refused, and not called a directory.
  $ for words in export import 'report -o page' 'report trace -o' 'extract aa --ptx -o'; do
  >     brief $words ''
  > done
  [2] nvrtccache: export: FILE is empty
  [2] nvrtccache: import: FILE is empty
  [2] nvrtccache: report: TRACE is empty
  [2] nvrtccache: report: --output: FILE is empty
  [2] nvrtccache: extract: --output: FILE is empty

Output that cannot be written is an error.
# requires: [ -w /dev/full ]
  $ for words in help --version version --help config doctor stats "stats --json" "ls --json" clear "help run"; do
  >     nvrtccache $words 2>&1 >/dev/full; echo "[$?]"
  > done | sort | uniq -c
       11 [1]
       11 nvrtccache: standard output: No space left on device
