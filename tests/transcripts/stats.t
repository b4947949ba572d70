# SPDX-License-Identifier: MIT
# requires: [ -x $BUILD/tests/life ] && [ -e $NVRTC ]
What is counted: hits, misses, of these the uncached ones, bypassed calls; since when; and what the cache holds.

stats of a cache that is not there yet shows zeros, aligned, and makes nothing.
  $ nvrtccache stats
  Directory        $TMP/cache
  Entries          0
  Size             about 0 bytes of 5.0 GiB (0.0 %)
  Hits             0
    from memory    0
    from disk      0
  Misses           0
  Stored           0
  Not cached       0
  Time compiling   0 s
  Time saved       0 s
  Bypassed         0
  Errors           0
  No call of a compiler has reached the cache: see 'nvrtccache doctor -- PROGRAM'.
  $ test -e cache
  [1]

stats --json is valid JSON with every field.
  $ nvrtccache stats --json >stats.json
  $ json '*told, *told["compilers"], told["not_kept"].keys() == told["bypassed"].keys()' <stats.json | fmt -w 116
  ('dir', 'entries', 'bytes', 'max_bytes', 'since', 'compilers', 'hits_memory', 'hits_disk', 'misses', 'stores',
  'compile_ns', 'saved_ns', 'evictions', 'unreached', 'verified', 'verify_uncompared', 'stale', 'agent_asked',
  'agent_found', 'agent_absent', 'agent_down', 'agent_timeouts', 'agent_wait_ns', 'agent_skipped', 'not_kept',
  'bypassed', 'errors', 'nvrtc', 'nvjitlink', 'nvvm', True)
  $ json '*told["not_kept"], [*told["not_kept"]][-9:] == [*told["errors"]]' <stats.json | fmt -w 116
  ('disabled', 'secure', 'no_directory', 'unwatchable', 'not_watched', 'files', 'side_effects', 'too_new',
  'time_macros', 'environment', 'builtins', 'return_code', 'arguments', 'cancelled', 'history', 'sticky_options',
  'uncleared_options', 'slots', 'threads', 'exports', 'libraries', 'too_large', 'read_only', 'extensions',
  'precompiled_header', 'bundled_headers', 'logs', 'private_functions', 'directory', 'untrusted', 'damaged',
  'read', 'write', 'no_space', 'memory', 'mismatch', 'internal', True)
  $ json 'told["max_bytes"], told["since"], {n for g in (told, told["not_kept"], told["bypassed"], told["errors"]) for n in g.values() if type(n) is int}' <stats.json
  (5368709120, None, {0, 5368709120})

A directory of any bytes comes through the JSON; what is not UTF-8 is replaced.
  $ (NVRTCCACHE_DIR=$TMP/$'a "quote", a \\ back, a\ttab, a\nline, \x01, \x7f, \xc3\xa4, \xf0\x9f\x98\x80, not UTF-8: \xff \xc3 \xed\xa0\x80 \xc0\xaf \xf5'
  >     plant 2
  >     nvrtccache stats --json | json 'told["dir"] == os.environb[b"NVRTCCACHE_DIR"].decode("utf-8", "replace"), told["entries"]')
  (True, 2)

stats counts entries and bytes, and knows the cap.
  $ plant 7
  $ nvrtccache stats | grep -E 'Entries|Size'
  Entries          7
  Size             about 28.0 KiB of 5.0 GiB (0.0 %)
  $ NVRTCCACHE_MAX_SIZE=2m nvrtccache stats --json | json '[told[name] for name in ("entries", "bytes", "max_bytes")]'
  [7, 28672, 2097152]

