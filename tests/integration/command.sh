# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# command: for the scripts that run the nvrtccache command and look at what it says
#
# Source it after lib.sh. What fails shows what the command said.
#
#   gives STATUS ARG...    runs the command, which exits with that; leaves $tmp/out and $tmp/err
#   out_has REGEX          a line on standard output is like that, and
#   err_has REGEX          on standard error
#   silent_err             nothing is on standard error
#   json EXPRESSION        prints a Python expression about `told`, the JSON on standard output
#   is EXPRESSION VALUE    it prints VALUE
#   holds EXPRESSION       it is true

gives() {
	local expected=$1 status
	shift
	"$COMMAND" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$expected" ] && return
	echo "nvrtccache $*: exit status $status instead of $expected"
	cat "$tmp/out" "$tmp/err"
	return 1
}

has() { # out|err REGEX
	grep -qE -- "$2" "$tmp/$1" && return
	echo "no line '$2' on std$1 of:"
	cat "$tmp/out" "$tmp/err"
	return 1
}
out_has() { has out "$1"; }
err_has() { has err "$1"; }
silent_err() { [ ! -s "$tmp/err" ] || { cat "$tmp/err" && false; }; }

json() {
	python3 -c 'import datetime, json, os, re, sys; told = json.load(open(sys.argv[1])); print(eval("(" + sys.argv[2] + ")"))' \
		"$tmp/out" "$1"
}
is() {
	local got
	got=$(json "$1") || return
	[ "$got" = "$2" ] || { echo "$1: $got, not $2" && cat "$tmp/out" && false; }
}
holds() { is "bool($1)" True; }
