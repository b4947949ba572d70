#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# libNVVM: programs made of modules, verified and compiled, before a made-up library (tests/fake/nvvm) whose symbols have no
# version. Each session runs without us, with an empty cache and with the filled one; its last line says how often the
# library has really verified and compiled.
. "$(dirname "$0")/lib.sh"
unset LD_LIBRARY_PATH # the hosts know where their libraries are
so=$FAKE/nvvm/libnvvm.so.4
other=$FAKE/nvvm-b/libnvvm.so
so13=$FAKE/13/libnvrtc.so.13
linked=$BUILD/tests/nvvm/linked
lookup=$BUILD/tests/nvvm/lookup

really() { # FILE [COMPILER]
	sed -n "s/^really ${2:-}${2:+ }\([0-9 ]*\)\$/\1/p" "$1" | tr '\n' ' ' | sed 's/ $//'
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

# The same lines in all runs, and the library works so often in them: "VERIFIES COMPILES, cold, warm" after the bare run.
session_of() { # SENTENCE "BARE, COLD, WARM" HOST WORD...
	local sentence=$1 counts=$2
	shift 2
	if ! three_runs "$@"; then
		not_ok "$sentence" "$tmp/difference"
	elif [ "$(really "$tmp/bare"), $(really "$tmp/cold"), $(really "$tmp/warm")" != "$counts" ]; then
		{
			echo "$(really "$tmp/bare"), $(really "$tmp/cold"), $(really "$tmp/warm"), not $counts"
			cat "$tmp/warm"
			"$COMMAND" stats
		} >"$tmp/difference" 2>&1
		not_ok "$sentence" "$tmp/difference"
	else
		ok "$sentence"
	fi
}

session() { # SENTENCE COUNTS WORD...
	local sentence=$1 counts=$2
	shift 2
	session_of "$sentence" "$counts" "$lookup" "$so" "$@"
}

# How often the library verifies and compiles for these words, with what the cache has.
works() { # WORD...
	preloaded "$lookup" "$so" "$@" >"$tmp/run" 2>&1
	really "$tmp/run"
}

needs() { # SENTENCE COUNTS WORD...
	local sentence=$1 counts=$2
	shift 2
	check "$sentence" test "$(works "$@")" = "$counts"
}

numba=(option=-opt=3 option=-arch=compute_90 create 'add==one lib' verify lazy=lib=uno compile get destroy)

# What all sessions are
session "A second process gets hits, and its library neither verifies nor compiles." "1 1, 1 1, 0 0" "${numba[@]}"
check "The result is there byte for byte, with its NUL." \
	grep -qF 'result 0, 61 bytes: // first -opt=3 -arch=compute_90 \012one lib of 7\012uno of 3\012\000####' "$tmp/warm"
check "Both are counted." test "$(stat_of misses) $(stat_of stores) $(stat_of hits_disk)" = "2 2 2"
check "Both are cached." test "$(entries)" = 2
session "The same program again in one process is a hit in memory." "2 2, 1 1, 0 0" "${numba[@]}" "${numba[@]:2}"
check "Those are hits in memory." test "$(stat_of hits_memory)" = 4
session "LTO-IR has no NUL." "0 1, 0 1, 0 0" option=-gen-lto create add=a=one compile get destroy
check "The result ends with its last byte." grep -qF 'a: one of 3\012####' "$tmp/warm"
session "The getters before a compile say what they say without us." "0 0, 0 0, 0 0" \
	create get add=a=one get get-nowhere destroy
session "A program without modules, or with lazy ones alone, is refused." "2 2, 2 2, 2 2" \
	create verify compile get lazy=a=one verify compile get destroy
session "A module that is none is refused, and the program is what it was." "1 1, 1 1, 0 0" \
	create add=a=one add-nothing verify compile get destroy destroy
session "Getters with a null pointer return what the library returns, after hits too." "0 1, 0 1, 0 0" \
	create add=a=one compile get-nowhere get destroy
session "Modules that cannot be parsed have the library's return codes and logs." "1 1, 1 1, 0 0" \
	create add=a=broken verify get compile get destroy
check "The log names the module." grep -qF 'log 0, 46 bytes: a (1, 2): parse' "$tmp/warm"
session "So have modules that cannot be linked." "1 1, 1 1, 0 0" create add=a=clash verify get compile get destroy
session "A program with warnings is cached with its log." "1 1, 1 1, 0 0" create add=a=warn verify get compile get destroy
check "A verification and a compile warn in words of their own." \
	sh -c "grep -qF 'verify: a warns' '$tmp/warm' && grep -qF 'compile: a warns' '$tmp/warm'"

# Which of result and log is whose
session "A verification after a compile leaves the result." "1 1, 1 1, 0 0" create add=a=one compile verify get destroy
session "A rejected verification leaves the result of a hit." "1 1, 1 1, 1 0" \
	option=-opt=3 create add=a=one compile option=-bad verify get destroy
session "A rejected compile leaves no result, even after a hit." "0 2, 0 2, 0 1" \
	option=-opt=3 create add=a=one compile option=-bad compile get destroy
session "A compile after a rejected one is a hit." "0 2, 0 2, 0 1" \
	option=-bad create add=a=one compile get no-options compile get destroy
session "A program can be compiled again with more modules." "1 2, 1 2, 0 1" \
	create add=a=one verify compile get add=b=two compile get destroy
session "A second compile with other options has a result of its own." "0 2, 0 2, 0 0" \
	create add=a=one compile get option=-gen-lto compile get destroy
session "Two programs built at the same time are independent." "2 2, 2 2, 0 0" \
	create use=1 create add=b=two use=0 add=a=one verify use=1 verify use=0 compile use=1 compile get use=0 get destroy \
	use=1 get destroy

# What follows a hit in part
fresh_cache
needs "A verification alone is cached." "1 0" create add=a=warn verify get destroy
needs "A compile after a verification that was a hit is performed." "0 1" create add=a=warn verify compile get destroy
timeout 600 "$lookup" "$so" create add=a=warn verify add=b=two compile inspect destroy >"$tmp/bare" 2>&1
needs "A deferred call that was performed is not performed again." "1 1" create add=a=warn verify add=b=two compile inspect destroy
check "The log is the compile's." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
fresh_cache
needs "A verification is cached again." "1 0" create add=a=warn verify destroy
timeout 600 "$lookup" "$so" create add=a=warn verify compile inspect destroy >"$tmp/bare" 2>&1
needs "A deferred verification that a compile covers is not performed." "0 1" create add=a=warn verify compile inspect destroy
check "The log is the compile's here too." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
fresh_cache
needs "A compile alone is cached." "0 1" create add=a=one compile get destroy
timeout 600 "$lookup" "$so" create add=a=one compile verify get inspect destroy >"$tmp/bare" 2>&1
needs "Before an unknown function, a deferred compile is performed and later calls are repeated." \
	"2 1" create add=a=one compile verify get inspect destroy
check "Result and log are those without the cache." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
latest=(create add=a=one compile set=NV_NVVM_VERSION=latest verify get add=b=two get destroy)
timeout 600 "$lookup" "$so" "${latest[@]}" >"$tmp/bare" 2>&1
needs "If the environment has changed meanwhile, the compile is not performed." "1 0" "${latest[@]}"
check "The result is what the compile made." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
timeout 600 "$lookup" "$so" create add=a=one compile add=b=warn get inspect destroy >"$tmp/bare" 2>&1
needs "A deferred compile is performed before a module is added." "0 1" create add=a=one compile add=b=warn get inspect destroy
check "It made the same result." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
timeout 600 "$lookup" "$so" create add=a=one compile get whim=odd add=b=warn get destroy >"$tmp/bare" 2>&1
needs "It is performed even if its result differs." "0 1" create add=a=one compile get whim=odd add=b=warn get destroy
check "The getters still return the served result." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
fresh_cache
needs "A verification of one module is cached." "1 0" create add=a=warn verify destroy
timeout 600 "$lookup" "$so" create add=a=warn verify add=b=two get inspect destroy >"$tmp/bare" 2>&1
needs "A deferred verification with a log is performed before a module is added." "1 0" \
	create add=a=warn verify add=b=two get inspect destroy
check "The program is what it is without us." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
fresh_cache
needs "A verification without a log is cached." "1 0" create add=a=one verify destroy
timeout 600 "$lookup" "$so" create add=a=one verify add=b=warn inspect get destroy >"$tmp/bare" 2>&1
needs "It is not performed when a module is added, nor later." "0 0" create add=a=one verify add=b=warn inspect get destroy
check "The program sees no difference." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")
timeout 600 "$lookup" "$so" option=-bad create add=a=one verify no-options verify add=b=two inspect get destroy >"$tmp/bare" 2>&1
needs "It is performed if an earlier call has left a log." "2 0" option=-bad create add=a=one verify no-options verify add=b=two inspect get destroy
check "The log is gone as it is without us." diff <(lines_of "$tmp/bare") <(lines_of "$tmp/run")

# Keys
fresh_cache
base=(create add=a=one add=b=two compile get destroy)
needs "A first compile is done." "0 1" "${base[@]}"
needs "A verification is not a compile." "1 0" create add=a=one add=b=two verify get destroy
needs "Another order of the modules is another result." "0 1" create add=b=two add=a=one compile get destroy
needs "Another module is another result." "0 1" create add=a=one add=b=twO compile get destroy
needs "Another name of a module is another result." "0 1" create add=a=one add=c=two compile get destroy
needs "Modules that are cut elsewhere are another result." "0 1" create add=a=onet add=b=wo compile get destroy
needs "A module more is another result." "0 1" create add=a=one add=b=two add=c= compile get destroy
needs "A lazy module is another result." "0 1" create add=a=one lazy=b=two compile get destroy
needs "An option is another result." "0 1" option=-opt=3 "${base[@]}"
needs "Two options are another result." "0 1" option=-opt=3 option=-g "${base[@]}"
needs "Their order is another result." "0 1" option=-g option=-opt=3 "${base[@]}"
needs "NV_NVVM_VERSION is another result." "0 1" set=NV_NVVM_VERSION=latest "${base[@]}"
check "It is in the result." grep -qF '// first latest' "$tmp/run"
needs "An empty name is another result." "0 1" create add==one compile get destroy
needs "No name is another result." "0 1" create nameless=one compile get destroy
needs "The rounding mode is another result." "0 1" round=up create add=a=round compile get destroy
cp "$tmp/run" "$tmp/up"
needs "Rounding to nearest is another result." "0 1" create add=a=round compile get destroy
check "They differ." sh -c "! cmp -s '$tmp/up' '$tmp/run'"
needs "A big module is a result." "0 1" create big=a=one compile get destroy
needs "Another big module is another result." "0 1" create big=a=onE compile get destroy
needs "The same big module again is remembered." "0 0" create big=a=one compile destroy create big=a=one compile get destroy
check "Each of them is cached." test "$(entries)" = 18
needs "The first is still there." "0 0" "${base[@]}"
check "Another build of the library is another compiler." \
	test "$(preloaded "$lookup" "$other" "${base[@]}" | tee "$tmp/run" | sed -n 's/^really //p')" = "0 1"
check "Its result is its own." grep -qF '// other' "$tmp/run"

# Results that are not cached
session "Another version of the IR is refused each time." "1 1, 1 1, 1 1" create add=a=ancient verify get compile get destroy
check "It is not cached." test "$(entries) $(reason_of return_code)" = "0 4"
session "A shortage of memory is not cached, said by the code or the log." "0 2, 0 2, 0 2" \
	create add=a=nomemory compile get destroy create add=a=exhausted compile get destroy
check "Neither is in the directory." test "$(entries)" = 0
session "A failure without a log is not cached." "1 1, 1 1, 1 1" create add=a=speechless verify compile get destroy
check "It is not in the directory." test "$(entries)" = 0
session "A compile that was not watched is not cached." "0 1, 0 1, 0 1" create add=a=unseen compile get destroy
check "It is counted." test "$(entries) $(reason_of not_watched)" = "0 2"
session "If an unlisted variable is set and read, nothing is cached." "0 1, 0 1, 0 1" \
	set=FAKE_NVVM_ODD=really create add=a=odd compile get destroy
check "It is counted as well." test "$(entries) $(reason_of environment)" = "0 2"
session "A result is cached while the variable is not set." "0 1, 0 1, 0 0" create add=a=odd compile get destroy
needs "It is no hit while the variable is set." "0 1" set=FAKE_NVVM_ODD=really create add=a=odd compile get destroy
session "Options that are no array are bypassed, and what comes next is not." "0 3, 0 2, 0 1" \
	create add=a=one null-options get compile get destroy
forty=(create add=a=one)
for ((i = 0; i < 40; i++)); do forty+=(compile); done
session "A program that is compiled 40 times gets 32 hits." "0 40, 0 8, 0 8" "${forty[@]}" get destroy

# Options that work on
for option in -restrict "-Xllc option=-sched" -unheard-of; do
	words=(create add=a=one)
	for word in $option; do
		case $word in option=*) words+=("$word") ;; *) words+=("option=$word") ;; esac
	done
	words+=(compile get destroy no-options create add=b=two compile get destroy)
	session "$option, and what follows it, is not cached." "0 2, 0 2, 0 2" "${words[@]}"
	check "Neither is in the directory after $option." test "$(entries)" = 0
	works create add=b=two compile destroy >/dev/null
	needs "After $option a hit gives what the compile alone gives." "0 1" "${words[@]}"
	check "That is without $option." sh -c "grep -qF '// first \\012two of 3\\012\\000####' '$tmp/run'"
