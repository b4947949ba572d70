#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# doctor: ok, warn and FAIL lines about the library, the directory, the settings, and programs of every kind.
# shellcheck disable=SC2015,SC2016,SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source-path=SCRIPTDIR source=command.sh
. "$(dirname "$0")/command.sh"
unset XDG_CACHE_HOME CUDA_HOME CUDA_PATH LD_LIBRARY_PATH
export HOME=$tmp/home
mkdir "$HOME"
[ -e "$LIBRARY" ] || skip_all "no $LIBRARY"

says_not() { ! grep -E -- "$1" "$tmp/out"; }
fails() { [ "$(grep -c '^FAIL  ' "$tmp/out")" -eq "$1" ] || { cat "$tmp/out" && false; }; }

# ---- without a program

healthy() {
	gives 0 doctor && [ ! -s "$tmp/err" ] && out_has "^ok    library loads: $LIBRARY\$" && out_has "^ok    directory $NVRTCCACHE_DIR does not exist yet and can be created\$" &&
		out_has '^ok    settings are valid' && out_has '^ok    LD_PRELOAD is empty' && out_has '^(ok|warn)  .* free' &&
		says_not '^FAIL' && [ ! -e "$NVRTCCACHE_DIR" ] || return
	mkdir -m 700 "$NVRTCCACHE_DIR" && gives 0 doctor && out_has "^ok    directory $NVRTCCACHE_DIR belongs to you and can be written\$" &&
		[ -z "$(ls -A "$NVRTCCACHE_DIR")" ] && out_has '(local|network) file system|file system in memory'
}
check "Where all is well it says so, and makes nothing." healthy

as_json() {
	gives 0 doctor --json && holds '
		told["failures"] == 0 and {f["level"] for f in told["findings"]} <= {"ok", "warn"}
		and {"library", "directory", "settings", "space"} <= {f["about"] for f in told["findings"]}' &&
		gives 1 doctor --json "$tmp/nowhere" && holds '
		told["failures"] == 1 and [f["about"] for f in told["findings"] if f["level"] == "FAIL"] == ["program"]'
}
if python3 -c '' 2>/dev/null; then
	check "--json has every finding." as_json
else
	skip "--json has every finding." "no python3"
fi

bad_library() {
	echo 'no library' >"$tmp/text.so"
	NVRTCCACHE_LIBRARY=$tmp/nowhere.so gives 1 doctor && out_has '^FAIL  library' && NVRTCCACHE_LIBRARY=$tmp/text.so gives 1 doctor &&
		out_has '^FAIL  library: .*cannot be preloaded' && mkdir -p "$tmp/a b" && cp "$LIBRARY" "$tmp/a b/libnvrtccache.so" &&
		NVRTCCACHE_LIBRARY="$tmp/a b/libnvrtccache.so" gives 1 doctor && out_has '^FAIL  library: .*blank or a colon'
}
check "A library that is missing, or that no loader takes, is a FAIL, with the loader's words." bad_library

other_preloads() {
	LD_PRELOAD=libm.so.6 gives 0 doctor && out_has 'LD_PRELOAD contains libm.so.6; ' && LD_PRELOAD="$LIBRARY" gives 0 doctor &&
		out_has '^ok    LD_PRELOAD contains the library$' && LD_PRELOAD="libm.so.6:$LIBRARY" gives 0 doctor && out_has '^warn  LD_PRELOAD: libm.so.6 comes before the library'
}
check "What else LD_PRELOAD holds is named." other_preloads
broken_preload() { # the loader leaves it out, and all is cached
	LD_PRELOAD=$tmp/nowhere.so gives 0 doctor && out_has '^ok    library loads: ' && out_has "^warn  LD_PRELOAD: .*$tmp/nowhere.so.*cannot be preloaded" &&
		LD_PRELOAD=$tmp/nowhere.so gives 0 doctor /bin/sh
}
check "What the loader says of another preload is not said of the library." broken_preload
misspelled() { # by who exports it, and then runs programs without the command
	LD_PRELOAD="$tmp/nowhere.so:$tmp/nowhere/libnvrtccache.so" gives 1 doctor && out_has '^ok    library loads: ' &&
		out_has "^FAIL  LD_PRELOAD: .*$tmp/nowhere/libnvrtccache.so.*cannot be preloaded" &&
		says_not 'LD_PRELOAD contains the library'
}
check "A library that is not where LD_PRELOAD says is a FAIL." misspelled

