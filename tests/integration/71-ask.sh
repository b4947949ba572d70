#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Asking the node's agent, played by tests/hosts/agent.py: one that answers, and every one that does not as it should.
# Whatever it does, the host sees what it sees without us; and whoever fails is asked once, not for each kernel. Waits
# are counted, never timed: what must answer has minutes, and what must not has no time at all.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/hosts.sh"
cd "$(dirname "$0")/../.." || exit 1
ODD=$HOSTS/odd
KERNELS=20
[ -x "$ODD" ] && [ -e "$SO13" ] || skip_all "no fake NVRTC in $BUILD"
command -v python3 >/dev/null || skip_all "no python3"
pids=()
end_all() {
	local pid
	for pid in ${pids[@]+"${pids[@]}"}; do kill -CONT "$pid" 2>/dev/null && kill -KILL "$pid" && wait "$pid"; done 2>/dev/null
	clean_up
}
trap end_all EXIT
place=$tmp/agents
mkdir "$place"

# agent BEHAVIOUR OPTION...: begins; what it is told comes to lie in $told. NVRTCCACHE_AGENT is its socket.
agent() {
	local count=${#pids[@]}
	export NVRTCCACHE_AGENT=$place/socket-$count
	told=$place/told-$count
	: >"$told"
	python3 tests/hosts/agent.py "$NVRTCCACHE_AGENT" "$@" >"$told" 2>&1 &
	agent=$!
	pids+=("$agent")
	wait_for grep -q '^ready$' "$told" || { cat "$told" && return 1; }
}

no_agent() { unset NVRTCCACHE_AGENT NVRTCCACHE_AGENT_WAIT; }
patient() { export NVRTCCACHE_AGENT_WAIT=600s; }
new_cache() { fresh_cache && mkdir -p "$NVRTCCACHE_DIR/v1" && chmod 700 "$NVRTCCACHE_DIR" "$NVRTCCACHE_DIR/v1"; }

# host PLAN...: what it says without us and with; a real compile may leave an errno, a hit need not.
host() {
	timeout 600 "$ODD" 9 "$SO13" load "$@" 9>&1 2>&1 | sed 's/ errno$//' >"$tmp/bare"
	preloaded "$ODD" 9 "$SO13" load "$@" 9>&1 2>&1 | sed 's/ errno$//' >"$tmp/with"
	grep -q . "$tmp/bare" && diff "$tmp/bare" "$tmp/with"
}

# is NAME VALUE...: counters
is() {
	while [ $# -gt 0 ]; do
		[ "$(stat_of "$1")" = "$2" ] || { echo "$1: $(stat_of "$1"), not $2" && "$COMMAND" stats && return 1; }
		shift 2
	done
}

kernels() { seq -f 'compile=%g' $((${1:-0} + 1)) $((${1:-0} + KERNELS)); }

# One, or few more where the machine was so busy that the way was tried again; each other miss was not worth a question.
asked_once() { # the counter that it shows in
	local asked
	asked=$(stat_of agent_asked)
	[ "$asked" -ge 1 ] && [ "$asked" -le 4 ] && is "$1" "$asked" agent_skipped $((KERNELS - asked)) agent_found 0 misses "$KERNELS"
}

# ---- one that answers ----

no_agent
new_cache
elsewhere=$NVRTCCACHE_DIR
mapfile -t plan < <(kernels)
check "Another node compiles $KERNELS programs." host "${plan[@]}"

fetched() {
	new_cache && patient && agent found --from "$elsewhere" --to "$NVRTCCACHE_DIR" && host "${plan[@]}" || return
	is agent_asked "$KERNELS" agent_found "$KERNELS" hits_disk "$KERNELS" misses 0 agent_skipped 0 && ! grep '^bad' "$told" &&
		[ "$(grep -c '^fetch' "$told")" -eq "$KERNELS" ] && ! grep -q '^stored' "$told"
}
check "A result that the agent fetches is a hit; nothing is compiled or reported to the agent." fetched
again() { forget_counts && host "${plan[@]}" && is agent_asked 0 hits_disk "$KERNELS"; }
check "The next process finds it in the directory and does not ask." again

reads_only() {
	new_cache && patient && agent found --from "$elsewhere" --to "$NVRTCCACHE_DIR" &&
		NVRTCCACHE_READONLY=1 NVRTCCACHE_LOG=$tmp/log NVRTCCACHE_LOG_LEVEL=info host "${plan[@]}" || return
	[ "$(grep -c 'hit on disk,.*, the agent ' "$tmp/log")" -eq "$KERNELS" ] && [ "$(entries)" -eq "$KERNELS" ]
}
check "A process that only reads the directory asks too, and the log says whom each hit comes from." reads_only

stored() {
	local key
	new_cache && patient && agent absent --to "$NVRTCCACHE_DIR" && host "${plan[@]}" || return
	is agent_asked "$KERNELS" agent_absent "$KERNELS" stores "$KERNELS" agent_wait_ns "$(stat_of agent_wait_ns)" && ! grep '^bad' "$told" &&
		[ "$(stat_of agent_wait_ns)" -gt 0 ] && [ "$(grep -c '^stored' "$told")" -eq "$KERNELS" ] || return
	for key in $(sed -n 's/^stored //p' "$told"); do
		[ -e "$NVRTCCACHE_DIR/v1/${key:0:2}/${key:2}" ] || return
	done
}
check "A result compiled because the agent had none is reported to it." stored

explained() {
	"$COMMAND" explain --last >"$tmp/out" && grep -q "The node's agent has no entry\.$" "$tmp/out" &&
		"$COMMAND" stats | grep -qE "^Agent asked +$KERNELS$"
}
check "explain and stats say so." explained

not_asked() { # setting
	new_cache && patient && agent absent && host "${plan[@]}" && forget_counts && : >"$told" &&
		env "$1" true && export "${1?}" && host "${plan[@]}" compile=100
	local result=$?
	unset "${1%%=*}"
	[ "$result" -eq 0 ] && is agent_asked 0 agent_skipped 0 && ! grep '^fetch' "$told"
}
check "With NVRTCCACHE_RECACHE the agent is not asked." not_asked NVRTCCACHE_RECACHE=1
check "With NVRTCCACHE_VERIFY neither." not_asked NVRTCCACHE_VERIFY=1
check "With no time to wait neither." not_asked NVRTCCACHE_AGENT_WAIT=0ms

eight() {
	local i processes=()
	new_cache && patient && agent absent || return
	for i in 1 2 3 4 5 6 7 8; do
		preloaded "$ODD" 9 "$SO13" load compile=1 9>"$tmp/with-$i" 2>&1 &
		processes+=($!)
	done
	wait "${processes[@]}"
	[ "$(grep -c '^fetch' "$told")" -eq 1 ] || { cat "$told" && return 1; }
}
check "Eight processes that want the same ask once." eight

threads() {
	new_cache && patient && agent absent && mkdir -p "$tmp/gate" && : >"$tmp/gate/open-a" &&
		preloaded "$BUILD/tests/fixtures/gated/gated" "$SO13" "$tmp/gate" a threads=16 same >"$tmp/with" 2>&1
	[ "$(grep -c '^fetch' "$told")" -eq 1 ] || { cat "$told" "$tmp/with" && return 1; }
}
check "So do sixteen threads." threads

each_for_itself() {
	new_cache && patient && agent absent && NVRTCCACHE_WAIT=0 host "${plan[@]}" && is agent_absent "$KERNELS"
}
check "With NVRTCCACHE_WAIT=0 every process asks." each_for_itself

own_place() {
	local told_at
	new_cache && patient && told_at="$NVRTCCACHE_DIR/v1/agent.$(cat /proc/sys/kernel/random/boot_id)" && agent absent --to "$NVRTCCACHE_DIR" &&
		ln -s "$NVRTCCACHE_AGENT" "$told_at" && export NVRTCCACHE_AGENT=1 && host "${plan[@]}" && is agent_absent "$KERNELS"
}
check "1 is the socket in the directory, with the boot's id in its name." own_place

drawn() {
	new_cache && patient && agent absent && NVRTCCACHE_TRACE=$tmp/trace.json host compile=1 && python3 - "$tmp/trace.json" <<'EOF'
import json, sys
events = json.loads(open(sys.argv[1]).read().rstrip(",\n") + "]")
misses = [event for event in events if event.get("cat") == "miss"]
assert len(misses) == 1, events
assert misses[0]["args"]["agent"] == "has no entry" and misses[0]["args"]["agent_wait"] > 0, misses
EOF
}
check "The time line has what was asked." drawn

seen_by_doctor() { # a pattern
	new_cache
	"$COMMAND" doctor >"$tmp/out" 2>&1
	grep -E "$1" "$tmp/out" || { cat "$tmp/out" && return 1; }
}
doctors() {
	patient && agent absent && seen_by_doctor "^ok +agent $NVRTCCACHE_AGENT answers$" &&
		agent down && seen_by_doctor "^warn +agent .* cannot reach its engine; see nvrtccache-agent" &&
		agent elsewhere && seen_by_doctor "^warn +agent .* serves another directory;" &&
		agent magic && seen_by_doctor "^warn +agent .* sent an invalid answer;" &&
		NVRTCCACHE_AGENT=$place/nothing seen_by_doctor "^warn +agent $place/nothing is not running;" &&
		NVRTCCACHE_AGENT=1 seen_by_doctor "^warn +agent 1 is not running;" &&
		export NVRTCCACHE_AGENT_WAIT=30ms && agent mute && seen_by_doctor "^warn +agent .* in time;"
}
check "doctor says how the agent is." doctors

# ---- those that do not ----

answering() { # counter behaviour
	new_cache && patient && agent "$2" && host "${plan[@]}" && is "$1" "$KERNELS" agent_asked "$KERNELS" agent_skipped 0 misses "$KERNELS" hits_disk 0
}
check "One that found what is not there is not believed more than the directory." answering agent_found empty
check "Descriptors that it sends go nowhere." answering agent_absent gift

cheap() {
	local asked
	new_cache && export NVRTCCACHE_AGENT_WAIT=1s && agent found --after 0.6 --from "$elsewhere" --to "$NVRTCCACHE_DIR" && host "${plan[@]}" || return
	asked=$(stat_of agent_asked)
	echo "asked $asked times of $KERNELS, $(stat_of agent_found) times found"
	[ "$asked" -ge 1 ] && [ "$asked" -le 4 ] && is agent_skipped $((KERNELS - asked)) hits_disk "$(stat_of agent_found)" misses $((KERNELS - $(stat_of hits_disk)))
}
check "Nor is one that takes longer to find than the compiler takes." cheap
overheard() { # one is held up, and whoever waited for its result asks no more
	local first
	new_cache && export NVRTCCACHE_AGENT_WAIT=1500ms && agent hung || return
	preloaded "$ODD" 9 "$SO13" load compile=1 9>/dev/null >/dev/null 2>&1 &
	first=$!
	wait_for grep -q '^fetch' "$told"
	NVRTCCACHE_AGENT_WAIT=300ms preloaded "$ODD" 9 "$SO13" load "${plan[@]}" 9>/dev/null >/dev/null 2>&1
	wait "$first"
	is agent_asked 1 agent_timeouts 1 agent_skipped $((KERNELS - 1)) misses "$KERNELS" hits_disk 1
}
check "Processes that waited for another one's slow agent do not ask it." overheard

stopped() { new_cache && export NVRTCCACHE_AGENT_WAIT=30ms && agent absent && kill -STOP "$agent" && host "${plan[@]}" && asked_once agent_timeouts; }
check "One that is stopped is asked once." stopped
bad_value() {
	new_cache && patient && NVRTCCACHE_AGENT=agent.sock NVRTCCACHE_LOG=$tmp/bad.log host compile=1 && is agent_asked 0 agent_skipped 0 &&
		grep -q 'NVRTCCACHE_AGENT: bad value: it takes an absolute path, 1 ' "$tmp/bad.log"
}
check "What is no absolute path is complained about." bad_value

# ---- hosts under conditions ----

under() { # counter word...
	local counter=$1
	shift
	new_cache && patient && agent absent && host "$@" "${plan[@]}" && is agent_asked "$(stat_of agent_asked)" && [ "$(stat_of "$counter")" -ge 1 ]
}
check "A host without standard streams asks." under agent_absent close=0 close=2
check "A host that a timer interrupts each millisecond asks." under agent_absent timer=1000
check "A host that closes what it does not know asks." under agent_absent beyond
check "A host that ignores SIGPIPE asks." under agent_absent ignore=13
check "A host whose child continues asks." under agent_absent compile=200 fork
names=(socket connect getsockopt sendmsg recvmsg ppoll)
for i in "${!names[@]}"; do
	check "A sandbox that refuses ${names[$i]}() is no reason to fail." under agent_down "deny=$i"
done

# A limit that the compiler itself comes to is one without us as well: only what is left to us is looked at.
scarce() {
	local most bad=0
	for most in 4 5 6 7 8 9 10 12; do
		new_cache && patient && agent absent && host "nofile=$most" "${plan[@]}" || bad=$((bad + 1))
	done
	[ "$bad" -eq 0 ]
}
check "A host with few descriptors gets what it gets without us." scarce

mixed() { # behaviour command...
	new_cache && export NVRTCCACHE_AGENT_WAIT=300ms && agent "$1" && shift && timeout 600 "$@" >"$tmp/bare" 2>&1 &&
		run_hosted with "$@" && diff <(lines_of "$tmp/bare") <(lines_of "$tmp/with" | grep -v '^exit 0$')
}
check "With an agent that answers, threads and forks get the same results as without the cache." mixed absent "$HOSTS/storm" "$SO13" 8 100 16
check "So they do with an agent that never answers." mixed mute "$HOSTS/storm" "$SO13" 8 100 16

# ---- not one system call ----

traced() { # file plan...
	local file=$1
	shift
	LD_PRELOAD='' strace -f -qq -E LD_PRELOAD="$LIBRARY" -o "$tmp/$file" "$ODD" 9 "$SO13" load "$@" 9>/dev/null >/dev/null 2>&1
	sed -E 's/^[0-9]+ +([a-z0-9_]+).*/\1/' "$tmp/$file" | grep -cvE '^(getpid|clock_gettime|futex|sched_yield)$|^[^a-z]'
}
calls() {
	local bare hits set_hits missed
	local NVRTCCACHE_READONLY # hits then leave nothing behind, by which one run could differ from the next
	no_agent && new_cache && missed=$(traced miss "${plan[@]}") && [ "$(entries)" -eq "$KERNELS" ] && export NVRTCCACHE_READONLY=1 &&
		hits=$(traced hits "${plan[@]}") && bare=$(traced hits "${plan[@]}") || return
	! grep -E '\b(socket|connect|sendmsg|recvmsg|ppoll)\(|boot_id|v1/agent' "$tmp/miss" "$tmp/hits" || return
	[ "$hits" -eq "$bare" ] || { echo "hits made $hits calls, then $bare" && return 1; }
	[ "$missed" -gt "$hits" ] && [ "$hits" -gt 100 ] && patient && agent absent && set_hits=$(traced set "${plan[@]}") || return
	echo "a miss: $missed, hits $hits, with an agent $set_hits"
	[ "$hits" -eq "$set_hits" ] && ! grep -E '\b(socket|connect|sendmsg)\(' "$tmp/set"
}
lacks=
command -v strace >/dev/null && strace -qq true 2>/dev/null || lacks="no strace that may trace"
check_there "Without a setting nothing is asked of the kernel, and on hits not with one either." calls
plan
