#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Which libnvrtc-builtins a result depends on, and that a hit asks for the one that NVRTC would load: by the loader's own
# order, and by SONAME among what is loaded.
# weight: 6
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
NAME=libnvrtc-builtins.so.13.0
[ -x "$LIFE" ] && [ -e "$FAKE/13/$NAME" ] || skip_all "no fake NVRTC in $BUILD"
runs_here readelf || skip_all "no readelf for this machine's files"
eval "$("$(dirname "$0")/../../scripts/nvrtc-env" 2>/dev/null)"
unset LD_LIBRARY_PATH
cd "$tmp" || exit 1

compile() { preloaded "$LIFE" "$tmp/place/libnvrtc.so.13" trivial "${ROUNDS:-0}" -arch=sm_90 >"$tmp/out" 2>&1; }
# Prints the numbers of misses and of hits on disk.
counted() { echo "$(stat_of misses) $(stat_of hits_disk)"; }
# Writes another build of the fake's builtins: another build-id, and with a third argument another SONAME.
other_builtins() { # FILE BYTES [SONAME of equal length]
	local note
	mkdir -p "$(dirname "$1")"
	sed "s/$NAME/${3:-$NAME}/g" "$FAKE/13/$NAME" >"$1"
	note=$(readelf -SW "$1" | sed -n 's/.*\.note\.gnu\.build-id *NOTE *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	printf '%b' "$2" | dd of="$1" bs=1 seek=$((16#$note + 16)) conv=notrunc 2>/dev/null
}
place() { # a fresh NVRTC with its builtins beside it, which its RUNPATH finds
	fresh_cache
	rm -rf "$tmp/place"
	mkdir "$tmp/place"
	cp "$FAKE/13/libnvrtc.so.13" "$FAKE/13/$NAME" "$tmp/place"
}
other_builtins "$tmp/path/$NAME" '\377\377'
other_builtins "$tmp/odd/$NAME" '\376\376' "${NAME/builtins/builtons}"
other_builtins "$tmp/opened/elsewhere.so" '\375\375'

replaced() {
	place && compile && compile && [ "$(counted)" = '1 1' ] || return
	other_builtins "$tmp/new" '\374\374' && mv "$tmp/new" "$tmp/place/$NAME"
	compile && [ "$(counted)" = '2 1' ] && compile && [ "$(counted)" = '2 2' ]
}
check "A result of builtins that were replaced is no hit." replaced
library_path() {
	place && compile || return
	LD_LIBRARY_PATH=$tmp/path compile && [ "$(counted)" = '2 0' ] || return
	compile && LD_LIBRARY_PATH=$tmp/path compile && [ "$(counted)" = '2 2' ] && [ "$(entries)" = 1 ]
}
check "Builtins that LD_LIBRARY_PATH names are another dependency of the same key." library_path
loaded() {
	place && compile || return
	after=$tmp/opened/elsewhere.so compile && [ "$(counted)" = '2 0' ]
}
check "Loaded builtins count by their SONAME, whatever the name of their file." loaded
misnamed() {
	place && after=$tmp/odd/$NAME compile && compile && [ "$(counted)" = '1 1' ] || return
	other_builtins "$tmp/new" '\374\374' && mv "$tmp/new" "$tmp/place/$NAME"
	after=$tmp/odd/$NAME compile && [ "$(counted)" = '2 1' ]
}
check "A loaded file with the name of builtins and another SONAME does not count." misnamed
other_opener() {
	place && before=$BUILD/tests/fixtures/libother_builtins.so OTHER_BUILTINS=$tmp/path/$NAME compile || return
	[ "$(stat_of stores)" = 1 ] && compile && [ "$(counted)" = '2 0' ]
}
check "What was compiled with other builtins than the loader's rules find says so." other_opener
nameless() {
	place && other_builtins "$tmp/place/$NAME" '\376\376' "${NAME/builtins/builtons}" || return
	compile && [ "$(stat_of stores) $(reason_of builtins)" = '0 1' ]
}
check "What was compiled with builtins of another SONAME is not cached, for another process may know others." nameless
variants() {
	place && compile && mkdir "$tmp/place/glibc-hwcaps" && compile && [ "$(counted)" = '2 0' ] || return
	ROUNDS=3 compile && [ "$(counted)" = '3 0' ] && [ "$(stat_of hits_memory)" -ge 3 ]
}
check "Beside directories for processor variants the first compile of a process is real, later ones hit." variants

# ---- loaders whose order differs: real builtins that only ld.so.cache finds
loader=$(readelf -lW "$LIFE" | sed -n 's/.*interpreter: \(.*\)]/\1/p')
real=${NVRTC_LIB:-}/${NVRTC_SONAME:-}
plain() { timeout 600 "$LIFE" "$real" trivial 0 -arch=sm_90 >"$tmp/out" 2>&1; }
if ! [ -e "$real" ] || ! "$loader" --help 2>/dev/null | grep -q -e --preload ||
	"$loader" --inhibit-cache "$LIFE" "$real" trivial 0 -arch=sm_90 >/dev/null 2>&1 || ! plain; then
	skip "A loader that ignores ld.so.cache is not answered from it." "needs an NVRTC that only ld.so.cache leads to"
	skip "A directory before ld.so.cache is searched before it, though other systems' loaders search it last." \
		"needs an NVRTC that only ld.so.cache leads to"
	plan
fi
ignores_cache() {
	preloaded "$LIFE" "$real" trivial 0 -arch=sm_90 >"$tmp/out" 2>&1 && [ "$(stat_of stores)" = 1 ] || return
	! timeout 600 "$loader" --inhibit-cache --preload "$LIBRARY" "$LIFE" "$real" trivial 0 -arch=sm_90 >"$tmp/out" 2>&1
}
fresh_cache
check "A loader that ignores ld.so.cache is not answered from it." ignores_cache
# A directory that is a default one of other distributions' loaders, and not of this one, with a file that does not load.
sentence="A directory before ld.so.cache is searched before it, though other systems' loaders search it last."
foreign=''
for directory in /usr/lib64 /lib64; do
	[ -d "$directory" ] && ! grep -aq -e "$directory/"$'\001' <(tr '\0' '\001' <"$loader") && foreign=$directory && break
done
if [ -z "$foreign" ] || ! unshare -m true 2>/dev/null; then
	skip "$sentence" "needs such a directory, and a mount namespace"
	plan
fi
cp -aL "$foreign/." "$tmp/foreign" 2>/dev/null
echo 'no library' >"$tmp/foreign/$(basename "$(readlink -f "${real%/*}/${NVRTC_SONAME/libnvrtc/libnvrtc-builtins}.0")")"
in_foreign() { # CMD...
	LD_LIBRARY_PATH=$foreign unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$tmp/foreign" "$foreign" "$@"
}
searched_first() {
	! in_foreign "$LIFE" "$real" trivial 0 -arch=sm_90 || return
	! in_foreign env LD_PRELOAD="$LIBRARY" "$LIFE" "$real" trivial 0 -arch=sm_90
}
check "$sentence" searched_first
plan
