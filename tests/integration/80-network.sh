#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 60
# The cache on a network file system: calls that fail as they do there (a layer before libc's, everywhere), a file system
# that behaves so (FUSE, where it can be mounted), and two nodes at once. Every answer is compared with a plain compile.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
WORKER=$BUILD/tests/soak/worker
LAYER=$BUILD/tests/network/layer.so
NODEFS=$BUILD/tests/network/nodefs
GATED=$BUILD/tests/fixtures/gated/gated
NVRTC=$FAKE/13/libnvrtc.so.13
KEYS=24

if [ ! -x "$WORKER" ] || [ ! -e "$LAYER" ]; then
	skip_all "no worker in $BUILD"
fi

mounted=()
unmount_all() {
	local place
	for place in "${mounted[@]}"; do umount "$place" 2>/dev/null || umount -l "$place" 2>/dev/null; done
	mounted=()
}
trap 'unmount_all; clean_up' EXIT

mkdir -p "$tmp/tree/h"
for ((i = 0; i < 8; i++)); do
	echo "// header $i" >"$tmp/tree/h/h$i.h"
	touch -d yesterday "$tmp/tree/h/h$i.h"
done
truncate -s 1M "$tmp/board"
sleep 0.3 # what reads a header as young as a tick of the clock is not cached

# host [VARIABLE=VALUE...]: every program once; fails where an answer was wrong or the host did not come to its end
host() {
	env SOAK_IN_ORDER=1 NVRTCCACHE_WAIT=5 LD_PRELOAD="$LIBRARY $LAYER" "$@" timeout 600 "$WORKER" "$NVRTC" "$tmp/tree/h" \
		"$tmp/board" 0 "$KEYS" 1 >"$tmp/host.out" 2>&1 &&
		grep -q "^compiles $KEYS same $KEYS moved 0 wrong 0$" "$tmp/host.out" || { cat "$tmp/host.out" && return 1; }
}

# All are hits now, and are what was asked for.
warm() { # [VARIABLE=VALUE...]
	local hits
	"$COMMAND" stats --zero >/dev/null || return
	host "$@" || return
	hits=$(($(stat_of hits_disk) + $(stat_of hits_memory)))
	[ "$hits" -eq "$KEYS" ] || { echo "$hits hits of $KEYS" && "$COMMAND" stats && return 1; }
}

# trouble OPERATION ERROR...: each of them always and now and then, in an empty and in a full cache
trouble() {
	local operation=$1 error every
	shift
	for error in "$@"; do
		for every in 1 3; do
			fresh_cache
			rm -f "$tmp/count"
			local rules=(LAYER_RULES="$operation=$error/$every" LAYER_DIRECTORY="$NVRTCCACHE_DIR" LAYER_COUNT="$tmp/count")
			host "${rules[@]}" || { echo "$error/$every, empty" && return 1; }
			host || return
			warm || { echo "$error/$every: not well after it" && return 1; }
			host "${rules[@]}" || { echo "$error/$every, full" && return 1; }
			[ -s "$tmp/count" ] || { echo "$operation was never called" && return 1; }
			# what could not be read has not gone for that
			host
			warm || { echo "$error/$every: not well after it was full" && return 1; }
		done
	done
}
check "open fails: ESTALE, EIO, EBUSY, ETIMEDOUT." trouble open ESTALE EIO EBUSY ETIMEDOUT
check "fstat fails: ESTALE, EIO." trouble fstat ESTALE EIO
check "read fails: ESTALE, EIO, EREMOTEIO." trouble read ESTALE EIO EREMOTEIO
check "write fails: ESTALE, EIO, EDQUOT." trouble write ESTALE EIO EDQUOT
check "close reports what a write could not do: EDQUOT, EIO." trouble close EDQUOT EIO
check "rename fails: ESTALE, EBUSY." trouble rename ESTALE EBUSY
check "Locks are not available: ENOLCK, EOPNOTSUPP, EIO, EINVAL." trouble lock ENOLCK EOPNOTSUPP EIO EINVAL

# These are called where something has to go.
while_evicting() { # OPERATION=ERROR...
	local rule result
	for rule in "$@"; do
		fresh_cache
		rm -f "$tmp/count"
		host && host NVRTCCACHE_MAX_SIZE=20000 NVRTCCACHE_RECACHE=1 LAYER_RULES="$rule" LAYER_DIRECTORY="$NVRTCCACHE_DIR" LAYER_COUNT="$tmp/count" &&
			[ -s "$tmp/count" ] && host && warm || { echo "$rule" && return 1; }
	done
}
check "stat or unlink fails in an eviction: ESTALE, EIO, EBUSY." while_evicting stat=ESTALE stat=EIO/3 unlink=EBUSY unlink=EIO/3

