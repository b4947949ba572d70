#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What users install is built for an old C library: it loads everywhere, needs nothing else, and is the same bytes
# wherever it was built. It is made here, as `make dist` makes it.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS
oldest=2.17
machine=$(uname -m)
portable=$top/build/portable/$machine

packaging/toolchain >"$tmp/said" 2>&1 || skip_all "$(tail -1 "$tmp/said")"
check "It can be made for both architectures." make -s portable
for architecture in x86_64 aarch64; do
	loader=
	[ $architecture != aarch64 ] || loader='ld-linux-aarch64.so.1 ' # which has the stack's guard
	made=build/portable/$architecture
	needs_alone() { # FILE LIBRARY...: as packaging/needs tells it
		packaging/needs --most "$oldest" "$made/$1" >"$tmp/floor" || return
		cat "$tmp/floor"
		sed 's/.*, needs //' "$tmp/floor" | tr ' ' '\n' | grep -v '^$' | grep -vxF -e "${loader% }" "${@:2}" >"$tmp/more"
		grep -q 'needs libc.so.6' "$tmp/floor" && [ ! -s "$tmp/more" ]
	}
	check "The library of $architecture needs libc alone, and nothing that glibc $oldest lacks." needs_alone libnvrtccache.so -e libc.so.6
	check "The command of $architecture needs no library but libc's, and nothing that glibc $oldest lacks." \
		needs_alone nvrtccache -e libc.so.6 -e libpthread.so.0 -e libdl.so.2 -e libm.so.6
	check "What the library of $architecture shows to the loader is in order." bash "$here/20-exports.sh" "$made"
done
printf '#include <stdlib.h>\n#include <unistd.h>\nint main(void) { char one[9]; return getentropy(one, sizeof(one)); }\n' >"$tmp/young.c"
refuses() {
	build/tools/zig/zig cc -target "$machine-linux-gnu.2.25" -o "$tmp/young" "$tmp/young.c" || return
	! packaging/needs --most "$oldest" "$tmp/young" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/err" &&
		grep -q 'needs getentropy@GLIBC_2.25' "$tmp/err" && packaging/needs --most 2.25 "$tmp/young"
}
export ZIG_GLOBAL_CACHE_DIR=$top/build/tools/cache ZIG_LOCAL_CACHE_DIR=$top/build/tools/cache
check "A file that needs more is refused, with the symbol that needs it." refuses

# The fixtures of 10-loader.sh, built for the floor too, so that they run with old C libraries.
fixtures=$portable/tests/fixtures/loader
targets=("$fixtures"/{linked,lookup,host,plain,bare,module{11,12,13}.so,table_taker.so,table_user.so}
	"$portable"/tests/fake/{11/libnvrtc{.so.11.2,-builtins.so.11.8},12/libnvrtc{.so.12,-builtins.so.12.9},13/libnvrtc{.so.13,-builtins.so.13.0}})
check "Programs and a compiler to try it with can be made." make -s FLOOR=$oldest "${targets[@]/#"$top/"/}"
so13=$portable/tests/fake/13/libnvrtc.so.13
LIBRARY=$portable/libnvrtccache.so COMMAND=$portable/nvrtccache

