# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: MIT
# hosts: for the scripts that run whole hosts (tests/hosts) three times: without us, with an empty cache, with a filled one
#
# Source it after lib.sh. `wrap` are words in front of each run (setarch -R), `preload` is what is preloaded besides us.
#
#   three_runs CMD...    leaves $tmp/{bare,cold,warm} and their .err; $tmp/difference where lines differ ("compiles" may)
#   hosted SENTENCE CMD...      the lines are the same, the cold run missed, the warm one hit and missed nothing
#   unaffected SENTENCE CMD...  the lines are the same
#   counts               "memory disk misses" since they were last set to 0

HOSTS=$BUILD/tests/hosts
SO13=$FAKE/13/libnvrtc.so.13
wrap=()
preload=''

run_hosted() { # file command...
	local file=$1
	shift
	timeout 600 ${wrap[@]+"${wrap[@]}"} env LD_PRELOAD="$preload${preload:+ }$LIBRARY" "$@" >"$tmp/$file" 2>"$tmp/$file.err" </dev/null
	echo "exit $?" >>"$tmp/$file"
}

lines_of() { grep -v '^compiles ' "$1"; }

counts() { echo "$(stat_of hits_memory) $(stat_of hits_disk) $(stat_of misses)"; }

forget_counts() { "$COMMAND" stats --zero >/dev/null 2>&1; }

three_runs() {
	fresh_cache
	timeout 600 ${wrap[@]+"${wrap[@]}"} "$@" >"$tmp/bare" 2>"$tmp/bare.err" </dev/null
	echo "exit $?" >>"$tmp/bare"
	run_hosted cold "$@"
	cold=$(counts)
	forget_counts
	run_hosted warm "$@"
	warm=$(counts)
	for run in cold warm; do
		if ! diff <(lines_of "$tmp/bare") <(lines_of "$tmp/$run") >"$tmp/difference"; then
			{ echo "$run run; its stderr:" && head -n 20 "$tmp/$run.err"; } >>"$tmp/difference"
			return 1
		fi
	done
}

hosted() {
	local sentence=$1
	shift
	if ! three_runs "$@"; then
		not_ok "$sentence" "$tmp/difference"
	elif [ "${cold##* }" -gt 0 ] && [ "${warm##* }" -eq 0 ] && [ "${warm% *}" != "0 0" ]; then
		ok "$sentence"
	else
		echo "hits in memory, on disk, misses: cold $cold, warm $warm" >"$tmp/difference"
		not_ok "$sentence" "$tmp/difference"
	fi
}

unaffected() {
	local sentence=$1
	shift
	if three_runs "$@"; then
		ok "$sentence"
	else
		not_ok "$sentence" "$tmp/difference"
	fi
}
