#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# weight: 80
# nvrtccache-agent: results go from one node to another by an engine, and nothing that is wrong does; whoever is there.
# The engine is an HTTP server with its values in files; that the others are engines too is another test's affair.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
AGENT=$BUILD/nvrtccache-agent
NVRTC=$FAKE/13/libnvrtc.so.13
[ -x "$AGENT" ] || skip_all "no agent: its libraries are not here"
[ -e "$NVRTC" ] || skip_all "no fixture"
command -v python3 >/dev/null || skip_all "no python3"
unset XDG_CACHE_HOME LD_LIBRARY_PATH NVRTCCACHE_DIR
export HOME=$tmp/home
mkdir "$HOME" "$tmp/engine"
engine=http+unix://$tmp/store:/cache
agent=
begin_store() { # [SOCKET DIRECTORY]: an engine
	python3 "$here/../fixtures/engines/http_store.py" "${1:-$tmp/store}" --files "${2:-$tmp/engine}" >"$tmp/store.log" 2>&1 &
	store=$!
	wait_for [ -S "${1:-$tmp/store}" ]
}
begin_store
keys() { # FILE ID SEED
	printf '%s %s\n' "$2" "$(printf '%s' "$3" | sha256sum | cut -d ' ' -f 1)" >"$1" && chmod 600 "$1"
}
keys "$tmp/keys" one 1
keys "$tmp/other-keys" two 2

# A program that compiles a kernel with a header: NODE has its own directory, header and cache.
cat >"$tmp/train.py" <<-END
	import ctypes, sys
	nvrtc = ctypes.CDLL("$NVRTC")
	program = ctypes.c_void_p()
	source = b'#include "vec.h"\ntemplate <typename T> __global__ void add(T *x) { x[0] = TWICE(N); }\n'
	assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source, b"add.cu", 0, None, None) == 0
	assert nvrtc.nvrtcAddNameExpression(program, b"add<float>") == 0
	options = [option.encode() for option in ["-Iinc", *sys.argv[1:]]]
	sys.exit(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)))
END
node() { # NAME [HEADER]
	mkdir -p "$tmp/$1/inc" && printf '#define TWICE(x) %s\n' "${2:-((x) + (x))}" >"$tmp/$1/inc/vec.h" && touch -d '1 hour ago' "$tmp/$1/inc/vec.h"
	# what is younger than the compile is not cached; ctime cannot be set back
	sleep 0.05
}
train() { (cd "$tmp/$1" && shift && LD_PRELOAD=$LIBRARY exec timeout 300 python3 "$tmp/train.py" "$@"); }
# A busy machine must not make an answer of the agent come too late.
export NVRTCCACHE_AGENT_WAIT=30s
# The program of a node, for which an agent runs; OPTIONS of that in $options.
options=(--key-file "$tmp/keys" --write)
trained() {
	local name=$1
	shift
	(cd "$tmp/$name" && exec timeout 300 "$AGENT" --engine "$engine" --dir "$tmp/$name/cache" "${options[@]}" -- \
		env LD_PRELOAD="$LIBRARY" python3 "$tmp/train.py" "$@")
}
count_of() { NVRTCCACHE_DIR=$tmp/$1/cache stat_of "$2"; }
values() { find "$tmp/engine" -type f -path '*/cache/nvrtccache/*' ! -name '*.tmp.*'; }
values_gone() { rm -rf "$tmp/engine/cache"; }
key_of() { # a file of an engine or of a cache, as the key that it is of
	local file=$1 shard
	shard=$(basename "$(dirname "$file")")
	printf '%s%s\n' "$shard" "$(basename "$file")"
}

# ---- the command line