done
session "-restrict for a verification is enough." "1 1, 1 1, 1 1" \
	option=-restrict create add=a=one verify no-options compile get destroy
session "An unknown option in a rejected call has no lasting effect." "0 2, 0 2, 0 1" \
	option=-unheard-of option=-bad create add=a=one compile no-options compile get destroy

# Past us
session "An unknown function sees a really compiled program, also after a hit." "1 1, 1 1, 0 1" \
	create add=a=one verify compile get inspect get destroy
check "It found a result." grep -qx 'inspect 0: 1 modules, result 19, log 0' "$tmp/warm"
session "It sees a verification that was a hit." "1 0, 1 0, 1 0" create add=a=warn verify inspect get destroy
session "It sees the log of the last one of both." "1 1, 1 1, 1 1" create add=a=warn compile verify inspect get destroy
session "Calls before it are hits, and so is another program after it." "0 2, 0 2, 0 1" \
	create add=a=one compile get inspect destroy create add=b=two compile get destroy
session "A program that asks for the library's private functions is bypassed." "0 2, 0 2, 0 2" \
	create add=a=one private compile get private destroy create add=b=two compile get destroy
check "Nothing is cached then." test "$(entries)" = 0
counts_private() { # each look-up, also where no public function is called
	fresh_cache
	works create private destroy && [ "$(stat_of bypassed.private_functions) $(stat_of misses)" = "1 0" ] &&
		"$COMMAND" explain --last | grep '^__nvvmHandle .*BYPASSED: private_functions$' && NVRTCCACHE_DISABLE=1 works create private destroy &&
		[ "$(stat_of bypassed.private_functions)" = 1 ]
}
check "Looking them up is counted, and explain names the function." counts_private
session_of "A linked host is cached." "1 1, 1 1, 0 0" "$linked" "${numba[@]}"
session "A linked library that is loaded later may see a program of which functions were looked up." \
	"0 2, 0 1, 0 0" create add=a=one compile get "load=$BUILD/tests/nvvm/linked_library.so" compile ask-loaded get destroy
