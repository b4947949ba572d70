# SPDX-License-Identifier: MIT
"""engine: a redis-server of its own on a Unix socket, and a proxy before it that is slow

Calling sequence: Redis(place) starts one and waits until it answers; command() asks it; kill(), start() and stop() are what
they say; close() ends it. Proxy(place, redis, latency) listens on a socket of its own. Both remove what they made.
Errors: EngineError with the server's words. Threads: a Redis belongs to one; a Proxy has two for each connection.
"""
import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

PATIENCE_S = 60


class EngineError(Exception):
    pass


class Redis:
    def __init__(self, place, *options):
        self.place, self.options = place, options
        self.socket = os.path.join(place, "redis.sock")
        self.process = None
        self.past = {}  # counts of servers that were killed
        os.makedirs(place, mode=0o700, exist_ok=True)
        self.start()

    @staticmethod
    def installed():
        return shutil.which("redis-server", path=os.environ.get("PATH", "") + ":/usr/bin:/usr/sbin") is not None

    @property
    def address(self):
        return "redis+unix://" + self.socket

    def start(self):
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        with open(os.path.join(self.place, "redis.log"), "ab") as log:
            self.process = subprocess.Popen(
                ["redis-server", "--port", "0", "--unixsocket", self.socket, "--unixsocketperm", "700", "--dir",
                 self.place, "--save", "", "--appendonly", "no", *self.options],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.command("PING")
                return
            except EngineError as error:
                if "NOAUTH" in str(error):
                    return
            except OSError:
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise EngineError("redis-server did not start: see " + self.place + "/redis.log")
            time.sleep(0.01)

    def kill(self):
        self.past = self.counts()
        self.process.kill()
        self.process.wait()
        os.unlink(self.socket)

    def halt(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()

    def command(self, *words):
        peer = socket.socket(socket.AF_UNIX)
        peer.settimeout(PATIENCE_S)
        with peer:
            peer.connect(self.socket)
            parts = [word if isinstance(word, bytes) else str(word).encode() for word in words]
            peer.sendall(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
            with peer.makefile("rb") as stream:
                return self._answer(stream)

    def _answer(self, stream):
        line = stream.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the engine hung up")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise EngineError(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return stream.read(int(rest) + 2)[:-2] if int(rest) >= 0 else None
        if kind == b"*":
            return [self._answer(stream) for _ in range(int(rest))]
        return rest

    def values(self):
        """Names and values of all that lies there."""
        return {name: self.command("GET", name) for name in sorted(self.command("KEYS", "*"))}

    def counts(self):
        """Calls by command, and bytes out and in, over all servers that were at this place; our own questions too."""
        counts = dict(self.past)
        for name, calls in re.findall(rb"cmdstat_(\w+):calls=(\d+)", self.command("INFO", "commandstats")):
            counts[name.decode()] = counts.get(name.decode(), 0) + int(calls)
        for name, count in re.findall(rb"(total_net_\w+put_bytes):(\d+)", self.command("INFO", "stats")):
            counts[name.decode()] = counts.get(name.decode(), 0) + int(count)
        return counts


class Proxy:
    """Each piece of bytes to the engine passes `latency_s` late."""

    def __init__(self, place, target, latency_s):
        self.target, self.latency_s = target, latency_s
        self.socket = os.path.join(place, "proxy.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.socket)
        self.listener.listen(1024)
        self._begin(self._accept)

    @property
    def address(self):
        return "redis+unix://" + self.socket

    def close(self):
        """Connections end with the agents at their other ends."""
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.socket)

    @staticmethod
    def _begin(function, *arguments):
        threading.Thread(target=function, args=arguments, daemon=True).start()

    def _accept(self):
        while True:
            try:
                peer = self.listener.accept()[0]
            except OSError:
                return
            engine = socket.socket(socket.AF_UNIX)
            try:
                engine.connect(self.target)
            except OSError:
                peer.close()
                continue
            self._begin(self._pass, peer, engine, self.latency_s)
            self._begin(self._pass, engine, peer, 0)

    @staticmethod
    def _pass(one, other, latency_s):
        with contextlib.suppress(OSError):
            while piece := one.recv(1 << 20):
                time.sleep(latency_s)
                other.sendall(piece)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
