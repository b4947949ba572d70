#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every way in which a program reaches NVRTC, with the fake library: run without us, with an empty cache, and with the
# filled one. The lines that a program prints must be the same three times; "compiles" tells how often NVRTC really worked.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
SOURCE=$(cd "$(dirname "$0")/../fixtures/loader" && pwd)

compiles_in() {
	sed -n 's/^compiles //p' "$1" | tr '\n' ' '
}

total() {
	compiles_in "$1" | awk '{ for (i = 1; i <= NF; i++) n += $i } END { print n + 0 }'
}

lines_of() {
	grep -v '^compiles ' "$1"
}

# Runs the command three times; leaves $tmp/{bare,cold,warm} and the difference, if any, in $tmp/difference.
three_runs() {
	fresh_cache
	timeout 600 env ${before:+"${EMULATED:-LD_PRELOAD}=$before"} ${after:+"${EMULATED:-LD_PRELOAD}=$after"} "$@" >"$tmp/bare" 2>&1
	echo "exit $?" >>"$tmp/bare"
	preloaded "$@" >"$tmp/cold" 2>&1
	echo "exit $?" >>"$tmp/cold"
	preloaded "$@" >"$tmp/warm" 2>&1
	echo "exit $?" >>"$tmp/warm"
	: >"$tmp/difference"
	diff <(lines_of "$tmp/bare") <(lines_of "$tmp/cold") >>"$tmp/difference" &&
		diff <(lines_of "$tmp/bare") <(lines_of "$tmp/warm") >>"$tmp/difference"
}

report_counts() {
	{
		echo "compiles without: $(compiles_in "$tmp/bare"), cold: $(compiles_in "$tmp/cold"), warm: $(compiles_in "$tmp/warm")"
		"$COMMAND" stats --json
	} >>"$tmp/difference" 2>&1
}

# The same lines; nothing is compiled a second time.
cached() {
	local sentence=$1
	shift
	if ! three_runs "$@"; then
		not_ok "$sentence" "$tmp/difference"
	elif [ "$(total "$tmp/cold")" -lt 1 ] || [ "$(total "$tmp/cold")" -gt "$(total "$tmp/bare")" ] ||
		[ "$(total "$tmp/warm")" -ne 0 ] || ! grep -q '^compiles ' "$tmp/warm"; then
		report_counts
		not_ok "$sentence" "$tmp/difference"
	else
		ok "$sentence"
	fi
}

# The same lines; every run compiles everything.
uncached() {
	local sentence=$1
	shift
	if ! three_runs "$@"; then
		not_ok "$sentence" "$tmp/difference"
	elif [ "$(total "$tmp/bare")" -lt 1 ] || [ "$(total "$tmp/warm")" -ne "$(total "$tmp/bare")" ]; then
		report_counts
		not_ok "$sentence" "$tmp/difference"
	else
		ok "$sentence"
	fi
}

# The same lines, however often NVRTC worked for them.
unaffected() {
	local sentence=$1
	shift
	if three_runs "$@"; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/difference"
	fi
}

has_line() {
	grep -qxF -- "$2" "$1"
}

lookup=$LOADER/lookup
so13=$FAKE/13/libnvrtc.so.13

# Linked
cached "A program linked against NVRTC gets the same results, and the second process compiles nothing." "$LOADER/linked"
cached "An RTLD_LOCAL module linked against NVRTC is cached in a program that is not." "$LOADER/host" modules "$LOADER/module13.so"
cached "A module linked against libnvrtc.so.12 is cached." "$LOADER/host" modules "$LOADER/module12.so"
cached "A module linked against libnvrtc.so.11.2 is cached." "$LOADER/host" modules "$LOADER/module11.so"
cached "Modules of three NVRTC versions in one process each get their own results." \
	"$LOADER/host" modules "$LOADER/module13.so" "$LOADER/module12.so" "$LOADER/module11.so"
cached "Function addresses taken in one library and called from another are cached." \
	"$LOADER/host" table "$LOADER/table_taker.so" "$LOADER/table_user.so"
