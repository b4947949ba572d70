#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Stamps: results of other nodes are read once, equal ones are one, and the clock is that of the files.
# weight: 10
. "$(dirname "$0")/lib.sh"
LIFE=$BUILD/tests/life
NVRTC=$FAKE/13/libnvrtc.so.13
CLOCK=$BUILD/tests/fixtures/libother_clock.so
[ -x "$LIFE" ] && [ -e "$NVRTC" ] && [ -e "$CLOCK" ] || skip_all "no fixture"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
mounted=''
trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$tmp"' EXIT

compile() { timeout 300 "$COMMAND" run "$LIFE" "$NVRTC" trivial 0 "--fake-open=$1" >/dev/null 2>>"$tmp/log"; }
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

reads() { # HEADER, HITS, TIMES: the log says how often files had to be read
	watched "$1" && [ "$(logged 'hit on disk') $(logged 'kept the contents of files that were read')" = "$2 $3" ] || { cat "$tmp/run.log" && false; }
}
unchanged() { # COMMAND...: leaves every entry of $1 as it is
	find "$1" -type f -path '*/v1/??/*[0-9a-f]' ! -name '*.facts' -exec sha256sum {} + >"$tmp/sums" && "${@:2}" && sha256sum --quiet -c "$tmp/sums"
}
facts() { find "$1" -name '*.facts' | wc -l; }

check "A result of this node is believed." reads "$tmp/h" 1 0

