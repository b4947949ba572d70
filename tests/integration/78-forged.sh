#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 10
# Entries that somebody forged, with right checksums: their sections are changed (tests/fixtures/forger.c), or are those of
# another compiler. A host may get other results, but lives. FORGED=N forges N entries of each compiler.
# shellcheck disable=SC2034 # namerefs
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
in_memory
nvrtc=("$BUILD/tests/life" "$FAKE/13/libnvrtc.so.13" trivial 1)
nvjitlink=("$BUILD/tests/hosts/linker" "lib=$FAKE/link/13.0/libnvJitLink.so.13" names=plain option=-arch=sm_80 create
	$'ptx=8.0\none' complete get logs inspect destroy)
nvvm=("$BUILD/tests/nvvm/lookup" "$FAKE/nvvm/libnvvm.so.4" create add=a=warn verify compile get inspect destroy)

entries_of() { find "$memory/$1" -type f | grep -E '/v1/[0-9a-f]{2}/[0-9a-f]{62}$' | sort; }
play() { # COMPILER
	local -n host=$1
	NVRTCCACHE_DIR=$memory/cache LD_PRELOAD=$LIBRARY timeout 300 "${host[@]}" >"$tmp/played" 2>&1
}
lives() { # COMPILER DONOR
	local seed entry donor code died=0 hits
	donor=$(entries_of "$2" | head -n 1)
	for ((seed = 1; seed <= ${FORGED:-50}; seed++)); do
		rm -rf "$memory/cache" && cp -a "$memory/$1" "$memory/cache" || return
		while read -r entry; do
			"$BUILD/tests/fixtures/forger" "$entry" "$donor" "$seed" >>"$tmp/ways" || return
		done < <(entries_of cache)
		code=0
		play "$1" || code=$?
		[ "$code" -lt 124 ] || { echo "seed $seed: $code" && cat "$tmp/played" && died=$((died + 1)); }
	done
	sort "$tmp/ways" | uniq -c
	[ "$(NVRTCCACHE_DIR=$memory/cache stat_of errors.damaged)" = 0 ] && [ "$died" = 0 ] && [ "$(sort -u "$tmp/ways" | wc -l)" = 6 ]
}
for compiler in nvrtc nvjitlink nvvm; do
	play "$compiler" && mv "$memory/cache" "$memory/$compiler" && [ -n "$(entries_of "$compiler")" ] ||
		not_ok "There is an entry of $compiler." "$tmp/played"
done
for pair in "nvrtc nvjitlink" "nvjitlink nvvm" "nvvm nvrtc"; do
	: >"$tmp/ways"
	# shellcheck disable=SC2086 # two words
	check "A host of ${pair% *} survives forged entries, and those with sections of ${pair#* }." lives $pair
done
plan
