# SPDX-License-Identifier: MIT
# requires: env=$($TOP/scripts/nvrtc-env) && eval "$env" && [ -n "$NVRTC_LIB" ] && [ -e $LIBRARY ]
explain: for each cause of a miss, with NVRTC, what it says. 53-explain has what JSON says of each difference, and the record.

A host does what JSON asks for, and prints what the compilation returned if that is no success.
  $ export LD_LIBRARY_PATH=$RUN_PATH NVRTC=$NVRTC_LIB/$NVRTC_SONAME
  $ host() { preloaded python3 $TOP/tests/integration/explain_host.py "$@" | sed /^0$/d; }
  $ explain() { # without what differs each time
  >     nvrtccache explain "$@" | sed -E 's/\(pid [0-9]+, [-0-9: ]+\)/(PID, TIME)/; s/\b[0-9.]+ ([num]?s|min)\b/TIME/
  >         s/(stored as|entry:|entry) [0-9a-f]{8}/\1 KEY/'
  > }

The first miss of a program is its first time.
  $ host '{}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  first time: no cached entry of this program or this source is recorded

A changed option is reported in readable form.
  $ host '{"options": ["-DN=8"]}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    option  -DN=8   was -DN=4

Very many differences are not all listed.
  $ fresh; host '{}' '{"options": ["-DN=4"'"$(printf ', "-DA%d"' {1..30})"']}'; explain | tail -n +3 | sed 's/-DA[0-9]*/-DA/' | uniq -c
       20   option  -DA   is new
        1   and 10 more differences
  $ nvrtccache explain --json | json 'len(told["differences"])'
  20

Of another source, it says that the changed lines are not known.
  $ host '{"source": "__global__ void k() {}"}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    source  has changed

