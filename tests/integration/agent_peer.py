#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""agent_peer: speaks to an agent as a process does, or as none should

usage: agent_peer.py SOCKET DIRECTORY fetch KEY | stored KEY | stranger KEY | crowd COUNT KEY | flood COUNT | twins KEY |
       hostile

stranger: another user's process (takes root)
flood: reports so many different keys
twins: asks twice at the same time; prints the two beginnings in one line, then the two ends

Prints what the agent answers, a word each, and CLOSED where it ends the connection without more.
"""
import os
import socket
import struct
import sys

MAGIC, VERSION = 0x41434E76, 1
FETCH, STORED = 1, 2
ANSWERS = {16: "STARTED", 17: "FOUND", 18: "ABSENT", 19: "DOWN", 20: "ELSEWHERE"}


def connect(path):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    os.chdir(os.path.dirname(path))  # an address has room for 107 bytes
    peer.connect(os.path.basename(path))  # waits where the agent is busy
    peer.settimeout(20)
    return peer


def message(directory, kind, key, magic=MAGIC, version=VERSION):
    place = os.stat(os.path.join(directory, "v1"))
    return struct.pack("=IHHIIQQ32s", magic, version, kind, 300, 0, place.st_dev, place.st_ino, key)


def answers(peer, most=9):
    words = []
    while len(words) < most:
        try:
            said = peer.recv(65536)
        except ConnectionError:
            said = b""
        if not said:
            words.append("CLOSED")
            break
        kind = struct.unpack("=IHHIIQQ32s", said)[2]
        words.append(ANSWERS[kind])
        if words[-1] != "STARTED":
            break
    return words


def hostile(path, directory):
    key = bytes(32)
    good = message(directory, FETCH, key)
    tries = {
        "short": [good[:-1]], "long": [good + b"x"], "huge": [good * 100], "one byte": [b"x"],
        "magic": [message(directory, FETCH, key, magic=0)], "version": [message(directory, FETCH, key, version=9)],
        "kind": [message(directory, 99, key)], "no kind": [message(directory, 0, key)],
        "an answer": [message(directory, 17, key)],
    }
    for name, messages in tries.items():
        peer = connect(path)
        for one in messages:
            peer.send(one)
        print(name + ":", *answers(peer))


def main():
    path, directory, what, *rest = sys.argv[1:]
    if what == "hostile":
        hostile(path, directory)
    elif what == "crowd":
        # who connects and says nothing must not keep out who asks
        crowd = []
        for _ in range(int(rest[0])):
            crowd.append(connect(path))
        peer = connect(path)
        peer.send(message(directory, FETCH, bytes.fromhex(rest[1])))
        print(*answers(peer))
    elif what == "twins":
        peers = [connect(path), connect(path)]
        for peer in peers:
            peer.send(message(directory, FETCH, bytes.fromhex(rest[0])))
        print(*(answers(peer, most=1)[0] for peer in peers), flush=True)
        print(*(answers(peer, most=1)[0] for peer in peers))
    elif what == "flood":
        for number in range(int(rest[0])):
            connect(path).send(message(directory, STORED, number.to_bytes(32, "little")))
    elif what == "stored":
        connect(path).send(message(directory, STORED, bytes.fromhex(rest[0])))
    else:
        question = message(directory, FETCH, bytes.fromhex(rest[0]))
        if what == "stranger":
            os.setgroups([])
            os.setgid(65533)
            os.setuid(65533)
        peer = connect(path)
        try:
            peer.send(question)
        except BrokenPipeError:
            pass
        print(*answers(peer))


main()