stats shows what the cache has noted, and with --count what is there, which prune notes.
  $ nvrtccache prune >/dev/null; rm cache/v1/*/*2; nvrtccache stats | grep Entries
  Entries          7
  $ nvrtccache stats --count | grep Entries
  Entries          6
  $ nvrtccache prune >/dev/null; nvrtccache stats | grep Entries
  Entries          6

A shard that others can write is not used, and does not count.
  $ for shard in cache/v1/[0-9a-f][0-9a-f]; do chmod 777 $shard; break; done; nvrtccache stats --count | grep Entries
  Entries          5
  $ fresh

The line at the end has all sums, of a miss and of a hit.
  $ export NVRTCCACHE_STATS=1
  $ compile -arch=sm_90
  * nvrtccache[*]: hits: 0 in memory, 0 on disk; misses: 1, 1 stored, 0 not cached; 0 bypassed; 0 verified, 0 mismatches; * ms saved (glob)
  $ compile -arch=sm_90
  * nvrtccache[*]: hits: 0 in memory, 1 on disk; misses: 0, 0 stored, 0 not cached; 0 bypassed; 0 verified, 0 mismatches; * ms saved (glob)

So has that of a miss that was not cached.
  $ compile --time=t
  * nvrtccache[*]: hits: 0 in memory, 0 on disk; misses: 1, 0 stored, 1 not cached; 0 bypassed; 0 verified, 0 mismatches; * ms saved (glob)

And that of a process without a cache.
  $ NVRTCCACHE_DISABLE=1 compile -arch=sm_90
  * nvrtccache[*]: hits: 0 in memory, 0 on disk; misses: 0, 0 stored, 0 not cached; 1 bypassed; 0 verified, 0 mismatches; 0 ms saved (glob)
  $ unset NVRTCCACHE_STATS

stats shows the hits, misses and entries of programs that ran. A miss that was not cached is one of the misses, with its
reason; a call that was bypassed is none. The hit rate is of hits and misses alone.
  $ nvrtccache stats
  Directory        $TMP/cache
  Entries          1
  Size             * of 5.0 GiB (0.0 %) (glob)
  Since            20??-??-?? ??:?? (*) (glob)
  Hits             1 (33.3 %)
    from memory    0 (0.0 %)
    from disk      1 (33.3 %)
  Misses           2 (66.7 %)
  Stored           1
  Not cached       1
    return code    1
  Time compiling   * *s (glob)
  Time saved       * *s (glob)
  Bypassed         1
    disabled       1
  Errors           0

As JSON, each compiler has its share.
  $ nvrtccache stats --json >stats.json
  $ json '[told[name] for name in ("hits_disk", "misses", "stores")], [{n: c for n, c in told[g].items() if c} for g in ("not_kept", "bypassed")]' <stats.json
  ([1, 2, 1], [{'return_code': 1}, {'disabled': 1}])
  $ json 'told["compilers"]["nvrtc"]' <stats.json
  {'hits_memory': 0, 'hits_disk': 1, 'misses': 2, 'stores': 1, 'not_kept': 1, 'bypassed': 1, 'compile_ns': *, 'saved_ns': *} (glob)
  $ json 'any(told["compilers"]["nvvm"].values())' <stats.json
  False

It says since when it counts.
  $ json 'told["since"]' <stats.json
  20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ (re)
  $ since=$(date -d "$(json 'told["since"]' <stats.json)" +%s); [ "$(date +%s)" -ge $since ] && [ "$(date +%s)" -lt $((since + 86400)) ]

A call without a cache is in the log and in the trace all the same; nothing is written into the directory but its count.
  $ export NVRTCCACHE_DISABLE=1 NVRTCCACHE_LOG=$TMP/off.log NVRTCCACHE_LOG_LEVEL=info NVRTCCACHE_DIR=$TMP/off
  $ NVRTCCACHE_TRACE=$TMP/off.json compile -arch=sm_90
  $ cat off.log
  20??-??-??T??:??:??.???Z nvrtccache[*]: NVRTC: bypassed: disabled, * *s, default_program (glob)
  $ sed '$s/,$/]/' off.json | json '[(e["cat"], e["args"]["reason"], e["args"]["options"], e["dur"] > 0) for e in told if e["ph"] == "X"]'
  [('bypassed', 'disabled', ['-arch=sm_90'], True)]
  $ find off -type f
  off/v1/events
  off/CACHEDIR.TAG

So are calls of libNVVM.
# requires: [ -x $BUILD/tests/nvvm/lookup ]
  $ >off.log
  $ nvrtccache run $BUILD/tests/nvvm/lookup $FAKE/nvvm/libnvvm.so.4 create add=a=one compile destroy >/dev/null
  $ cat off.log
  20??-??-??T??:??:??.???Z nvrtccache[*]: libNVVM: bypassed: disabled, * *s, <unnamed> (glob)

libNVVM has its own counts, and the shares add up to the whole.
# requires: [ -x $BUILD/tests/nvvm/lookup ]
  $ unset NVRTCCACHE_DISABLE NVRTCCACHE_LOG NVRTCCACHE_LOG_LEVEL; NVRTCCACHE_DIR=$TMP/nvvm
  $ for run in 1 2; do
  >     nvrtccache run $BUILD/tests/nvvm/lookup $FAKE/nvvm/libnvvm.so.4 create add=a=one verify compile destroy >/dev/null
  > done
  $ nvrtccache stats --json >stats.json
  $ json 'told["compilers"]["nvvm"]' <stats.json
  {'hits_memory': 0, 'hits_disk': 2, 'misses': 2, 'stores': 2, 'not_kept': 0, 'bypassed': 0, 'compile_ns': *, 'saved_ns': *} (glob)
  $ json 'told["compilers"]["nvvm"]["compile_ns"] > 0, all(sum(one[name] for one in told["compilers"].values()) == told[name]
  >     for name in "hits_disk hits_memory misses stores compile_ns saved_ns".split())' <stats.json
  (True, True)

The line at the end and the table count alike: hits of hits and misses.
  $ cat >both.py <<'EOF'
  > import ctypes, sys
  > nvvm, nvrtc = ctypes.CDLL(sys.argv[1]), ctypes.CDLL(sys.argv[2])
  > program = ctypes.c_void_p()
  > assert nvvm.nvvmCreateProgram(ctypes.byref(program)) == 0 and nvvm.nvvmAddModuleToProgram(program, b"one\n", 4, b"a") == 0
  > nvvm.nvvmCompileProgram(program, 0, None)
  > assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k() {}", b"a.cu", 0, None, None) == 0
  > for i in range(34): # more than a handle's history holds
  >     nvrtc.nvrtcCompileProgram(program, 0, None)
  > EOF
  $ NVRTCCACHE_DIR=$TMP/both; NVRTCCACHE_STATS=1 nvrtccache run python3 both.py $FAKE/nvvm/libnvvm.so.4 $NVRTC
  2> * nvrtccache[*]: hits: 0 in memory, 0 on disk; misses: 33, 33 stored, 0 not cached; 2 bypassed; 0 verified, 0 mismatches; * ms saved (glob)
  $ nvrtccache stats | grep -A 4 Hits
  Hits             0 (0.0 %)
    from memory    0 (0.0 %)
    from disk      0 (0.0 %)
    of NVRTC       0 of 32, 0 s saved
    of libNVVM     0 of 1, 0 s saved

The time compiling is what the misses took: the compile that verifies a hit is none.
  $ fresh; compile -arch=sm_80; nvrtccache stats --json >before.json
  $ NVRTCCACHE_VERIFY=1 compile -arch=sm_80; nvrtccache stats --json >after.json
  $ json 'told["verified"], told["compile_ns"] == told["compilers"]["nvrtc"]["compile_ns"]' <after.json
  (1, True)
  $ diff <(json 'told["compile_ns"]' <before.json) <(json 'told["compile_ns"]' <after.json)

stats --zero prints the counts, then resets them, and does not remove entries.
  $ nvrtccache stats --zero | grep -E '^(Hits|Misses)'
  Hits             0 (0.0 %)
  Misses           1 (100.0 %)
  $ nvrtccache stats | grep -E '^(Entries|Since|Hits|Misses)'
  Entries          1
  Since            20??-??-?? ??:?? (*) (glob)
  Hits             0
  Misses           0
  $ compile -arch=sm_80; nvrtccache stats | grep -E '^(Hits|Misses)'
  Hits             1 (100.0 %)
  Misses           0 (0.0 %)

stats --zero changes nothing where the cache is read-only.
  $ NVRTCCACHE_READONLY=1 nvrtccache stats --zero >/dev/null
  2> nvrtccache: $TMP/both: not written, because NVRTCCACHE_READONLY is set
  [1]
  $ nvrtccache stats | grep Hits
  Hits             1 (100.0 %)

Counts of an earlier build are started anew.
  $ python3 - both/v1/events <<'EOF'
  > import sys
  > events = bytearray(open(sys.argv[1], "rb").read())
  > at = events.find(b"NVCEVENT")
  > while at >= 0:  # the number of another list of counters
  >     events[at + 24] ^= 1
  >     at = events.find(b"NVCEVENT", at + 1)
  > open(sys.argv[1], "wb").write(events)
  > EOF
  $ nvrtccache stats --json | json 'told["hits_disk"], told["since"]'
  (0, None)
  $ compile -arch=sm_80; nvrtccache stats --json | json 'told["hits_disk"], told["since"] is not None'
  (1, True)

Watched elsewhere it is printed each time, until ^C.
  $ cat >watch.py <<'EOF'
  > import signal, subprocess, sys
  > signal.signal(signal.SIGINT, signal.SIG_DFL) # a background job of a shell ignores it
  > process = subprocess.Popen(["nvrtccache", "stats", *sys.argv[1:]], stdout=subprocess.PIPE, text=True)
  > hits = (line for line in iter(process.stdout.readline, "") if line.startswith("Hits"))
  > print(next(hits) + next(hits), end="")
  > process.send_signal(signal.SIGINT)
  > sys.exit(process.wait())
  > EOF
  $ python3 watch.py --watch
  Hits             1 (100.0 %)
  Hits             1 (100.0 %)
  [254]

On a terminal it is drawn anew.
# requires: python3 -c 'import pty, os; os.close(pty.openpty()[0])'
  $ python3 $TOP/tests/integration/terminal.py watched $BUILD/nvrtccache stats --watch >drawn; tail -n 1 drawn
  ended by -2
  $ grep -o 'x1b\[H.x1b\[JDirectory' drawn | head -n 2
  x1b[H\x1b[JDirectory
  x1b[H\x1b[JDirectory

It is not watched and zeroed, and a full disk ends it.
  $ for words in "--watch --zero" "--watch 1"; do brief stats $words; done
  [2] nvrtccache: stats: --watch and --zero exclude each other
  [2] nvrtccache: stats: 1: unexpected argument
  $ nvrtccache stats --watch >/dev/full
  2> nvrtccache: standard output: not written
  [1]