refused() { # STATUS WORDS ARGUMENT...
	local expected=$1 words=$2 status
	shift 2
	timeout 300 "$AGENT" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
	[ "$status" -eq "$expected" ] && grep -qF -- "$words" "$tmp/err" && [ ! -s "$tmp/out" ] && return
	echo "$*: exit status $status instead of $expected, or not in these words: $words"
	cat "$tmp/err" && return 1
}
words_for_mistakes() {
	local bad=0
	cp "$tmp/keys" "$tmp/open-keys" && chmod 640 "$tmp/open-keys" && echo 'one 0011' >"$tmp/bad-keys" && chmod 600 "$tmp/bad-keys"
	refused 2 "--engine is missing" || bad=1
	refused 2 "--key-file is missing: without it no value can be verified" --engine "$engine" || bad=1
	refused 2 "unrecognized option" --engine "$engine" --no-such || bad=1
	refused 2 "unrecognized option" --enginee=redis://u:secret@host && ! grep secret "$tmp/err" || bad=1
	refused 2 "unexpected argument" --engine "$engine" redis://u:secret@host && ! grep secret "$tmp/err" || bad=1
	refused 2 "unexpected argument; a program must follow '--'" --engine "$engine" --trust-engine true || bad=1
	refused 2 "the program after '--' is missing" --engine "$engine" --trust-engine -- || bad=1
	refused 2 "--dir here: it takes an absolute path" --engine "$engine" --trust-engine --dir here || bad=1
	refused 2 "--json: requires --status" --engine "$engine" --trust-engine --json || bad=1
	refused 1 "chmod 600" --engine "$engine" --dir "$tmp/a" --key-file "$tmp/open-keys" || bad=1
	refused 1 "line 1" --engine "$engine" --dir "$tmp/a" --key-file "$tmp/bad-keys" || bad=1
	refused 1 "it takes redis[s]://host[:port][?db=N], redis+unix:///socket[?db=N], http" --engine gopher://x --dir "$tmp/a" --trust-engine || bad=1
	refused 1 "no agent is running" --status --dir "$tmp/a" || bad=1
	refused 1 "it must not contain a user or password" --engine redis://me:secret@host --dir "$tmp/a" --trust-engine || bad=1
	! grep -q 'secret\|me:' "$tmp/err" || { cat "$tmp/err" && bad=1; }
	refused 1 "it takes redis" --engine redis://host:637999 --dir "$tmp/a" --trust-engine || bad=1
	[ "$bad" = 0 ]
}
check "Errors on the command line are reported." words_for_mistakes
helps() { "$AGENT" --help | grep -q '^Usage: nvrtccache-agent --engine URL' && [ "$("$AGENT" -V)" = "nvrtccache-agent $("$COMMAND" version | sed 's/.* //')" ]; }
check "It has a help, and the version of the command." helps

# ---- for a program

warm_node() {
	node first && node second && trained first && [ "$(values | wc -l)" -eq 1 ] && [ "$(count_of first misses)" -eq 1 ] || return
	trained second && [ "$(count_of second agent_found)" -eq 1 ] || { NVRTCCACHE_DIR=$tmp/second/cache "$COMMAND" stats && return 1; }
	[ "$(count_of second misses)" -eq 0 ] && [ "$(count_of second hits_disk)" -eq 1 ] && [ -z "$(find "$tmp/first/cache/v1" "$tmp/second/cache/v1" -name 'agent.*')" ]
}
check "What one node has compiled another does not compile, and no socket is left." warm_node

passed_on() {
	local run=("$AGENT" --engine "$engine" --dir "$tmp/first/cache" --trust-engine --) status said
	(umask 027 && cd "$tmp/first" && "${run[@]}" sh -c 'pwd; umask; echo "$NVRTCCACHE_DIR $NVRTCCACHE_AGENT"; exit 7' >"$tmp/said")
	status=$?
	said=$(sed -n 3p "$tmp/said")
	[ "$status" -eq 7 ] && [ "$(sed -n 1p "$tmp/said")" = "$tmp/first" ] && [ "$(sed -n 2p "$tmp/said")" = 0027 ] &&
		[[ $said == "$tmp/first/cache $tmp/first/cache/v1/agent."* ]] || { cat "$tmp/said" && return 1; }
	"${run[@]}" sh -c 'kill -TERM $$'
	status=$?
	[ "$status" -eq 143 ] || { echo "a signal gives $status" && return 1; }
	"${run[@]}" "$tmp/no-such" 2>/dev/null
	status=$?
	[ "$status" -eq 127 ] || { echo "no program gives $status" && return 1; }
	# SIGPIPE is as it was for the program
	"${run[@]}" sh -c 'kill -PIPE $$; exit 3'
	status=$?
	[ "$status" -eq 141 ] || { echo "a pipe gives $status" && return 1; }
}
check "The program is run as without an agent, and its end is the agent's." passed_on

signal_forwarded() { # SIGNAL
	local status
	rm -f "$tmp/ready"
	"$AGENT" --engine "$engine" --dir "$tmp/first/cache" --trust-engine -- \
		bash -c 'trap "exit 9" '"$1"'; : >"$0"; while :; do sleep 0.1; done' "$tmp/ready" &
	agent=$!
	wait_for [ -e "$tmp/ready" ]
	kill "-$1" "$agent"
	wait "$agent"
	status=$?
	agent=
	[ "$status" -eq 9 ] || { echo "$1: $status" && return 1; }
}
check "SIGTERM to the agent is forwarded to the program." signal_forwarded TERM