"$COMMAND" export "$tmp/bundle" >/dev/null
stampless() { # the inode and the times of no file of this node are in it
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
check "Results of two nodes that saw other inodes have the same dependencies." stampless

foreign() {
	fresh_cache
	"$COMMAND" import "$tmp/bundle" >/dev/null && unchanged "$NVRTCCACHE_DIR" reads "$tmp/h" 1 1 && reads "$tmp/h" 1 0 && [ "$(facts "$NVRTCCACHE_DIR")" = 1 ]
}
check "The header of an imported result is read once, and the result does not change." foreign

one_result() {
	local before after
	before=$(stat -c %s "$NVRTCCACHE_DIR"/v1/??/*[0-9a-f])
	"$COMMAND" import "$tmp/bundle" >/dev/null && "$COMMAND" import "$tmp/bundle2" >/dev/null &&
		after=$(stat -c %s "$NVRTCCACHE_DIR"/v1/??/*[0-9a-f]) && [ "$before" = "$after" ] || { echo "$before, $after" && false; }
}
check "Equal results of several nodes are one result." one_result

shared_headers() { # another result with the same header
	timeout 300 "$COMMAND" run "$LIFE" "$NVRTC" trivial 0 "--fake-open=$tmp/h" -DOTHER >/dev/null && "$COMMAND" export "$tmp/both" >/dev/null && fresh_cache &&
		"$COMMAND" import "$tmp/both" >/dev/null && reads "$tmp/h" 1 1 &&
		NVRTCCACHE_LOG=$tmp/run.log NVRTCCACHE_LOG_LEVEL=info timeout 300 "$COMMAND" run "$LIFE" "$NVRTC" trivial 0 "--fake-open=$tmp/h" -DOTHER >/dev/null &&
		[ "$(logged 'hit on disk') $(logged 'kept the contents of files that were read')" = '2 1' ]
}
check "A header that several results share is read once for all of them." shared_headers

below() {
	fresh_cache
	local lower=$tmp/lower
	NVRTCCACHE_DIR=$lower "$COMMAND" import "$tmp/bundle" >/dev/null && export NVRTCCACHE_LOWER=$lower && unchanged "$lower" reads "$tmp/h" 1 1 &&
		reads "$tmp/h" 1 0 && [ "$(entries) $(facts "$lower")" = '0 0' ]
	local result=$?
	unset NVRTCCACHE_LOWER
	return "$result"
}
check "What a cache below had to have read is known in the directory; below, nothing is written." below

read_only() {
	fresh_cache
	"$COMMAND" import "$tmp/bundle" >/dev/null && NVRTCCACHE_READONLY=1 reads "$tmp/h" 1 0 && NVRTCCACHE_READONLY=1 reads "$tmp/h" 1 0 && [ "$(facts "$NVRTCCACHE_DIR")" = 0 ]
}
check "A read-only directory is not written." read_only

two_nodes() { # that share a directory: the second one has another boot id
	echo 00000000-0000-4000-8000-000000000000 >"$tmp/boot" && export tmp NVRTCCACHE_DIR COMMAND LIFE NVRTC && fresh_cache && "$COMMAND" import "$tmp/bundle" >/dev/null &&
		reads "$tmp/h" 1 1 && for times in 1 0; do
		unshare --mount bash -c 'mount --bind "$tmp/boot" /proc/sys/kernel/random/boot_id && '"$(declare -f compile watched logged reads)"'; reads "$tmp/h" 1 '"$times" || return
	done && reads "$tmp/h" 1 0 && [ "$(facts "$NVRTCCACHE_DIR")" = 2 ]
}
needs "nothing can be mounted here" unshare --mount mount --bind /dev/null /proc/sys/kernel/random/boot_id
check_there "Each of two nodes that share a directory reads a header once." two_nodes

changed() {
	export NVRTCCACHE_DIR=$own
	touch -d 2001-01-01 "$tmp/h" && sleep 0.1 && reads "$tmp/h" 1 1 && reads "$tmp/h" 1 0 && old_header "$tmp/h" 'int x;' && watched "$tmp/h" && [ "$(logged 'hit on disk')" -eq 0 ]
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
needs "no file system of whole seconds can be mounted here" seconds
check_there "With the host's clock shifted, an edit that changes no time is a miss." other_clock

# Rights to files that only this thread has given up (setfsuid()) are among the credentials.
lacks=
[ "$(id -u)" = 0 ] && setpriv --reuid 65533 true 2>/dev/null || lacks="not root"
limited() {
	fresh_cache
	rm -rf "$tmp/secret" && mkdir -m 700 "$tmp/secret" && old_header "$tmp/secret/h" 'int h;' || return
	"$BUILD/tests/hosts/fsuid" "$NVRTC" "$tmp/secret/h" >"$tmp/plain" || return
	for run in cold warm; do
		preloaded "$BUILD/tests/hosts/fsuid" "$NVRTC" "$tmp/secret/h" >"$tmp/$run" && diff "$tmp/plain" "$tmp/$run" || return
	done
	[ "$(sort -u "$tmp/plain" | wc -l)" -eq 2 ] && [ "$(stat_of hits_disk)" -ge 1 ]
}
check_there "A root thread with another user's rights to files is served no result of a file that this user may not read." limited

# The second header of the directory is not opened at a hit.
member() { # GROUPS
	env NVRTCCACHE_SHARED=1 LD_PRELOAD="$LIBRARY" timeout 300 setpriv --reuid 2002 --regid 3000 --groups "$1" "$LIFE" "$NVRTC" trivial 0 \
		"--fake-open=$tmp/group/a" "--fake-open=$tmp/group/b" >"$tmp/member" 2>&1
}
hits() { # root is not in the group
	setpriv --reuid 2002 --regid 3000 --clear-groups env NVRTCCACHE_SHARED=1 "$COMMAND" stats --json | sed -n 's/.*"hits_disk":\([0-9]*\).*/\1/p' | tail -n 1
}
left() {
	fresh_cache
	chmod 755 "$tmp" && mkdir -p "$tmp/group" "$NVRTCCACHE_DIR" && chgrp 3000 "$NVRTCCACHE_DIR" && chmod 2770 "$NVRTCCACHE_DIR" || return
	old_header "$tmp/group/a" 'int a;' && old_header "$tmp/group/b" 'int b;' && chgrp 3001 "$tmp/group/b" && chmod 640 "$tmp/group/b" && sleep 0.1 || return
	member 3000,3001 && member 3000,3001 && member 3000,3001 && [ "$(hits)" -eq 2 ] || { cat "$tmp/member" && false; }
	member 3000
	[ "$(hits)" -eq 2 ] || { hits && false; }
}
lacks=
[ "$(id -u)" = 0 ] && setpriv --reuid 2002 --regid 3000 --groups 3000 test -r "$LIBRARY" -a -x "$LIFE" || lacks="not root, or other users cannot read the build"
check_there "In a shared directory, a user who has left a group is served no result of a header that only the group may read." left
plan
