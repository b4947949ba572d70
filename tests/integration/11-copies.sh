#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Two copies of the library in one process: the first one loaded is active, and the other one only forwards, whatever
# the versions of the two. Each program runs without the library, with an empty cache and with the filled one.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the fixtures know where their NVRTC is
SOURCE=$(cd "$(dirname "$0")/../fixtures" && pwd)
so13=$FAKE/13/libnvrtc.so.13
lookup=$LOADER/lookup
linked=$LOADER/linked
later=$BUILD/tests/fixtures/copies/later/libnvrtccache.so
stubborn=$BUILD/tests/fixtures/copies/stubborn/libnvrtccache.so
mkdir "$tmp/copied" "$tmp/linked" "$tmp/hard"
cp "$LIBRARY" "$tmp/copied/"
ln -s "$LIBRARY" "$tmp/linked/libnvrtccache.so"
ln "$LIBRARY" "$tmp/hard/libnvrtccache.so" 2>"$tmp/hard.said" || rm -rf "$tmp/hard"

preloading() { # LIST COMMAND...
	timeout 300 env "${EMULATED:-LD_PRELOAD}=$1" "${@:2}"
}

compiles_in() { sed -n 's/^compiles //p' "$1"; }

# The same lines without, cold and warm, each compile done and counted once, and none of them in the second process.
same_as_one() { # LIST COMMAND...
	local list=$1 run
	shift
	fresh_cache
	timeout 300 "$@" >"$tmp/bare" 2>&1
	echo "exit $?" >>"$tmp/bare"
	for run in cold warm; do
		preloading "$list" "$@" >"$tmp/$run" 2>&1
		echo "exit $?" >>"$tmp/$run"
		diff <(grep -v '^compiles ' "$tmp/bare") <(grep -v '^compiles ' "$tmp/$run") || return
	done
	"$COMMAND" stats
	[ "$(compiles_in "$tmp/warm")" = 0 ] && [ "$(compiles_in "$tmp/cold")" -le "$(compiles_in "$tmp/bare")" ] &&
		[ "$(stat_of misses)" -eq "$(compiles_in "$tmp/cold")" ] && [ "$(stat_of stores)" = "$(stat_of misses)" ] &&
		[ "$(reason_of disabled)" = 0 ]
}

bypassing() { # LIST COMMAND...: NVRTCCACHE_DISABLE=1 is obeyed by both
	local list=$1
	shift
	fresh_cache
	timeout 300 "$@" >"$tmp/bare" 2>&1
	NVRTCCACHE_DISABLE=1 preloading "$list" "$@" >"$tmp/cold" 2>&1 && diff "$tmp/bare" "$tmp/cold" && [ "$(entries)" = 0 ]
}

has_other_version() { grep -aq '^libnvrtccache 98\.7\.6' <(tr '\0' '\n' <"$later"); }
check "The later copy says that it is another version." has_other_version

pairs=("$LIBRARY $tmp/copied/libnvrtccache.so" "$LIBRARY $later" "$later $LIBRARY" "$LIBRARY $tmp/linked/libnvrtccache.so"
	"$LIBRARY $stubborn" "$tmp/copied/libnvrtccache.so $later $LIBRARY")
names=("a copy of the file behind it" "a later version behind it" "a later version before it" "a symbolic link to it"
	"a copy behind it that does not step aside" "a copy and a later version before it")
if [ -d "$tmp/hard" ]; then
	pairs+=("$tmp/hard/libnvrtccache.so $LIBRARY")
	names+=("a hard link to it")
else
	skip "Two names of one file are one copy." "no hard link to the build can be made: $(cat "$tmp/hard.said")"
