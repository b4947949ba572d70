#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install and make uninstall touch what they are told to, and nothing else, whatever is in the paths; and what is
# installed is in order, whatever it was built with.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR PREFIX LIBDIR
built=$(cd "$BUILD" && pwd)
top=$PWD
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
check "Files are installed where the settings say, and uninstall removes them." in_and_out "$tmp/to/root" /opt /opt/lib/here
check "So it does where PREFIX has a blank in it." in_and_out "" "$tmp/to/my tools" "$tmp/to/my tools/lib"
check "So it does where all have blanks in them." in_and_out "$tmp/to/a root" "/opt/my tools" "/opt/my tools/lib here"
check "So it does where they have quotes in them." in_and_out "$tmp/to/a \"root\"" "/opt/o'my tools" "/opt/o'my tools/lib;here"

# A program that starts while a library is written gets half of it, and ends (SIGBUS).
is_replaced() {
	local settings=("DESTDIR=$tmp/to/old" PREFIX=/opt LIBDIR=/opt/lib) library=$tmp/to/old/opt/lib/libnvrtccache.so opened
	mkdir -p "${library%/*}" && echo older >"$library" && exec {opened}<"$library" &&
		make -s -o all -C "$tmp/tree" BUILD="$built" "${settings[@]}" install && cmp "$built/libnvrtccache.so" "$library" &&
		[ "$(cat <&"$opened")" = older ]
}
check "Files mapped into running programs stay unchanged." is_replaced
no_room() { # which is a limit of 16 KiB here
	local settings=("DESTDIR=$tmp/to/full" PREFIX=/opt LIBDIR=/opt/lib) file
	for file in lib/libnvrtccache.so bin/nvrtccache; do
		mkdir -p "$tmp/to/full/opt/${file%/*}" && echo older >"$tmp/to/full/opt/$file" || return
	done
	! (ulimit -f 16 && make -k -s -o all -C "$tmp/tree" BUILD="$built" "${settings[@]}" install) &&
		find "$tmp/to/full" -type f | sort >"$tmp/left" && diff "$tmp/left" - <<-TEXT && ! xargs grep -Lx older <"$tmp/left" | grep .
			$tmp/to/full/opt/bin/nvrtccache
			$tmp/to/full/opt/lib/libnvrtccache.so
		TEXT
}
check "Until the new library is whole the old one is there, and where it never will be, stays." no_room

no_blank() { ! make -n -C "$top" BUILD="$tmp/a build" >"$tmp/out" 2>"$tmp/err" && cat "$tmp/err" && grep -q "BUILD is '$tmp/a build', and make takes no blank in it" "$tmp/err"; }
check "A blank in BUILD, which make cannot have, is refused in words." no_blank

# Of the sources, as the command is told where the library is when it is compiled.
says() { # PREFIX LIBDIR: what the command is told
	make -s -C "$top" BUILD="$tmp/own" PREFIX="$1" LIBDIR="$2" "$tmp/own/cli/console/library.o" && grep -aoE '[^[:cntrl:]]+/libnvrtccache.so' "$tmp/own/cli/console/library.o" >"$tmp/said" && cat "$tmp/said"
}
told() { says /opt "/opt/o'my \"li\\bs\"" && grep -qxF "/opt/o'my \"li\\bs\"/libnvrtccache.so" "$tmp/said"; }
check "LIBDIR may have blanks and quotes in it when the command is built, too." told
told_anew() { says /opt /opt/there && grep -qxF /opt/there/libnvrtccache.so "$tmp/said" && says /opt /opt/here && grep -qxF /opt/here/libnvrtccache.so "$tmp/said"; }
check "make after make with another LIBDIR: the command looks in the new one." told_anew
not_anew() {
	local directory
	says /opt /opt/lib || return
	for directory in lib lib64 "lib/$(uname -m)-linux-gnu"; do
		make -s -q -C "$top" BUILD="$tmp/own" PREFIX=/usr LIBDIR="/usr/$directory" "$tmp/own/cli/libdir.h" || return
	done
}
check "With another PREFIX nothing is rebuilt, because the command looks next to itself." not_anew

# What a distribution or its user builds with; the objects are those of the tests, but for the ones that it is about.
linked_with() { # FLAGS OBJECT...: where the library is then
	local flags=$1
	rm -rf "$tmp/own" && mkdir "$tmp/own" && cp -rp "$built"/{cache,keygen,interpose} "$tmp/own" && (cd "$tmp/own" && rm -f "${@:2}") &&
		make -s -C "$top" BUILD="$tmp/own" CFLAGS="$flags" LDFLAGS="$flags" "$tmp/own/libnvrtccache.so" && bash "$top/tests/integration/20-exports.sh" "$tmp/own"
}
lto() { linked_with "-O2 -flto" interpose/{nvrtc,nvjitlink,nvvm}/functions.o interpose/door/dlsym_filter.o; }
check "Built with -flto it has the same exports." lto
check "Linked with -Ofast it leaves the processor's arithmetic as it is: nothing of the compiler's runs when it is loaded." linked_with -Ofast
plan