# The same lines without us, with an empty cache and with the filled one, but for how often NVRTC worked: in the end never.
same_lines() { # HOW-OFTEN-AT-MOST COMMAND...
	local least=$1
	shift
	fresh_cache
	"${under[@]}" "$@" >"$tmp/bare" 2>&1
	LD_PRELOAD=$LIBRARY "${under[@]}" "$@" >"$tmp/cold" 2>&1
	LD_PRELOAD=$LIBRARY "${under[@]}" "$@" >"$tmp/warm" 2>&1
	tail -n 30 "$tmp/warm"
	diff <(grep -v '^compiles ' "$tmp/bare") <(grep -v '^compiles ' "$tmp/cold") &&
		diff <(grep -v '^compiles ' "$tmp/bare") <(grep -v '^compiles ' "$tmp/warm") || return
	[ "$least" = 0 ] || { grep -q '^compiles [1-9]' "$tmp/cold" && ! grep -q '^compiles [1-9]' "$tmp/warm"; }
}
tries() {
	local with=$1 mode
	check "$with: a linked program is cached." same_lines 1 "$fixtures/linked"
	check "$with: a linked program in eight threads is cached." same_lines 1 "$fixtures/linked" threads
	check "$with: a forked child is cached." same_lines 1 "$fixtures/linked" in-child
	check "$with: modules of three versions are cached." same_lines 1 \
		"$fixtures/host" modules "$fixtures/module13.so" "$fixtures/module12.so" "$fixtures/module11.so"
	check "$with: addresses of functions are cached." same_lines 1 "$fixtures/host" table "$fixtures/table_taker.so" "$fixtures/table_user.so"
	for mode in handle old next map reopen; do
		check "$with: dlopen and dlsym are cached ($mode)." same_lines 1 "$fixtures/lookup" $mode "$so13"
	done
	check "$with: dlvsym is cached." same_lines 1 "$fixtures/lookup" dlvsym "$so13" libnvrtc.so.13
	check "$with: errors of dlsym are the loader's own." same_lines 0 "$fixtures/lookup" errors "$so13"
	check "$with: a program without NVRTC finds nothing of it." same_lines 0 "$fixtures/plain"
	check "$with: a program with libc alone asks for dlsym and lives." same_lines 0 "$fixtures/bare"
}
# What make dist packs: used as it is unpacked, and the same where and when somebody else builds it.
export SOURCE_DATE_EPOCH=1700000000
mkdir -p "$tmp/unpacked"
packs() { packaging/tarball "$portable" "$machine" "$tmp" && tar -C "$tmp/unpacked" -xzf "$tmp"/nvrtccache-*-"$machine.tar.gz"; }
check "It can be packed, and unpacked." packs
unpacked=$(echo "$tmp"/unpacked/nvrtccache-*)
used() {
	fresh_cache
	"$unpacked/bin/nvrtccache" run -- "$fixtures/linked" >"$tmp/first" && "$unpacked/bin/nvrtccache" run -- "$fixtures/linked" >"$tmp/second" &&
		grep -qx 'compiles [1-9]' "$tmp/first" && grep -qx 'compiles 0' "$tmp/second"
}
check "The command of the unpacked archive finds the library next to it." used
again() {
	mkdir "$tmp/another" && cp -r Makefile LICENSE CHANGELOG.md cache keygen interpose cli completions docs packaging "$tmp/another" || return
	find "$tmp/another" -type f -exec touch -d 2001-02-03 {} + &&
		(cd "$tmp/another" && umask 077 && TZ=Pacific/Auckland TOOLS=$top/build/tools make -s ARCH="$machine" FLOOR=$oldest &&
			packaging/tarball "build/portable/$machine" "$machine" "$tmp/another") || return
	cmp "$tmp"/nvrtccache-*-"$machine.tar.gz" "$tmp"/another/nvrtccache-*-"$machine.tar.gz"
}
check "It has the same bytes, wherever and whenever it is built." again

installs() {
	make -s FLOOR=$oldest install DESTDIR="$tmp/root" PREFIX=/opt LIBDIR=/opt/lib/here && [ -x "$tmp/root/opt/bin/nvrtccache" ] &&
		[ -e "$tmp/root/opt/lib/here/libnvrtccache.so" ] && make -s FLOOR=$oldest uninstall DESTDIR="$tmp/root" PREFIX=/opt LIBDIR=/opt/lib/here &&
		find "$tmp/root" ! -type d >"$tmp/left" && cat "$tmp/left" && [ ! -s "$tmp/left" ]
}
check "make install installs it where the settings say, and make uninstall removes all of it." installs
callers_own() { # on the command line, where they would replace what the Makefile says
	make -s FLOOR=$oldest BUILD="$tmp/own" CPPFLAGS=-DOF_THE_CALLER CFLAGS=-O1 "$tmp/own/cache/digits.o" "$tmp/own/cli/console/library.o"
}
check "CPPFLAGS and CFLAGS may be given to make." callers_own

under=()
tries "With this machine's C library"
if [ "$machine" != x86_64 ] || ! packaging/old-libc >"$tmp/libcs" 2>"$tmp/said"; then
	skip "It loads with old C libraries." "$(tail -1 "$tmp/said" 2>/dev/null || echo "they are for x86-64")"
else
	while read -r version loader directory; do
		under=("$loader" --library-path "$directory")
		is_that() { "${under[@]}" "$directory/libc.so.6" | grep -q "version $version"; }
		check "The C library $version runs." is_that
		tries "With glibc $version"
		commands() {
			fresh_cache
			LD_PRELOAD=$LIBRARY "${under[@]}" "$fixtures/linked" >"$tmp/out" &&
				"${under[@]}" "$COMMAND" ls >"$tmp/ls" && "${under[@]}" "$COMMAND" verify && grep -c . "$tmp/ls"
		}
		check "With glibc $version: the command lists the cached results and verifies them." commands
	done <"$tmp/libcs"
fi
plan