cached "A program that compiles in eight threads is cached." "$LOADER/linked" threads
unaffected "A program linked against an unversioned stub runs as it does without us." "$LOADER/stub_linked"
uncached "A private unversioned copy inside a module is not taken over." "$LOADER/host" modules "$LOADER/module_private.so"
uncached "A private unversioned copy inside the program is not taken over." "$LOADER/private_linked"
unaffected "A private copy and the shared library in one process do not mix." \
	"$LOADER/host" modules "$LOADER/module_private.so" "$LOADER/module13.so" "$LOADER/module_private.so"

# Looked up
cached "dlopen and dlsym by handle are cached." "$lookup" handle "$so13"
cached "The dlsym of programs from before glibc 2.34 is cached." "$lookup" old "$so13"
cached "dlvsym by handle is cached." "$lookup" dlvsym "$so13" libnvrtc.so.13
cached "Probing the global scope for every function before the library is opened finds nothing." "$lookup" global "$so13"
cached "RTLD_NEXT of a program is cached." "$lookup" next "$so13"
cached "RTLD_DEFAULT finds NVRTC only when it is loaded globally, with the same errors as without us." \
	"$lookup" default "$so13" libnvrtc.so.13
cached "NVRTC and other libraries opened by a library through its own RUNPATH are found and cached." \
	"$LOADER/host" modules "$LOADER/module_dlopen.so"
cached "dlinfo and NOLOAD handles show the real library." "$lookup" map "$so13"
cached "A library that is closed and opened again gives the same results." "$lookup" reopen "$so13"
if runs_here python3; then
	cached "ctypes is cached." python3 "$SOURCE/client.py" "$so13"
else
	skip "ctypes is cached." "no python3 of this machine"
fi

# Kinds of libraries
cached "A library renamed by auditwheel is cached." "$lookup" handle "$FAKE/renamed/libnvrtc-abc123.so.12"
cached "A library with all slots bound at load and full RELRO is cached." "$lookup" handle "$FAKE/13now/libnvrtc.so.13"
cached "A library built with -fno-plt is cached." "$lookup" handle "$FAKE/noplt/libnvrtc.so.13"
cached "A library that imports the stat of old glibc is cached." "$lookup" handle "$FAKE/12/libnvrtc.so.12"
cached "Libraries of two versions in one process each get their own results." "$lookup" two "$so13" "$FAKE/12/libnvrtc.so.12"
cached "Two libraries of one soname in one process each get their own results." "$lookup" two "$so13" "$FAKE/13b/libnvrtc.so.13"
cached "A renamed copy of the library in the same process gets its own results." \
	"$lookup" two "$FAKE/renamed/libnvrtc-abc123.so.12" "$FAKE/12/libnvrtc.so.12"
if "$lookup" handle "$so13" >"$tmp/one" && "$lookup" handle "$FAKE/13b/libnvrtc.so.13" >"$tmp/other" &&
	! cmp -s "$tmp/one" "$tmp/other"; then
	fresh_cache
	preloaded "$lookup" handle "$so13" >"$tmp/one.first" 2>&1
	preloaded "$lookup" handle "$FAKE/13b/libnvrtc.so.13" >"$tmp/other.first" 2>&1
	check "Another build of the same soname does not get the results of the first." cmp "$tmp/other" "$tmp/other.first"
else
	not_ok "Another build of the same soname does not get the results of the first." "$tmp/other"
fi

# Transparency
unaffected "Functions that a library lacks stay NULL, with the loader's own words." \
	"$lookup" features "$FAKE/11/libnvrtc.so.11.2" libnvrtc.so.11.2
unaffected "Functions of 13.0 are all there, later ones are not." "$lookup" features "$so13" libnvrtc.so.13
unaffected "Errors of dlsym have the same text and are reported once." "$lookup" errors "$so13"
unaffected "An error that is pending when NVRTC is called is still there afterwards." "$LOADER/linked" pending-error

