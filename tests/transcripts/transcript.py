#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""transcript: runs commands and compares what they print with what a file shows

usage: transcript.py [--write] BUILD FILE.t...        --write: the files show what was printed; review the difference

A file has sections: prose, then indented commands with their output. The last paragraph before the commands is the name
of a check (TAP), which passes if each command of the section prints what is shown.

    A typing error is answered with the closest command.

      $ nvrtccache stat
      2> nvrtccache: stat: unknown command (did you mean 'stats'?)
      2> nvrtccache: see 'nvrtccache help'
      [2]

"$ " begins a command, "> " continues it. Its standard output comes first, then standard error with "2> " before each
line, then the exit status, if it is not 0. A line ends with "(glob)" if its * and ? stand for any text, "(re)" if it is
a regular expression, "(esc)" if its special characters are written as Python does, "(no-eol)" if it has no newline.
$TMP and $BUILD stand for their values. "# requires: COMMAND" skips a section, or above the first one the file, where the
command fails; other lines that begin with "# " are comments.

One bash runs all commands of a file, in $TMP, a new directory, with helpers.sh, a cache directory $TMP/cache that does
not exist yet, and no other variables than those of run().
"""
import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INDENT = "  "
INHERITED = ["CUDA_HOME", "GCOV_PREFIX"]


class Command:
    def __init__(self, line):
        self.source, self.shown = [line], []

    def script(self):
        return "\n".join(line[len(INDENT) + 2:] for line in self.source)


class Section:
    """Lines above the commands, the check's sentence, what it requires, and its commands, each with lines of output."""

    def __init__(self):
        self.above, self.commands = [], []

    def sentence(self):
        prose = [line for line in self.above if not line.startswith("#")]
        return " ".join("\n".join(prose).strip().split("\n\n")[-1].split("\n"))

    def requires(self):
        return [line.split(": ", 1)[1] for line in self.above if line.startswith("# requires: ")]

    def lines(self, outputs=None):
        """As the file has them; with other outputs where these are given."""
        text = list(self.above)
        for command, shown in zip(self.commands, outputs or [command.shown for command in self.commands]):
            text += command.source + [INDENT + line for line in shown]
        return text


def parse(text):
    sections = [Section()]
    for line in text.splitlines():
        section = sections[-1]
        if line.startswith(INDENT + "$ "):
            section.commands.append(Command(line))
        elif line.startswith(INDENT + "> ") and section.commands and not section.commands[-1].shown:
            section.commands[-1].source.append(line)
        elif line.startswith(INDENT) and section.commands:
            section.commands[-1].shown.append(line[len(INDENT):])
        elif section.commands:
            sections.append(Section())
            sections[-1].above.append(line)
        else:
            section.above.append(line)
    return sections


def run(build, sections, place):
    """Runs all commands. Of section S, the C-th's output comes to lie in S.C.out, .err and .status; S.skipped: none was run."""
    work, said = os.path.join(place, "work"), os.path.join(place, "said")
    os.makedirs(work)
    os.makedirs(said)
    script = [f". {shlex.quote(HERE)}/helpers.sh"]
    for s, section in enumerate(sections):
        conditions = " && ".join(f"eval {shlex.quote(text)}" for text in section.requires()) or ":"
        script.append(f"if ! {{ {conditions}; }} >/dev/null 2>&1; then >{said}/{s}.skipped; {'' if s else 'exit'}\nelse :")
        for c, command in enumerate(section.commands):
            name = f"{said}/{s}.{c}"
            script.append(f"eval {shlex.quote(command.script())} >{name}.out 2>{name}.err; echo $? >{name}.status")
        script.append("fi")
    environment = {"BUILD": build, "TMP": work, "TMPDIR": work, "HOME": f"{work}/home", "NVRTCCACHE_DIR": f"{work}/cache",
                   "LC_ALL": "C", "TERM": "xterm", "TOP": os.path.dirname(os.path.dirname(HERE)),
                   "PYTHONDONTWRITEBYTECODE": "1", **{name: os.environ[name] for name in INHERITED if name in os.environ}}
    environment["PATH"] = f"{build}:{os.environ['PATH']}"
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, env=environment, stdin=subprocess.DEVNULL, check=False)
    return said


