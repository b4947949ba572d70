#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What docs/COMPATIBILITY.md says: what earlier versions have left in a directory and in a bundle is read, shown and hit;
# what is of a later format is told apart and left alone. tests/fixtures/compatibility/make keeps what a version leaves.
. "$(dirname "$0")/lib.sh"
fixtures=$(cd "$(dirname "$0")/../fixtures/compatibility" && pwd)
top=$(cd "$fixtures/../../.." && pwd)
eval "$("$top/scripts/nvrtc-env" 2>/dev/null)"
command -v python3 >/dev/null || skip_all "no python3"
unset LD_LIBRARY_PATH XDG_CACHE_HOME # the fixtures know where their NVRTC is
export HOME=$tmp/home
mkdir "$HOME"

# A directory of a version as it was left, with nothing done to it yet: sets `place` and NVRTCCACHE_DIR.
unpack() { # VERSION
	cache_number=$((cache_number + 1))
	place=$tmp/$cache_number/$1
	mkdir "$tmp/$cache_number" && tar -C "$tmp/$cache_number" --no-same-owner -xpzf "$fixtures/$1.tar.gz" && export NVRTCCACHE_DIR=$place/cache
}
# Runs the command; leaves $tmp/out and $tmp/err.
gives() { # expected status, argument...
	local expected=$1 status=0
	shift
	"$COMMAND" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	[ "$status" -eq "$expected" ] || { echo "$*: exit status $status instead of $expected" && cat "$tmp/out" "$tmp/err" && return 1; }
}
out_has() { grep -qE -- "$1" "$tmp/out" || { cat "$tmp/out" && false; }; }
err_has() { grep -qE -- "$1" "$tmp/err" || { cat "$tmp/err" && false; }; }
compile() { "$COMMAND" run -- python3 "$fixtures/host.py" "$1" "$place" >"$tmp/printed" || return; }
programs='plain.cu options.cu names.cu header.cu wrong.cu'
results() { (cd "$NVRTCCACHE_DIR/v1" && find . -path "./??/*" -type f ! -name '*.facts' -exec sha256sum {} + | sort); }

reads() {
	local key program
	unpack "$1" && results >"$tmp/before" && gives 0 ls --json && python3 -c '
import json, sys
results = json.load(open(sys.argv[1]))
assert {(r["compiler"], r["version"]) for r in results} == {("nvrtc", "13.0")}, results
print("\n".join(r["key"] for r in results))' "$tmp/out" >"$tmp/keys" &&
		[ "$(wc -l <"$tmp/keys")" = 10 ] && gives 0 ls || return
	for program in $programs; do [ "$(grep -cE " $program( |\$)" "$tmp/out")" = 2 ] || { cat "$tmp/out" && return 1; }; done
	while read -r key; do gives 0 show "$key" && out_has '^made .* by python3 in' || return; done <"$tmp/keys"
	gives 0 verify && out_has '^Verified 10 sound entries' && results | diff "$tmp/before" -
}
shows() {
	unpack "$1" && gives 0 ls && key=$(sed -n 's/^\([0-9a-f]*\) .* [0-9.]* ms .* options.cu$/\1/p' "$tmp/out") && [ -n "$key" ] && gives 0 show "$key" && out_has '-DN=3' && out_has 'sm_80' &&
		gives 0 extract "$key" --ptx -o "$tmp/add.ptx" && python3 -c '
import json, sys
told = [p for p in json.load(open(sys.argv[1])) if p["program"] == "options.cu"][0]
assert open(sys.argv[2], "rb").read() == bytes.fromhex(told["ptx"][1]).rstrip(b"\0"), "another PTX"' "$place/real.json" "$tmp/add.ptx"
}
notes() {
	unpack "$1" && [ "$(stat_of misses)" = "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["misses"])' "$place/stats.json")" ] && gives 0 explain --last
}
# What it printed when it compiled, and not one compile.
hits() { # VERSION LIBRARY PRINTED
	compile "$2" && diff "$tmp/printed" "$place/$3.json" && [ "$(stat_of misses)" = "$((${misses:-0} + 5 - found))" ] &&
		[ "$(stat_of hits_disk)" = "$((${before_hits:-0} + found))" ] || {
		gives 0 explain --last 5
		cat "$tmp/out"
		return 1
	}
}
hits_there() { unpack "$1" && misses=$(stat_of misses) before_hits=$(stat_of hits_disk) && hits "$1" "${2:-$place/fake/libnvrtc.so.13}" "$3"; }
imports() { unpack "$1" && fresh_cache && gives 0 import "$place/bundle.nvb" && out_has '^Imported 10 entries' && gives 0 verify && out_has '^Verified 10 sound entries'; }
hits_imported() { imports "$1" && misses='' before_hits='' && hits "$1" "${2:-$place/fake/libnvrtc.so.13}" "$3"; }

