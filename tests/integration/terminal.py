# SPDX-License-Identifier: MIT
"""terminal: a command on a terminal of its own, and what it draws there

usage: terminal.py shown [columns] COMMAND...            prints what was written to the terminal, as Python shows bytes
       terminal.py printed [columns] COMMAND...          standard output is the terminal; prints it as it is
       terminal.py keys COMMAND import BUNDLE            ^C while the command works
       terminal.py watched COMMAND...                    standard output is shown too; ^C when it was drawn twice

"keys" feeds the bundle through standard input piece by piece, so that the command is still at work when something
happens to it, however slow the machine is. It prints what was drawn before, a line "then", what was drawn after, and a
line "ended by N" (a negative number: by that signal).
"""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios


def set_columns(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def begin(command, columns, stdin=None, stdout=os.devnull):
    """The command has the terminal as its controlling one; a bundle goes to /dev/null."""
    ready, go = os.pipe()
    child, terminal = pty.fork()
    if child == 0:
        os.read(ready, 1)
        if stdin is not None:
            os.dup2(stdin, 0)
        if stdout:
            os.dup2(os.open(stdout, os.O_WRONLY), 1)
        os.closerange(3, 64)
        os.execv(command[0], command)
    set_columns(terminal, columns)
    os.write(go, b"x")
    os.close(go)
    os.close(ready)
    return child, terminal


def take(terminal, seconds=0.0):
    """What has been drawn; None: the command has ended."""
    if not select.select([terminal], [], [], seconds)[0]:
        return b""
    try:
        return os.read(terminal, 65536) or None
    except OSError:
        return None


def take_all(terminal):
    drawn = b""
    while (more := take(terminal, 600)) is not None:
        drawn += more
    return drawn


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def feed(pipe, terminal, data, lines):
    """Gives more of the bundle until so many lines were drawn; returns them and the rest of the data."""
    drawn = b""
    while drawn.count(b"\r") < lines and data:
        data = data[os.write(pipe, data[:512]):]
        drawn += take(terminal, 0.01) or b""
    return drawn, data


def main():
    what, words = sys.argv[1], sys.argv[2:]
    if what in ("shown", "printed"):
        columns = int(words.pop(0)) if words[0].isdigit() else 80
        child, terminal = begin(words, columns, stdout=None if what == "printed" else os.devnull)
        drawn = take_all(terminal)
        print(drawn if what == "shown" else re.sub(r"[^\n]*\r", "", drawn.decode().replace("\r\n", "\n")), end="" if what == "printed" else "\n")
        return ended(child) != 0
    if what == "watched":
        child, terminal = begin(words, 80, stdout=None)
        drawn = b""
        while drawn.count(b"\x1b[H") < 2 and (more := take(terminal, 600)) is not None:
            drawn += more
        os.write(terminal, b"\x03")
        print(drawn + take_all(terminal))
        print("ended by", ended(child))
        return 0
    with open(words[2], "rb") as file:
        data = file.read()
    theirs, ours = os.pipe()
    os.set_inheritable(theirs, True)
    child, terminal = begin([words[0], words[1], "-"], 100, theirs)
    os.close(theirs)
    before, data = feed(ours, terminal, data, 2)
    print(before)
    print("then")
    os.write(terminal, b"\x03")
    print(take_all(terminal))
    os.close(ours)
    print("ended by", ended(child))
    return 0


signal.signal(signal.SIGPIPE, signal.SIG_IGN)
sys.exit(main())
