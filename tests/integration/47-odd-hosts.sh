#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 45
# Hosts under conditions that nobody asked for: limits, closed descriptors, other preloads that are gone at exit, workers
# that end without a word, and random ones (tests/hosts/odd.py; ODD_SECONDS, SEED, or make odd ROUNDS= SEED=).
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
# Other users run these: from a place that they reach, which a home need not be (Debian 13 makes them 0700).
reach=$tmp/reach
LIFE=$BUILD/tests/life
mkdir -p "$reach/tests/hosts" "$reach/tests/fake"
cp "$LIBRARY" "$COMMAND" "$reach/" && cp "$LIFE" "$reach/tests/" && cp "$BUILD/tests/hosts/odd" "$reach/tests/hosts/" && cp -r "$FAKE/13" "$reach/tests/fake/"
chmod 755 "$tmp"
chmod -R a+rX "$reach"
ODD=$BUILD/tests/hosts/odd
SO=$FAKE/13/libnvrtc.so.13

# Whatever writes into a file goes through cache/output.c, which keeps SIGXFSZ and SIGPIPE from the host.
writes='\b(call_)?(p?write(v|64|v2)?|ftruncate(64)?|truncate|(posix_)?fallocate(64)?|copy_file_range|sendfile|splice|tee|vmsplice|fwrite|fprintf|fputs|fputc|putc|puts|printf|dprintf|vdprintf|perror|aio_write)\('
grep -nE "$writes" cache/*.[ch] keygen/*.[ch] interpose/*/*.[ch] |
	grep -vE '^cache/(output|calls)\.[ch]:|^[^:]*:[0-9]+:( \*|.*/\*.*\b(write)\()|REPLACEMENT\(|PRINTS\(|snprintf\(|__attribute__\(\(format' >"$tmp/writes"
check "Nothing in a host writes into files but cache/output.c." test ! -s "$tmp/writes"
[ -s "$tmp/writes" ] && sed 's/^/#   /' "$tmp/writes"

# Limits on the size of files, at every border between two of our files and beside it, from an empty directory.
host() { # words before the program; with a time line and a log
	NVRTCCACHE_TRACE=$tmp/trace.json NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=4 NVRTCCACHE_STATS=1 preloaded "$@" \
		"$LIFE" "$SO" trivial 2 -arch=sm_90 2>"$tmp/error" | cat >"$tmp/output"
	return "${PIPESTATUS[0]}"
}
host || true
sizes=$(find "$NVRTCCACHE_DIR" "$tmp/trace.json" "$tmp/log" -type f -printf '%s\n' | sort -nu)
bad='' tried=0
for size in 0 8 4096 $sizes; do
	for limit in $((size - 1)) "$size" $((size + 1)); do
		[ "$limit" -ge 0 ] || continue
		fresh_cache
		rm -f "$tmp/trace.json" "$tmp/log"
		for _ in cold warm; do
			host prlimit --fsize="$limit" || bad="$bad $limit:$?"
		done
		tried=$((tried + 1))
	done
done
check "No limit on the size of files ends a host with an empty cache: $tried limits${bad:+; ended at$bad}." test -z "$bad"
unset NVRTCCACHE_TRACE

down=$BUILD/tests/fixtures/torn_down.so
bad=0
for order in "$down $LIBRARY" "$LIBRARY $down"; do
	for more in A=1 TORN_DOWN=1 NVRTCCACHE_DISABLE=1 'TORN_DOWN=1 NVRTCCACHE_READONLY=1'; do
		fresh_cache
		for _ in cold warm; do
			# shellcheck disable=SC2086 # words
			env $more LD_PRELOAD="$order" NVRTCCACHE_STATS=1 NVRTCCACHE_LOG="$tmp/log" NVRTCCACHE_LOG_LEVEL=4 \
				"$LIFE" "$SO" trivial 3 >/dev/null 2>"$tmp/error" || { bad=$((bad + 1)) && grep called "$tmp/error" >>"$tmp/called"; }
		done
	done
done
check "At exit nothing is called that other preloads may have taken down." test "$bad" = 0
[ -s "$tmp/called" ] && sort -u "$tmp/called" | sed 's/^/#   /'

