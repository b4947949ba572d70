#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stamps: results of other nodes are read once, equal ones are one, and the clock is that of the files.
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

# An encrypted directory whose key is missing answers ENOENT for the names that it has; adding the key changes no time.
key() { # add|remove|lock DIRECTORY: DIRECTORY becomes encrypted with "add"
	python3 - "$1" "$mounted" "$mounted/locked" <<'PY'
import fcntl, os, struct, sys
what, mount, directory = sys.argv[1:]
ADD, REMOVE, SET_POLICY = 0xC0506617, 0xC0406618, 0x800C6613
top = os.open(mount, os.O_RDONLY)
key = bytearray(struct.pack("<II32sII8I", 2, 0, bytes(32), 64, 0, *[0] * 8) + b"\x11" * 64)
fcntl.ioctl(top, ADD, key)
identifier = bytes(key[8:24])
if what == "add" and not os.path.exists(directory):
    os.mkdir(directory)
    policy = bytearray(struct.pack("<BBBB4s16s", 2, 1, 4, 3, bytes(4), identifier))
    inside = os.open(directory, os.O_RDONLY)
    fcntl.ioctl(inside, SET_POLICY, policy)
if what == "remove":
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w") as caches:
        caches.write("3")
    fcntl.ioctl(top, REMOVE, bytearray(struct.pack("<II32sI5I", 2, 0, identifier.ljust(32, b"\0"), 0, *[0] * 5)))
PY
}
encrypted() {
	[ -z "$mounted" ] || { umount "$mounted" && mounted=''; }
	truncate -s 24M "$tmp/image2" && mkfs.ext4 -q -O encrypt -b 4096 "$tmp/image2" && mkdir "$tmp/mnt2" &&
		mount -o loop "$tmp/image2" "$tmp/mnt2" && mounted=$tmp/mnt2 && key add && echo 'int x;' >"$mounted/locked/x.h" && key remove &&
		[ ! -e "$mounted/locked/x.h" ]
}
look_for_two() { preloaded "$LIFE" "$NVRTC" trivial 0 "--fake-open=$mounted/locked/x.h" "--fake-open=$mounted/locked/y.h" "--fake-open=$tmp/h" >/dev/null; }
unlocked() {
	fresh_cache
	sleep 0.1 && look_for_two && look_for_two && [ "$(stat_of hits_disk)" -eq 1 ] && key add && [ -e "$mounted/locked/x.h" ] &&
		look_for_two && [ "$(stat_of hits_disk)" -eq 1 ]
}
sentence="A file that appears in a directory whose key is added makes a miss."
if encrypted 2>"$tmp/why"; then
	check "$sentence" unlocked
else
	skip "$sentence" "no encrypted directory can be made here"
fi
plan