# The first hit of a new file sets its atime.
unnoted_use() {
	local error
	for error in ESTALE EOPNOTSUPP EACCES; do
		fresh_cache
		rm -f "$tmp/count"
		host && warm LAYER_RULES="utimens=$error" LAYER_DIRECTORY="$NVRTCCACHE_DIR" LAYER_COUNT="$tmp/count" && [ -s "$tmp/count" ] &&
			warm || return
	done
}
check "A hit whose atime cannot be updated is a hit: ESTALE, EOPNOTSUPP, EACCES." unnoted_use

# Few calls of these are made, and not every run makes one.
mkdir_fails() {
	fresh_cache
	host LAYER_RULES=mkdir=ESTALE LAYER_DIRECTORY="$NVRTCCACHE_DIR" && host LAYER_RULES=mkdir=EIO/2 LAYER_DIRECTORY="$NVRTCCACHE_DIR" &&
		host && warm
}
check "mkdir fails: ESTALE, EIO." mkdir_fails

unread_stays() {
	fresh_cache
	host && warm || return
	find "$NVRTCCACHE_DIR"/v1/?? -type f -printf '%P %i\n' | sort >"$tmp/before"
	for error in ESTALE EIO EBUSY; do
		for operation in open fstat read; do
			host NVRTCCACHE_RECACHE=0 LAYER_RULES="$operation=$error,write=EIO,rename=EIO" LAYER_DIRECTORY="$NVRTCCACHE_DIR" || return
		done
	done
	find "$NVRTCCACHE_DIR"/v1/?? -type f -printf '%P %i\n' | sort >"$tmp/after"
	diff "$tmp/before" "$tmp/after" && warm
}
check "What cannot be read stays where it is, and is a hit when it can be." unread_stays

replaced() { # [FILE]
	fresh_cache
	host && warm && host LAYER_SWAP="$1" LAYER_DIRECTORY="$NVRTCCACHE_DIR" && host LAYER_SWAP="$1" LAYER_RULES=read=ESTALE \
		LAYER_DIRECTORY="$NVRTCCACHE_DIR" && host && warm
}
removed_by_another() { replaced ''; }
check "An entry that another node removes between open and read is a hit or a miss." removed_by_another
replaced_by_another() {
	fresh_cache
	host && cp "$(find "$NVRTCCACHE_DIR"/v1/??/ -type f | head -n 1)" "$tmp/foreign" && replaced "$tmp/foreign"
}
check "So is one that another node replaces, by the file of another key at that." replaced_by_another
torn() { head -c 300 /dev/zero >"$tmp/foreign" && replaced "$tmp/foreign"; }
check "So is one that comes to hold zeros." torn

