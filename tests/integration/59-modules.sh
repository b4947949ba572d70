#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Modules that are linked with a compiler: by names and versions that are exported here and by others, or without a
# version, bound at once, later or past this library, with the addresses in import slots or in data. Each host runs without
# us, with an empty cache and with the filled one, and is told the same.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the modules know where their library is
modules=$BUILD/tests/fixtures/modules
host=host
so13=$FAKE/link/13.2/libnvJitLink.so.13

lines() { grep -v '^really ' "$1"; }
really() { sed -n 's/^really //p' "$1"; }
really_so_often() { # COUNTS WORD...: the library works so often with an empty and with the filled cache
	local counts=$1
	shift
	fresh_cache
	timeout 300 "$modules/$host" "$so13" "$@" >"$tmp/bare" 2>&1
	[ $? != 77 ] || return 77
	preloaded "$modules/$host" "$so13" "$@" >"$tmp/cold" 2>&1
	preloaded "$modules/$host" "$so13" "$@" >"$tmp/warm" 2>&1
	diff <(lines "$tmp/bare") <(lines "$tmp/cold") && diff <(lines "$tmp/bare") <(lines "$tmp/warm") &&
		[ "$(really "$tmp/bare") $(really "$tmp/cold") $(really "$tmp/warm")" = "$counts" ] && return
	really "$tmp/cold"
	cat "$tmp/warm"
	"$COMMAND" stats
	return 1
}
unreached() { [ "$(stat_of unreached)" = "$1" ] || { "$COMMAND" stats && false; }; }

for module in exported lazy now noplt table table-exported; do
	for way in lazy now deep deep-lazy; do
		check "A module ($module) that is opened ($way) is cached." really_so_often "1 1 0" "$way=$modules/$module.so" run
		check "None is unreached." unreached 0
	done
done
check "A module without versions and without a library of its own is cached." \
	really_so_often "1 1 0" "global=$so13" "lazy=$modules/bare.so" run
check "So it is if it is bound at once." really_so_often "1 1 0" "global=$so13" "now=$modules/bare.so" run
check "So it is if it was opened before the library." really_so_often "1 1 0" "lazy=$modules/bare.so" "global=$so13" "lazy=$modules/bare.so" run
check "A module that is closed and opened again is cached each time." \
	really_so_often "1 1 0" "now=$modules/now.so" run close "now=$modules/now.so" run
check "A plugin that registers itself is cached by an exported name." really_so_often "1 1 0" "now=$modules/exported.so" plugin
check "By another name it runs, uncached, until somebody looks a symbol up." \
	really_so_often "2 2 1" "now=$modules/now.so" plugin run
check "A constructor that compiles before that runs, uncached." really_so_often "2 2 1" "lazy=$modules/eager.so" run
check "Two modules of which one was bound past us are both cached." \
	really_so_often "2 1 0" "lazy=$modules/exported.so" run "deep=$modules/now.so" run
check "A module is cached if objects were loaded into another namespace before." \
	really_so_often "2 1 0" "lazy=$modules/exported.so" run space=libm.so.6 look "deep=$modules/now.so" run
check "A module is cached if another thread calls while the loader relocates it." \
	really_so_often "3 1 0" "lazy=$modules/exported.so" plugin "lazy=$modules/meanwhile.so" run

check "A module that chooses its functions while it is loaded is cached by an exported name." \
	really_so_often "1 1 0" "now=$modules/ifunc.so" run
check "A module is cached if a tool has written a slot after the library." \
	really_so_often "2 2 0" "now=$modules/now.so" run patch text=two run
check "None is unreached." unreached 0
check "If a tool has written a slot before the library, the module runs, uncached." \
	really_so_often "1 1 1" "now=$modules/now.so" patch run
check "It is counted, in each process." unreached 2
in_part() {
	fresh_cache
	preloaded "$modules/host" "$so13" "now=$modules/now.so" run >"$tmp/cold"
	preloaded "$modules/host" "$so13" "now=$modules/now.so" patch run >"$tmp/warm"
	diff <(lines "$tmp/cold") <(lines "$tmp/warm")
}
check "Its link is not served by the calls that the library sees." in_part
for kind in "" -exported; do
	host=program$kind
	check "A program ($host) that contains addresses of the library's functions is cached." really_so_often "1 1 0" plugin
	check "So is a module that calls by the program's entries for them." \
		really_so_often "1 1 0" "now=$modules/noplt$kind.so" run
	check "None is unreached." unreached 0
done
host=host
check "A slot that a thread of the loader writes once more is written again." really_so_often "1 1 0" \
	"now=$modules/now.so" save "lazy=$modules/lazy.so" look undo run