fresh_cache
preloaded "$lookup" unknown "$FAKE/future/libnvrtc.so.13" >"$tmp/cold" 2>&1
preloaded "$lookup" unknown "$FAKE/future/libnvrtc.so.13" >"$tmp/warm" 2>&1
if [ "$(compiles_in "$tmp/cold")" = "1 1 " ] && [ "$(compiles_in "$tmp/warm")" = "0 1 " ] &&
	has_line "$tmp/warm" "unknown 0 1" && cmp -s <(lines_of "$tmp/cold") <(lines_of "$tmp/warm"); then
	ok "An unknown function sees a really compiled program, also after a hit."
else
	not_ok "An unknown function sees a really compiled program, also after a hit." "$tmp/warm"
fi

if three_runs "$lookup" private "$so13" && [ "$(compiles_in "$tmp/cold")" = "1 2 2 " ] &&
	[ "$(compiles_in "$tmp/warm")" = "0 1 1 " ]; then
	ok "__nvrtcCPEx without extensions equals nvrtcCreateProgram; with extensions its program is bypassed."
else
	report_counts
	not_ok "__nvrtcCPEx without extensions equals nvrtcCreateProgram; with extensions its program is bypassed." \
		"$tmp/difference"
fi
decoded_stays() { # no decoded text is in entries, record, log, trace or bundle
	NVRTCCACHE_RECORD=1 NVRTCCACHE_LOG=$tmp/told.log NVRTCCACHE_LOG_LEVEL=debug NVRTCCACHE_TRACE=$tmp/told.trace preloaded "$lookup" decoded "$so13" >"$tmp/host" 2>&1
	"$COMMAND" export "$tmp/told.bundle" >"$tmp/out" && "$COMMAND" ls --json >"$tmp/told.ls" && "$COMMAND" explain --last 9 >"$tmp/told.explain"
	[ -s "$tmp/told.log" ] && grep -q decoded.cu "$tmp/told.trace" && grep -q encoded "$tmp/told.ls" && grep -q . "$tmp/told.bundle" &&
		! grep -rlE 'FROM_HEADER|-DA=1|#error' "$NVRTCCACHE_DIR/v1" "$tmp"/told.* && ! grep -rl ptx "$NVRTCCACHE_DIR/v1" --include='[0-9a-f]*'
}
if three_runs "$lookup" decoded "$so13" && [ "$(compiles_in "$tmp/bare" | cut -d' ' -f1)" = 2 ] &&
	[ "$(compiles_in "$tmp/cold" | cut -d' ' -f1)" = 2 ] && [ "$(compiles_in "$tmp/warm" | cut -d' ' -f1)" = 0 ]; then
	ok "A program whose texts the host decodes is cached, and the host decodes each text once, in order and in its thread."
else
	report_counts
	not_ok "A program whose texts the host decodes is cached, and the host decodes each text once, in order and in its thread." \
		"$tmp/difference"
fi
check "What the host decodes is in no file of the cache, in no bundle, trace or log, nor is PTX." decoded_stays
three_runs "$lookup" private "$so13" >/dev/null
check "Programs with extensions are counted." test "$(reason_of extensions)" -gt 0
extensions_told() {
	NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=info NVRTCCACHE_TRACE=$tmp/trace preloaded "$lookup" private "$so13" >"$tmp/private" 2>&1
	"$COMMAND" explain --last 9 >"$tmp/explained" && cat "$tmp/log" "$tmp/trace" "$tmp/explained" && grep -q 'NVRTC: bypassed: extensions, ' "$tmp/log" &&
		grep -q '"cat":"bypassed".*"reason":"extensions"' "$tmp/trace" && grep -q 'BYPASSED: extensions$' "$tmp/explained"
}
check "Log, trace and record report them like other bypasses." extensions_told