check "It found a result." grep -qx 'loaded: 20' "$tmp/warm"

# In company
session "libNVVM and NVRTC are cached in one process, side by side." "1 1, 1 1, 0 0" "${numba[@]}" "nvrtc=$so13"
check "NVRTC worked once as well." test "$(really "$tmp/bare" nvrtc) $(really "$tmp/cold" nvrtc) $(really "$tmp/warm" nvrtc)" = "1 1 0"
two=(create add=a=one verify "library=$other" use=1 create add=a=one verify compile get "library=$so" use=0 compile get destroy
	"library=$other" use=1 compile get destroy)
session "Two builds in one process are two compilers." "1 0 1 1 1 1 1 2, 1 0 1 1 1 1 1 1, 0 0 0 0 0 0 0 0" "${two[@]}"
check "Each has its own result." sh -c "grep -q '// first' '$tmp/warm' && grep -q '// other' '$tmp/warm'"
three_runs "$lookup" "$so" option=-opt=3 threads=16
check "Threads get what they get without us." test ! -s "$tmp/difference"
check "Each of their programs is cached, verified and compiled." test "$(entries), $(really "$tmp/warm")" = "10, 0 0"
session "A child continues with its parent's program." "1 1, 1 1, 0 0" create add=a=one verify fork lazy=b=two compile get destroy
session "A child of a process with hits has its results." "1 1, 1 1, 0 0" create add=a=one verify compile fork get destroy