foreign_journal() {
	local NVRTCCACHE_DIR=$tmp/foreign
	export NVRTCCACHE_DIR
	(umask 077 && mkdir -p "$NVRTCCACHE_DIR/v1" && echo 'somebody wrote this' >"$NVRTCCACHE_DIR/v1/journal") && gives 0 doctor && out_has "^warn  $NVRTCCACHE_DIR/v1/journal is not a journal" &&
		rm "$NVRTCCACHE_DIR/v1/journal" && gives 0 doctor && says_not 'is not a journal'
}
check "A foreign file in the journal's place is reported." foreign_journal
bad_library() { NVRTCCACHE_LIBRARY=/nowhere.so gives 1 doctor && out_has "^FAIL  library: NVRTCCACHE_LIBRARY: '/nowhere.so' is not a readable file"; }
check "A missing library that the settings name is reported by name." bad_library
bad_directories() {
	local NVRTCCACHE_DIR=$tmp/directory
	export NVRTCCACHE_DIR
	mkdir "$NVRTCCACHE_DIR"
	chmod 777 "$NVRTCCACHE_DIR" && gives 1 doctor && fails 1 && out_has "^FAIL  directory $NVRTCCACHE_DIR has mode 777: others can write" && chmod "$(sed -n 's/.*so it is not used; chmod \([^ ]*\).*/\1/p' "$tmp/out")" "$NVRTCCACHE_DIR" && gives 0 doctor && chmod 777 "$NVRTCCACHE_DIR" && gives 1 doctor &&
		chmod 770 "$NVRTCCACHE_DIR" && gives 1 doctor && fails 1 && out_has "^FAIL  directory .* has mode 770: its group .* NVRTCCACHE_SHARED=1" || return
	NVRTCCACHE_SHARED=1 gives 0 doctor && says_not '^warn  NVRTCCACHE_SHARED' || return
	chmod 700 "$NVRTCCACHE_DIR" && gives 0 doctor && NVRTCCACHE_SHARED=1 gives 0 doctor && out_has '^warn  NVRTCCACHE_SHARED is set, and .*chmod 2770' || return
	ln -s "$NVRTCCACHE_DIR" "$tmp/link" && NVRTCCACHE_DIR=$tmp/link gives 1 doctor && out_has '^FAIL  directory .*link cannot be used: .*is a symbolic link' || return
	NVRTCCACHE_DIR=/proc/x gives 1 doctor && out_has '^FAIL  directory /proc/x cannot be used' && NVRTCCACHE_DIR=/dev/null/x gives 1 doctor || return
	NVRTCCACHE_READONLY=1 NVRTCCACHE_DIR=$tmp/missing gives 0 doctor && out_has "^warn  directory $tmp/missing does not exist and NVRTCCACHE_READONLY" || return
	env -u NVRTCCACHE_DIR HOME=relative "$COMMAND" doctor >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && out_has '^FAIL  no cache directory: none of NVRTCCACHE_DIR' || return
	env -u NVRTCCACHE_DIR HOME="$tmp/no-home" "$COMMAND" doctor >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && out_has '^FAIL  directory .*is not created, because \$HOME does not exist'
}
check "A directory that is not used is a FAIL, with the reason." bad_directories

others_directory() {
	mkdir "$tmp/others" && chown 12345 "$tmp/others" && NVRTCCACHE_DIR=$tmp/others setpriv --reuid=23456 --clear-groups "$COMMAND" doctor >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && out_has "^FAIL  directory $tmp/others belongs to user 12345, not to 23456"
}
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=23456 --clear-groups "$COMMAND" version >/dev/null 2>&1; then
	chmod 755 "$tmp"
	check "Nor is another user's." others_directory
else
	skip "Nor is another user's." "not root, or no setpriv, or another user cannot run the command"
fi