# Two compile the same at once (nobody waits), or only one of two does.
start() { # RULES
	local i
	place=$(mktemp -d "$tmp/place.XXXXXX")
	fresh_cache
	for i in 1 2; do
		env NVRTCCACHE_WAIT=100000 LAYER_RULES="$1" LAYER_DIRECTORY="$NVRTCCACHE_DIR" LD_PRELOAD="$LIBRARY $LAYER" \
			timeout 600 "$GATED" "$NVRTC" "$place" a plain same >"$place/$i.out" 2>&1 &
	done
}
events() { find "$place" -name "$1.*" | wc -l; }
happened() { [ "$(events "$1")" -ge "$2" ]; }
until_event() { wait_for happened "$@" || { echo "$1: $(events "$1") of $2" && return 1; }; }
side_by_side() {
	local type result=0
	for type in "$@"; do
		start "type=$type"
		until_event inside 2 || { echo "type $type" && result=1; }
		: >"$place/open-a"
		wait
		[ "$(grep -c '^rc 0 ' "$place"/*.out | grep -c ':1$')" -eq 2 ] || result=1
	done
	return "$result"
}
one_at_a_time() {
	local type result=0
	for type in "$@"; do
		start "type=$type"
		until_event calling 2 && until_event inside 1 || result=1
		: >"$place/open-a"
		wait
		[ "$(events inside)" -eq 1 ] || { echo "type $type: $(events inside) inside" && result=1; }
	done
	return "$result"
}
if [ -x "$GATED" ]; then
	check "No process waits for others on NFS, SMB, CIFS, SMB2 and FUSE." side_by_side 0x6969 0x517b 0xff534d42 0xfe534d42 0x65735546
	check "Nor on Lustre, GPFS, AFS, kAFS, Coda and NCP." side_by_side 0x0bd00bd0 0x47504653 0x5346414f 0x6b414653 0x73757245 0x564c
	check "Nor on 9P, Ceph, OCFS2, GFS2, BeeGFS, PanFS and VirtualBox." side_by_side 0x01021997 0x00c36400 0x7461636f 0x01161970 \
		0x19830326 0xaad7aaea 0x786f4256
	check "Nor on OrangeFS, VMware, Parallels, StorNext, IBRIX and ACFS." side_by_side 0x20030528 0xbacbacbc 0x7c7c6673 0xbeefdead \
		0x013111a8 0x61636673
	check "One waits for the other on ext4, XFS, Btrfs, tmpfs, overlayfs, ZFS and F2FS." one_at_a_time 0xef53 0x58465342 0x9123683e \
		0x01021994 0x794c7630 0x2fc12fc1 0xf2f52010
	cannot_tell() {
		start statfs=EIO
		until_event inside 2
		result=$?
		: >"$place/open-a"
		wait
		return "$result"
	}
	check "No process waits if the kind of file system is not known." cannot_tell
fi

# Times as another node's wrong clock sets them.
from_the_future() {
	fresh_cache
	host && warm || return
	[ -d "$NVRTCCACHE_DIR/v1/00" ] || mkdir -m 700 "$NVRTCCACHE_DIR/v1/00" || return
	head -c 5000 /dev/zero >"$NVRTCCACHE_DIR/v1/00/tmp.1.1"
	find "$NVRTCCACHE_DIR" -type f -exec touch -d '+2 days' {} + && warm || return
	"$COMMAND" prune >/dev/null && [ -z "$(find "$NVRTCCACHE_DIR"/v1/?? -newermt '+1 hour')" ] ||
		{ echo "the future stays" && find "$NVRTCCACHE_DIR"/v1/?? -newermt '+1 hour' -ls && return 1; }
	warm && [ -z "$(find "$NVRTCCACHE_DIR" -name 'tmp.*')" ]
}
mkdir -p "$tmp/none"
check "Files from the future are hits, which brings them back to the present; temporary ones are pruned." from_the_future

from_the_past() {
	fresh_cache
	host && find "$NVRTCCACHE_DIR" -type f -exec touch -d 1970-01-02 {} + && warm && "$COMMAND" prune >/dev/null && warm
}
check "So are files from a clock that began in 1970." from_the_past

capped_by_skewed_clocks() { # entries of a node that is a day ahead go when others are used later
	fresh_cache
	host || return
	find "$NVRTCCACHE_DIR" -path '*/??/*' -type f -exec touch -d '+1 day' {} +
	host NVRTCCACHE_MAX_SIZE=20000 NVRTCCACHE_RECACHE=1 && [ "$(stat_of evictions)" -gt 0 ] &&
		[ "$(find "$NVRTCCACHE_DIR"/v1/?? -type f -printf '%s\n' | awk '{ n += $1 } END { print n + 0 }')" -le 21000 ]
}
check "The cap holds although a node that is a day ahead filled the cache." capped_by_skewed_clocks

soak() { nice python3 tests/soak/soak.py "$BUILD" "$@" >"$tmp/soak.out" || { grep FAILED "$tmp/soak.out"; cat "$tmp/soak.out" && return 1; }; }

without_locks() {
	soak --seconds 3 --processes 6 --tolerance 40 --environment LD_PRELOAD="$LAYER" --environment LAYER_DIRECTORY=/ \
		--environment LAYER_RULES=lock=ENOLCK,type=0x6969 --kinds plain,disk,verify
}
check "Six processes that are killed and have no locks: no wrong answer." without_locks

lower_comes_and_goes() {
	local lower=$tmp/lower result mover
	host NVRTCCACHE_DIR="$lower" || return
	(while :; do mv "$lower" "$lower.away"; sleep 0.05; mv "$lower.away" "$lower"; sleep 0.05; done) &
	mover=$!
	soak --seconds 3 --processes 4 --keys "$KEYS" --no-commands --environment NVRTCCACHE_LOWER="$lower" --kinds disk,plain
	result=$?
	kill "$mover"
	wait "$mover" 2>/dev/null
	return "$result"
}
check "A lower cache that appears and vanishes while programs run: no wrong answer." lower_comes_and_goes