ignoring() { exec python3 -c 'import os, signal, sys; signal.signal(getattr(signal, sys.argv[1]), signal.SIG_IGN); os.execvp(sys.argv[2], sys.argv[2:])' "$@"; }
unheard_child() {
	# timeout would take it back
	(ignoring SIGCHLD "$AGENT" --engine "$engine" --dir "$tmp/first/cache" --trust-engine -- sh -c 'exit 3')
	[ $? -eq 3 ]
}
check "Where the parent has ignored SIGCHLD, the program's end is the agent's still." unheard_child

no_core() ( # of the agent; the program's limit is its own
	ulimit -S -c "$(ulimit -H -c)" && timeout 300 "$AGENT" --engine "$engine" --dir "$tmp/first/cache" --key-file "$tmp/keys" -- \
		sh -c 'until "$0" --status >/dev/null 2>&1; do sleep 0.05; done; ulimit -c; grep core /proc/$PPID/limits' "$AGENT" >"$tmp/said" || exit 1
	[ "$(sed -n 1p "$tmp/said")" = "$(ulimit -c)" ] && grep -Eq 'size +[01] ' "$tmp/said" || { cat "$tmp/said" && exit 1; }
)
check "No core of an agent has its keys in it." no_core

limited() { # with RLIMIT_FSIZE a write raises a signal that ends who does not expect it
	(ulimit -f 0 && timeout 300 "$AGENT" --engine "redis+unix://$tmp/nowhere" --dir "$tmp/first/cache" --trust-engine -- \
		sh -c 'until "$0" --status --json --dir "$1" | grep "\"state\":\"unreachable\"" >/dev/null; do sleep 0.05; done; exit 7' "$AGENT" "$tmp/first/cache" 2>"$tmp/err")
	[ $? -eq 7 ] && [ ! -s "$tmp/err" ]
}
check "A message past the file size limit does not end the agent." limited

# Where there is no cache to be had, the program runs.
runs_plainly() { # [VARIABLE=VALUE...] [DIRECTORY]
	local variables=()
	while [[ ${1-} == *=* || ${1-} == -i ]]; do variables+=("$1") && shift; done
	env "${variables[@]}" timeout 300 "$AGENT" --engine "$engine" ${1:+--dir "$1"} --key-file "$tmp/keys" -- sh -c 'exit 7' 2>"$tmp/err"
	[ $? -eq 7 ] && grep -q 'running the program without an agent' "$tmp/err" || { cat "$tmp/err" && return 1; }
}
check "A program runs where the cache cannot be made." runs_plainly /proc/no-such
check "A program runs where the cache is only read." runs_plainly NVRTCCACHE_READONLY=1 "$tmp/first/cache"
check "A program runs where nothing says which cache." runs_plainly -i "PATH=$PATH"
written_by_others() { mkdir -p "$tmp/loose" && chmod 777 "$tmp/loose" && runs_plainly "$tmp/loose"; }
check "A program runs where others can write the cache." written_by_others

merged() {
	node third '(2 * (x))' && trained third && [ "$(count_of third misses)" -eq 1 ] && [ "$(values | wc -l)" -eq 1 ] || return
	node fourth && node fifth '(2 * (x))' || return
	trained fourth && trained fifth && [ "$(count_of fourth misses)" -eq 0 ] && [ "$(count_of fifth misses)" -eq 0 ]
}
check "Two nodes' results of one key, which depend on different headers, both stay in the engine." merged

odd_code() { # a result of which the one that has the key says so
	local engine=http+unix://$tmp/store:/odd
	rm -rf "$tmp/engine/odd" "$tmp/sixth" "$tmp/seventh" && node sixth && node seventh && trained sixth &&
		"$BUILD/tests/fixtures/bad_writer" "$tmp/keys" "$(find "$tmp/engine/odd" -type f)" "$@" && trained seventh && [ "$(count_of seventh agent_found)" -eq 1 ] && [ "$(count_of seventh misses)" -eq 1 ]
}
for odd in "code 99" "code -1" "drop 1"; do
	# shellcheck disable=SC2086 # two words
	check "A signed result with a return code that is never cached is not used: $odd." odd_code $odd
done

# ---- as a service

