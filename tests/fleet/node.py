# SPDX-License-Identifier: MIT
"""node: what a machine of a fleet has of its own: directory, headers, agent, mount namespace

A Fleet is where nodes are made: every node finds its own things at one path, as machines do, by a mount namespace of its
own (root, or a user namespace); where neither is allowed each node has a path of its own, and Fleet.apart says so. Key
file, library and compiler are the fleet's.

Calling sequence: Fleet(build, place, workload); fleet.node(); node.start_agent(); node.host() gives a process, result()
what came of it; fleet.close() ends agents and hosts. Errors: NodeError in words. Threads: one.
"""
import json
import os
import re
import shutil
import subprocess
import time

PATIENCE_S = 120
HOST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host.py")
IMAGE_TIME = 1700000000
HEADER = "#define SCALE 2\n"
OTHER_HEADER = "#define SCALE 3\n"
NAMESPACES = (("namespaces", ["unshare", "--mount", "--propagation", "private"]),
              ("user namespaces", ["unshare", "--user", "--map-root-user", "--mount", "--propagation", "private"]))


class NodeError(Exception):
    pass


class Workload:
    """What hosts compile, with what: `kind` of tests/fleet/host.py."""

    def __init__(self, library, kind, kernels, *options):
        self.library, self.kind, self.kernels, self.options = library, kind, kernels, options


