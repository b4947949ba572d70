#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every command: its help, what it does with words that it does not know, and what it cannot write.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/command.sh"
unset XDG_CACHE_HOME
export HOME=$tmp/home
mkdir "$HOME"

mapfile -t verbs < <("$COMMAND" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
[ "${#verbs[@]}" -ge 10 ] || not_ok "The overview lists the commands: ${verbs[*]}"

# The long options of a command, as its help has them; and those of its usage line.
options_of() { "$COMMAND" "$1" --help | sed -nE '/^Options:/,/^$/s/^  (-.,|   ) --([a-z-]+).*/\2/p'; }
usage_of() { "$COMMAND" "$1" --help | head -n 1 | grep -oE -- '--[a-z-]+' | sed 's/^--//'; }

help_is_whole() {
	gives 0 "$1" --help && [ ! -s "$tmp/err" ] && cp "$tmp/out" "$tmp/long" && gives 0 "$1" -h && cmp "$tmp/out" "$tmp/long" &&
		gives 0 help "$1" && cmp "$tmp/out" "$tmp/long" || return
	out_has "^usage: nvrtccache $1( |\$)" && out_has '^Options:$' && out_has '^  -h, --help +show this text$' &&
		out_has '^Exit status: ' && out_has '^Example:$' && out_has "^  .*nvrtccache $1" || return
	if grep -nE '^.{121}|[[:space:]]$' "$tmp/out"; then return 1; fi # no long lines, no blanks at their ends
	# every option has words
	! sed -n '/^Options:/,/^$/p' "$tmp/out" | grep -E '^  (-.,|   ) --[a-z-]+( [^ ]+)?( \[[^]]*\])?$'
}

# What the usage line names is among the options, and what help shows is accepted.
options_agree() {
	local name
	for name in $(usage_of "$1"); do
		options_of "$1" | grep -qx -- "$name" || { echo "--$name is in the usage of $1 alone" && return 1; }
	done
	for name in $(options_of "$1"); do
		"$COMMAND" "$1" "--$name" --no-such-option </dev/null >"$tmp/out" 2>"$tmp/err"
		! grep -q -- "unrecognized option '--$name'" "$tmp/err" || { cat "$tmp/err" && return 1; }
	done
}

refuses_unknown() {
	gives 2 "$1" --no-such-option && [ ! -s "$tmp/out" ] && err_has "^nvrtccache: unrecognized option '--no-such-option'$" &&
		err_has "see 'nvrtccache help $1'" && gives 2 "$1" -: && [ ! -s "$tmp/out" ]
}

refuses_arguments() {
	gives 2 "$1" one two three four </dev/null && [ ! -s "$tmp/out" ] && [ -s "$tmp/err" ] && [ ! -e one ] && [ ! -e "$NVRTCCACHE_DIR" ]
}

cd "$tmp" || exit 1
for verb in "${verbs[@]}"; do
	check "$verb --help is whole: usage, options, exit status, example." help_is_whole "$verb"
	check "$verb: what help shows is what it takes." options_agree "$verb"
	check "$verb rejects an unknown option." refuses_unknown "$verb"
	case $verb in
	run | doctor | report) ;; # a program and its arguments; any number of files
	*) check "$verb refuses arguments that it does not take." refuses_arguments "$verb" ;;
	esac
	needs "no /dev/full" [ -c /dev/full ]
	full() {
		"$COMMAND" "$1" --help >/dev/full 2>"$tmp/err"
		[ $? -eq 1 ] && err_has 'standard output: No space left'
	}
	check_there "$verb --help says that its output could not be written." full "$verb"
done

run_exits() { gives 0 run --help && out_has '125: it was not started' && out_has '2: unknown option or invalid value' && ! grep -A2 '125:' "$tmp/out" | grep -q 'value is bad'; }
check "run --help says with what it ends for a bad value." run_exits
json_letter() { gives 0 "$1" --help && { ! grep -q -- --json "$tmp/out" || out_has '^  -j, --json '; }; }
for verb in "${verbs[@]}"; do
	check "$verb: where it prints JSON, -j is enough." json_letter "$verb"
done

plan