start() { # NODE OPTION...
	local name=$1
	shift
	"$AGENT" --engine "$engine" --dir "$tmp/$name/cache" "$@" 2>"$tmp/agent.err" &
	agent=$!
	served=$tmp/$name/cache ask=(--dir "$tmp/$name/cache")
	[[ " $* " != *' --socket '* ]] || ask=(--socket "${*: -1}")
	for ((i = 0; i < 1200; i++)); do
		"$AGENT" --status "${ask[@]}" >/dev/null 2>&1 && break
		kill -0 "$agent" 2>/dev/null || { cat "$tmp/agent.err" && return 1; }
		sleep 0.05
	done
	socket=$(status socket)
}
stop() {
	[ -n "$agent" ] || return 0
	kill "$agent" 2>/dev/null
	wait "$agent"
	local status=$?
	agent=
	[ "$status" -eq 0 ] || { echo "the agent ended with $status" && cat "$tmp/agent.err" && return 1; }
}
end_agent() { # each that a failure has left
	local left
	mapfile -t left < <(jobs -p)
	[ "${#left[@]}" = 0 ] || kill -9 "${left[@]}" 2>/dev/null
	clean_up
}
trap end_agent EXIT
status() { "$AGENT" --status --json "${ask[@]}" | sed -nE "s/.*\"$1\":\"?([^\",}]*).*/\1/p"; }
is_now() { [ "$(status "$1")" = "$2" ]; }
becomes() { wait_for is_now "$@" || { "$AGENT" --status "${ask[@]}" && return 1; }; } # NAME VALUE: sooner or later
peer() { timeout 300 python3 "$here/agent_peer.py" "$socket" "$served" "$@"; }
answers() { # WORDS ARGUMENT...
	local wanted=$1 said
	shift
	said=$(peer "$@")
	[ "$said" = "$wanted" ] || { echo "$*: '$said' and not '$wanted'" && "$AGENT" --status "${ask[@]}" && return 1; }
}
value=$(values)
key=$(key_of "$value")
none=$(printf '%064d' 0)

serves() {
	start served --key-file "$tmp/keys" && answers "STARTED FOUND" fetch "$key" && [ "$(find "$served/v1" -path "*/${key:0:2}/${key:2}" | wc -l)" -eq 1 ] &&
		NVRTCCACHE_DIR=$served "$COMMAND" verify >/dev/null && answers "STARTED ABSENT" fetch "$none" && answers "STARTED ABSENT" fetch "$none" &&
		[ "$(status absent)" = 2 ] && [ "$(status found)" = 1 ] && [ "$(status fetched_bytes)" -gt 100 ] || return
	served=$tmp/first/cache answers "STARTED ELSEWHERE" fetch "$key" && [ "$(status elsewhere)" = 1 ]
}
check "A question is answered at once, and the result that is found is in the directory." serves

tells() {
	"$AGENT" --status --dir "$served" >"$tmp/words" && grep -q "^engine  *$engine$" "$tmp/words" &&
		grep -q '^state  *connected$' "$tmp/words" && ! grep -qE '^(writes|trusts_engine|why|broken)' "$tmp/words" || { cat "$tmp/words" && return 1; }
	"$AGENT" --status --socket "$socket" | grep -q '^state_since  *20' && "$AGENT" --status --json --dir "$served" | python3 -m json.tool >/dev/null && [ "$(status slow)" = 0 ]
}
check "It says how it fares, for people and as JSON." tells
state_of() { # STATE WHY ARGUMENT... of an agent for a program: says so at once, and once on stderr
	local state=$1 why=$2
	shift 2
	mkdir -p "$tmp/unasked" && timeout 300 "$AGENT" --dir "$tmp/unasked/cache" --trust-engine "$@" -- \
		sh -c 'until "$0" --status --dir "$1" | grep -q "^state  *$2$"; do sleep 0.05; done; "$0" --status --dir "$1"; "$0" --status --dir "$1"' "$AGENT" "$tmp/unasked/cache" "$state" >"$tmp/words" 2>"$tmp/err"
	[ "$(grep -c "^state  *$state$" "$tmp/words")" -eq 2 ] && [ "$(grep -c "^why  *.*$why" "$tmp/words")" -eq 2 ] && [ "$(grep -c "engine $state: .*$why" "$tmp/err")" -eq 1 ] || { cat "$tmp/words" "$tmp/err" && return 1; }
}
unreachable() { state_of unreachable 'No such file' --engine "redis+unix://$tmp/no-such"; }
check "An engine that is not there is unreachable, before anybody asks." unreachable
refusing() { state_of refused 'authentication required' --engine "http+unix://$tmp/store:/status/401"; }
check "A wrong password is a refusal, which is printed once." refusing
ones_own() { # without a word a program's agent is asked; with one the one that is meant
	mkdir -p "$tmp/elsewhere" "$tmp/unasked" && chmod 700 "$tmp/elsewhere" && timeout 300 "$AGENT" --engine "$engine" --dir "$tmp/unasked/cache" --socket "$tmp/elsewhere/agent" --trust-engine -- sh -c '
		until "$0" --status; do sleep 0.05; done && env -i NVRTCCACHE_AGENT="$NVRTCCACHE_AGENT" "$0" --status && env -i NVRTCCACHE_SHARED=1 "$0" --status --socket "$NVRTCCACHE_AGENT" || exit
		! "$0" --status --dir "$1"' "$AGENT" "$tmp/unasked/cache" >"$tmp/words" 2>"$tmp/err"
	[ $? -eq 0 ] && [ "$(grep -c "^socket  *$tmp/elsewhere/agent$" "$tmp/words")" -eq 3 ] && tail -1 "$tmp/err" | grep -q 'no agent is running' || { cat "$tmp/words" "$tmp/err" && return 1; }
}
check "--status asks whom a program would ask." ones_own

