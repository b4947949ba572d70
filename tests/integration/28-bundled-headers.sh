#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# weight: 40
# --use-bundled-headers=DIR: NVRTC 13.3 and later unpack their headers into DIR. scripts/setup gets the newest NVRTC once.
. "$(dirname "$0")/lib.sh"
cd "$(dirname "$0")/../.." || exit 1
[ "$(uname -m)" = x86_64 ] || skip_all "the wheel is for x86-64"
NVRTCCACHE_TOOLKIT=wheel:13 scripts/setup >"$tmp/setup" 2>&1 || skip_all "NVRTC 13 could not be had: $(tail -1 "$tmp/setup")"
eval "$(NVRTCCACHE_TOOLKIT=wheel:13 scripts/nvrtc-env)"
grep -q -e --use-bundled-headers "$NVRTC_LIB/$NVRTC_SONAME" || skip_all "this NVRTC bundles no headers"
export LD_LIBRARY_PATH=$RUN_PATH NVRTCCACHE_MEM_SIZE=0
cd "$tmp" || exit 1

compile() { # NAME OPTION...: through $through, or plainly where that is empty
	local name=$1
	shift
	printf '%s\n' '=== One kernel.' 'source <<' '#include <cuda/std/cstdint>' '#include <cuda_fp16.h>' \
		'extern "C" __global__ void k(cuda::std::int32_t *p, __half h) { *p = __half2int_rn(h); }' END \
		create "chdir $here" "compile -arch=sm_90 $*" all destroy >"$name.case"
	mkdir -p "$name.work"
	${through:+preloaded} "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/$name.work" "$tmp/$name.case" /dev/null 1 >"$tmp/$name"
}
mkdir here
here=$tmp/here through=1
hits() { # N COMMAND...: so many more hits by then
	local wanted=$(($(stat_of hits_disk) + $1))
	shift
	"$@" && [ "$(stat_of hits_disk)" = "$wanted" ] || { "$COMMAND" explain --last && false; }
}
as_without() { # N OPTION...: gives what it gives without the cache, with N hits
	local count=$1
	shift
	through='' compile plain "$@"
	hits "$count" compile cached "$@" && cmp plain cached
}
settle() { sleep 0.1; }

unpacks() { compile first --use-bundled-headers="$tmp/h" && [ "$(stat_of stores) $(reason_of bundled_headers)" = '0 1' ]; }
check "The compile that unpacks the headers is not cached." unpacks
names_option() { "$COMMAND" explain --last | grep -e --use-bundled-headers; }
check "explain names the option." names_option
of_this_process() {
	local before
	before=$(reason_of bundled_headers)
	for n in 1 2; do
		printf '%s\n' "=== Program $n." 'source <<' '#include <cuda_fp16.h>' "__global__ void k(__half *h) { *h = $n; }" END \
			create "compile -arch=sm_90 -dlto --use-bundled-headers=$tmp/fleeting" all destroy
	done >both.case
	mkdir both.work
	preloaded "$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/both.work" "$tmp/both.case" /dev/null 1 >both &&
		[ "$(stat_of stores)" = 0 ] && [ "$(reason_of bundled_headers)" = $((before + 2)) ]
}
check "Nor is what the same process compiles with them: the next one unpacks them elsewhere." of_this_process
names_the_directory() { # of libmathdx: the second compilations, which unpack nothing
	local directory
	for directory in one two; do
		printf '%s\n' '=== LTO-IR.' 'source <<' '#include <cooperative_groups.h>' \
			'extern "C" __global__ void k(int *p) { *p = cooperative_groups::this_grid().size(); }' END create \
			"compile -arch=sm_90 -dlto --use-bundled-headers=$tmp/$directory" all destroy >"lto.case"
		"$BUILD/tests/player" "$NVRTC_LIB/$NVRTC_SONAME" "$tmp/both.work" "$tmp/lto.case" /dev/null 1 >"lto-$directory" || return
	done
	grep -q '^  LTOIRSize 0 [1-9]' lto-one && ! cmp -s lto-one lto-two
}
check "Their LTO-IR names the directory, so that another process may not get it." names_the_directory
settle
check "The next one is stored." hits 0 compile second --use-bundled-headers="$tmp/h"
check "Then it hits, and gives what NVRTC gives." as_without 1 --use-bundled-headers="$tmp/h"
check "All three have given the same." cmp first second
cp -a h moved
check "It hits in a copy of the directory." as_without 1 --use-bundled-headers="$tmp/moved"
ln -s h linked
check "It hits by a link to the directory." as_without 1 --use-bundled-headers="$tmp/linked"
check "It does not hit by -I." hits 0 compile included -I"$tmp/h" -I"$tmp/h/cccl"