export NVRTCCACHE_VERIFY=1
session "In verify mode the library works each time." "1 1, 1 1, 1 1" "${numba[@]}"
check "Nothing that differs is found." test "$(stat_of verified) $(stat_of errors.mismatch) $(stat_of verify_uncompared)" = "2 0 0"
needs "With a library whose results differ, the library does the work." "1 1" whim=odd "${numba[@]}"
check "The difference is found." test "$(stat_of verified) $(stat_of errors.mismatch)" = "4 1"
needs "Numbers of calls are no difference." "0 1" 'whim=// callseq 4' create add=a=one compile destroy
needs "Not when they are others." "0 1" 'whim=// callseq 17' create add=a=one compile destroy
check "None is counted." test "$(stat_of verified) $(stat_of errors.mismatch)" = "5 1"
unset NVRTCCACHE_VERIFY
export NVRTCCACHE_DISABLE=1
session "NVRTCCACHE_DISABLE=1 does it every time." "1 1, 1 1, 1 1" "${numba[@]}"
session "Then a compile leaves the errno that the library leaves." "0 1, 0 1, 0 1" create add=a=errno compile get destroy
check "It is one more." grep -qx 'compile 0, errno 78' "$tmp/warm"
unset NVRTCCACHE_DISABLE

# Nothing of ours is found where there is no libNVVM: the host's first line.
check "Without libNVVM there is no nvvmGetErrorString." grep -qx 'before: none' "$tmp/warm"
plan