audited() { # WORD...: a library for LD_AUDIT is told of all bindings
	LD_AUDIT=$modules/audit.so really_so_often "1 1 0" "$@" && grep -qx audited "$tmp/warm" && [ "$(stat_of unreached)" = 0 ]
}
if [ -n "${EMULATED:-}" ]; then
	skip "Modules that are bound under LD_AUDIT are cached." "the emulator would be audited"
else
	check "A module that is bound under LD_AUDIT is cached by exported names." audited "lazy=$modules/exported.so" run
	check "So it is by its slots." audited "lazy=$modules/lazy.so" run
	check "So it is past the library's exports." audited "deep=$modules/exported.so" run
fi

hooked() { # a preload before the library that replaces one function by its name
	fresh_cache
	LD_PRELOAD=$modules/hook.so "$modules/host" "$so13" "global=$so13" "$@" >"$tmp/bare"
	before=$modules/hook.so preloaded "$modules/host" "$so13" "global=$so13" "$@" >"$tmp/cold"
	before=$modules/hook.so preloaded "$modules/host" "$so13" "global=$so13" "$@" >"$tmp/warm"
	grep -c hooked "$tmp/bare" "$tmp/warm"
	diff <(lines "$tmp/bare" | grep -v "${unlike:-^-}") <(lines "$tmp/warm" | grep -v "${unlike:-^-}") && [ "$(really "$tmp/warm")" = 0 ]
}
check "A hook of one function sees a module's calls, which are cached." hooked "now=$modules/now.so" run
unlike=hooked
check "A module that was not bound when the library came is cached past the hook." hooked "lazy=$modules/lazy.so" run

sealed() {
	really_so_often "$@"
	[ $? != 77 ] || echo "no seccomp here" >"$tmp/no-seccomp"
	[ -s "$tmp/no-seccomp" ] || diff /dev/null <(really_so_often "$@")
}
check "If nothing can be made writable, the module runs, uncached." sealed "1 1 1" "now=$modules/now.so" seal run
if [ -s "$tmp/no-seccomp" ]; then
	skip "It is counted." "no seccomp here"
else
	check "It is counted, in each process." unreached 2
	check "Nothing of that library is cached." sealed "2 2 2" "now=$modules/now.so" seal run "lazy=$modules/exported.so" run
	served() {
		fresh_cache
		preloaded "$modules/host" "$so13" "lazy=$modules/exported.so" run
		preloaded "$modules/host" "$so13" "now=$modules/now.so" seal run "lazy=$modules/exported.so" run >"$tmp/warm"
		cat "$tmp/warm"
		[ "$(really "$tmp/warm")" = 1 ]
	}
	check "What was cached before is served." served
	check "Nothing is cached even if that library was watched before and the module does nothing that the watch sees." sealed \
		"2 2 1" "lazy=$modules/exported.so" run "now=$modules/now.so" seal look text=two "lazy=$modules/exported.so" run
	named() { "$COMMAND" explain --last 9 >"$tmp/explained" && cat "$tmp/explained" && grep -q "the module $modules/now.so" "$tmp/explained"; }
	check "The record names the module." named
fi

# What concerns one compiler.
really_so_often "1 1 1" "now=$modules/now.so" mseal run >"$tmp/said"
if [ $? = 77 ]; then
	skip "A module whose slots are sealed runs, uncached." "this kernel has no mseal"
else
	check "A module whose slots are sealed runs, uncached." diff /dev/null "$tmp/said"
	check "Results of the other compiler are cached." really_so_often "1 1 1" "now=$modules/both.so" mseal run
	check "They hit." [ "$(stat_of stores) $(stat_of hits_disk)" = "1 1" ]
	unreached_of() {
		fresh_cache
		preloaded "$modules/host" "$so13" "now=$modules/now.so" mseal "deep=$modules/both.so" mseal run
		"$COMMAND" explain --last 9 >"$tmp/explained"
		cat "$tmp/explained"
		grep -q "the module $modules/now.so" "$tmp/explained" && grep -q "the module $modules/both.so" "$tmp/explained"
	}
	check "Of each compiler the first module is named." unreached_of
	doctored() {
		fresh_cache
		"$COMMAND" doctor -- "$modules/host" "$so13" "now=$modules/now.so" mseal run >"$tmp/doctored"
		cat "$tmp/doctored"
		grep -qF "warn  the module $modules/now.so calls the compiler without the cache" "$tmp/doctored"
	}
	check "doctor names the module." doctored
fi
plan
