#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# export --key-file signs a bundle; import --key-file takes no other.
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
[ -e "$NVRTC" ] && [ -x "$LIFE" ] || skip_all "no fixture"
keys() { # FILE ID SEED
	printf '%s %s\n' "$2" "$(printf '%s' "$3" | sha256sum | cut -d ' ' -f 1)" >"$1" && chmod 600 "$1"
}
keys "$tmp/keys" one 1
keys "$tmp/other-keys" two 2
cat "$tmp/other-keys" "$tmp/keys" >"$tmp/both" && chmod 600 "$tmp/both"
fresh_cache
for kernel in 1 2 3; do LD_PRELOAD=$LIBRARY "$LIFE" "$NVRTC" trivial 0 -arch=sm_90 "-DK=$kernel" >"$tmp/life.out" 2>&1; done
made() { "$COMMAND" export --key-file "$tmp/keys" "$tmp/signed" >"$tmp/out" && "$COMMAND" export "$tmp/plain" >"$tmp/out" && [ "$(entries)" = 3 ] && cmp -n "$(($(stat -c %s "$tmp/plain") - 48))" "$tmp/signed" "$tmp/plain" && ! cmp -s "$tmp/signed" "$tmp/plain"; }
check "A signed bundle is the bundle, and its signature." made
NVRTCCACHE_DIR=$tmp/none "$COMMAND" export --key-file "$tmp/keys" "$tmp/fewer" >"$tmp/out" # of other entries, with a signature of its own

takes() { fresh_cache && "$COMMAND" import "$@" >"$tmp/out" 2>&1 && [ "$(entries)" = 3 ] || { cat "$tmp/out" && return 1; }; }
refuses() { # WORDS ARGUMENT...
	local words=$1
	shift
	fresh_cache && ! "$COMMAND" import "$@" >"$tmp/out" 2>&1 && grep -qE "$words" "$tmp/out" && [ "$(entries)" = 0 ] || { cat "$tmp/out" && return 1; }
}
check "What a key of the file has signed is imported." takes --key-file "$tmp/keys" "$tmp/signed"
check "So it is where another key is the first." takes --key-file "$tmp/both" "$tmp/signed"
check "Without a key file it is imported like others." takes "$tmp/signed"
from_input() { takes --key-file "$tmp/keys" - <"$tmp/signed"; }
check "A file may be standard input." from_input
check "What is not signed is refused." refuses "not signed" --key-file "$tmp/keys" "$tmp/plain"
check "What another key has signed is refused." refuses "a key that is not in" --key-file "$tmp/other-keys" "$tmp/signed"
piped() { takes --key-file "$tmp/keys" - < <(cat "$tmp/signed"); }
check "A pipe will do, because it is copied." piped
changed() { # each of some bytes, also of the signature
	local size at byte
	size=$(stat -c %s "$tmp/signed")
	for at in 0 9 64 $((size / 2)) $((size - 65)) $((size - 20)) $((size - 1)); do
		cp "$tmp/signed" "$tmp/changed" && byte=$(od -An -tu1 -j "$at" -N 1 "$tmp/changed") &&
			printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$tmp/changed" bs=1 seek="$at" conv=notrunc 2>/dev/null && refuses "not a bundle|of format|damaged or cut|signature is wrong" --key-file "$tmp/keys" "$tmp/changed" || { echo "at $at" && return 1; }
	done
	for at in $((size - 64)) $((size - 48)) $((size - 1)) 100 24; do
		head -c "$at" "$tmp/signed" >"$tmp/changed" && refuses "damaged or cut short" --key-file "$tmp/keys" "$tmp/changed" || return
	done
	head -c $((size - 48)) "$tmp/signed" >"$tmp/changed" && tail -c 48 "$tmp/fewer" >>"$tmp/changed" && refuses "signature is wrong" --key-file "$tmp/keys" "$tmp/changed"
}
check "What was changed, cut or shortened is refused, and nothing of it is stored." changed
open_keys() { cp "$tmp/keys" "$tmp/open" && chmod 644 "$tmp/open" && fresh_cache && ! "$COMMAND" import --key-file "$tmp/open" "$tmp/signed" >"$tmp/out" 2>&1 && grep -q 'chmod 600' "$tmp/out" && [ "$(entries)" = 0 ]; }
check "A key file that others can read is refused." open_keys
plan