two_agents() {
	refused 1 "another agent is using this socket" --engine "$engine" --dir "$served" --trust-engine && kill -0 "$agent" &&
		timeout 300 "$AGENT" --engine "$engine" --dir "$served" --trust-engine -- sh -c 'exit 5' 2>"$tmp/err"
	[ $? -eq 5 ] && grep -q 'the program uses that agent' "$tmp/err" && answers "STARTED ABSENT" fetch "${none%0}1"
}
check "A second agent is refused; a program for which it was started asks the first." two_agents

bad_peers() {
	local before
	before=$(status messages_refused)
	peer hostile >"$tmp/said" && [ "$(grep -c ': CLOSED$' "$tmp/said")" -eq 9 ] && [ "$(wc -l <"$tmp/said")" -eq 9 ] || { cat "$tmp/said" && return 1; }
	[ $(($(status messages_refused) - before)) -eq 9 ] && answers "STARTED FOUND" fetch "$key"
}
check "A malformed message ends the connection, is counted, and affects no other client." bad_peers
check "Hundreds of silent connections do not keep other clients out." answers "STARTED FOUND" crowd 600 "$key"
printf '#!/bin/sh\nulimit -n 24\nexec "%s" "$@"\n' "$AGENT" >"$tmp/few-files" && chmod 755 "$tmp/few-files"
few_files() {
	local AGENT=$tmp/few-files
	stop && start served --key-file "$tmp/keys" && answers "STARTED FOUND" crowd 40 "$key"
}
check "Nor where the agent may have few files." few_files

needs "takes root" [ "$(id -u)" = 0 ]
other_user() {
	local said
	stop && mkdir -p "$tmp/open" && chmod 755 "$tmp" "$tmp/open" && start served --trust-engine --socket "$tmp/open/agent" || return
	[ "$(stat -c %a "$socket")" = 600 ] && chmod 666 "$socket" || return
	said=$(peer stranger "$key")
	[ "$said" = CLOSED ] || { echo "'$said'" && return 1; }
	[ "$(status peers_refused)" = 1 ] && stop && [ -z "$(ls "$tmp/open")" ] && start served --key-file "$tmp/keys"
}
check_there "Another user is not answered." other_user
of_the_group() { # the stranger is of group 65533
	local said
	stop && mkdir -p "$tmp/team/cache" && chmod 755 "$tmp" "$tmp/team" && chgrp 65533 "$tmp/team/cache" && chmod 2770 "$tmp/team/cache" || return
	export NVRTCCACHE_SHARED=1
	start team --key-file "$tmp/keys" && said=$(peer stranger "$key") && [ "$said" = "STARTED FOUND" ] && [ "$(stat -c '%a %g' "$socket")" = "660 65533" ] || { echo "'$said'" && return 1; }
}
shared() { of_the_group; local code=$?; unset NVRTCCACHE_SHARED; stop && start served --key-file "$tmp/keys" && [ "$code" -eq 0 ]; }
check_there "Of a shared directory those of its group are answered." shared

killed() {
	kill -9 "$agent" && wait "$agent" 2>/dev/null
	[ -S "$socket" ] && refused 1 "the agent is not running any more" --status --dir "$served" && start served --key-file "$tmp/keys" && answers "STARTED FOUND" fetch "$key"
}
check "The socket of an agent that was killed is another one's." killed
# inotify's events of the directory: 0x100 a file was created under the name, 0x80 it was renamed to it
cat >"$tmp/watch.py" <<-'END'
	import ctypes, os, struct, sys
	libc = ctypes.CDLL(None)
	watch = libc.inotify_init1(0)
	libc.inotify_add_watch(watch, os.path.dirname(sys.argv[1]).encode(), 0x180)
	print("watching", flush=True)
	events, name = b"", os.path.basename(sys.argv[1]).encode() + b"\0"
	while name not in events:
	    events = os.read(watch, 288)
	sys.exit(struct.unpack_from("iI", events, max(events.find(name) - 16, 0))[1] != 0x80)