class Fleet:
    def __init__(self, build, place, workload):
        self.build, self.place, self.workload = os.path.abspath(build), place, workload
        self.nodes, self.processes, self.count = [], [], 0
        self.here = os.path.join(place, "here")
        self.keys = os.path.join(place, "keys")
        os.makedirs(self.here, exist_ok=True)
        with open(os.open(self.keys, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write("fleet " + os.urandom(32).hex() + "\n")
        self.apart, self.enter = "directories alone: no namespaces are allowed here", None
        for name, words in NAMESPACES:
            if subprocess.run([*words, "mount", "--bind", place, self.here], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                self.apart, self.enter = "mount " + name, words
                break

    def path(self, name):
        return os.path.join(self.build, name)

    def node(self, header=HEADER, cache=None):
        self.count += 1
        node = Node(self, os.path.join(self.place, "nodes", str(self.count)), header, cache)
        self.nodes.append(node)
        return node

    def environment(self, **more):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith("NVRTCCACHE_") and name not in ("LD_PRELOAD", "XDG_CACHE_HOME")}
        environment.update(more)
        return environment

    def start(self, *arguments, **how):
        process = subprocess.Popen(*arguments, **{"stdin": subprocess.DEVNULL, **how})
        self.processes.append(process)
        return process

    def tell(self, *command, **environment):
        """What a command says, run outside of the namespaces; None: it failed."""
        asked = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           env=self.environment(**environment))
        said = asked.communicate()[0]
        self.processes.remove(asked)
        return said if asked.returncode == 0 else None

    def forget(self, nodes):
        """Their agents end, and put what is left into the engine; their directories go."""
        for node in nodes:
            node.end_agent()
        for node in nodes:
            node.stop_agent()
            self.nodes.remove(node)
            shutil.rmtree(node.place, ignore_errors=True)

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
        for process in self.processes:
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()


class Result:
    """What a host got, and how long it took, in seconds."""

    def __init__(self, process, output, error):
        self.status, self.pid = process.returncode, process.pid
        self.output, self.error = output, error
        last = error.decode(errors="replace").strip().rsplit("\n", 1)[-1].split()
        self.wall_s, self.first_s = (int(last[1]) / 1e9, int(last[2]) / 1e9) if last[:1] == ["host"] else (0, 0)

    def same(self, other):
        return (self.status, self.output) == (other.status, other.output)

    def same_but_for_process(self, other):
        """NVRTC puts the number of the process, and a sum of it, into names of internal linkage, as CUB has them: two compiles
        differ in it. Where it has another number of digits, they differ in sizes and offsets too: see plain_like()."""
        return (self.status, self._without_process()) == (other.status, other._without_process())

    def _without_process(self):
        return re.sub(rb"_[0-9a-f]{8}_%d" % self.pid, b"_PROCESS", self.output)


class Node:
    def __init__(self, fleet, place, header, cache):
        self.fleet, self.place, self.header = fleet, place, header
        self.agent, self.ending = None, False
        os.makedirs(os.path.join(place, "inc"))
        # where all share one directory it is bound over each node's own
        self.cache = cache or os.path.join(place, "cache")
        os.makedirs(os.path.join(place, "cache"), mode=0o700, exist_ok=True)
        os.makedirs(self.cache, mode=0o700, exist_ok=True)
        with open(os.path.join(place, "inc", "node.h"), "w") as file:
            file.write(header)
        # as images have them; an option that nobody knows binds results to times of headers (docs/DESIGN.md B5)
        os.utime(os.path.join(place, "inc", "node.h"), (IMAGE_TIME, IMAGE_TIME))

    def _inside(self, command):
        here = self.fleet.here
        if not self.fleet.enter:
            return ["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", self.place, *command]
        shared = [self.cache, os.path.join(here, "cache")]
        return [*self.fleet.enter, "sh", "-c",
                'mount --bind "$1" "$2" && mount --bind "$3" "$4" && cd "$2" && shift 4 && exec "$@"', "sh",
                self.place, here, *shared, *command]

    @property
    def directory(self):
        """The cache directory, as the node's processes see it."""
        if not self.fleet.enter:
            return self.cache
        return os.path.join(self.fleet.here, "cache")

    def run(self, command, **how):
        return self.fleet.start(self._inside(command), **how)

    # ---- the agent

    def begin_agent(self, engine):
        """It may take a moment until it serves; await_agent() is for that."""
        with open(os.path.join(self.place, "agent.log"), "ab") as log:
            self.agent = self.run([self.fleet.path("nvrtccache-agent"), "--engine", engine, "--dir", self.directory,
                                   "--key-file", self.fleet.keys, "--write"],
                                  stdout=log, stderr=log, env=self.fleet.environment())

    def await_agent(self):
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            if self.status() is not None:
                return
            if self.agent.poll() is not None:
                break
            time.sleep(0.05)
        with open(os.path.join(self.place, "agent.log"), encoding="utf-8", errors="replace") as log:
            raise NodeError("no agent: " + log.read())

    def start_agent(self, engine):
        self.begin_agent(engine)
        self.await_agent()

    def status(self):
        """What the agent says of itself; None: nobody does."""
        said = self.fleet.tell(self.fleet.path("nvrtccache-agent"), "--status", "--json", "--dir", self.cache)
        return json.loads(said) if said else None

    def end_agent(self):
        """Once: a second signal means that nothing more is to be put."""
        if self.agent and not self.ending and self.agent.poll() is None:
            self.agent.terminate()
        self.ending = True

    def stop_agent(self):
        """It puts what is left into the engine first."""
        if self.agent:
            self.end_agent()
            self.agent.wait()
            self.fleet.processes.remove(self.agent)
            self.agent, self.ending = None, False

    # ---- hosts

    def host(self, cached=True, at_ns=0, **more):
        workload = self.fleet.workload
        environment = self.fleet.environment(**more)
        if cached:
            environment.update(LD_PRELOAD=self.fleet.path("libnvrtccache.so"), NVRTCCACHE_DIR=self.directory)
            if self.agent:
                environment.setdefault("NVRTCCACHE_AGENT", "1")
        return self.run([HOST, workload.library, workload.kind, str(workload.kernels), str(int(at_ns)), "-Iinc", *workload.options],
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)

    def result(self, process):
        output, error = process.communicate(timeout=600)
        self.fleet.processes.remove(process)
        return Result(process, output, error)

    def compile(self, *arguments, **how):
        return self.result(self.host(*arguments, **how))

    def plain_like(self, result):
        """What a host without the cache gets whose process number has as many digits."""
        while True:
            plain = self.compile(cached=False)
            if len(str(plain.pid)) == len(str(result.pid)):
                return plain

    def stats(self):
        """The counters of the directory: what `nvrtccache stats --json` says."""
        return json.loads(self.fleet.tell(self.fleet.path("nvrtccache"), "stats", "--json", NVRTCCACHE_DIR=self.cache))
