#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install and make uninstall touch what they are told to, and nothing else, whatever is in the paths.
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR PREFIX LIBDIR
built=$(cd "$BUILD" && pwd)
# A copy, since what goes wrong with paths goes wrong in the place where make runs.
mkdir "$tmp/tree" "$tmp/to" && cp -r Makefile completions docs packaging "$tmp/tree" && mkdir "$tmp/tree/tests" &&
	cp tests/tests.mk "$tmp/tree/tests" || exit 1
paths() { find "$tmp/tree" "$tmp/to" ! -type d | sort; }

# in_and_out DESTDIR PREFIX LIBDIR: -o all, as what is installed is what was built for the tests
in_and_out() {
	local settings=("DESTDIR=$1" "PREFIX=$2" "LIBDIR=$3")
	# what a path that is cut at its blank would be
	: >"$tmp/to/a" && : >"$tmp/to/my" && mkdir -p "$tmp/tree/tools/bin" && : >"$tmp/tree/tools/bin/nvrtccache" && paths >"$tmp/before" || return
	make -s -o all -C "$tmp/tree" BUILD="$built" "${settings[@]}" install || return
	[ -x "$1$2/bin/nvrtccache" ] && cmp "$built/libnvrtccache.so" "$1$3/libnvrtccache.so" && [ -e "$1$2/share/man/man1/nvrtccache.1" ] &&
		[ -e "$1$2/share/zsh/site-functions/_nvrtccache" ] && [ -e "$1$2/share/bash-completion/completions/nvrtccache" ] || return
	paths | grep -vF -e "$1$2/" -e "$1$3/" | diff "$tmp/before" - || return
	make -s -o all -C "$tmp/tree" BUILD="$built" "${settings[@]}" uninstall && paths | diff "$tmp/before" -
}
check "What is installed lies where it is told, and uninstall takes it away." in_and_out "$tmp/to/root" /opt /opt/lib/here
check "So it does where PREFIX has a blank in it." in_and_out "" "$tmp/to/my tools" "$tmp/to/my tools/lib"
check "So it does where all have blanks in them." in_and_out "$tmp/to/a root" "/opt/my tools" "/opt/my tools/lib here"
check "So it does where they have quotes in them." in_and_out "$tmp/to/a \"root\"" "/opt/o'my tools" "/opt/o'my tools/lib;here"
plan