Another build of NVRTC is named by its number, where its file has one.
# requires: [ -e $FAKE/13/libnvrtc.so.13 ] && [ -e $FAKE/13b/libnvrtc.so.13 ]
  $ fresh; cp -r $FAKE/13 one; cp -r $FAKE/13b other
  $ for build in one other; do LD_LIBRARY_PATH= NVRTC=$TMP/$build/libnvrtc.so.13 host '{}'; done; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    NVRTC  13.0   has changed
  $ fresh; for name in one/libnvrtc.so.13.0.48 other/libnvrtc.so.13.0.88; do mv ${name%.0.*} $name; ln -s ${name#*/} ${name%.0.*}; done
  $ for build in one other; do LD_LIBRARY_PATH= NVRTC=$TMP/$build/libnvrtc.so.13 host '{}'; done; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    NVRTC  13.0.88   was 13.0.48

A namespace, and variables that the compiler reads.
  $ fresh; host '{}'; NVRTCCACHE_NAMESPACE=team host '{}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    namespace  is new
  $ fresh; host '{}'; CUDA_CACHE_MAXSIZE=7 NVCC_APPEND_FLAGS=-w LIBNVVM_ENABLE_DEBUG=1 NVVM_IR_VER_CHK=0 host '{}'; explain | tail -n +3
    variable NVVM_IR_VER_CHK  is new

A result that is bound to a path, by which option, and the switch that would help.
  $ fresh; for place in ci1 ci2; do mkdir $place; (cd $place; host '{"options": ["-DN=4", "-lineinfo"]}'); done; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    PWD  has changed
    working directory  $TMP/ci2   was $TMP/ci1
    bound by -lineinfo
    NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only
  $ nvrtccache explain --json | json '[(d["what"], d["now"], d["was"]) for d in told["differences"]]'
  [('PWD', None, None), ('working directory', '$TMP/ci2', '$TMP/ci1')]

The switch is named only where it would help.
  $ fresh; for place in ci1 ci2; do (cd $place; host '{"options": ["--pch"]}'); done; explain | tail -n +3
  6
  6
    PWD  has changed
    working directory  $TMP/ci2   was $TMP/ci1
  $ fresh; (cd ci1; host '{"options": ["-lineinfo"]}'); (cd ci2; host '{"options": ["-lineinfo", "-DN=4"]}'); explain | tail -n +3
  6
    PWD  has changed
    working directory  $TMP/ci2   was $TMP/ci1
    option  -DN=4   is new
    bound by -lineinfo

A path that is spelled in what was made; as JSON, and in the log, it is the path too, and no number.
  $ fresh; for place in r1 r2; do
  >     mkdir $place; echo '#define HERE __FILE__' >$place/h.h; touch -d 2001-01-01 $place/h.h
  >     NVRTCCACHE_LOG=$TMP/log NVRTCCACHE_LOG_LEVEL=info host '{"source": "#include <h.h>\n__device__ const char *here() { return HERE; } __global__ void k(char *p) { *p = here()[*p]; }", "options": ["-I'$TMP/$place'"]}'
  > done; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  the same request was cached before, and that entry is not valid here:
    bound to $TMP/r1, and now it is $TMP/r2
    NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only
  $ nvrtccache explain --json | json 'told["differences"], told["detail"]'
  ([], 'bound to $TMP/r1, and now it is $TMP/r2')
  $ grep -o '(bound to .*), ' log
  (bound to $TMP/r1, and now it is $TMP/r2), 

The same program elsewhere is nearer than one without the option that binds it.
  $ fresh; host '{"name": "/w1/a.cu"}' '{"name": "/w1/a.cu", "options": ["-DN=4", "-lineinfo"]}' '{"name": "/w2/a.cu", "options": ["-DN=4", "-lineinfo"]}'; explain
  /w2/a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  closest cached entry: KEY, TIME earlier
    program name  /w2/a.cu   was /w1/a.cu
    bound by -lineinfo
    NVRTCCACHE_SLOPPINESS=debug_paths lets it hit where that path is in a log or debug information only

A header on disk that changed, by its path.
  $ old() { echo "$2" >$1; touch -d ${3:-2001-01-01} $1; sleep 0.1; } # FILE TEXT [DATE]
  $ soon() { echo @$(($(date +%s) + 2)); } # a whole second that a write of the next four seconds may give
  $ H='{"source": "#include <h.h>\n__global__ void k(int *p) { *p = M; }", "options": ["-Iinc/first", "-Iinc"]}'
  $ fresh; mkdir -p inc/first; old inc/h.h '#define M 1'; host "$H"; old inc/h.h '#define M 2' 2001-01-02; host "$H"; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  the same request was cached before, and that entry is not valid here:
    header changed: inc/h.h
  $ nvrtccache explain --json | json 'told["reason"], told["key"] == told["nearest"], told["detail"]'
  ('stale', True, 'header changed: inc/h.h')

One that appeared in front of it, and is gone again.
  $ old inc/first/h.h '#define M 3'; host "$H"; explain | tail -n +2
  the same request was cached before, and that entry is not valid here:
    file appeared: inc/first/h.h
  $ rm inc/first/h.h; old inc/h.h '#define M 9'; host "$H"; explain | tail -n +2
  the same request was cached before, and that entry is not valid here:
    file is gone: inc/first/h.h

A result that was cached once and is gone; and one that was damaged.
  $ fresh; host '{}'; nvrtccache clear >/dev/null; host '{}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  cached TIME earlier, and gone since (evicted, cleared, damaged, or no longer trusted)
  $ printf X | dd of=$(file 1) bs=1 seek=60 conv=notrunc status=none; host '{}'; explain | tail -n +2
  cached TIME earlier, and gone since (evicted, cleared, damaged, or no longer trusted)

The closest entry is still reported after it is gone.
  $ fresh; host '{}' '{"options": ["-DN=8"]}'; nvrtccache explain --json >before; nvrtccache clear >/dev/null; nvrtccache explain --json | diff before -

A result that is there and not given out: why.
  $ T='{"source": "__device__ const char t[] = __TIME__;"}'
  $ fresh; NVRTCCACHE_SLOPPINESS=time_macros host "$T"; host "$T"; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: time_macros
    It depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.
    the entry is served only with NVRTCCACHE_SLOPPINESS=time_macros
  $ nvrtccache explain --json | json 'told["reason"], told["detail"]'
  ('time_macros', 'the entry is served only with NVRTCCACHE_SLOPPINESS=time_macros')

And of which header it was not cached again. NVRTC 13.5 opens by its whole path what earlier releases open by a relative one.
  $ shorter() { sed "s# $TMP/inc# inc#g"; }
  $ fresh; old inc/h.h '#define M sizeof(__TIME__)'; NVRTCCACHE_SLOPPINESS=time_macros host "$H"; host "$H"; explain | shorter
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: time_macros
    the file inc/h.h
    It depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.
    the entry is served only with NVRTCCACHE_SLOPPINESS=time_macros

A variable for which it is not given.
# requires: grep -q NVRTCWIZ "$NVRTC"
  $ fresh; host '{}'; NVRTCWIZ=1 host '{}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: environment
    the compiler read the variable NVRTCWIZ, which is not in the key
    A variable that is not in the key was read, or the process's state changed.
    the entry was stored while NVRTCWIZ was not set, and it is set now

The reason for the miss and the reason for not caching are both reported.
  $ fresh; old inc/h.h '#define M 1'; host "$H"; old inc/h.h '#define M 2' $(soon); host "$H"; explain | shorter
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: too_new
    the file inc/h.h
    A header changed meanwhile or just before. The next compilation is cached.
  the same request was cached before, and that entry is not valid here:
    header changed: inc/h.h
  $ nvrtccache explain --json | json 'told["reason"], told["detail"]' | shorter
  ('too_new', 'header changed: inc/h.h')

A look-up that was not made.
  $ NVRTCCACHE_RECACHE=1 host '{}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
    NVRTCCACHE_RECACHE is set, so nothing was looked up

A time macro, and what allows it.
  $ fresh; host "$T"; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: time_macros
    It depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.
  first time: no cached entry of this program or this source is recorded

The next miss of a request that was not cached names the last refusal.
  $ host "$T"; explain | tail -n 1
  the same request was compiled before, TIME earlier, and not cached: time_macros

What the compiler answered is told by its number.
  $ fresh; host '{"options": ["--no-such-option"]}'; explain
  5
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: return_code
    return code 5
    The compiler failed in a way that may not repeat, or its log does not say why.
  first time: no cached entry of this program or this source is recorded

A side effect.
  $ fresh; host '{"options": ["-DN=4", "--time='$TMP'/times"]}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: side_effects
    the file $TMP/times
    It wrote or removed files, ran a program or used the network; a hit would not.
  first time: no cached entry of this program or this source is recorded

A cached failure is reported as one, and missing artifacts are not extracted.
  $ fresh; host '{"source": "no program", "name": "bad.cu"}'; explain
  6
  bad.cu (PID, TIME)  MISS, compiled in TIME, a failure, stored as KEY
  first time: no cached entry of this program or this source is recorded
  $ explain $(key 1) | head -n 1
  bad.cu (PID, TIME)  MISS, compiled in TIME, a failure, stored as KEY
  $ nvrtccache ls | tail -n 1 | grep -o ' failed: bad.cu$'; for verb in ls "show $(key 1)"; do nvrtccache $verb -j | json 'told[0]["returned"]'; done
   failed: bad.cu
  6
  6
  $ echo good >bad.ptx; brief extract $(key 1) --ptx -o bad.ptx | sed s/$(key 1)/KEY/; cat bad.ptx
  [1] nvrtccache: the entry has no such artifact; it has --log
  good
  $ nvrtccache extract $(key 1) --log | grep -q error:

An option with process-wide effect.
# requires: [ ${NVRTC_SONAME##*.} = 13 ] # releases before differ in which do
  $ fresh; host '{"options": ["-DN=4", "-restrict"]}' '{"options": ["-DN=5"]}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: sticky_options
    An option of an earlier compilation affects this one: use it in all or none.
  closest cached entry: KEY, TIME earlier
    option  -DN=5   was -DN=4
    option  -restrict   is gone
  $ host '{"options": ["-DN=5"]}'; explain
  a.cu (PID, TIME)  MISS, compiled in TIME, stored as KEY
  the same request was compiled before, TIME earlier, and not cached: sticky_options

A header that is too new, and one that asks for the time, by their names.
  $ fresh; old inc/h.h '#define M 1' $(soon); host "$H"; explain | shorter
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: too_new
    the file inc/h.h
    A header changed meanwhile or just before. The next compilation is cached.
  first time: no cached entry of this program or this source is recorded
  $ fresh; old inc/h.h '#define M sizeof(__TIME__)'; host "$H"; explain | shorter
  a.cu (PID, TIME)  MISS, compiled in TIME, NOT CACHED: time_macros
    the file inc/h.h
    It depends on the time (__DATE__, ...). NVRTCCACHE_SLOPPINESS=time_macros caches it anyway.
  first time: no cached entry of this program or this source is recorded

Without arguments, it explains the last call.
  $ nvrtccache explain --last | diff <(nvrtccache explain) -

Options, numbers and keys that are none are refused.
  $ for words in --lst '--last '{0,x,1x,99999999999999999999} --last=2 '--last 2 3' 'aa bb' xyz 0123456789abcdef; do brief explain $words; done
  [2] nvrtccache: unrecognized option '--lst'
  [2] nvrtccache: explain: --last: bad value '0': it takes 1 to 100000
  [2] nvrtccache: explain: --last: bad value 'x': it takes 1 to 100000
  [2] nvrtccache: explain: --last: bad value '1x': it takes 1 to 100000
  [2] nvrtccache: explain: --last: bad value '99999999999999999999': it takes 1 to 100000
  [2] nvrtccache: option '--last' doesn't allow an argument
  [2] nvrtccache: explain: 3: unexpected argument
  [2] nvrtccache: explain: bb: unexpected argument
  [2] nvrtccache: xyz: not a key: it takes the first of its 64 hexadecimal digits, as 'nvrtccache ls' shows them
  [1] nvrtccache: 0123456789abcdef: no such miss or bypass is recorded; see 'nvrtccache doctor -- PROGRAM'
  $ brief explain ''
  [2] nvrtccache: explain: KEY is empty

Where there is no directory yet, nothing is noted, and what helps is named. A directory that others can write is not read.
  $ fresh; nvrtccache explain --last
  2> nvrtccache: $TMP/cache: no such miss or bypass is recorded; see 'nvrtccache doctor -- PROGRAM'
  [1]
  $ mkdir -p cache/v1; chmod 777 cache; nvrtccache explain --last
  2> nvrtccache: $TMP/cache: not used, because it is another user's, or others can write to it: set NVRTCCACHE_DIR; chmod go-w if it is yours alone; NVRTCCACHE_SHARED=1 if its group shares it
  [1]