two_namespaces() {
	mkdir -p "$tmp/real/tree" "$tmp/elsewhere/cache" "$tmp/elsewhere/tree" && mkdir -m 700 "$tmp/real/cache" &&
		soak --seconds 4 --processes 6 --node "$tmp/real/cache,$tmp/real/tree" \
			--node "$tmp/elsewhere/cache,$tmp/elsewhere/tree,$tmp/real/cache,$tmp/real/tree" || return
	[ -z "$(ls "$tmp/elsewhere/cache")" ] && [ "$(sed -n 's/^hits_disk //p' "$tmp/soak.out")" -gt 0 ]
}
lacks=
unshare --mount true 2>/dev/null && unshare --mount mount --bind "$tmp" "$tmp/none" 2>/dev/null || lacks="cannot make a mount namespace here"
check_there "Two mount namespaces share a cache at different paths: store, hit, evict at once, the cap held, no wrong answer." two_namespaces

# From here: a file system of our own.
mount_node() { # BACKING PLACE RULES
	mkdir -p "$1" "$2"
	if "$NODEFS" "$1" "$2" "$3" 2>"$tmp/mount.err"; then
		mounted+=("$2")
	else
		cat "$tmp/mount.err" && return 1
	fi
}
lacks=''
if [ ! -x "$NODEFS" ]; then
	lacks="built without libfuse 3"
elif ! mount_node "$tmp/probe" "$tmp/probe-node" cache=0 >/dev/null || ! touch "$tmp/probe-node/x" 2>/dev/null; then
	lacks="cannot mount a FUSE file system here: $(head -n 1 "$tmp/mount.err")"
fi
unmount_all
node_number=0
# A cache on a new node: filled, found again, evicted from, filled and found again.
on_node() { # RULES
	node_number=$((node_number + 1))
	export NVRTCCACHE_DIR=$tmp/node-$node_number/cache
	mount_node "$tmp/backing-$node_number" "$tmp/node-$node_number" "$1" && host && warm &&
		NVRTCCACHE_MAX_SIZE=20000 host NVRTCCACHE_RECACHE=1 && [ "$(stat_of evictions)" -gt 0 ] && host && warm || return
	unmount_all
}
on_nodes() {
	local rules
	for rules in "$@"; do on_node "$rules" || { echo "rules: $rules" && return 1; }; done
}
# Every answer is right whatever fails; what is whole is found when all is well again.
troubled_node() {
	local rules node
	for rules in "$@"; do
		node_number=$((node_number + 1))
		node=$tmp/node-$node_number
		export NVRTCCACHE_DIR=$node/cache
		mount_node "$tmp/backing-$node_number" "$node" "$rules" && host && host || { echo "rules: $rules" && return 1; }
		unmount_all
		mount_node "$tmp/backing-$node_number" "$node" cache=0 && host && warm || { echo "after rules: $rules" && return 1; }
		unmount_all
	done
}

check_there "A node without caches of its own: filled, found again, evicted." on_nodes cache=0
check_there "A node that believes names and attributes for a minute." on_nodes cache=60
check_there "A node without atime, and with whole seconds." on_nodes noatime coarse noatime,coarse,cache=5
check_there "A node without locks." on_nodes lock=ENOLCK lock=EOPNOTSUPP lock=ENOSYS
check_there "A node that is slow." on_nodes delay=200
check_there "A node that renames open files instead of removing them." on_nodes silly silly,cache=60
check_there "A node where every third open, read, write, rename or stat fails." troubled_node open=ESTALE/3 read=ESTALE/3 read=EIO/3 \
	write=EIO/3 rename=EBUSY/3 getattr=ESTALE/7 create=ESTALE/3 flush=EDQUOT/3 unlink=EBUSY/2
check_there "A node where no open, read, write, rename or mkdir succeeds." troubled_node open=ESTALE read=EIO write=ENOSPC \
	rename=EBUSY mkdir=ESTALE create=EDQUOT readdir=ESTALE