echo '#define NEW 1' >>moved/cuda_fp16.h
settle
check "An edited header is a miss." as_without 0 --use-bundled-headers="$tmp/moved"
mkdir -p linked/cuda/std && echo 'namespace cuda::std { typedef int int32_t; }' >h/cuda/std/cstdint
settle
check "A header that shadows one in cccl is seen." as_without 0 --use-bundled-headers="$tmp/h"
rm -r h/cuda
settle
check "Without it the first result hits again." as_without 1 --use-bundled-headers="$tmp/h"
rm h/cccl/cuda/std/cstdint
check "A header that is gone is a failure, as without the cache." as_without 0 --use-bundled-headers="$tmp/h"

cp -a moved old
sed -i 's/cuda_minor=.*/cuda_minor=0/' old/.nvrtc_headers_version
settle
check "A marker of another release is refused, as without the cache." as_without 0 --use-bundled-headers="$tmp/old"
rm old/.nvrtc_headers_version
before_unpacking=$(reason_of bundled_headers)
unpacks_again() { compile again --use-bundled-headers="$tmp/old" && [ -e old/.nvrtc_headers_version ] && [ "$(reason_of bundled_headers)" -gt "$before_unpacking" ]; }
check "Without a marker the headers are unpacked again." unpacks_again
rm moved/.nvrtc_install.lock
makes_lock() {
	hits 0 compile cached --use-bundled-headers="$tmp/moved" && [ -e moved/.nvrtc_install.lock ] &&
		through='' compile plain --use-bundled-headers="$tmp/moved" && cmp plain cached
}
check "A lock that is gone is made again." makes_lock

# relative: by the working directory, which a hit must not confuse with another
mkdir one other
mv old one/h
cp -a one/h other/h
echo '#define __half2int_rn(h) 7' >>other/h/cuda_fp16.h
settle
in_place() { local here=$tmp/$1; as_without "$2" --use-bundled-headers=h; }
check "A relative directory is a miss." in_place one 0
check "It hits in that working directory." in_place one 1
check "It does not hit in another one." in_place other 0

locked() {
	hits 1 compile stored --use-bundled-headers="$tmp/other/h" || return
	# shellcheck disable=SC2016 # the inner shell's
	unshare -m sh -c 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && "$@"' sh "$tmp/other" \
		bash -c "$(declare -f preloaded compile); $(declare -p tmp here before after LIBRARY BUILD NVRTC_LIB NVRTC_SONAME)
			through=1; compile locked --use-bundled-headers=$tmp/other/h
			through=; compile locked-plain --use-bundled-headers=$tmp/other/h"
	cmp locked locked-plain && ! cmp -s locked stored
}
compile stored --use-bundled-headers="$tmp/other/h"
needs "no mount namespaces here" unshare -m true
check_there "A directory that is read-only fails, as without the cache." locked

# NVRTC waits for a process that unpacks, and so must a process that would hit. The one that holds the lock stays alive,
# because a pid namespace does not show the locks of others.
waits() {
	local lock=$tmp/other/h/.nvrtc_install.lock before holder process code=0
	before=$(reason_of bundled_headers)
	flock -x "$lock" sh -c ': >held; until [ -e release ]; do sleep 0.05; done' &
	holder=$!
	wait_for [ -e held ] || code=1
	compile waited --use-bundled-headers="$tmp/other/h" &
	process=$!
	wait_for grep -qE -- "-> FLOCK.*:$(stat -c %i "$lock") " /proc/locks || code=1
	: >release
	wait "$holder" && wait "$process" && cmp waited stored && [ "$(reason_of bundled_headers)" = $((before + 1)) ] && [ "$code" = 0 ]
}
check "A lock that another process holds is waited for." waits

race() {
	local pids=() process
	for process in 1 2 3; do
		compile "race-$process" --use-bundled-headers="$tmp/race" &
		pids+=($!)
	done
	for process in "${pids[@]}"; do wait "$process" || return; done
	cmp race-1 first && cmp race-2 first && cmp race-3 first
}
check "Processes that unpack at once all give what one gives." race
plan