for fixture in "$fixtures"/*.tar.gz; do
	version=$(basename "$fixture" .tar.gz)
	check "$version: its results are listed, shown and sound, and are left as they are." reads "$version"
	check "$version: what a result is of, and what it holds." shows "$version"
	check "$version: its counts and its journal are read." notes "$version"
	check "$version: its bundle is imported." imports "$version"
	if grep -q 'REQUEST_FORMAT 3$' "$top/keygen/surroundings.h"; then
		verb=hit found=5
	else
		verb='asked for no more, as their keys are of an earlier format' found=0
	fi
	for where in hits_there hits_imported; do
		sentence="$version: its results are $verb$([ $where = hits_there ] || echo ', when they come from its bundle')"
		needs "the fixture's NVRTC is for x86-64" [ "$(uname -m)" = x86_64 ]
		check_there "$sentence." $where "$version" '' fake
		needs "another NVRTC here, or none" [ "$(readelf -n "${NVRTC_LIB:-}/${NVRTC_SONAME:-}" 2>/dev/null | sed -n 's/.*Build ID: //p')" = "$(tar -xzOf "$fixture" "$version/real.build-id")" ]
		check_there "$sentence, of the real NVRTC." $where "$version" "${NVRTC_LIB:-}/${NVRTC_SONAME:-}" real
	done
done

# ---- later formats

with_number() { # FILE OFFSET NUMBER: a byte of a file
	printf '%b' "\\0$(printf %o "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
first_entry() { (cd "$NVRTCCACHE_DIR/v1" && find ./?? -type f ! -name '*.facts' | sort | sed -n 's|^\./||; 1p'); }
later_bundle() {
	unpack 0.1.0 && fresh_cache && cp "$place/bundle.nvb" "$tmp/later.nvb" && with_number "$tmp/later.nvb" 8 4 && gives 1 import "$tmp/later.nvb" && err_has 'later.nvb.* format 4' &&
		[ "$(entries)" = 0 ]
}
check "A bundle of a later format is refused in words, and nothing of it is taken." later_bundle

# Whatever is done in the directory, the homes of other layouts stay as they are.
later_home() {
	local file=v2/ab/00000000000000000000000000000000000000000000000000000000000000
	unpack 0.1.0 && mkdir -p "$NVRTCCACHE_DIR/v2/ab" && cp -p "$NVRTCCACHE_DIR/v1/$(first_entry)" "$NVRTCCACHE_DIR/$file" && touch -d 2020-01-01 "$NVRTCCACHE_DIR/$file" && echo later >"$NVRTCCACHE_DIR/v2/lock" &&
		(cd "$NVRTCCACHE_DIR" && find v2 -printf '%p %m %T@ %i %s\n' | sort) >"$tmp/before" || return
	gives 0 ls && [ "$(wc -l <"$tmp/out")" = 11 ] && NVRTCCACHE_MAX_SIZE=1K gives 0 import "$place/bundle.nvb" && gives 0 verify --remove && gives 0 prune --max-size 1 && gives 0 prune --older-than 1s && gives 0 clear &&
		[ "$(entries)" = 0 ] && (cd "$NVRTCCACHE_DIR" && find v2 -printf '%p %m %T@ %i %s\n' | sort) | diff "$tmp/before" -
}
check "Files of a later layout are never changed." later_home

# One file of v1, of a format that is not known, among results that are.
later_entry() {
	local file
	unpack 0.1.0 && file=$(first_entry) && with_number "$NVRTCCACHE_DIR/v1/$file" 8 3 && results >"$tmp/before" && gives 0 ls && [ "$(wc -l <"$tmp/out")" = 10 ] &&
		gives 0 verify && out_has '^Verified 9 sound entries' && out_has '^ *1  in the format of another version: left alone' && gives 0 verify --remove && results | diff "$tmp/before" - &&
		gives 0 export "$tmp/nine.nvb" && out_has '^Exported 9 entries' && results | diff "$tmp/before" -
}
check "A result of a later format is not reported as damaged, and is not changed." later_entry
later_entry_missed() {
	local file
	unpack 0.1.0 && fresh_cache && compile "$place/fake/libnvrtc.so.13" && gives 0 ls && key=$(sed -n 's/^\([0-9a-f]*\) .* us .* plain.cu$/\1/p' "$tmp/out") && file=$(cd "$NVRTCCACHE_DIR/v1" && ls -d "${key:0:2}/${key:2}"*) && with_number "$NVRTCCACHE_DIR/v1/$file" 8 3 &&
		rm -f "$NVRTCCACHE_DIR/v1/events" &&
		compile "$place/fake/libnvrtc.so.13" && diff "$tmp/printed" "$place/fake.json" && [ "$(stat_of misses)" = 1 ] && compile "$place/fake/libnvrtc.so.13" && [ "$(stat_of misses)" = 1 ]
}
needs "the fixture's NVRTC is for x86-64" [ "$(uname -m)" = x86_64 ]
check_there "It is a miss, and the next result of its key takes its place." later_entry_missed
plan