leftovers() {
	local left
	node_number=$((node_number + 1))
	export NVRTCCACHE_DIR=$tmp/node-$node_number/cache
	mount_node "$tmp/backing-$node_number" "$tmp/node-$node_number" silly && host && warm || return
	exec 7<"$(find "$NVRTCCACHE_DIR"/v1/?? -type f | head -n 1)"
	"$COMMAND" clear >/dev/null || { exec 7<&- && echo "clear failed" && return 1; }
	left=$(find "$NVRTCCACHE_DIR/v1" -name '.nfs*')
	[ -n "$left" ] && [ "$(entries)" -eq 0 ] && host && warm && touch -d '-2 days' "$left" &&
		"$COMMAND" prune --max-size 1 >/dev/null && [ -e "$left" ] && host && warm
	local result=$?
	exec 7<&-
	sleep 0.3
	[ -z "$(find "$NVRTCCACHE_DIR/v1" -name '.nfs*')" ] || { echo "the leftover stayed" && result=1; }
	unmount_all
	return "$result"
}
check_there "The server's copy of a removed file (.nfs*) is no entry, and is not removed." leftovers

absent_then_there() { # node B has seen that there is nothing; node A stores; B finds it in time, and is right before
	local i
	export NVRTCCACHE_DIR=$tmp/node-a/cache
	mount_node "$tmp/backing-ab" "$tmp/node-a" cache=1 && mount_node "$tmp/backing-ab" "$tmp/node-b" cache=1 || return
	host NVRTCCACHE_DIR="$tmp/node-b/cache" NVRTCCACHE_READONLY=1 && host && host NVRTCCACHE_DIR="$tmp/node-b/cache" || return
	for ((i = 0; i < 20; i++)); do
		export NVRTCCACHE_DIR=$tmp/node-b/cache
		warm >"$tmp/warm" && break
		sleep 0.5
	done
	[ "$i" -lt 20 ] || { cat "$tmp/warm" && return 1; }
	NVRTCCACHE_DIR=$tmp/node-a/cache "$COMMAND" clear >/dev/null && host NVRTCCACHE_DIR="$tmp/node-b/cache" && host &&
		host NVRTCCACHE_DIR="$tmp/node-a/cache"
	local result=$?
	unmount_all
	return "$result"
}
check_there "What one node stores another finds as soon as it looks, and what one clears is a miss." absent_then_there

# This node has just seen the headers, and believes that for a minute; the compiler's own open asks anew.
edited_elsewhere() { # WAY
	local header result=0
	node_number=$((node_number + 1))
	fresh_cache
	mount_node "$tmp/backing-$node_number" "$tmp/node-$node_number" cache=60 && mkdir "$tmp/backing-$node_number/h" &&
		cp "$tmp"/tree/h/*.h "$tmp/backing-$node_number/h/" && sleep 0.1 || return
	host_on() {
		SOAK_IN_ORDER=1 LD_PRELOAD="$LIBRARY" "$WORKER" "$NVRTC" "$tmp/node-$node_number/h" "$tmp/board" 0 "$KEYS" 1
	}
	host_on && host_on && [ "$(stat_of hits_disk)" -eq "$KEYS" ] || result=1
	stat "$tmp/node-$node_number"/h/* >/dev/null
	for header in "$tmp/backing-$node_number"/h/*.h; do
		if [ "$1" = rename ]; then sed s/header/HEADER/ "$header" >"$header.new" && mv "$header.new" "$header"; else
			echo "// HEADER ${header: -3:1}" >"$header"; fi
	done
	host_on || result=1
	unmount_all
	return "$result"
}
check_there "A header that another node edited is seen, whatever this node believes of its attributes." edited_elsewhere write
check_there "So is one that another node replaced." edited_elsewhere rename

# Neither node sees the other's locks, so sums drift until shards are counted anew.
two_nodes() {
	mkdir -p "$tmp/tree-2"
	mount_node "$tmp/backing-2" "$tmp/node-2a" "$1" && mount_node "$tmp/backing-2" "$tmp/node-2b" "$1" &&
		soak --seconds 5 --processes 6 --tolerance 60 --incoherent --node "$tmp/node-2a/cache,$tmp/tree-2" --node "$tmp/node-2b/cache,$tmp/tree-2" &&
		[ "$(sed -n 's/^hits_disk //p' "$tmp/soak.out")" -gt 0 ]
	local result=$?
	unmount_all
	return "$result"
}
check_there "Two nodes that do not see one another's locks, with caches of a second: no wrong answer." two_nodes cache=1,silly

plan