little_space() {
	mkdir -p "$tmp/small" && unshare -m sh -c "mount -t tmpfs -o size=1m,nr_inodes=100 none '$tmp/small' && export NVRTCCACHE_DIR='$tmp/small/cache' && mkdir -m 700 '$tmp/small/cache' &&
		NVRTCCACHE_MAX_SIZE=1000K '$COMMAND' doctor && head -c 500000 /dev/zero >'$tmp/small/file' && NVRTCCACHE_MAX_SIZE=1000K '$COMMAND' doctor &&
		NVRTCCACHE_MAX_SIZE=2M '$COMMAND' doctor; cat /dev/zero >'$tmp/small/file'; '$COMMAND' doctor" >"$tmp/out" 2>"$tmp/err"
	[ "$(grep -E ' free|size limit|no free' "$tmp/out" | cut -c 1-4 | tr -d ' ' | tr '\n' ' ')" = "ok warn warn FAIL " ] && out_has '^warn  .* free, less than the cache may still grow \(size limit 1000.0 KiB\)' &&
		out_has '^warn  the size limit of 2.0 MiB is larger than the whole' && out_has '^FAIL  the file system has no free space'
}
if unshare -m true 2>/dev/null; then
	check "Free space is held against the cap; none is a FAIL." little_space
else
	skip "Free space is held against the cap; none is a FAIL." "no mount namespaces here"
fi

no_permission() {
	mkdir -p "$tmp/shut" && unshare -m sh -c "mount -t tmpfs none '$tmp/shut' && mkdir -m 700 '$tmp/shut/cache' && mount -o remount,ro '$tmp/shut' && NVRTCCACHE_DIR='$tmp/shut/cache' '$COMMAND' doctor" >"$tmp/out" 2>"$tmp/err"
	[ $? -eq 1 ] && out_has "^FAIL  directory $tmp/shut/cache cannot be written: Read-only file system" && out_has '^warn  file system in memory' || return
	unshare -m sh -c "mount -t tmpfs none '$tmp/shut' && mkdir -m 700 '$tmp/shut/cache' && mount -o remount,ro '$tmp/shut' && NVRTCCACHE_READONLY=1 NVRTCCACHE_DIR='$tmp/shut/cache' '$COMMAND' doctor" >"$tmp/out" 2>"$tmp/err" &&
		out_has '^ok    directory .* is only read, because NVRTCCACHE_READONLY is set'
}
if unshare -m true 2>/dev/null; then
	check "A read-only file system is a FAIL, unless NVRTCCACHE_READONLY says so." no_permission
else
	skip "A read-only file system is a FAIL, unless NVRTCCACHE_READONLY says so." "no mount namespaces here"
fi

settings_told() {
	NVRTCCACHE_MAXSIZE=1G gives 0 doctor && out_has '^warn  NVRTCCACHE_MAXSIZE: unknown variable .did you mean .NVRTCCACHE_MAX_SIZE.\?.$' && says_not 'settings: nothing' || return
	NVRTCCACHE_MAX_SIZE=much gives 0 doctor && out_has "^warn  NVRTCCACHE_MAX_SIZE: bad value 'much' is ignored: it takes a size" || return
	NVRTCCACHE_DISABLE=1 gives 0 doctor && out_has '^warn  NVRTCCACHE_DISABLE is set' && NVRTCCACHE_VERIFY=1 gives 0 doctor && out_has '^warn  NVRTCCACHE_VERIFY is set' &&
		NVRTCCACHE_RECACHE=1 NVRTCCACHE_READONLY=1 gives 0 doctor && out_has '^warn  NVRTCCACHE_RECACHE with NVRTCCACHE_READONLY' &&
		NVRTCCACHE_MEM_SIZE=0 gives 0 doctor && out_has '^warn  NVRTCCACHE_MEM_SIZE is 0' && NVRTCCACHE_LOG_LEVEL=debug gives 0 doctor && out_has '^warn  NVRTCCACHE_LOG_LEVEL has no effect' || return
	NVRTCCACHE_LOWER=$tmp/nowhere:$NVRTCCACHE_DIR gives 0 doctor && out_has "^warn  NVRTCCACHE_LOWER: '$tmp/nowhere' cannot be used: No such" &&
		out_has "^warn  NVRTCCACHE_LOWER: '$NVRTCCACHE_DIR' is the cache directory itself" || return
	mkdir -m 700 "$tmp/layer" && NVRTCCACHE_LOWER=$tmp/layer gives 0 doctor && out_has "^ok    layer $tmp/layer is searched after the directory" || return
	NVRTCCACHE_TRACE=$tmp/nowhere/t gives 0 doctor && out_has "^warn  NVRTCCACHE_TRACE: '$tmp/nowhere/t' cannot be used: No such" && NVRTCCACHE_MAX_SIZE=999999T gives 0 doctor &&
		out_has '^warn  the size limit of .* is larger than the whole file system'
}
check "Settings that are refused, unknown, contradictory or in the way are warnings." settings_told