# Neighbours
before=$LOADER/neighbour.so
cached "Another preload that hooks dlsym before us keeps its hook, and so do we." "$lookup" hooked "$so13"
before='' after=$LOADER/neighbour.so
cached "Another preload that hooks dlsym after us keeps its hook, and so do we." "$lookup" hooked "$so13"
check "The other preload's own symbol is found through both versions of dlsym." \
	grep -cE '^hooked, (new|old) 1$' "$tmp/warm"
before=$LOADER/tracer.so after=''
cached "A preload before us that watches getters by RTLD_NEXT sees the results of a hit, linked." "$LOADER/linked"
before='' after=$LOADER/tracer.so
cached "A preload after us that watches getters by RTLD_NEXT sees the results of a hit, linked." "$LOADER/linked"
before='' after=''
unaffected "Without the other preload its symbol is not there." "$lookup" hooked "$so13"
for place in before after; do
	[ $place = before ] && before=$LOADER/allocator.so || after=$LOADER/allocator.so
	cached "An allocator that calls dlsym in its first call, preloaded $place us, does no harm to a linked program." "$LOADER/linked"
	cached "The same allocator $place us does no harm to dlopen and dlsym." "$lookup" handle "$so13"
	unaffected "The same allocator $place us does no harm to a program without NVRTC." "$LOADER/next"
	before='' after=''
done
unaffected "RTLD_NEXT in a wrapper library finds the next one, built with and without optimisation." "$LOADER/next"
before=$LOADER/libfoo_plain.so
unaffected "RTLD_NEXT in another preload finds the next one." "$LOADER/next"
before=''
unaffected "RTLD_DEFAULT in a local library sees the scope of that library." "$LOADER/host" modules "$LOADER/foo_scope.so"
cached "A module opened with RTLD_DEEPBIND is cached." "$LOADER/host" deepbind "$LOADER/module13.so"
beside_deep() { # a module whose calls go past us might have told the library what works on in it
	fresh_cache
	cat >"$tmp/beside.py" <<-'PROGRAM'
		import ctypes, os, sys
		module = ctypes.CDLL(sys.argv[1], os.RTLD_NOW | int(sys.argv[3]))
		nvrtc, program = ctypes.CDLL(sys.argv[2]), ctypes.c_void_p()
		if nvrtc.nvrtcCreateProgram(ctypes.byref(program), b"extern int i;", b"k.cu", 0, None, None) != 0:
		    sys.exit("no program")
		sys.exit(nvrtc.nvrtcCompileProgram(program, 0, None))
	PROGRAM
	preloaded python3 "$tmp/beside.py" "$LOADER/module13.so" "$so13" "$1" &&
		[ "$(stat_of stores) $(reason_of exports)" = "$2" ] || { "$COMMAND" stats && false; }
}
beside_snapshots() { # dlsym lists the loaded objects after one was loaded, and not each time
	local before=$BUILD/tests/fixtures/snapshot.so
	preloaded python3 - "$so13" <<-'PROGRAM'
		import _ctypes, ctypes, sys
		nvrtc, libm = ctypes.CDLL(sys.argv[1]), ctypes.CDLL("libm.so.6")
		major, minor = ctypes.c_int(), ctypes.c_int()
		assert nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor)) == 0
		_ctypes.dlsym(libm._handle, "cos")
		snapshots = ctypes.c_long.in_dll(ctypes.CDLL(None), "snapshots")
		before = snapshots.value
		for _ in range(1000):
		    _ctypes.dlsym(libm._handle, "cos")
		sys.exit(f"{snapshots.value - before} lists" if before == 0 or snapshots.value > before + 10 else 0)
	PROGRAM
}
needs "no python3 of this machine" runs_here python3
check_there "Where a preload hides how the loader counts, dlsym does not list all objects each time." beside_snapshots
check_there "If a module is bound to our exports, the other callers are cached." beside_deep 0 "1 0"
check_there "So they are if it is bound directly to NVRTC." beside_deep 8 "1 0"
cached "NVRTC opened with RTLD_DEEPBIND by a program that looks functions up in it is cached." "$lookup" deepbind "$so13"
unaffected "NVRTC in a namespace of its own runs." "$lookup" namespace "$so13"

