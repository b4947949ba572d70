#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nvrtccache-agent --put-bundle, --get-bundle, --bundle: a program's results as one value of the engine, which each node fetches
# when its agent starts. The engine is a directory here; 64-engines has the others.
# shellcheck disable=SC2317,SC2015,SC2016 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
AGENT=$BUILD/nvrtccache-agent
recipes=$(cd "$(dirname "$0")/../../recipes" && pwd)
NVRTC=$FAKE/13/libnvrtc.so.13
LIFE=$BUILD/tests/life
[ -x "$AGENT" ] || skip_all "no agent: its libraries are not here"
[ -e "$NVRTC" ] && [ -x "$LIFE" ] || skip_all "no fixture"
unset XDG_CACHE_HOME LD_LIBRARY_PATH NVRTCCACHE_DIR
export HOME=$tmp/home
mkdir "$HOME" "$tmp/engine"
engine=dir://$tmp/engine
agent=
with=()
keys() { # FILE ID SEED
	printf '%s %s\n' "$2" "$(printf '%s' "$3" | sha256sum | cut -d ' ' -f 1)" >"$1" && chmod 600 "$1"
}
keys "$tmp/keys" one 1
keys "$tmp/other-keys" two 2
end_agent() {
	[ -z "$agent" ] || kill -9 "$agent" 2>/dev/null
	clean_up
}
trap end_agent EXIT

compile() { LD_PRELOAD=$LIBRARY NVRTCCACHE_STATS=1 "$LIFE" "$NVRTC" trivial 0 -arch=sm_90 "-DK=$1"; } # KERNEL
agent() { timeout 60 "$AGENT" --engine "$engine" --key-file "$tmp/keys" "$@"; }
value() { find "$tmp/engine" -type f -path '*/nvrtccache/*' ! -name 'tmp.*'; }
results() { find "$1/v1" -type f -path '*/v1/??/*' 2>/dev/null | wc -l; }
words() { grep -qF -- "$1" "$tmp/err" || { echo "not in these words: $1" && cat "$tmp/err" && return 1; }; }
refused() { # STATUS WORDS ARGUMENT... <STANDARD INPUT
	local expected=$1 said=$2 status
	shift 2
	timeout 60 "$AGENT" --engine "$engine" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$expected" ] && [ ! -s "$tmp/out" ] || { echo "$*: exit status $status instead of $expected" && cat "$tmp/err" && return 1; }
	words "$said"
}

made() {
	(export NVRTCCACHE_DIR=$tmp/job && compile 0 && compile 1 && compile 2) >/dev/null 2>&1 && [ "$(results "$tmp/job")" -eq 3 ] &&
		NVRTCCACHE_DIR=$tmp/job "$COMMAND" export --used-since 1h - 2>"$tmp/err" | agent --put-bundle team/train:1 >"$tmp/said" || return
	grep -qE '^Put 3 entries \([0-9]+ bytes\) into the engine as bundle team/train:1: [0-9]+ bytes$' "$tmp/said" && [ "$(value | wc -l)" -eq 1 ] || { cat "$tmp/said" && return 1; }
	cp "$(value)" "$tmp/value"
}
check "A job puts what it used into the engine, as one value." made

warm() { # a program whose agent fetches it
	NVRTCCACHE_DIR=$tmp/node agent --bundle team/train:1 -- env LD_PRELOAD="$LIBRARY" NVRTCCACHE_STATS=1 sh -c \
		'"$0" "$1" trivial 0 -arch=sm_90 -DK=1; "$2" --status --json' "$LIFE" "$NVRTC" "$AGENT" >"$tmp/said" 2>&1 || { cat "$tmp/said" && return 1; }
	grep -q ' 1 on disk, 0 misses' "$tmp/said" && grep -q '"bundle_state": "fetched"' "$tmp/said" && grep -q '"bundle_results": 3,' "$tmp/said" &&
		grep -q '"bundle": "team/train:1"' "$tmp/said" && grep -q '"fetches": 0,' "$tmp/said" && [ "$(results "$tmp/node")" -eq 3 ] &&
		NVRTCCACHE_DIR=$tmp/node "$COMMAND" verify >/dev/null || { cat "$tmp/said" && return 1; }
}
check "A program does not begin before the bundle is there, and then compiles nothing and asks for nothing." warm

again() {
	local before
	before=$(find "$tmp/node/v1" -type f -path '*/v1/??/*' -printf '%P %s %T@\n' | sort)
	NVRTCCACHE_DIR=$tmp/node agent --bundle team/train:1 -- true 2>"$tmp/err" && [ "$(find "$tmp/node/v1" -type f -path '*/v1/??/*' -printf '%P %s %T@\n' | sort)" = "$before" ] && words '3 entries are in the directory'
}
check "What is there already is not written anew." again

