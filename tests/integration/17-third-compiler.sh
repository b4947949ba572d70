#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A compiler is a folder and a line in a list: the library with one more, made up (tests/compilers/npiece), before a made-up
# library (tests/fake/piece) that is unlike NVRTC. Each session runs without us, with an empty cache and with the filled
# one, in a host that is linked and in one that looks functions up; lines "really" say how often a library has worked.
. "$(dirname "$0")/lib.sh"
PROPER=$LIBRARY
LIBRARY=$BUILD/tests/compilers/libnvrtccache.so
unset LD_LIBRARY_PATH # the hosts know where their libraries are
so=$FAKE/piece/libnpiece.so.1
so13=$FAKE/13/libnvrtc.so.13
linked=$BUILD/tests/compilers/linked
lookup=$BUILD/tests/compilers/lookup

really() { # FILE [LIBRARY]
	sed -n "s/^really ${2:-npiece} //p" "$1"
}

lines_of() {
	grep -v '^really ' "$1"
}

# Runs the host with these words three times; leaves $tmp/{bare,cold,warm}, and the difference, if any, in $tmp/difference.
three_runs() { # HOST WORD...
	fresh_cache
	timeout 600 "$@" >"$tmp/bare" 2>&1
	echo "exit $?" >>"$tmp/bare"
	preloaded "$@" >"$tmp/cold" 2>&1
	echo "exit $?" >>"$tmp/cold"
	preloaded "$@" >"$tmp/warm" 2>&1
	echo "exit $?" >>"$tmp/warm"
	{
		diff <(lines_of "$tmp/bare") <(lines_of "$tmp/cold") &&
			diff <(lines_of "$tmp/bare") <(lines_of "$tmp/warm")
	} >"$tmp/difference"
}

# The same lines in all runs, and the library works so often in them.
session() { # SENTENCE "BARE COLD WARM" WORD...
	local sentence=$1 counts=$2 mode host
	shift 2
	for mode in linked lookup; do
		[ $mode = linked ] && host=("$linked") || host=("$lookup" "$so")
		if ! three_runs "${host[@]}" "$@"; then
			not_ok "$sentence ($mode)" "$tmp/difference"
		elif [ "$(really "$tmp/bare") $(really "$tmp/cold") $(really "$tmp/warm")" != "$counts" ]; then
			{
				cat "$tmp/warm"
				"$COMMAND" stats
			} >"$tmp/difference" 2>&1
			not_ok "$sentence ($mode)" "$tmp/difference"
		else
			ok "$sentence ($mode)"
		fi
	done
}

# How often the library works for these words, with what the cache has.
works() { # WORD...
	preloaded "$lookup" "$so" "$@" >"$tmp/run" 2>&1
	really "$tmp/run"
}

simple=(option=-O2 create text=a=one text=b=two complete get destroy)

# What all sessions are
session "A second process is served, and its library never completes." "1 1 0" "${simple[@]}"
check "The output is there byte for byte." grep -qF 'output 0, 17 bytes: npiece -O2\000onetwo' "$tmp/warm"
session "A failure has its return code and its log, served or not." "1 1 0" create text=a=one text=b=broken complete get destroy
check "The failure says why." grep -qF 'error: piece b is broken' "$tmp/warm"
session "Getters before the completion fail as they do without us." "1 1 0" create text=a=one get complete get destroy
session "A handle without options and pieces is completed." "1 1 0" create complete get destroy
session "Nothing can be added to a handle that is completed, served or not." "1 1 0" \
	create text=a=one complete text=b=two complete get destroy
session "The same handle again in one process is served." "2 1 0" "${simple[@]}" "${simple[@]:1}"
check "That is a hit in memory." test "$(stat_of hits_memory)" = 2 # one in each run
session "A file that is missing is a result like others, and a handle is destroyed once." "1 1 0" \
	create path=missing complete get destroy destroy
check "That it is missing is in the log." grep -qF 'warning: no file missing' "$tmp/warm"

# Keys
fresh_cache
check "A first completion is done." test "$(works "${simple[@]}")" = 1
check "Another order of the pieces is another result." test "$(works option=-O2 create text=b=two text=a=one complete get destroy)" = 1
check "Another option is another result." test "$(works option=-O3 create text=a=one text=b=two complete get destroy)" = 1
check "An option more is another result." test "$(works option=-O2 option=-name=x create text=a=one text=b=two complete get destroy)" = 1
check "Another piece is another result." test "$(works option=-O2 create text=a=one text=b=twO complete get destroy)" = 1
check "Another name of a piece is another result." test "$(works option=-O2 create text=a=one text=c=two complete get destroy)" = 1
check "Pieces that are cut elsewhere are another result." test "$(works option=-O2 create text=a=onet text=b=wo complete get destroy)" = 1
check "A piece more is another result." test "$(works option=-O2 create text=a=one text=b=two text=c= complete get destroy)" = 1
check "Each of them is kept." test "$(entries)" = 8
check "The first is still there." test "$(works "${simple[@]}")" = 0