END
named_late() { # a process that finds the socket finds an agent that listens
	local watch
	mkdir -p "$tmp/named" && chmod 700 "$tmp/named"
	python3 "$tmp/watch.py" "$tmp/named/agent" >"$tmp/watching" &
	watch=$!
	wait_for [ -s "$tmp/watching" ] && stop && start served --key-file "$tmp/keys" --socket "$tmp/named/agent" && stop && wait "$watch" && start served --key-file "$tmp/keys"
}
check "A socket has its name when the agent listens." named_late
gone() { ! grep -q '^State:[^Z]*$' "/proc/$1/status" 2>/dev/null; }
removed() { # FILE: the socket, or what it is in
	local status
	stop && start gone --key-file "$tmp/keys" && rm -r "${1:-$socket}" && wait_for gone "$agent" || return
	wait "$agent"
	status=$?
	agent=
	[ "$status" -eq 1 ] && grep -q "$socket: the socket was removed$" "$tmp/agent.err" || { echo "the agent ended with $status" && cat "$tmp/agent.err" && return 1; }
}
check "An agent whose socket was removed ends, because no program finds it." removed
check "So does one whose directory was removed." removed "$tmp/gone/cache"
of_another() { # an agent that ends leaves what is another's by then
	local first
	start gone --key-file "$tmp/keys" && first=$agent && rm "$socket" && start gone --key-file "$tmp/keys" && wait_for gone "$first" || return
	becomes state connected && [ -S "$socket" ] && answers "STARTED FOUND" fetch "$key"
}
check "An agent that ends does not remove another's socket." of_another
hung_up() { # as nohup has it
	stop || return
	(ignoring SIGHUP "$AGENT" --engine "$engine" --dir "$served" --key-file "$tmp/keys") <&- >&- 2>&- &
	agent=$!
	becomes state connected && kill -HUP "$agent" && sleep 0.2 && becomes state connected || return
	stop && [ ! -e "$socket" ]
}
check "An agent whose parent has ignored SIGHUP ignores it, and without streams it writes into nothing." hung_up
start served --key-file "$tmp/keys"

keys_in() { find "$1/v1" -type f -path '*/v1/??/*' ! -name '*.facts' -printf '%P\n' | tr -d /; }
report_all() { # every key of the directory, as the programs that have stored it do
	local one
	for one in $(keys_in "$served"); do peer stored "$one" || return; done
}
reads_only() {
	local before after
	before=$(values | sort | xargs sha256sum)
	node lonely && NVRTCCACHE_DIR=$served train lonely -DALONE=1 && report_all && stop || return
	after=$(values | sort | xargs sha256sum)
	[ "$before" = "$after" ] || { echo "the engine has changed" && return 1; }
}
check "An agent without --write does not upload." reads_only

# ---- uploads

told() {
	local new
	new=$(keys_in "$served" | grep -vx "$key" | head -n 1)
	start served "${options[@]}" && peer stored "$key" && becomes exists_skipped 1 && [ "$(values | wc -l)" -eq 1 ] && [ -n "$new" ] || return
	peer stored "$new" && peer stored "$new" && becomes uploads 1 && becomes uploads_waiting 0 && [ "$(status uploads)" = 1 ] && [ "$(values | wc -l)" -eq 2 ] && stop
}
check "A reported result is put once; what the engine has is not put again." told

merged_unasked() { # whose program had no agent to ask
	node eighth '(3 * (x))' && NVRTCCACHE_DIR=$tmp/eighth/cache train eighth || return
	start eighth "${options[@]}" && report_all && becomes uploads 1 && stop && node ninth '(3 * (x))' && node tenth || return
	trained ninth && trained tenth && [ "$(count_of ninth misses)" -eq 0 ] && [ "$(count_of tenth misses)" -eq 0 ]
}
check "Both results of one key stay even if the second uploader has never seen the first." merged_unasked

drained() {
	values_gone && start served "${options[@]}" && NVRTCCACHE_AGENT=1 NVRTCCACHE_DIR=$served train lonely -DALONE=2 && stop && [ "$(values | wc -l)" -eq 1 ]
}
check "What waits to be uploaded is uploaded when the agent ends." drained

left_out() {
	values_gone && node bound '__FILE__' && NVRTCCACHE_DIR=$tmp/bound/cache train bound && start bound "${options[@]}" && report_all && becomes left_out 1 && [ "$(status uploads)" = 0 ] && stop &&
		[ "$(values | wc -l)" -eq 0 ]
}
check "What is bound to a place stays here." left_out
left_out_by_key() { # whose key has the working directory
	node lined && NVRTCCACHE_DIR=$tmp/lined/cache train lined -lineinfo && start lined "${options[@]}" && report_all && becomes left_out 1 && [ "$(status uploads)" = 0 ] && stop &&
		[ "$(values | wc -l)" -eq 0 ]
}
check "So does what is bound to its working directory by an option." left_out_by_key