# ---- with one

no_program() {
	gives 1 doctor "$tmp/nowhere" && fails 1 && out_has "^FAIL  $tmp/nowhere: program not found$" && gives 1 doctor no-such-program-anywhere && out_has 'in PATH$' &&
		gives 1 doctor "$tmp" && out_has '^FAIL  .* cannot be executed' && echo 'no program' >"$tmp/text" && gives 1 doctor "$tmp/text" && out_has 'cannot be executed' &&
		chmod 755 "$tmp/text" && gives 1 doctor "$tmp/text" && out_has 'neither a script nor an ELF program' && : >"$tmp/empty" && chmod 755 "$tmp/empty" && gives 1 doctor "$tmp/empty" &&
		out_has 'neither a script nor' || return
	head -c 100 "$COMMAND" >"$tmp/short" && chmod 755 "$tmp/short" && gives 1 doctor "$tmp/short" && out_has 'neither a script nor' &&
		gives 1 doctor $'\e[31mred\377' && out_has '^FAIL  \?\[31mred\?: program not found'
}
check "What is no program, or may not be run, is a FAIL." no_program

other_machines() {
	cp "$COMMAND" "$tmp/other" && printf '\001' | dd of="$tmp/other" bs=1 seek=4 conv=notrunc status=none && gives 1 doctor "$tmp/other" && out_has 'for another machine than the library, or of 32 bits' || return
	cp "$COMMAND" "$tmp/other" && printf '\363' | dd of="$tmp/other" bs=1 seek=18 conv=notrunc status=none && gives 1 doctor "$tmp/other" && out_has 'for another machine'
}
check "A program of 32 bits, or for another machine, is a FAIL." other_machines

