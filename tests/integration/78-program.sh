#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nvrtccache-agent … -- program: to whoever started it, it is the program. Each scene is played without an agent and with one.
# shellcheck disable=SC2317 # functions are called by check
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "$(dirname "$0")/lib.sh"
AGENT=$BUILD/nvrtccache-agent
[ -x "$AGENT" ] || skip_all "no agent: its libraries are not here"
command -v python3 >/dev/null || skip_all "no python3"
unset XDG_CACHE_HOME LD_LIBRARY_PATH NVRTCCACHE_DIR
export HOME=$tmp/home
mkdir "$HOME"
with=("$AGENT" --engine "redis+unix://$tmp/nowhere" --dir "$tmp/cache" --trust-engine --write --)

cat >"$tmp/scenes.py" <<-'END'
	import ctypes, fcntl, os, pty, select, signal, subprocess, sys, time

	scene, say, *argument = sys.argv[1:]
	prefix = argument[argument.index("--prefix") + 1:]
	argument = argument[:argument.index("--prefix")]
	WAITS = 'for i in $(seq 600); do [ ! -e "$0" ] || exit 3; sleep 0.05; done; exit 4'


	def reached(end, events=select.POLLIN):
	    poll = select.poll()
	    poll.register(end, events)
	    return bool(poll.poll(10000))


	def closed_pipe():  # who reads sees the end of what the program has closed, while that goes on
	    program = subprocess.Popen([*prefix, "sh", "-c", "echo ready; exec >&-; " + WAITS, say], stdout=subprocess.PIPE)
	    program.stdout.readline()
	    print("end" if reached(program.stdout) else "nothing")
	    open(say, "w").close()
	    print(program.wait())


	def unread_pipe():  # who writes is told that nobody reads
	    program = subprocess.Popen([*prefix, "sh", "-c", "exec <&-; echo ready; " + WAITS, say], stdin=subprocess.PIPE,
	                               stdout=subprocess.PIPE)
	    program.stdout.readline()
	    print("nobody" if reached(program.stdin, 0) else "somebody")
	    open(say, "w").close()
	    print(program.wait())


	def released_lock():
	    lock = os.open(say + ".lock", os.O_RDWR | os.O_CREAT)
	    fcntl.flock(lock, fcntl.LOCK_EX)
	    program = subprocess.Popen([*prefix, "sh", "-c", f"eval 'exec {lock}>&-'; echo ready; " + WAITS, say],
	                               stdout=subprocess.PIPE, pass_fds=[lock])
	    program.stdout.readline()
	    os.close(lock)
	    other = os.open(say + ".lock", os.O_RDWR)
	    for _ in range(200):
	        try:
	            fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
	            print("released")
	            break
	        except BlockingIOError:
	            time.sleep(0.05)
	    open(say, "w").close()
	    print(program.wait())


	def inherited():  # the program has each that we were given
	    ends = os.pipe()
	    subprocess.run([*prefix, "sh", "-c", f"echo through >&{ends[1]}"], pass_fds=[ends[1]], check=True)
	    print(os.read(ends[0], 100))


	def alarm():  # which lasts over exec, and not over fork
	    print(subprocess.run([*prefix, "sh", "-c", WAITS, say], preexec_fn=lambda: signal.alarm(1)).returncode)


	def hung_up():  # the program leads the session of a terminal, as in a window that is closed
	    child, terminal = pty.fork()
	    if child == 0:
	        os.execvp("sh" if not prefix else prefix[0], [*prefix, "sh", "-c", 'trap "exit 9" HUP; echo ready; ' + WAITS, say])
	    said = b""
	    while b"ready" not in said:
	        said += os.read(terminal, 100)
	    os.close(terminal)
	    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


	def signalled():
	    number = getattr(signal, argument[0])
	    program = subprocess.Popen([*prefix, "bash", "-c", f"trap 'exit 9' {int(number)}; echo ready; " + WAITS, say],
	                               stdout=subprocess.PIPE)
	    program.stdout.readline()
	    program.send_signal(number)
	    print(program.wait())


	globals()[scene]()
END
as_plain() { # SCENE [ARGUMENT]
	rm -f "$tmp"/say-*
	timeout 100 python3 "$tmp/scenes.py" "$1" "$tmp/say-plain" "${@:2}" --prefix >"$tmp/plain" 2>&1
	timeout 100 python3 "$tmp/scenes.py" "$1" "$tmp/say-agent" "${@:2}" --prefix "${with[@]}" 2>&1 | grep -v "^nvrtccache-agent: engine unreachable" >"$tmp/agent"
	[ -s "$tmp/plain" ] && ! grep -q Traceback "$tmp/plain" && cmp -s "$tmp/plain" "$tmp/agent" || { cat "$tmp/plain" && echo "and with an agent:" && cat "$tmp/agent" && return 1; }
}
check "A reader of the program's output sees its end once the program closes it." as_plain closed_pipe
check "A writer to the program's input notices that the program closed it." as_plain unread_pipe
check "A lock that the program releases is free." as_plain released_lock
check "The program has the descriptors that the agent was given." as_plain inherited
check "A timer that was set before the agent began ends the program." as_plain alarm
check "If its terminal is closed, the program gets SIGHUP." as_plain hung_up
for signal in SIGTERM SIGQUIT SIGUSR2 SIGXCPU SIGWINCH; do
	check "$signal to the agent is forwarded to the program." as_plain signalled "$signal"
done

# With RLIMIT_FSIZE a write raises a signal that ends who does not expect it.
limited() {
	(ulimit -f 0 && timeout 60 "${with[@]}" sh -c 'until "$0" --status --json --dir "$1" | grep "\"state\": \"unreachable\"" >/dev/null; do sleep 0.05; done; exit 7' "$AGENT" "$tmp/cache" 2>"$tmp/err")
	[ $? -eq 7 ] && [ ! -s "$tmp/err" ]
}
check "A message past the file size limit does not end the agent." limited

plan