clocked() {
	node clocked && NVRTCCACHE_SLOPPINESS=time_macros NVRTCCACHE_DIR=$tmp/clocked/cache train clocked '-DCLOCK=__TIME__' && NVRTCCACHE_SLOPPINESS=time_macros NVRTCCACHE_DIR=$tmp/clocked/cache train clocked '-DCLOCK=__TIME__' || return
	[ "$(count_of clocked hits_disk)" -eq 1 ] && start clocked "${options[@]}" && report_all && becomes left_out 1 && [ "$(status uploads)" = 0 ] && stop && [ "$(values | wc -l)" -eq 0 ]
}
check "A result cached by NVRTCCACHE_SLOPPINESS is not uploaded." clocked

# ---- values that nobody should believe

start served "${options[@]}" >"$tmp/check.out" && report_all && becomes uploads 3 >>"$tmp/check.out" && stop
value=$(values | head -n 1)
second=$(values | sed -n 2p)
key=$(key_of "$value")
cp "$value" "$tmp/value"
cp "$second" "$tmp/second-value"
size=$(stat -c %s "$value")
put_byte() { # another one than is there
	local byte
	byte=$(od -An -tu1 -j "$1" -N 1 "$value") && printf "\\x$(printf %02x $((byte ^ 1)))" | dd of="$value" bs=1 seek="$1" conv=notrunc 2>/dev/null
}
replaced() { # COUNTER, TRAINED NODE: a node that has no result compiles, and its agent puts that in place of what it refused, once counted
	node healer && rm -rf "$tmp/healer/cache" && start healer "${options[@]}" && answers "STARTED ABSENT" fetch "$key" && [ "$(status "$1")" = 1 ] &&
		cp -r "$tmp/served/cache/v1/${key:0:2}" "$tmp/healer/cache/v1/" && peer stored "$key" && becomes uploads 1 && [ "$(status "$1")" = 1 ] && stop && rm -rf "$tmp/hostile/cache" || return
	start hostile --key-file "$tmp/keys" && answers "STARTED FOUND" fetch "$key" && stop
}
all_replaced() {
	put_byte 130 && replaced mac_refused && : >"$value" && replaced format_refused && head -c 50 "$tmp/value" >"$value" && replaced format_refused && cp "$tmp/second-value" "$value" && replaced damaged &&
		head -c 4096 /dev/urandom >"$value" && replaced format_refused || return
	start served --write --key-file "$tmp/other-keys" && peer stored "$key" && stop && replaced mac_refused
}
check "A refused value is as good as absent: a node that has the result replaces it, and it is counted once." all_replaced
oversized() {
	truncate -s 65M "$value" && start healer "${options[@]}" && answers "STARTED ABSENT" fetch "$key" && peer stored "$key" && becomes uploads 1 && stop &&
		[ "$(stat -c %s "$value")" -lt 100000 ]
}
check "So is one that is larger than any that is fetched." oversized
rolled() { # readers first, then writers, then the old key goes
	cp -r "$tmp/served" "$tmp/rolling" && values_gone && start rolling --write --key-file "$tmp/keys" && report_all && becomes uploads 3 && stop || return
	cat "$tmp/keys" "$tmp/other-keys" >"$tmp/both-keys" && cat "$tmp/other-keys" "$tmp/keys" >"$tmp/new-first" && chmod 600 "$tmp/both-keys" "$tmp/new-first" && rm -rf "$tmp/hostile/cache"
	start hostile --key-file "$tmp/both-keys" && answers "STARTED FOUND" fetch "$(key_of "$second")" && stop &&
		start rolling --write --key-file "$tmp/new-first" && report_all && becomes uploads 3 && stop && rm -rf "$tmp/hostile/cache" || return
	start hostile --key-file "$tmp/other-keys" && answers "STARTED FOUND" fetch "$(key_of "$second")" && stop
}
check "With two keys both are accepted, and what the old one signed is signed anew." rolled
unwilling() { # a file where it would make a directory
	mv "$tmp/engine/cache" "$tmp/engine.values" && mkdir "$tmp/engine/cache" && : >"$tmp/engine/cache/nvrtccache" && rm -rf "$tmp/rolling" && cp -r "$tmp/served" "$tmp/rolling" && start rolling "${options[@]}" && report_all && becomes dropped 3 &&
		[ "$(status state)" = connected ] && [ "$(grep -c 'not uploaded: ' "$tmp/agent.err")" -eq 1 ] && stop && [ "$(status refused)" = "" ] && rm -r "$tmp/engine/cache" && mv "$tmp/engine.values" "$tmp/engine/cache"
}
check "An engine that answers, and will not have a value, is not asked over and over." unwilling

# ---- engines that are not there