def printed(path, mark, names):
    with open(path, "rb") as file:
        text = file.read()
    for name, value in names:
        text = text.replace(value.encode(), name.encode())
    for line in text.split(b"\n")[:-1] + ([text.split(b"\n")[-1] + b" (no-eol)"] if not text.endswith(b"\n") and text else []):
        shown = line.decode("utf-8", "backslashreplace")
        yield mark + (shown if shown.isprintable() else ascii(shown)[1:-1].replace("\\'", "'") + " (esc)")


def output(said, name, names):
    """What a command printed, as lines of a file; None: it was not run to its end."""
    if not os.path.exists(f"{said}/{name}.status"):
        return None
    with open(f"{said}/{name}.status", encoding="ascii") as file:
        status = file.read().strip()
    lines = [*printed(f"{said}/{name}.out", "", names), *printed(f"{said}/{name}.err", "2> ", names)]
    return lines + ([] if status == "0" else [f"[{status}]"])


def matches(shown, line):
    if shown == line:
        return True
    if shown.endswith(" (re)"):
        return re.fullmatch(shown[:-5], line) is not None
    if shown.endswith(" (glob)"):
        return re.fullmatch(re.escape(shown[:-7]).replace(r"\*", ".*").replace(r"\?", "."), line) is not None
    return False


def merge(shown, lines):
    """The printed lines, each in the form in which it is shown already where that matches it."""
    merged, rest = [], list(shown)
    for line in lines:
        found = next((n for n, one in enumerate(rest) if matches(one, line)), None)
        merged.append(line if found is None else rest[found])
        rest = rest if found is None else rest[found + 1:]
    return merged


def check(path, sections, said, names):
    """Prints TAP; returns the file's new text and how many checks failed."""
    text, failed, count = [], 0, 0
    for s, section in enumerate(sections):
        outputs = [output(said, f"{s}.{c}", names) for c in range(len(section.commands))]
        outputs = [None if lines is None else merge(command.shown, lines) for command, lines in zip(section.commands, outputs)]
        skipped = os.path.exists(f"{said}/{s}.skipped")
        outputs = [["(did not end)"] if lines is None else lines for lines in outputs]
        old, new = section.lines(), section.lines() if skipped else section.lines(outputs)
        text += new
        if section.commands:
            count, failed = count + 1, failed + (old != new)
            print(f"{'ok' if old == new else 'not ok'} {count} - {section.sentence()}" +
                  (f" # SKIP needs {' and '.join(section.requires())}" if skipped else ""))
            for line in [*difflib.unified_diff(old, new, path, path + " as it is", lineterm="")]:
                print(f"#   {line}")
    print(f"1..{count}", flush=True)
    return "".join(line + "\n" for line in text), failed


def is_sanitized(build):
    """A sanitized library cannot be preloaded into programs that are not."""
    library = os.path.join(build, "libnvrtccache.so")
    if not os.path.exists(library):
        return False
    with open(library, "rb") as file:
        return re.search(rb"__(asan|tsan|ubsan)_", file.read()) is not None


def main():
    write = "--write" in sys.argv[1:]
    build, *paths = [argument for argument in sys.argv[1:] if argument != "--write"]
    build, failures = os.path.abspath(build), 0
    if is_sanitized(build):
        print("1..0 # SKIP the library is built with a sanitizer")
        return 0
    for path in paths:
        with open(path, encoding="utf-8") as file:
            sections = parse(file.read())
        place = os.path.realpath(tempfile.mkdtemp(prefix="nvrtccache-transcript."))
        try:
            said = run(build, sections, place)
            if os.path.exists(f"{said}/0.skipped"):
                print(f"1..0 # SKIP needs {' and '.join(sections[0].requires())}")
                continue
            text, failed = check(path, sections, said, [("$TMP", f"{place}/work"), ("$BUILD", build)])
        finally:
            subprocess.run(["chmod", "-R", "u+rwX", place], check=False)
            shutil.rmtree(place, ignore_errors=True)
        failures += failed
        if write:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if failures and not write else 0


sys.exit(main())