piped() {
	agent --get-bundle team/train:1 | NVRTCCACHE_DIR=$tmp/piped "$COMMAND" import - >/dev/null && [ "$(results "$tmp/piped")" -eq 3 ] && NVRTCCACHE_DIR=$tmp/job "$COMMAND" export "$tmp/bundle" >/dev/null &&
		agent --get-bundle team/train:1 | cmp - "$tmp/bundle"
}
check "A bundle is fetched as it was uploaded, for an import by the user." piped

start() { # OPTION...: an agent for $tmp/node, which is empty
	rm -rf "$tmp/node"
	NVRTCCACHE_DIR=$tmp/node env "${with[@]}" "$AGENT" --engine "$engine" "$@" 2>"$tmp/err" &
	agent=$!
}
status() { "$AGENT" --status --json --dir "$tmp/node" 2>/dev/null | sed -nE "s/.*\"$1\": \"?([^\",}]*).*/\1/p"; }
becomes() { # NAME VALUE: sooner or later
	local turn now=
	for ((turn = 0; turn < 600; turn++)); do
		now=$(status "$1")
		[ "$now" = "$2" ] && return
		sleep 0.05
	done
	echo "$1 is '$now' and not '$2'" && cat "$tmp/err" && return 1
}
stop() {
	local status
	kill "$agent" && wait "$agent"
	status=$?
	agent=
	[ "$status" -eq 0 ] || { echo "the agent ended with $status" && cat "$tmp/err" && return 1; }
}
served() {
	start --key-file "$tmp/keys" --bundle team/train:1 && becomes bundle_state fetched && [ "$(results "$tmp/node")" -eq 3 ] &&
		"$AGENT" --status --dir "$tmp/node" | grep -q '^bundle_results  *3$' && stop
}
check "An agent that serves a node fetches it at its start, and reports that." served

prolog() { # recipes/slurm-agent-prolog, with a bundle
	local turn pid
	mkdir -p "$tmp/slurm/bin" && ln -sf "$AGENT" "$tmp/slurm/bin/nvrtccache-agent" && rm -rf "$tmp/node" && mkdir "$HOME/.config" && cp "$tmp/keys" "$HOME/.config/nvrtccache.keys" &&
		sed -e "s#^prefix=.*#prefix=$tmp/slurm#" -e "s#^engine=.*#engine=$engine#" -e "s#^bundle=[^#]*#bundle=team/train:1 #" "$recipes/slurm-agent-prolog" >"$tmp/prolog" || return
	[ "$(NVRTCCACHE_DIR=$tmp/node sh "$tmp/prolog")" = "export NVRTCCACHE_AGENT=1" ] && becomes bundle_state fetched && agent=$(status pid) && [ "$(results "$tmp/node")" -eq 3 ] || return
	pid=$agent agent=
	kill "$pid" || return
	for ((turn = 0; turn < 600; turn++)); do [ -e "/proc/$pid" ] || return 0; sleep 0.05; done
	echo "it did not end" && return 1
}
check "Slurm's prolog starts an agent that brings the bundle to the node." prolog

# ---- what is not believed