faketime=$(find /usr/lib /usr/local/lib -name 'libfaketime.so.1' 2>/dev/null | head -n 1)
sentence="libfaketime before us ends no host."
if [ -n "$faketime" ]; then
	bad=0
	for order in "$faketime $LIBRARY" "$LIBRARY $faketime"; do
		for more in A=1 NVRTCCACHE_DISABLE=1; do
			fresh_cache
			for _ in cold warm; do
				env "$more" FAKETIME='2020-12-24 20:30:00' LD_PRELOAD="$order" "$LIFE" "$SO" trivial 3 >/dev/null 2>&1 || bad=$((bad + 1))
			done
		done
	done
	check "$sentence" test "$bad" = 0
else
	skip "$sentence" "no libfaketime (package faketime)"
fi

# A holder that is stopped in the middle of a compile is given up by the kernel's clock, not by the host's.
fresh_cache
same=(trivial 1 -arch=sm_90 --fake-sleep-ms=2500)
LD_PRELOAD=$LIBRARY "$LIFE" "$SO" "${same[@]}" >/dev/null 2>&1 &
holder=$!
until inode=$(stat -c %i "$NVRTCCACHE_DIR/v1/compile-lock" 2>/dev/null) && grep -q ":$inode " /proc/locks; do sleep 0.05; done
kill -STOP "$holder"
NVRTCCACHE_WAIT=1 LD_PRELOAD="$BUILD/tests/fixtures/libstill_clock.so $LIBRARY" timeout 300 "$LIFE" "$SO" "${same[@]}" >/dev/null 2>&1
ended=$?
kill -KILL "$holder"
wait "$holder" 2>/dev/null
check "A host with a stopped clock does not wait for ever for a compile that hangs." test "$ended" = 0

# Workers that live shortly: what they did is counted however they end.
workers() { # how they end
	local runs=5
	fresh_cache
	preloaded "$ODD" 3 "$SO" load compile=1 compile=2 3>/dev/null
	for ((i = 0; i < runs; i++)); do
		preloaded "$ODD" 3 "$SO" load fork compile=1 compile=2 burst=50 compile=$((10 + i)) "$1" 3>/dev/null
		preloaded "$ODD" 3 "$SO" load compile=1 burst=50 "$1" 3>/dev/null 2>&1
	done
	# each worker: two on disk, and of 50 equal ones all but the first in memory; what is not the first of its key
	local hits=$(($(stat_of hits_memory) + $(stat_of hits_disk)))
	echo "$(stat_of misses) $(stat_of stores) $hits, and should be $((3 + runs)) $((3 + runs)) $((runs * (2 + 50 + 51) - 1))" >"$tmp/counted"
	[ "$(stat_of misses)" = $((3 + runs)) ] && [ "$(stat_of stores)" = $((3 + runs)) ] && [ "$hits" = $((runs * (2 + 50 + 51) - 1)) ]
}
for end in _exit=0 term kill exit=0; do
	sentence="All that short-lived workers did is counted when they end by $end."
	if workers "$end"; then ok "$sentence"; else not_ok "$sentence" "$tmp/counted"; fi
done

sentence="Results from a user's directory are not served to the process once it acts as another user."
if [ "$(id -u)" = 0 ]; then
	fresh_cache
	install -d -o 65533 -g 65533 -m 700 "$NVRTCCACHE_DIR"
	theirs=("$reach/tests/hosts/odd" 3 "$reach/tests/fake/13/libnvrtc.so.13")
	# nor need the directory that we stand in be within their reach
	cd "$reach" || exit 1
	LD_PRELOAD=$reach/libnvrtccache.so "${theirs[@]}" user=65533 load compile=1 3>/dev/null
	touch "$tmp/log.users" && chmod 666 "$tmp/log.users"
	NVRTCCACHE_LOG=$tmp/log.users NVRTCCACHE_LOG_LEVEL=4 LD_PRELOAD=$reach/libnvrtccache.so "${theirs[@]}" load \
		effective=65533 compile=1 compile=1 effective=0 compile=1 3>/dev/null
	cd "$OLDPWD" || exit 1
	if [ "$(grep -c 'hit on disk' "$tmp/log.users") $(grep -c 'hit in memory' "$tmp/log.users")" = "1 1" ]; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/log.users"
	fi
else
	skip "$sentence" "only root can act as another user"
fi

# Set after the first compilation; what the host itself calls comes first, then what docs/LIMITS.md lists.
cat >"$tmp/filter.py" <<'PY'
import ctypes, os, struct, sys
nvrtc = ctypes.CDLL(sys.argv[1])

