#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An agent that does as it is told, for hosts that ask one (cache/agent_socket.h).

usage: agent.py SOCKET BEHAVIOUR [--from CACHE --to CACHE] [--after SECONDS]

A line on stdout for each message that came: its kind and its key. "ready" when it listens. With --after it says STARTED
to a question, and the rest so much later. Behaviours:
  found      the key's file is copied from one cache to another, STARTED and FOUND are said (ABSENT where there is none)
  absent  down  elsewhere      STARTED, then that
  empty      FOUND, and nothing is there
  mute       accepts, and says nothing                hung      STARTED, and nothing more
  magic      an answer with another magic             gift      ABSENT with a descriptor in it
"""
import argparse
import array
import os
import shutil
import socket
import struct
import time

MAGIC, VERSION = 0x41434E76, 1
FETCH, STORED, STATUS, STARTED, FOUND, ABSENT, DOWN, ELSEWHERE = 1, 2, 3, 16, 17, 18, 19, 20
MESSAGE = struct.Struct("=IHHIIQQ32s")

arguments = argparse.ArgumentParser()
arguments.add_argument("socket")
arguments.add_argument("behaviour")
arguments.add_argument("--from", dest="source")
arguments.add_argument("--to", dest="target")
arguments.add_argument("--after", type=float)
given = arguments.parse_args()


def answer(kind, magic=MAGIC):
    return MESSAGE.pack(magic, VERSION, kind, 0, 0, 0, 0, bytes(32))


def bring(key):
    """The file of a key, as a store would put it."""
    name = os.path.join("v1", key[:2], key[2:])
    source, target = os.path.join(given.source, name), os.path.join(given.target, name)
    if not os.path.exists(source):
        return False
    for directory in (given.target, os.path.join(given.target, "v1"), os.path.dirname(target)):
        if not os.path.isdir(directory):
            os.mkdir(directory, 0o700)
    shutil.copyfile(source, target + ".new")
    os.chmod(target + ".new", 0o600)
    os.rename(target + ".new", target)
    return True


def begin(peer):
    peer.send(answer(STARTED))
    if given.after:
        time.sleep(given.after)


def fetch(peer, key):
    """True: the connection stays open."""
    simple = {"absent": ABSENT, "down": DOWN, "elsewhere": ELSEWHERE}
    told = {"empty": answer(FOUND), "magic": answer(FOUND, magic=MAGIC + 1)}
    if given.behaviour == "found":
        begin(peer)
        peer.send(answer(FOUND if bring(key) else ABSENT))
    elif given.behaviour in simple:
        begin(peer)
        peer.send(answer(simple[given.behaviour]))
    elif given.behaviour in told:
        if given.after:
            begin(peer)
        peer.send(told[given.behaviour])
    elif given.behaviour == "gift":
        with open("/dev/null", "rb") as gift:
            peer.sendmsg([answer(ABSENT)], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [gift.fileno()]))])
    elif given.behaviour == "hung":
        peer.send(answer(STARTED))
        return True
    elif given.behaviour == "mute":
        return True
    return False


def serve(peer, waiting):
    message = peer.recv(256)
    if len(message) != MESSAGE.size:
        print("bad", len(message), flush=True)
        peer.close()
        return
    magic, version, kind, wait_ms, _, device, inode, key = MESSAGE.unpack(message)
    home = os.path.join(given.target or "", "v1")
    there = os.stat(home) if given.target and os.path.isdir(home) else None
    if (magic, version) != (MAGIC, VERSION) or (there and (device, inode) != (there.st_dev, there.st_ino)) or (kind == FETCH and not wait_ms):
        print("bad", magic, version, device, inode, flush=True)
    print({FETCH: "fetch", STORED: "stored"}.get(kind, kind), key.hex(), flush=True)
    try:
        if kind == FETCH and fetch(peer, key.hex()):
            waiting.append(peer)
            return
    except OSError as error:  # who asked is gone
        print("gone", error.strerror, flush=True)
    peer.close()


def main():
    os.umask(0o077)
    place = os.open(os.path.dirname(given.socket), os.O_PATH | os.O_DIRECTORY)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(f"/proc/self/fd/{place}/{os.path.basename(given.socket)}")
    listening.listen(64)
    print("ready", flush=True)
    waiting = []
    while True:
        serve(listening.accept()[0], waiting)


main()