if [ -x "$LOADER/linked" ]; then
	fresh_cache
	runs() {
		gives 0 doctor "$LOADER/linked" && out_has '^ok    nvrtc: [1-9][0-9]* stored' && gives 0 doctor -- "$LOADER/linked" && out_has '^ok    nvrtc: [1-9][0-9]* hit on disk' &&
			out_has "^ok    nvrtc 13\.0, $FAKE/13/libnvrtc.so.13, linked\$" && [ "$(entries)" -gt 0 ] && says_not '^FAIL' && ! ls "${TMPDIR:-/tmp}"/nvrtccache-doctor.* 2>/dev/null
	}
	check "A program is run under the cache; the compiler that it called and the outcome of each call are reported." runs
	looked_up() { gives 0 doctor "$LOADER/lookup" handle "$FAKE/13/libnvrtc.so.13" && out_has "^ok    nvrtc 13\.0, $FAKE/13/libnvrtc.so.13, through dlopen and dlsym\$"; }
	check "A program that looks functions up and a linked one are distinguished." looked_up
	of_children() { gives 0 doctor sh -c "'$LOADER/linked' && '$LOADER/linked'" && out_has "^ok    nvrtc 13\.0, $FAKE/13/libnvrtc.so.13, linked\$"; }
	check "What the program starts counts too." of_children
	unwatchable() {
		LD_LIBRARY_PATH=$FAKE/unwatchable gives 1 doctor "$LOADER/linked" && out_has '^FAIL  nvrtc: [1-9][0-9]* bypassed \(unwatchable [1-9]' && out_has '^warn  bypassing .*: .*nftw'
	}
	check "A compiler that cannot be watched is a FAIL, with the library's own words." unwatchable
	linked_past_us() {
		gives 1 doctor "$LOADER/passing_by12" && out_has '^FAIL  nvrtc: [1-9][0-9]* bypassed \(exports [1-9]' &&
			out_has '^warn  linked: .*/passing_by12 imports functions of NVRTC, some of which bypass the cache' && gives 0 doctor "$LOADER/linked" && says_not ' imports '
	}
	check "Calls that cannot be intercepted are a FAIL, and the module linked with such names is reported." linked_past_us

	static_programs() {
		gives 1 doctor "$LOADER/static" && fails 1 && out_has '^FAIL  .*/static is linked statically: LD_PRELOAD does nothing' && gives 1 doctor "$LOADER/private_linked" &&
			out_has '^FAIL  inside: NVRTC is linked statically into .*/private_linked' && gives 0 doctor "$LOADER/linked" && says_not ' inside: '
	}
	check "A static program, and one with the compiler inside, are FAILs." static_programs
	privileged() {
		cp "$LOADER/linked" "$tmp/privileged" && chown 12345 "$tmp/privileged" && chmod 4755 "$tmp/privileged" && gives 1 doctor "$tmp/privileged" &&
			out_has '^FAIL  .*/privileged is setuid'
	}
	if [ "$(id -u)" -eq 0 ]; then
		check "A setuid program is a FAIL." privileged
	else
		skip "A setuid program is a FAIL." "only root can make one"
	fi
	no_loader() {
		local bytes
		bytes=$(strings -t d "$LOADER/linked" | grep -m 1 -E '/ld-linux[^ ]*$') && cp "$LOADER/linked" "$tmp/no-loader" &&
			printf '/nx' | dd of="$tmp/no-loader" bs=1 seek="$(awk '{ print $1 }' <<<"$bytes")" conv=notrunc status=none && gives 1 doctor "$tmp/no-loader" &&
			out_has "^FAIL  .*no-loader cannot start: its interpreter '/nx.*' is missing"
	}
	check "One whose loader is missing is a FAIL." no_loader
else
	skip "Programs that reach a compiler." "no fixtures"
fi

linked_elsewhere() {
	gives 0 doctor "$BUILD/tests/nvvm/linked" && out_has '^warn  linked: .*/nvvm/linked imports functions of libNVVM, and no call reached the cache'
}
if [ -x "$BUILD/tests/nvvm/linked" ]; then
	check "A program that is linked with libNVVM is reported." linked_elsewhere
else
	skip "A program that is linked with libNVVM is reported." "no fixture"
fi

scripts() {
	printf '#!/bin/sh\necho "$@"\n' >"$tmp/script" && printf '#!/usr/bin/env -S sh -e\n' >"$tmp/script2" && printf '#!%s\n' "$tmp/gone/sh" >"$tmp/script3" &&
		printf '#!%s\n' "$tmp/script" >"$tmp/script4" && chmod 755 "$tmp"/script* || return
	gives 0 doctor "$tmp/script" a 'b c' && out_has "^ok    $tmp/script is a script that .*/sh runs" && out_has '^a b c$' && out_has '^warn  no compilation reached the library' &&
		gives 0 doctor "$tmp/script2" && out_has "script2 is a script that .*/sh runs" && gives 0 doctor "$tmp/script4" &&
		gives 1 doctor "$tmp/script3" && out_has "^FAIL  .*script3 cannot start: its interpreter '$tmp/gone/sh' is missing"
}
check "A script is run, with its arguments; one that nothing runs is a FAIL." scripts
run_ends() {
	gives 0 doctor sh -c 'echo said; exit 7' && out_has '^said$' && out_has '^warn  the program ended with status 7' &&
		gives 0 doctor --json sh -c 'echo said' && grep -qx said "$tmp/err" && says_not '^said$' && python3 -m json.tool "$tmp/out" >/dev/null
}
check "Its exit is reported, and its output is not mixed into JSON." run_ends
not_run() {
	printf '#!/bin/sh\ntouch %s/was-run\n' "$tmp" >"$tmp/marker" && chmod 755 "$tmp/marker" && NVRTCCACHE_LIBRARY=$tmp/text.so gives 1 doctor "$tmp/marker" && [ ! -e "$tmp/was-run" ]
}
check "Without a library that loads, the program is not run." not_run

plan
