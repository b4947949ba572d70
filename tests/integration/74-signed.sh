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
made() { "$COMMAND" export --key-file "$tmp/keys" "$tmp/signed" >"$tmp/out" && "$COMMAND" export "$tmp/plain" >"$tmp/out" && [ "$(entries)" = 3 ] && cmp -n 32 "$tmp/signed" "$tmp/plain" && [ "$(stat -c %s "$tmp/signed")" = "$(stat -c %s "$tmp/plain")" ] && ! cmp -s "$tmp/signed" "$tmp/plain"; }
check "A signed bundle is the bundle, with signatures." made

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
check "A pipe will do." piped
# The import ends at the bad entry. Those before it are imported, and none else: of what was changed, nothing is stored.
changed() { # AT WORDS FIRST: a byte, and how many entries are before it
	cp "$tmp/signed" "$tmp/changed" && byte=$(od -An -tu1 -j "$1" -N 1 "$tmp/changed") &&
		printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$tmp/changed" bs=1 seek="$1" conv=notrunc 2>/dev/null && fresh_cache && ! "$COMMAND" import --key-file "$tmp/keys" "$tmp/changed" >"$tmp/out" 2>&1 && grep -qE "$2" "$tmp/out" && [ "$(entries)" = "$3" ] &&
		{ [ "$3" = 0 ] || "$COMMAND" verify >"$tmp/out"; } || { echo "at $1" && cat "$tmp/out" && return 1; }
}
first=$(od -An -tu8 -j 24 -N 8 "$tmp/signed") # size of the first entry
each_byte() {
	local at
	changed 0 'not a bundle' 0 && changed 8 'of format' 0 && changed 32 'a key that is not in' 0 || return
	for at in 48 79 80 $((80 + 150)) $((80 + 200)) $((79 + first)); do changed "$at" 'signature is wrong' 0 || return; done
	changed $((80 + first + 56)) 'signature is wrong' 1 && changed 24 'signature is wrong|damaged' 0
}
check "What was changed is refused, and nothing of it is stored." each_byte
cut() {
	local size at
	size=$(stat -c %s "$tmp/signed")
	for at in 24 100 $((size - 57)) $((size - 56)) $((size - 1)); do
		head -c "$at" "$tmp/signed" >"$tmp/changed" && fresh_cache && ! "$COMMAND" import --key-file "$tmp/keys" "$tmp/changed" >"$tmp/out" 2>&1 && grep -q 'damaged or cut short' "$tmp/out" || return
	done
}
check "What was cut is said to be." cut
mixed() { { head -c $((80 + first)) "$tmp/signed" && tail -c +$((81 + first)) "$tmp/plain"; } >"$tmp/changed" && fresh_cache && ! "$COMMAND" import --key-file "$tmp/keys" "$tmp/changed" >"$tmp/out" 2>&1 && grep -q 'not signed' "$tmp/out" && [ "$(entries)" = 1 ]; }
check "Behind a signed entry, one that is not signed is refused." mixed
open_keys() { cp "$tmp/keys" "$tmp/open" && chmod 644 "$tmp/open" && fresh_cache && ! "$COMMAND" import --key-file "$tmp/open" "$tmp/signed" >"$tmp/out" 2>&1 && grep -q 'chmod 600' "$tmp/out" && [ "$(entries)" = 0 ]; }
check "A key file that others can read is refused." open_keys
plan
