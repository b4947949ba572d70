#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stamps: results of other nodes are read once, equal ones are one, and the clock is that of the files.
# weight: 10
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
CLOCK=$BUILD/tests/fixtures/libother_clock.so
[ -x "$LIFE" ] && [ -e "$NVRTC" ] && [ -e "$CLOCK" ] || skip_all "no fixture"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
mounted=''
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$tmp"' EXIT

compile() { timeout 120 "$COMMAND" run "$LIFE" "$NVRTC" trivial 0 "--fake-open=$1" >/dev/null 2>>"$tmp/log"; }
logged() { # SENTENCE: how often in the log of the last run
	grep -c "$1" "$tmp/run.log"
}
watched() { # HEADER
	rm -f "$tmp/run.log"
	NVRTCCACHE_LOG=$tmp/run.log NVRTCCACHE_LOG_LEVEL=info compile "$1"
}
old_header() { # FILE TEXT: one that is not as new as the compile; its time is a dependency of what follows
	echo "$2" >"$1" && touch -d 2001-01-01 "$1" && sleep 0.1
}

fresh_cache
own=$NVRTCCACHE_DIR
old_header "$tmp/h" 'int h;' && compile "$tmp/h"

own_costs_nothing() { watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 1 ] && [ "$(logged "updated the entry's stamps")" -eq 0 ]; }
check "A result of this node is believed, and not written again." own_costs_nothing

"$COMMAND" export "$tmp/bundle" >/dev/null
stampless() { # the device and inode of no file of this node are in it
	cp "$tmp/h" "$tmp/h2" && mv "$tmp/h2" "$tmp/h" && touch -d 2001-01-01 "$tmp/h" && sleep 0.1 || return
	fresh_cache
	compile "$tmp/h" && "$COMMAND" export "$tmp/bundle2" >/dev/null && cmp <(bodies "$tmp/bundle") <(bodies "$tmp/bundle2")
}
# Frames say when a result was made, and checksums follow from that: the dependencies alone.
bodies() {
	python3 - "$1" <<'PY'
import struct, sys
data = open(sys.argv[1], "rb").read()[64:]
while data:
    entry = data.find(b"\x8eNVRTC\r\n")
    if entry < 0:
        break
    total, dependencies = struct.unpack_from("<QQ", data, entry + 48)
    sys.stdout.buffer.write(data[entry + 192:entry + 192 + dependencies])
    data = data[entry + total:]
PY
}
check "Exports of two nodes that saw other inodes have the same dependencies." stampless

foreign() {
	fresh_cache
	"$COMMAND" import "$tmp/bundle" >/dev/null && watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 1 ] &&
		[ "$(logged "updated the entry's stamps")" -eq 1 ] && watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 1 ] &&
		[ "$(logged "updated the entry's stamps")" -eq 0 ] || { cat "$tmp/run.log" && false; }
}
check "An imported result is read once, stamped, and believed from then on." foreign

one_result() {
	local before after
	before=$(stat -c %s "$NVRTCCACHE_DIR"/v1/??/*[0-9a-f])
	"$COMMAND" import "$tmp/bundle" >/dev/null && "$COMMAND" import "$tmp/bundle2" >/dev/null &&
		after=$(stat -c %s "$NVRTCCACHE_DIR"/v1/??/*[0-9a-f]) && [ "$before" = "$after" ] || { echo "$before, $after" && false; }
}
check "Equal results of several nodes are one result." one_result

below() {
	fresh_cache
	local upper=$NVRTCCACHE_DIR lower=$tmp/lower
	NVRTCCACHE_DIR=$lower "$COMMAND" import "$tmp/bundle" >/dev/null && find "$lower" -type f -path '*/v1/??/*' -exec sha256sum {} + >"$tmp/sums" &&
		export NVRTCCACHE_LOWER=$lower && watched "$tmp/h" && [ "$(entries)" -eq 1 ] && [ "$(logged "updated the entry's stamps")" -eq 1 ] &&
		watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 1 ] && [ "$(logged "updated the entry's stamps")" -eq 0 ] && sha256sum --quiet -c "$tmp/sums"
	local result=$?
	unset NVRTCCACHE_LOWER
	return "$result"
}
check "What a cache below had to have read comes to lie in the directory, stamped; below, nothing is written." below

read_only() {
	fresh_cache
	"$COMMAND" import "$tmp/bundle" >/dev/null && find "$NVRTCCACHE_DIR" -type f -path '*/v1/??/*' -exec sha256sum {} + >"$tmp/sums" &&
		NVRTCCACHE_READONLY=1 watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 1 ] && sha256sum --quiet -c "$tmp/sums"
}
check "A read-only directory is not written for stamps." read_only

changed() {
	export NVRTCCACHE_DIR=$own
	touch -d 2001-01-01 "$tmp/h" && sleep 0.1 && watched "$tmp/h" && [ "$(logged "updated the entry's stamps")" -eq 1 ] &&
		watched "$tmp/h" && [ "$(logged "updated the entry's stamps")" -eq 0 ] && old_header "$tmp/h" 'int x;' && watched "$tmp/h" &&
		[ "$(logged 'hit on disk')" -eq 0 ]
}
check "A header that was only touched is read once; one that was edited is a miss." changed

# The first result that is compared reads more than half of what a look-up may read; of the second nothing more is read.
# A time in the future makes each comparison read the file.
bounded() {
	fresh_cache
	truncate -s 560M "$tmp/big.h" && touch -d 2100-01-01 "$tmp/big.h" || return
	for text in 1 2 1; do
		old_header "$tmp/small.h" "int a = $text;"
		preloaded "$LIFE" "$NVRTC" trivial 0 "--fake-open=$tmp/big.h" "--fake-open=$tmp/small.h" >/dev/null || return
	done
	[ "$(stat_of misses) $(stat_of hits_disk) $(stat_of stores)" = '3 0 3' ]
}
check "A look-up reads a limited number of bytes, of however many results." bounded
rm -f "$tmp/big.h"

# Whole seconds: ext4 with small inodes. An edit within the second of the first leaves every time as it was.
seconds() {
	truncate -s 4M "$tmp/image" && mkfs.ext4 -q -I 128 "$tmp/image" 2>/dev/null && mkdir "$tmp/mnt" && mount -o loop "$tmp/image" "$tmp/mnt" &&
		mounted=$tmp/mnt
}
twice_in_a_second() { # leaves in $kept and $seen what the two compiles gave
	local at=0
	while [ "$at" -ne 0 ] || [ "$(($(date +%s%N) / 100000000 % 10))" -ne 0 ]; do at=0; sleep 0.02; done
	echo 'int a = 1;' >"$tmp/mnt/h" && before=$CLOCK preloaded "$LIFE" "$NVRTC" trivial 0 "--fake-open=$tmp/mnt/h" >/dev/null &&
		kept=$(stat -c '%Y %Z %s %i' "$tmp/mnt/h") && echo 'int a = 2;' >"$tmp/mnt/h" && seen=$(stat -c '%Y %Z %s %i' "$tmp/mnt/h")
}
other_clock() {
	local i
	for i in 1 2 3 4 5 6 7 8; do
		fresh_cache
		twice_in_a_second || return
		[ "$kept" = "$seen" ] && break
	done
	[ "$kept" = "$seen" ] || { echo "eight times the second was over too soon: $kept, $seen"; return 1; }
	before=$CLOCK preloaded "$LIFE" "$NVRTC" trivial 0 "--fake-open=$tmp/mnt/h" >/dev/null
	[ "$(stat_of hits_disk)" -eq 0 ]
}
sentence="With the host's clock shifted, an edit that changes no time is a miss."
if seconds 2>"$tmp/why"; then
	check "$sentence" other_clock
else
	skip "$sentence" "no file system of whole seconds can be mounted here"
fi

# Rights to files that only this thread has given up (setfsuid()) are among the credentials.
sentence="A root thread with another user's rights to files is served no result of a file that this user may not read."
if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 true 2>/dev/null; then
	skip "$sentence" "not root"
else
	limited() {
		fresh_cache
		rm -rf "$tmp/secret" && mkdir -m 700 "$tmp/secret" && old_header "$tmp/secret/h" 'int h;' || return
		"$BUILD/tests/hosts/fsuid" "$NVRTC" "$tmp/secret/h" >"$tmp/plain" || return
		for run in cold warm; do
			preloaded "$BUILD/tests/hosts/fsuid" "$NVRTC" "$tmp/secret/h" >"$tmp/$run" && diff "$tmp/plain" "$tmp/$run" || return
		done
		[ "$(sort -u "$tmp/plain" | wc -l)" -eq 2 ] && [ "$(stat_of hits_disk)" -ge 1 ]
	}
	check "$sentence" limited
fi
plan
