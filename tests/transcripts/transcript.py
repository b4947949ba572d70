#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""transcript: runs commands and compares what they print with what a file shows

usage: transcript.py [--write] BUILD FILE.t...        --write: the files show what was printed; review the difference

A file has sections: prose, then indented commands with their output. The last paragraph before the commands is the name
of a check (TAP), which passes if each command of the section prints what is shown.

    A mistyped word is answered with the closest one.
      $ nvrtccache stat
      2> nvrtccache: stat: unknown command (did you mean 'stats'?)
      2> nvrtccache: see 'nvrtccache help'
      [2]

"$ " begins a command, "> " continues it. Its standard output comes first, then standard error with "2> " before each
line, then the exit status, if it is not 0. A line that ends with " (glob)" has * and ? for any text, " (re)" is a regular
expression, " (esc)" has special characters as Python writes them, " (no-eol)" had no newline. $TMP and $BUILD stand for
their values. "# requires: COMMAND" skips the section, or above the first one the file, where the command fails; other
lines that begin with "# " are comments.

One bash runs all commands of a file in $TMP, a new directory, with helpers.sh and the variables of run() alone. The cache
directory is $TMP/cache, which does not exist yet.
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
INHERITED = ["CUDA_HOME", "GCOV_PREFIX"]
COMMAND, MORE, SHOWN = "  $ ", "  > ", "  "


class Section:
    def __init__(self):
        self.above, self.commands = [], []  # lines; for each command its lines in the file and those of its output

    def sentence(self):
        prose = "\n".join(line for line in self.above if not line.startswith("#"))
        return " ".join(prose.strip().split("\n\n")[-1].split("\n"))

    def requires(self):
        return " && ".join(line.split(": ", 1)[1] for line in self.above if line.startswith("# requires: ")) or "true"

    def lines(self, outputs):
        for source, shown in zip([self.above, *(source for source, _ in self.commands)], [[], *outputs]):
            yield from source + [SHOWN + line for line in shown]


def parse(text):
    sections = [Section()]
    for line in text.splitlines():
        commands = sections[-1].commands
        if line.startswith(COMMAND):
            commands.append(([line], []))
        elif line.startswith(MORE) and commands and not commands[-1][1]:
            commands[-1][0].append(line)
        elif line.startswith(SHOWN) and commands:
            commands[-1][1].append(line[len(SHOWN):])
        else:
            if commands:
                sections.append(Section())
            sections[-1].above.append(line)
    return sections


def run(build, sections, work, said):
    """Runs all commands. Of section S, the C-th's output comes to lie in S.C.out, .err and .status; S.skipped: none was run."""
    script = [f". {shlex.quote(HERE)}/helpers.sh"]
    for s, section in enumerate(sections):
        skip = f">{said}/{s}.skipped" + ("" if s else "; exit")
        script.append(f"if ! eval {shlex.quote(section.requires())} >/dev/null 2>&1; then {skip}; else :")
        for c, (source, _) in enumerate(section.commands):
            text = "\n".join(line[len(COMMAND):] for line in source)
            script.append(f"eval {shlex.quote(text)} >{said}/{s}.{c}.out 2>{said}/{s}.{c}.err; echo $? >{said}/{s}.{c}.status")
        script.append("fi")
    environment = {"BUILD": build, "TMP": work, "TMPDIR": work, "HOME": f"{work}/home", "NVRTCCACHE_DIR": f"{work}/cache",
                   "TOP": os.path.dirname(os.path.dirname(HERE)), "PATH": f"{build}:{os.environ['PATH']}",
                   "LC_ALL": "C", "TERM": "xterm", "CUDA_CACHE_DISABLE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.update((name, os.environ[name]) for name in INHERITED if name in os.environ)
    subprocess.run(["bash", "-c", "\n".join(script)], cwd=work, env=environment, stdin=subprocess.DEVNULL, check=False)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def printed(text, mark, values):
    for name, value in values.items():
        text = text.replace(value.encode(), name.encode())
    *lines, last = text.split(b"\n")
    for line in lines + ([last + b" (no-eol)"] if last else []):
        shown = line.decode("utf-8", "backslashreplace")
        yield mark + (shown if shown.isprintable() else ascii(shown)[1:-1] + " (esc)")


def matches(shown, line):
    if shown.endswith(" (re)"):
        return re.fullmatch(shown[:-5], line) is not None
    if shown.endswith(" (glob)"):
        return re.fullmatch(re.escape(shown[:-7]).replace(r"\*", ".*").replace(r"\?", "."), line) is not None
    return shown == line


def output(path, shown, values):
    """The lines of a command's output, each in the form in which it is shown already where that matches it."""
    if not os.path.exists(f"{path}.status"):
        return ["(not run to its end)"]
    status = read(f"{path}.status").decode().strip()
    lines = [*printed(read(f"{path}.out"), "", values), *printed(read(f"{path}.err"), "2> ", values)]
    merged, rest = [], list(shown)
    for line in lines + ([] if status == "0" else [f"[{status}]"]):
        found = next((n for n, one in enumerate(rest) if matches(one, line)), None)
        merged.append(line if found is None else rest[found])
        rest = rest if found is None else rest[found + 1:]
    return merged


def check(path, sections, said, values):
    """Prints TAP; returns the file's new text and whether all is well."""
    text, good, count = [], True, 0
    for s, section in enumerate(sections):
        was = [shown for _, shown in section.commands]
        skipped = os.path.exists(f"{said}/{s}.skipped")
        now = was if skipped else [output(f"{said}/{s}.{c}", shown, values) for c, shown in enumerate(was)]
        text += section.lines(now)
        if section.commands:
            count, good = count + 1, good and was == now
            reason = f" # SKIP needs {section.requires()}" if skipped else ""
            print(f"{'ok' if was == now else 'not ok'} {count} - {section.sentence()}{reason}")
            for line in difflib.unified_diff([*section.lines(was)], [*section.lines(now)], path, "printed", lineterm=""):
                print(f"#   {line}")
    print(f"1..{count}", flush=True)
    return "".join(f"{line}\n" for line in text), good


def check_file(build, path, write):
    sections = parse(read(path).decode())
    place = os.path.realpath(tempfile.mkdtemp(prefix="nvrtccache-transcript."))
    work, said = f"{place}/work", f"{place}/said"
    os.mkdir(work)
    os.mkdir(said)
    try:
        run(build, sections, work, said)
        if os.path.exists(f"{said}/0.skipped"):
            print(f"1..0 # SKIP needs {sections[0].requires()}")
            return True
        # a mutant's build has a link to the tests of another
        values = {"$TMP": work, "$BUILD/tests": os.path.realpath(f"{build}/tests"), "$BUILD": build}
        text, good = check(path, sections, said, values)
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", place], check=False)
        shutil.rmtree(place, ignore_errors=True)
    if write:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    return good or write


def main():
    build, *paths = [argument for argument in sys.argv[1:] if argument != "--write"]
    build = os.path.abspath(build)
    library = os.path.join(build, "libnvrtccache.so")
    if os.path.exists(library) and re.search(rb"__(asan|tsan|ubsan)_", read(library)):
        print("1..0 # SKIP the library is built with a sanitizer")  # and cannot be preloaded into programs that are not
        return 0
    return 0 if all([check_file(build, path, "--write" in sys.argv) for path in paths]) else 1


sys.exit(main())