bad_value() { # WORDS COUNTER [OPTION...]: neither in a directory nor on standard output
	local said=$1 counter=$2
	shift 2
	[ $# -gt 0 ] || set -- --key-file "$tmp/keys"
	refused 1 "$said" "$@" --get-bundle team/train:1 || return
	start "$@" --bundle team/train:1 && becomes bundle_state refused && [ "$(status "$counter")" -ge 1 ] && words "$said" && stop && [ "$(results "$tmp/node")" -eq 0 ] ||
		{ echo "refused as $said: $(results "$tmp/node") results" && return 1; }
	NVRTCCACHE_DIR=$tmp/node timeout 60 "$AGENT" --engine "$engine" "$@" --bundle team/train:1 -- sh -c 'exit 7' 2>/dev/null
	[ $? -eq 7 ] && [ "$(results "$tmp/node")" -eq 0 ] || { echo "the program's end is not its own" && return 1; }
	cp "$tmp/value" "$(value)"
}
put_byte() { # another one than is there
	local byte
	byte=$(od -An -tu1 -j "$1" -N 1 "$(value)") && printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$(value)" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
size=$(stat -c %s "$tmp/value")
flipped() { for at in 24 85 120 $((size - 1)); do put_byte "$at" && bad_value 'wrong signature' mac_refused || { echo "at $at" && return 1; }; done; }
check "A bundle with a flipped bit is refused, and the program runs." flipped
cut() { head -c $((size / 2)) "$tmp/value" >"$(value)" && bad_value 'wrong signature' mac_refused && head -c 50 "$tmp/value" >"$(value)" && bad_value 'another kind or format' format_refused; }
check "Half a bundle is refused." cut
other_format() { put_byte 8 && bad_value 'another kind or format of value' format_refused && put_byte 12 && bad_value 'another kind or format of value' format_refused && put_byte 16 && bad_value 'not signed' mac_refused; }
check "A bundle of another format is refused, and one whose signature was taken off." other_format
file_of() { # the value that is $tmp/value, or those that are not
	local file
	while read -r file; do
		if cmp -s "$file" "$tmp/value"; then [ "$1" != this ] || echo "$file"; else [ "$1" = this ] || echo "$file"; fi
	done < <(value)
}
moved() { # the name is under the signature
	agent --put-bundle other <"$tmp/bundle" >/dev/null && mv "$(file_of other)" "$(file_of this)" && bad_value 'written under another name' damaged
}
check "A bundle that was put under another name is refused." moved
other_keys() { bad_value 'signed with a key that is not in --key-file' mac_refused --key-file "$tmp/other-keys"; }
check "A bundle that is signed with a key that is not known here is refused." other_keys
unsigned() {
	timeout 60 "$AGENT" --engine "$engine" --trust-engine --put-bundle team/train:1 <"$tmp/bundle" >/dev/null && bad_value 'not signed; --trust-engine accepts unsigned values' mac_refused || return
	timeout 60 "$AGENT" --engine "$engine" --trust-engine --put-bundle team/train:1 <"$tmp/bundle" >/dev/null && timeout 60 "$AGENT" --engine "$engine" --trust-engine --get-bundle team/train:1 | cmp - "$tmp/bundle" && cp "$tmp/value" "$(value)"
}
check "An unsigned bundle is rejected unless the engine is trusted." unsigned
results_of_a_key() { # what holds them, and is signed
	(export NVRTCCACHE_DIR=$tmp/writer && agent --write -- env LD_PRELOAD="$LIBRARY" "$LIFE" "$NVRTC" trivial 0 -arch=sm_90 -DK=9) >/dev/null 2>&1
	[ "$(value | wc -l)" -eq 2 ] && mv "$(file_of other)" "$(file_of this)" && bad_value 'written under another name' damaged
}
check "The results of a key are no bundle." results_of_a_key

# ---- what is not put

not_put() {
	local bad=0
	rm -rf "$tmp/engine/nvrtccache"
	refused 1 'not a bundle' --key-file "$tmp/keys" --put-bundle a </dev/null || bad=1
	head -c 5000 /dev/urandom >"$tmp/noise"
	refused 1 'not a bundle' --key-file "$tmp/keys" --put-bundle a <"$tmp/noise" || bad=1
	head -c 1000 "$tmp/bundle" >"$tmp/noise"
	refused 1 'not a bundle, or damaged' --key-file "$tmp/keys" --put-bundle a <"$tmp/noise" || bad=1
	cat "$tmp/bundle" "$tmp/bundle" >"$tmp/noise"
	refused 1 'not a bundle, or damaged' --key-file "$tmp/keys" --put-bundle a <"$tmp/noise" || bad=1
	cp "$tmp/keys" "$tmp/open-keys" && chmod 640 "$tmp/open-keys"
	refused 1 'chmod 600' --key-file "$tmp/open-keys" --put-bundle a <"$tmp/bundle" || bad=1
	refused 1 'chmod 600' --key-file "$tmp/open-keys" --get-bundle a || bad=1
	[ -z "$(value)" ] || { echo "something is in the engine" && bad=1; }
	refused 1 'not found in the engine' --key-file "$tmp/keys" --get-bundle a || bad=1
	[ "$bad" = 0 ]
}
check "A truncated bundle is not uploaded, and a missing one is reported as absent." not_put
mistakes() {
	local bad=0 options=(--key-file "$tmp/keys")
	refused 2 'a name of letters' "${options[@]}" --put-bundle 'a b' || bad=1
	refused 2 'a name of letters' "${options[@]}" --bundle '' || bad=1
	refused 2 'a name of letters' "${options[@]}" --get-bundle "$(printf '%0129d' 0)" || bad=1
	refused 2 '--put-bundle, --get-bundle and --status exclude each other' "${options[@]}" --get-bundle a --put-bundle b || bad=1
	refused 2 'excludes --bundle and a program' "${options[@]}" --get-bundle a -- true || bad=1
	refused 2 'excludes --bundle and a program' "${options[@]}" --put-bundle a --bundle b || bad=1
	refused 2 '--key-file is missing' --put-bundle a || bad=1
	[ "$bad" = 0 ]
}
check "Errors on the command line are reported." mistakes

# ---- the directory's own rules

agent --put-bundle team/train:1 <"$tmp/bundle" >/dev/null
capped() { # an eighth of 8000 bytes is more than one result, and seven are more than the cap has room for
	(export NVRTCCACHE_DIR=$tmp/many && for ((i = 0; i < 20; i++)); do compile "$i"; done) >/dev/null 2>&1 && NVRTCCACHE_DIR=$tmp/many "$COMMAND" export - 2>/dev/null | agent --put-bundle many >/dev/null || return
	NVRTCCACHE_MAX_SIZE=8000 NVRTCCACHE_DIR=$tmp/capped agent --bundle many -- true 2>"$tmp/err" && words 'bundle many: 20 entries are in the directory' && [ "$(results "$tmp/capped")" -gt 0 ] && [ "$(results "$tmp/capped")" -lt 20 ] || return
	NVRTCCACHE_MAX_SIZE=800 NVRTCCACHE_DIR=$tmp/small agent --bundle many -- true 2>"$tmp/err" && words 'left out: 20 larger than an eighth of the size limit' && [ "$(results "$tmp/small")" -eq 0 ]
}
check "The size cap holds for what a bundle brings." capped
by_others() { mkdir -p "$tmp/loose" && chmod 777 "$tmp/loose" && NVRTCCACHE_DIR=$tmp/loose agent --bundle many -- sh -c 'exit 7' 2>/dev/null; [ $? -eq 7 ] && [ "$(results "$tmp/loose")" -eq 0 ]; }
check "A directory that others can write gets nothing of a bundle." by_others

# ---- engines that are not there

gone() {
	mv "$tmp/engine" "$tmp/engine.away"
	refused 1 'No such file or directory' --key-file "$tmp/keys" --get-bundle many && refused 1 'No such file or directory' --key-file "$tmp/keys" --put-bundle a <"$tmp/bundle" || return
	NVRTCCACHE_DIR=$tmp/node agent --bundle many -- sh -c 'exit 7' 2>"$tmp/err"
	[ $? -eq 7 ] && words 'will be tried again' || return
	start --key-file "$tmp/keys" --bundle many && becomes bundle_state awaited && mv "$tmp/engine.away" "$tmp/engine" && becomes bundle_state fetched && [ "$(status bundle_results)" -eq 20 ] && stop
}
check "Without the engine a program runs, and an agent that serves a node fetches the bundle later." gone

HUNG=$BUILD/tests/fixtures/libhung_share.so
hangs() { with=("HUNG_WHEN=$tmp" "HUNG_SHARE=$tmp/engine" "LD_PRELOAD=$HUNG"); }
held() {
	local status
	hangs && with+=("HUNG_KILL=1") && rm -f "$tmp/began" && start --key-file "$tmp/keys" --bundle many -- sh -c ': >"$0"; exit 7' "$tmp/began" && becomes bundle_state awaited && [ ! -e "$tmp/began" ] || return
	kill -TERM "$agent"
	wait "$agent"
	status=$?
	agent=
	[ "$status" -eq 143 ] && [ ! -e "$tmp/began" ] && words 'exiting while the engine has not answered' || { echo "status $status" && cat "$tmp/err" && return 1; }
}
hung() { hangs && start --key-file "$tmp/keys" --write --bundle many && becomes bundle_state awaited && stop && words 'exiting while the engine has not answered'; }
late() { hangs && NVRTCCACHE_DIR=$tmp/node timeout 100 env "${with[@]}" "$AGENT" --engine "$engine" --key-file "$tmp/keys" --bundle many -- sh -c 'exit 7' 2>"$tmp/err"; [ $? -eq 7 ]; }
if [ -e "$HUNG" ] && ! nm -D "$AGENT" 2>/dev/null | grep -q __asan; then
	check "A signal reaches a program that is held for a bundle, and ends it." held
	check "A program is held for no longer than ten seconds." late
	check "A hanging network share does not keep an agent from ending." hung
else
	skip "A hanging network share keeps neither a program from starting nor an agent from ending." "no fixture, or a sanitizer that is not to be preloaded before"
fi
plan