def work(number):
    program = ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"// %d" % number, b"filter.cu", 0, None, None) == 0
    assert nvrtc.nvrtcCompileProgram(program, 0, None) == 0
    assert nvrtc.nvrtcDestroyProgram(ctypes.byref(program)) == 0

work(0)
# brk close exit exit_group getcwd gettid madvise mmap munmap prlimit64 lseek rt_sigreturn
host = [12, 3, 60, 231, 79, 186, 28, 9, 11, 302, 8, 15]
# open openat read pread64 write writev pwrite64 rename* unlink* *stat* mkdir* getdents64 readlink fchmod
files = [2, 257, 0, 17, 1, 20, 18, 82, 264, 316, 87, 263, 4, 5, 6, 262, 332, 137, 138, 83, 258, 217, 89, 91]
# getpid geteuid clock_gettime getrandom futex rt_sigprocmask fcntl utimensat mprotect
others = [39, 107, 228, 318, 202, 14, 72, 280, 10]
rules = [struct.pack("HBBI", 0x20, 0, 0, 0)]
for number in host + files + others:
    rules += [struct.pack("HBBI", 0x15, 0, 1, number), struct.pack("HBBI", 6, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(rules + [struct.pack("HBBI", 6, 0, 0, 0x80000000)]))
filters = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rules) + 1, ctypes.addressof(code)))
libc = ctypes.CDLL(None)
if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, filters, 0, 0):
    os._exit(77)
work(1)
work(1)
work(2)
os._exit(0)
PY
filtered() { "$@" python3 -S "$tmp/filter.py" "$SO" 2>/dev/null; }
lacks=
[ "$(uname -m)" = x86_64 ] && filtered || lacks="no seccomp here, or Python calls something else"
allowed() { fresh_cache && filtered preloaded && filtered preloaded && [ "$(stat_of misses)" = 3 ] && [ "$(stat_of hits_disk)" = 3 ]; }
check_there "A seccomp filter that allows what LIMITS.md lists kills neither a miss nor a hit." allowed

sentence="A pool of processes is counted, forked or spawned, closed or terminated."
cat >"$tmp/pool.py" <<'PY'
import ctypes, multiprocessing, os, sys

def work(number):
    nvrtc = ctypes.CDLL(sys.argv[1])
    program = ctypes.c_void_p()
    assert nvrtcOk(nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"__global__ void k%d() {}" % number, b"k.cu", 0, None, None))
    assert nvrtcOk(nvrtc.nvrtcCompileProgram(program, 0, None))

def nvrtcOk(code):
    return code == 0

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    pool = context.Pool(3)
    pool.map(work, range(6), 1)
    if sys.argv[3] == "terminate":
        pool.terminate()
    else:
        pool.close()
    pool.join()
PY
if ! reason=$(without_processes); then
	bad=''
	for method in fork spawn forkserver; do
		for end in terminate close; do
			fresh_cache
			preloaded python3 "$tmp/pool.py" "$SO" "$method" "$end" >"$tmp/error" 2>&1 || bad="$bad $method-$end-failed"
			preloaded python3 "$tmp/pool.py" "$SO" "$method" "$end" >"$tmp/error" 2>&1 || bad="$bad $method-$end-failed"
			hits=$(($(stat_of hits_memory) + $(stat_of hits_disk)))
			[ "$(stat_of misses) $(stat_of stores) $hits" = "6 6 6" ] || bad="$bad $method-$end:$(stat_of misses)/$(stat_of stores)/$hits"
		done
	done
	echo "$bad" >"$tmp/counted"
	if [ -z "$bad" ]; then ok "$sentence"; else not_ok "$sentence" "$tmp/counted"; fi
else
	skip "$sentence" "$reason"
fi

sentence="Random hosts are as without us."
if command -v python3 >/dev/null; then
	TMPDIR=$tmp python3 tests/hosts/odd.py "$reach" --seconds "${ODD_SECONDS:-20}" --seed "${SEED:-1}" >"$tmp/odd" 2>&1
	status=$?
	if [ "$status" = 0 ]; then ok "$sentence"; else not_ok "$sentence" "$tmp/odd"; fi
	tail -n 1 "$tmp/odd" | sed 's/^/# /'
else
	skip "$sentence" "no python3"
fi
plan