# Files that the library opens itself
piece=$tmp/piece
files=(create text=a=one "path=$piece" complete get destroy)
write() { # PATH TEXT: a file that has not changed just now
	printf '%s' "$2" >"$1"
	sleep 0.3
}
write "$piece" first
session "A piece that is a path is served while its file stays." "1 1 0" "${files[@]}"
check "What the file says is in the output." grep -qF 'onefirst' "$tmp/warm"
write "$piece" other
check "A file that was edited is a miss." test "$(works "${files[@]}")" = 1
check "The new text is in the output." grep -qF 'oneother' "$tmp/run"
check "It is counted as stale." test "$(stat_of stale)" = 1
check "What was made of the edited file is served." test "$(works "${files[@]}")" = 0
rm "$piece"
check "A file that has gone is a miss." test "$(works "${files[@]}")" = 1
check "That it is missing is kept as well." test "$(works "${files[@]}")" = 0
write "$piece" third
check "A file that appears is a miss." test "$(works "${files[@]}")" = 1
check "The file that appeared is in the output." grep -qF 'onethird' "$tmp/run"
mkdir "$tmp/here" "$tmp/there"
write "$tmp/here/relative" here
write "$tmp/there/relative" there
fresh_cache
for place in here there; do
	(cd "$tmp/$place" && preloaded "$lookup" "$so" create path=relative complete get destroy) >"$tmp/$place.cold" 2>&1
	(cd "$tmp/$place" && preloaded "$lookup" "$so" create path=relative complete get destroy) >"$tmp/$place.warm" 2>&1
done
check "A relative path is another file in another directory." \
	test "$(really "$tmp/here.warm") $(really "$tmp/there.cold") $(really "$tmp/there.warm")" = "0 1 0"
check "Each directory has its own output." sh -c "grep -q 'here' '$tmp/here.warm' && grep -q 'there' '$tmp/there.warm'"

# What is not kept
session "An option that is refused is refused each time." "0 0 0" option=-weird create text=a=one complete get destroy
check "A refused option is not kept." test "$(entries) $(reason_of return_code)" = "0 2"
session "A handle with a refused option can be added to, and is refused again." "0 0 0" \
	option=-weird create text=a=one complete text=b=two complete get destroy
check "Nothing of that is kept, and no key is made of what was added late." \
	test "$(entries) $(reason_of history)" = "0 2"

# A function that nobody knows
session "A function that nobody knows sees a handle that was really completed, after a hit too." "1 1 1" \
	create text=a=one complete inspect get destroy
check "It found an output." grep -qx 'inspect 0, 1' "$tmp/warm"
session "What was served before such a function is served." "2 2 1" create text=a=one complete get inspect destroy \
	create text=b=two complete get destroy

# Beside NVRTC
session "npiece and NVRTC are cached in one process, side by side." "2 1 0" "${simple[@]}" "nvrtc=$so13" "${simple[@]:1}"
check "NVRTC worked once as well." test "$(really "$tmp/bare" nvrtc) $(really "$tmp/cold" nvrtc) $(really "$tmp/warm" nvrtc)" = "1 1 0"
check "The counters are of both." \
	test "$(stat_of misses) $(stat_of stores) $(stat_of hits_disk) $(stat_of hits_memory)" = "2 2 2 2"

export NVRTCCACHE_VERIFY=1
session "In verify mode the library works each time." "1 1 1" "${simple[@]}"
check "Nothing that differs is found." test "$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)" = "1 0 0"
check "A library that gives something else is worked with." \
	test "$(NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=1 works whim=odd "${simple[@]}")" = 1
check "The difference is found and counted." \
	test "$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)" = "2 1 0"
check "The log names the artifact and the compiler." grep -q 'another output than npiece' "$tmp/log"
unset NVRTCCACHE_VERIFY
export NVRTCCACHE_DISABLE=1
session "NVRTCCACHE_DISABLE=1 completes every time." "1 1 1" "${simple[@]}"
unset NVRTCCACHE_DISABLE

# What people see
fresh_cache
check "A completion on a time line is done." test "$(NVRTCCACHE_TRACE=$tmp/events works "${simple[@]}")" = 1
check "The time line tells the compiler." grep -q '"name":"pieces".*"compiler":"npiece"' "$tmp/events"

# The library proper
LIBRARY=$PROPER
session "The library itself does not know npiece, and leaves it alone." "1 1 1" "${simple[@]}"
check "It leaves no directory behind." test ! -e "$NVRTCCACHE_DIR"
plan
