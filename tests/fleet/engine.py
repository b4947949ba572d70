# SPDX-License-Identifier: MIT
"""engine: a redis-server of its own on a Unix socket, and a proxy before it that is slow

Calling sequence: Redis(place) starts one and waits until it answers; command() asks it; kill(), start() and stop() are what
they say; close() ends it. Proxy(place, redis, latency) listens on a socket of its own. Both remove what they made.
Errors: EngineError with the server's words. Threads: a Redis belongs to one; a Proxy has its own.
"""
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections import deque

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
    """Each piece of bytes passes `latency_s` late, both ways together."""

    def __init__(self, place, target, latency_s):
        self.target, self.latency_s = target, latency_s
        self.socket = os.path.join(place, "proxy.sock")
        self.listener = socket.socket(socket.AF_UNIX)
        if os.path.exists(self.socket):
            os.unlink(self.socket)
        self.listener.bind(self.socket)
        self.listener.listen(1024)
        self.ending, self.wake = os.pipe()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    @property
    def address(self):
        return "redis+unix://" + self.socket

    def close(self):
        os.close(self.wake)
        self.thread.join()
        self.listener.close()
        os.close(self.ending)
        os.unlink(self.socket)

    def _run(self):
        self.peers, self.engines = {}, set()  # a socket and the one at its other end
        self.late = deque()  # (when, to whom, what), in order, as all are late by the same
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.ending, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        while True:
            wait = max(0.0, self.late[0][0] - time.monotonic()) if self.late else None
            ready = [key.fileobj for key, _ in self.selector.select(wait)]
            if self.ending in ready:
                for peer in list(self.peers):
                    self._drop(peer)
                self.selector.close()
                return
            for one in ready:
                if one is self.listener:
                    self._accept()
                elif one in self.peers:
                    self._take(one)
            while self.late and self.late[0][0] <= time.monotonic():
                _, to, piece = self.late.popleft()
                self._give(to, piece)

    def _accept(self):
        peer = self.listener.accept()[0]
        engine = socket.socket(socket.AF_UNIX)
        try:
            engine.connect(self.target)
        except OSError:
            peer.close()
            engine.close()
            return
        self.peers[peer], self.peers[engine] = engine, peer
        self.engines.add(engine)
        for one in (peer, engine):
            self.selector.register(one, selectors.EVENT_READ)

    def _take(self, one):
        try:
            piece = one.recv(1 << 20)
        except OSError:
            piece = b""
        if not piece:
            self._drop(one)
        elif one in self.engines:
            self._give(self.peers[one], piece)
        else:
            self.late.append((time.monotonic() + self.latency_s, self.peers[one], piece))

    def _give(self, to, piece):
        try:
            to.sendall(piece)
        except OSError:
            self._drop(to)

    def _drop(self, one):
        for each in (one, self.peers.get(one)):  # both are named before one is forgotten
            if each in self.peers:
                del self.peers[each]
                self.engines.discard(each)
                self.selector.unregister(each)
                each.close()
