# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# helpers: what commands of the transcripts call by a short name
#
#   brief ARGUMENT...   nvrtccache, and of what it writes to stderr and returns one line: "[STATUS] MESSAGE", without the
#                       line "see 'nvrtccache help ...'"
#   json EXPRESSION     prints a Python expression about `told`, the JSON on standard input
#   plant COUNT         puts files of 1000 bytes where entries lie; the N-th of them was used N hours ago, at a whole second:
#                       other times may have the mark of a short-lived entry (cache/recency.h)
#   entries             how many entries the cache directory has
#   file N              the N-th of their files, in the order of the names
#   key N               its key
#   preloaded COMMAND   runs it with the library preloaded, not by `nvrtccache run`
#   compile OPTION...   runs a program that compiles a kernel with the fake NVRTC; prints what the library says on stderr
#   fresh               removes the cache directory

LIBRARY=$BUILD/libnvrtccache.so
FAKE=$BUILD/tests/fake
NVRTC=$FAKE/13/libnvrtc.so.13
# shellcheck disable=SC2034 # of the transcripts
LINKED=$BUILD/tests/fixtures/loader/linked
umask 022
mkdir "$HOME"

brief() {
	local said status
	{ said=$(nvrtccache "$@" 2>&1 >&3); } 3>&1
	status=$?
	echo "[$status] ${said%$'\n'"nvrtccache: see 'nvrtccache help"*}"
}

json() {
	python3 -c 'import json, os, sys; told = json.load(sys.stdin); print(eval("(" + sys.argv[1] + ")"))' "$1"
}

plant() {
	local i path
	for ((i = 0; i < $1; i++)); do
		path=$NVRTCCACHE_DIR/v1/$(printf '%02x/%062x' $((i * 5 % 256)) "$i")
		(umask 077 && mkdir -p "${path%/*}" && head -c 1000 /dev/zero >"$path" && touch -d "@$((EPOCHSECONDS - 3600 * i))" "$path")
	done
}

files() { find "$NVRTCCACHE_DIR" -type f 2>/dev/null | grep -E '/v1/[0-9a-f]{2}/[0-9a-f]{62}$' | sort; }
entries() { files | wc -l; }
file() { files | sed -n "${1}p"; }
key() { file "$1" | sed -E 's,.*/v1/(..)/,\1,'; }

preloaded() { LD_PRELOAD=$LIBRARY "$@"; }
compile() { nvrtccache run "$BUILD/tests/life" "$NVRTC" trivial 0 "$@" 2>&1 >/dev/null | sed -n '/nvrtccache/p'; }
fresh() { rm -rf "$NVRTCCACHE_DIR"; }