# Fork
cached "A forked child that compiles is cached, and so is its parent." "$LOADER/linked" in-child
cached "Results of before a fork are there in the child." "$LOADER/linked" getters-in-child

# Pass-through
uncached "An NVRTC that cannot be watched runs, uncached." "$lookup" handle "$FAKE/unwatchable/libnvrtc.so.13"
check "It is counted with its reason, and with no other." test "$(reason_of unwatchable)" -gt 0 \
	-a "$(reason_of environment) $(reason_of not_watched)" = "0 0"
check "Nothing of it is stored." test "$(entries)" -eq 0
uncached "An NVRTC without its builtins fails every time, as it does without us." "$lookup" handle "$FAKE/nobuiltins/libnvrtc.so.13"
check "The real library said so." has_line "$tmp/warm" "handle.compile 7"
check "Nothing of that is stored." test "$(entries)" -eq 0
export NVRTCCACHE_DISABLE=1
uncached "NVRTCCACHE_DISABLE=1 compiles every time." "$LOADER/linked"
check "Nothing is stored meanwhile." test "$(entries)" -eq 0
unset NVRTCCACHE_DISABLE
uncached "A directory that cannot be made means the real compiler, without a word." \
	env NVRTCCACHE_DIR=/proc/self/no/such/place "$LOADER/linked"
if [ -e "$LOADER/static" ]; then
	unaffected "A static program is not affected." "$LOADER/static"
else
	skip "A static program is not affected." "no static libc"
fi

# A process that gained rights: the program is linked against our name, because the loader ignores LD_PRELOAD there
builtins=$FAKE/13/libnvrtc-builtins.so.13.0
sentence="A setuid program runs, uncached, and touches no cache."
fresh_cache
"$LOADER/secured" secure "$builtins" >"$tmp/normal.first" 2>&1
"$LOADER/secured" secure "$builtins" >"$tmp/normal" 2>&1
check "A program linked against the cache itself is cached." test "$(compiles_in "$tmp/normal")" = "0 "
if [ "$(id -u)" -ne 0 ]; then
	skip "$sentence" "needs root to make one"
else
	fresh_cache
	mkdir "$NVRTCCACHE_DIR"
	cp "$LOADER/secured" "$tmp/secured"
	chmod 755 "$tmp"
	chown 65533 "$tmp/secured" "$NVRTCCACHE_DIR"
	chmod 4755 "$tmp/secured"
	"$tmp/secured" secure "$builtins" >"$tmp/secure.first" 2>&1
	"$tmp/secured" secure "$builtins" >"$tmp/secure" 2>&1
	if has_line "$tmp/secure" "secure 0" || ! grep -q '^compiles' "$tmp/secure.first"; then
		skip "$sentence" "setuid has no effect on this file system, or its user cannot reach the build"
	elif [ "$(compiles_in "$tmp/secure")" = "3 " ] && [ -z "$(ls -A "$NVRTCCACHE_DIR")" ] &&
		diff <(lines_of "$tmp/normal" | grep -v '^secure ') <(lines_of "$tmp/secure" | grep -v '^secure ') >"$tmp/difference"; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/secure"
	fi
fi

# A process that never meets NVRTC
unaffected "A program without NVRTC finds no function of it, by any way of asking, and no memory is taken." "$LOADER/plain"
musl() { # the shell is preloaded, and the program that it starts is not
	"$COMMAND" run -- sh -c '"$1"; echo "musl $?"; grep -c nvrtccache /proc/self/maps' sh "$tmp/musl" >"$tmp/musl.said" 2>&1
	diff "$tmp/musl.said" <(echo "musl 0"; sed -n 2p "$tmp/musl.said") && [ "$(sed -n 2p "$tmp/musl.said")" -gt 0 ]
}
if ! command -v musl-gcc >/dev/null || ! echo 'int main(void) { return 0; }' | musl-gcc -x c -o "$tmp/musl" - || ! "$tmp/musl"; then
	skip "Programs of another C library run under a program that is cached." "no musl-gcc"
