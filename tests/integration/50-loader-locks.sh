#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 20
# Hosts whose other threads hold the locks of the dynamic loader, and children that inherit these (tests/hosts/forker.c).
# Each run without the cache is the measure: no child may hang or be ended more often with it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/hosts.sh"
CHILDREN=${CHILDREN:-60} SEED=${SEED:-1}
export LD_LIBRARY_PATH=$FAKE/13

# A host with a filled cache: the first compile is a hit, so nothing was compiled before the fork.
filled() { # program library word...
	local program=$1 library=$2
	shift 2
	timeout 300 "$HOSTS/$program" "$library" "$HOSTS/loaded.so" "$@" >"$tmp/bare" 2>&1
	run_hosted cold "$HOSTS/$program" "$library" "$HOSTS/loaded.so" held none
	forget_counts
	run_hosted warm "$HOSTS/$program" "$library" "$HOSTS/loaded.so" "$@"
	diff <(cat "$tmp/bare" && echo "exit 0") "$tmp/warm"
}
held() { # program lock hits
	filled "$1" "$SO13" held "$2" && [ "$(stat_of hits_memory) $(stat_of hits_disk)" = "$3" ] || { counts && false; }
}
for program in forker forker-nvrtc; do
	way=$([ $program = forker ] && echo "finds NVRTC by dlsym" || echo "is linked with NVRTC")
	check "A host that $way hits while a thread is in dl_iterate_phdr(), and so does its child." held $program write "2 1"
	check "So it does while a thread is in a constructor inside dlopen()." held $program load "2 1"
	check "So does its child if an object was loaded since." held $program changed "1 1"
	check "A process with threads that had only hits loads the builtins before it forks." held $program none "2 1"
	for what in hit miss; do
		check "Of $CHILDREN children that $what beside dlopen(), dlclose() and nvrtcCreateProgram(), none hangs." \
			filled $program "$SO13" random $what "$CHILDREN" "$SEED"
	done
done
really() { # title library children program what...
	local title=$1 library=$2 children=$3 program=$4 what
	shift 4
	for what; do
		check "With a real $title none of $children children of $program that $what hangs." \
			filled "$program" "$library" random "$what" "$children" "$SEED"
	done
}
waits() { filled forker "$1" joined; }
eval "$(scripts/nvrtc-env 2>/dev/null)"
if [ -n "${NVRTC_LIB:-}" ]; then
	export LD_LIBRARY_PATH=$NVRTC_LIB
	really NVRTC "$NVRTC_LIB/$NVRTC_SONAME" "$CHILDREN" forker hit miss
else
	skip "With a real NVRTC: so it is." "no NVRTC here"
fi
if [ -n "${NVJITLINK_LIB:-}" ]; then
	really nvJitLink "$NVJITLINK_LIB" $((CHILDREN / 3)) forker miss
	really nvJitLink "$NVJITLINK_LIB" $((CHILDREN / 3)) forker-link hit miss
	check "The first miss of nvJitLink may be of a thread for which a constructor inside dlopen() waits." waits "$NVJITLINK_LIB"
else
	skip "With a real nvJitLink: so it is." "no nvJitLink here"
fi
if [ -n "${NVVM_LIB:-}" ]; then
	really libNVVM "$NVVM_LIB" $((CHILDREN / 2)) forker hit miss
	check "So may the first miss of libNVVM." waits "$NVVM_LIB"
else
	skip "With a real libNVVM: so it is." "no libNVVM here"
fi
plan