fi
for i in "${!pairs[@]}"; do
	pair=${pairs[i]} name=${names[i]}
	check "With $name, a linked program gets the same hits as with one copy." same_as_one "$pair" "$linked"
	check "With $name, dlopen and dlsym get the same hits as with one copy." same_as_one "$pair" "$lookup" handle "$so13"
	check "With $name, dlvsym of a version gets the same hits as with one copy." same_as_one "$pair" "$lookup" dlvsym "$so13" libnvrtc.so.13
	check "With $name, RTLD_DEFAULT finds what it finds with one." same_as_one "$pair" "$lookup" default "$so13" libnvrtc.so.13
	check "With $name, RTLD_NEXT finds what it finds with one." same_as_one "$pair" "$lookup" next "$so13"
	check "With $name, NVRTCCACHE_DISABLE=1 disables both, linked." bypassing "$pair" "$linked"
	check "With $name, NVRTCCACHE_DISABLE=1 disables both, looked up." bypassing "$pair" "$lookup" handle "$so13"
	needs "no python3 of this machine" runs_here python3
	check_there "With $name, ctypes gets the same hits as with one copy." same_as_one "$pair" python3 "$SOURCE/loader/client.py" "$so13"
done

is_active() { # PATH LIST
	preloading "$2" python3 "$SOURCE/copies/host.py" active "$so13" >"$tmp/active" 2>&1
	cat "$tmp/active"
	[ "$(cat "$tmp/active")" = "$(realpath "$1")" ]
}
second_forwards() { # "without": by no version does a copy take the other one for a compiler's library
	preloading "$later $LIBRARY" python3 "$SOURCE/copies/host.py" exports "$LIBRARY" "$so13" >"$tmp/exports" 2>&1
	diff <(printf 'without 11\ncreate 0\ncompile 0\ndestroy 0\ncompiles 1\n') "$tmp/exports"
}
if runs_here python3; then
	check "Of two copies the first is active." is_active "$LIBRARY" "$LIBRARY $later"
	check "It is so whichever is the later version." is_active "$later" "$later $LIBRARY"
	check "It is so with a preload between the two that calls the next dlsym." \
		is_active "$later" "$later $LOADER/neighbour.so $LIBRARY"
	check "It is so with such a preload before the two." is_active "$later" "$LOADER/neighbour.so $later $LIBRARY"
	fresh_cache
	check "Calls of the second copy are forwarded to the real library." second_forwards
	check "The second copy has created no cache directory." test ! -e "$NVRTCCACHE_DIR"
else
	skip "Of two copies the first is active." "no python3 of this machine"
fi

run_prints() { # LIST ENVIRONMENT... : what the program finds preloaded
	local list=$1
	shift
	env "$@" "LD_PRELOAD=$list" "$COMMAND" run -- sh -c 'echo "$LD_PRELOAD"' 2>"$tmp/run.said"
}
run_adds_none() { # COPY
	local said
	said=$(run_prints "$1" "NVRTCCACHE_LIBRARY=$1") && [ "$said" = "$1" ] && [ ! -s "$tmp/run.said" ] &&
		said=$(run_prints "$1" "NVRTCCACHE_LIBRARY=$LIBRARY") && [ "$said" = "$1" ] && [ ! -s "$tmp/run.said" ]
}
run_adds_one() { [ "$(run_prints libm.so.6 "NVRTCCACHE_LIBRARY=$later")" = "/usr/\$LIB/../../../..$later:libm.so.6" ]; }
doctor_names() { # LINE LIST
	LD_PRELOAD=$2 "$COMMAND" doctor >"$tmp/doctor" 2>&1
	grep -F "$1" "$tmp/doctor" || { cat "$tmp/doctor" && false; }
}
if runs_here true; then
	check "'nvrtccache run' adds no copy where one is preloaded, and says so where another was asked for." run_adds_none "$later"
	check "It adds one where other libraries are preloaded." run_adds_one
	check "doctor names the active copy and its version." doctor_names \
		"preloaded and active: $later (libnvrtccache 98.7.6)" "$later $LIBRARY"
	check "doctor names a copy that steps aside." doctor_names "another copy is preloaded and inactive: $later (libnvrtccache 98.7.6)" \
		"$LIBRARY $later"
else
	skip "'nvrtccache run' adds no copy where one is preloaded, and says so where another was asked for." "the command is of another machine"
fi
plan