elif runs_here true; then
	check "Programs of another C library run under a program that is cached." musl
fi
without_usr() { # a root whose libraries are not below /usr
	local root=$tmp/root libc
	libc=$(ldd "$COMMAND" | sed -n 's/.*=> \(.*libc.so.6\) .*/\1/p')
	mkdir -p "$root/opt" "$root/proc" "$root/lib64" "$root$(dirname "$libc")" && cp -L "$libc" "$root$libc" && cp -L /lib64/ld-linux-x86-64.so.2 "$root/lib64/" &&
		cp -L /lib/ld-musl-x86_64.so.1 "$root/lib/" && cp "$COMMAND" "$LIBRARY" "$tmp/musl" "$LOADER/plain" "$root/opt/" || return
	unshare -m sh -c 'mount -t proc proc "$1/proc" && exec chroot "$1" /opt/nvrtccache run -- /opt/musl' sh "$root" &&
		unshare -m sh -c 'mount -t proc proc "$1/proc" && LD_DEBUG=files exec chroot "$1" /opt/nvrtccache run -- /opt/plain' sh "$root" 2>&1 |
		grep -q 'calling init: .*libnvrtccache'
}
lacks=
[ -x "$tmp/musl" ] && [ "$(id -u)" -eq 0 ] && [ "$(uname -m)" = x86_64 ] && unshare -m true || lacks="needs root, musl-gcc and mount namespaces on x86-64"
check_there "So do they where glibc's directory is not below /usr." without_usr
check "A program without NVRTC creates no directory." test ! -e "$NVRTCCACHE_DIR"
"$LOADER/plain" >/dev/null 2>&1
env LD_PRELOAD="$LOADER/environment.so" "$LOADER/plain" >/dev/null 2>"$tmp/asked.bare"
for place in before after; do
	[ $place = before ] && before=$LOADER/environment.so || after=$LOADER/environment.so
	env LD_PRELOAD="$before${before:+ }$LIBRARY${after:+ }$after" "$LOADER/plain" >/dev/null 2>"$tmp/asked"
	check "A program without NVRTC has nothing asked of its environment (spy $place us)." diff "$tmp/asked.bare" "$tmp/asked"
	before='' after=''
done
calls() { # all calls but those by which the loader maps us
	sed -E 's/^[0-9]+ +//' "$1" | grep -v libnvrtccache | grep -vE '^(execve|[+-]{3})'
}
files() { # without fstat in its new form
	calls "$1" | grep -vE '^(newfstatat|fstatat|statx)\([0-9]+, ""'
}
if ! runs_here strace || ! strace -o "$tmp/probe" true 2>/dev/null; then
	skip "A program without NVRTC opens and looks at the same files as without us." "no strace of this machine"
	skip "A program without NVRTC makes the same system calls once it is loaded." "no strace of this machine"
else
	strace -f -e trace=%file -o "$tmp/files.bare" "$LOADER/plain" >/dev/null 2>&1
	strace -f -e trace=%file -E LD_PRELOAD="$LIBRARY" -o "$tmp/files" "$LOADER/plain" >/dev/null 2>&1
	check "A program without NVRTC opens and looks at the same files as without us." \
		diff <(files "$tmp/files.bare") <(files "$tmp/files")
	strace -f -o "$tmp/calls.bare" "$LOADER/plain" >/dev/null 2>&1
	strace -f -E LD_PRELOAD="$LIBRARY" -o "$tmp/calls" "$LOADER/plain" >/dev/null 2>&1
	after_load() { # the loader unmaps its cache last
		calls "$1" | tac | sed '/^munmap(/q' | tac | sed 's/(.*//'
	}
	check "A program without NVRTC makes the same system calls once it is loaded." \
		diff <(after_load "$tmp/calls.bare") <(after_load "$tmp/calls")
fi
plan
