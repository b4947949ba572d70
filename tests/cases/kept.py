# SPDX-License-Identifier: MIT
"""What the compilers gave without us, kept from one run of the tests to the next.

BUILD/tests/plain/NAME is where the cases of a file are played, with and without us: some outputs name the directory.
NAME.json is what was printed there without us, with a digest of all that it was made of: the cases, the player, the
directory, the libraries and where the toolkit's headers are. Where that is not the same, or where the place is taken,
nothing is kept. Whoever uses what was kept plays the cold arm too, in which the compilers work as they do now, and
plays without us again before he says that anything differs.

Answers holds what spoilers.py asks of NVRTC, in processes that never load the library under test.
"""
import fcntl
import hashlib
import json
import os
import shutil
import tempfile


def digest(program, libraries, *others):
    """Of what asks, of the libraries that answer, with what lies beside them, and of whatever else matters."""
    made = hashlib.sha256()
    with open(program, "rb") as file:
        made.update(file.read())
    for path in filter(None, libraries):
        folder = os.path.dirname(os.path.realpath(path))
        for name in sorted({os.path.basename(os.path.realpath(path)), *filter(lambda n: "builtins" in n, os.listdir(folder))}):
            found = os.stat(os.path.join(folder, name))
            # the time of change too: copies that replace a file may have its size and time
            made.update(f"{folder}/{name} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}\n".encode())
    made.update(repr((os.environ.get("CUDA_INCLUDE"), *others)).encode())
    return made.hexdigest()


class Answers:
    """What is asked of a library alone, by question, for as long as the key is the same: FILE holds it."""

    def __init__(self, path, key):
        self.path, self.key, self.held = path, key, {}
        try:
            with open(path, encoding="utf-8") as file:
                kept = json.load(file)
            self.held = kept["answers"] if kept["key"] == key else {}
        except (OSError, ValueError):
            pass

    def of(self, ask, *question):
        words = json.dumps([ask.__name__, *question])
        if words not in self.held:
            self.held[words] = ask(*question)
        return self.held[words]

    def write(self):
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(f"{self.path}.{os.getpid()}", "w", encoding="utf-8") as file:
                json.dump({"key": self.key, "answers": self.held}, file)
            os.replace(file.name, self.path)
        except OSError:  # such as a build that belongs to another user
            pass


class Place:
    """A directory to play in, empty at first and gone at the end, beside what is kept. Without a name nothing is."""

    def __init__(self, build, name):
        self.file, self.lock, folder = None, None, os.path.join(build, "tests", "plain")
        try:
            if not name:
                raise OSError("nothing is kept")
            os.makedirs(folder, exist_ok=True)
            self.lock = os.open(os.path.join(folder, f"{name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.top = os.path.join(folder, name)
            shutil.rmtree(self.top, ignore_errors=True)
            os.mkdir(self.top, 0o700)
            self.file = f"{self.top}.json"
        except OSError:
            self.top = tempfile.mkdtemp(prefix="nvrtccache-cases-")

    def read(self, key):
        """{(round, sentence): lines} and the length of its process's pid; or None."""
        try:
            with open(self.file, encoding="utf-8") as file:
                kept = json.load(file)
        except (OSError, TypeError, ValueError):
            return None
        if kept["key"] != key:
            return None
        return {(number, sentence): lines for number, sentence, lines in kept["output"]}, kept["digits"]

    def write(self, key, output, digits):
        if self.file:
            with open(f"{self.file}.new", "w", encoding="utf-8") as file:
                json.dump({"key": key, "digits": digits, "output": [[*place, lines] for place, lines in output.items()]}, file)
            os.replace(f"{self.file}.new", self.file)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
        if self.lock is not None:
            os.close(self.lock)