stopped_since() { # an engine that has answered and then stops
	local state
	local first=$store
	begin_store "$tmp/other-store" && engine=http+unix://$tmp/other-store:/cache start served --key-file "$tmp/keys" --socket "$tmp/hushed" && becomes state connected || return
	kill -STOP "$store" && sleep 1.1
	state=$(status state)
	kill -CONT "$store" && kill "$store"
	wait "$store" 2>/dev/null
	store=$first
	[ "$state" = unreachable ] && stop || { echo "it was $state" && return 1; }
}
check "An engine that has stopped is not called connected." stopped_since
gone_engine() {
	kill -9 "$store" && wait "$store" 2>/dev/null
	rm -f "$tmp/store" && start hostile --key-file "$tmp/other-keys" && becomes state unreachable || return
	for n in 1 2 3 4; do answers "STARTED DOWN" fetch "${none%0}$n" || return; done
	[ "$(status unreachable)" -ge 1 ] && [ "$(status down)" -ge 1 ] &&
		"$AGENT" --status --dir "$served" | grep -q '^why .*store: no connection: No such file or directory$' || { "$AGENT" --status "${ask[@]}" && return 1; }
	begin_store && becomes state connected && answers "STARTED FOUND" fetch "$(key_of "$second")" && stop && grep -q 'engine connected' "$tmp/agent.err"
}
check "An engine that is not there is left alone, and found again when it is back." gone_engine

full() {
	values_gone && : >"$tmp/engine/full" && start served "${options[@]}" && report_all && becomes full 1 && rm "$tmp/engine/full" && becomes uploads 3 && [ "$(status dropped)" = 0 ] && stop
}
check "What a full engine refused is uploaded once it has space." full

# It takes what it is asked and says nothing.
cat >"$tmp/mute.py" <<-END
	import socket, sys
	listener = socket.socket(socket.AF_UNIX)
	listener.bind(sys.argv[1])
	listener.listen(64)
	held = []
	while True:
	    held.append(listener.accept())
END
joined() { # once the engine goes on
	local first=$store twins
	rm -f "$tmp/said" "$tmp/second-store"
	begin_store "$tmp/second-store" && engine=http+unix://$tmp/second-store:/cache start hostile --key-file "$tmp/keys" && kill -STOP "$store" || return
	peer twins "$(printf '%064d' 8)" >"$tmp/said" &
	twins=$!
	wait_for grep -q STARTED "$tmp/said" && kill -CONT "$store" && wait "$twins" && [ "$(status joined) $(status fetches)" = "1 1" ] && stop && kill "$store" && wait "$store" 2>/dev/null
	store=$first
	[ -z "$agent" ]
}
check "Two clients that ask for one key wait for one fetch." joined
killed_fetching() { # while two wait for one fetch of an engine that has stopped
	local first=$store twins asked
	rm -f "$tmp/said" "$tmp/third-store"
	begin_store "$tmp/third-store" && engine=http+unix://$tmp/third-store:/cache start hostile --key-file "$tmp/keys" && kill -STOP "$store" || return
	peer twins "$(printf '%064d' 7)" >"$tmp/said" &
	twins=$!
	wait_for grep -q STARTED "$tmp/said"
	kill -KILL "$agent"
	wait "$twins"
	wait "$agent" 2>/dev/null
	agent=
	kill -CONT "$store" && wait_for grep -q 'GET .*07 ' "$tmp/store.log"
	asked=$(grep -c 'GET .*07 ' "$tmp/store.log")
	kill "$store" && wait "$store" 2>/dev/null
	store=$first
	[ "$asked" -eq 1 ] && [ "$(tail -1 "$tmp/said")" = "CLOSED CLOSED" ] || { echo "asked $asked times" && cat "$tmp/said" && return 1; }
	NVRTCCACHE_DIR=$tmp/hostile/cache "$COMMAND" verify >/dev/null && start hostile --key-file "$tmp/keys" && answers "STARTED ABSENT" fetch "$none" && stop
}
check "An agent that is killed while two clients wait for it leaves a sound directory." killed_fetching
flooded() { # with an engine that says nothing, so that nothing leaves the queue
	local mute waiting=0 dropped=0
	python3 "$tmp/mute.py" "$tmp/mute" &
	mute=$!
	wait_for [ -S "$tmp/mute" ]
	engine=http+unix://$tmp/mute:/cache start hostile "${options[@]}" && peer flood 1500 || return
	for ((i = 0; i < 1200; i++)); do
		waiting=$(status uploads_waiting) dropped=$(status dropped)
		[ $((waiting + dropped)) -lt 1500 ] || break
		sleep 0.05
	done
	kill -9 "$agent" "$mute" && wait "$agent" "$mute" 2>/dev/null
	agent=
	[ "$waiting" -ge 1024 ] && [ "$waiting" -le 1025 ] || { echo "waiting $waiting, dropped $dropped" && return 1; }
}
check "The queue of uploads is bounded." flooded

plan
