#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""documents: what README, recipes and the manual say, in pieces that a test can hold against what is so

    documents.py examples DIRECTORY DOCUMENT...   each block that shows a command and its output: DIRECTORY/N/where,
                                                  and for each of its commands command-K and shown-K
    documents.py blocks DIRECTORY DOCUMENT        each fenced block: DIRECTORY/N/where, language, text, and above, which is
                                                  the paragraph before it
    documents.py options MANUAL                   "VERB OPTION tag" for each long option that a paragraph of a verb's
                                                  section is about, "VERB OPTION text" for each that it names
    documents.py synopsis MANUAL                  the same of SYNOPSIS and EXAMPLES, and "VERB" for each verb there
    documents.py variables DOCUMENT               each NVRTCCACHE_ variable that it has a row or a paragraph of
    documents.py missing                          each file, function, test and target of make that a Markdown document
                                                  of the tree names in code or in brackets, and that does not exist

A block is one of Markdown that is indented by four blanks or fenced, or what stands between .EX and .EE. A command is a
line that begins with "$ ".
"""
import glob
import os
import re
import sys


def plain(line):
    """A line of the manual's source as man shows it, all but its layout."""
    line = re.sub(r"\\f(\[[^]]*\]|.)", "", line)
    for escape, text in ((r"\-", "-"), (r"\&", ""), (r"\ ", " "), (r"\(aq", "'"), (r"\(dq", '"'), (r"\e", "\\")):
        line = line.replace(escape, text)
    return line


def blocks(path):
    """(number of its first line, lines) of each block."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    manual, block, begin, fenced = path.endswith(".1"), [], 0, False
    for number, line in enumerate([*lines, ""], 1):
        if manual:
            fenced, edge = (True, True) if line == ".EX" else (False, True) if line == ".EE" else (fenced, False)
            inside, text = fenced, plain(line)
        else:
            edge = line.startswith("```")
            fenced ^= edge
            inside, text = fenced or line.startswith("    ") or (bool(block) and not line), line
            if inside and not fenced:
                text = line[4:]
        if edge or not inside:
            if block:
                yield begin, block
            block = []
        else:
            begin = begin if block else number
            block.append(text)


def examples(directory, paths):
    count = 0
    for path in paths:
        for begin, lines in blocks(path):
            commands = []
            for line in lines:
                if line.startswith("$ "):
                    commands.append((line[2:], []))
                elif commands:
                    commands[-1][1].append(line)
            if not commands:
                continue
            count += 1
            place = os.path.join(directory, str(count))
            os.makedirs(place)
            for name, text in [("where", f"{os.path.basename(path)}:{begin}")] + [
                    (f"{kind}-{number}", text if kind == "command" else "\n".join(text).rstrip("\n"))
                    for number, pair in enumerate(commands, 1) for kind, text in zip(("command", "shown"), pair)]:
                with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                    file.write(text + "\n" if text else "")
    print(count)


def fenced_blocks(directory, path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = list(re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    for number, block in enumerate(found, 1):
        place = os.path.join(directory, str(number))
        os.makedirs(place)
        above = " ".join(text[:block.start()].rstrip("\n").rpartition("\n\n")[2].split())
        where = f"{os.path.basename(path)}:{text.count(chr(10), 0, block.start()) + 1}"
        for name, content in ("where", where), ("language", block[1]), ("text", block[2]), ("above", above):
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(content)
    print(len(found))


def manual_options(path):
    """A tag is the line behind .TP."""
    verb, tag, section = None, False, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith(".SH "):
                section, verb = line[4:], None
            elif line.startswith(".SS ") and section == "COMMANDS":
                verb = line[4:]
            elif verb:
                for option in re.findall(r"--[a-z][a-z-]*", plain(line)):
                    print(verb, option, "tag" if tag else "text")
            tag = line in (".TP", ".TQ")


def manual_synopsis(path):
    verb, section = None, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if line.startswith(".SH "):
                section = line[4:]
            elif section in ("SYNOPSIS", "EXAMPLES"):
                found = re.match(r"\.B .*?\bnvrtccache ([a-z]+)", plain(line))
                if found:
                    verb = found.group(1)
                    print(verb)
                for option in re.findall(r"--[a-z][a-z-]*", plain(line)):
                    print(verb, option)


def variables(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    row = r"^\.BR? (NVRTCCACHE_[A-Z_]+)" if path.endswith(".1") else r"^\| `(NVRTCCACHE_[A-Z_]+)` \|"
    print("\n".join(re.findall(row, text, re.MULTILINE)))


def is_missing(word, functions, targets):
    if re.fullmatch(r"\w+\(\)", word):
        return word[:-1] not in functions and "NAME" not in word
    if make := re.match(r"(?:[A-Z_]+=\S+ )*make ((?:[a-z][a-z0-9-]* ?)+)", word):
        return not set(make[1].split()) <= targets
    if re.fullmatch(r"[0-9]{2}", word):
        return not glob.glob(f"tests/integration/{word}-*")
    if re.fullmatch(r"[a-z]+\.t", word):
        return not os.path.exists(f"tests/transcripts/{word}")
    top, _, rest = word.split(" ")[0].partition("/")
    if rest == "*" and not os.path.isdir(top):
        return not glob.glob(f"tests/unit/test_{top}*.c")
    if not rest or top == "build" or not os.path.isdir(top) or re.search(r"[<>$]|[A-Z]{2}-?|NAME", rest):
        return False
    return not all(glob.glob(f"{top}/{part}") for part in alternatives(rest))


def alternatives(word):
    """a{b,c} as ab and ac, and [ch] of x.[ch] as glob takes it"""
    found = re.fullmatch(r"(.*)\{(.*)\}(.*)", word)
    return [found[1] + part + found[3] for part in found[2].split(",")] if found else [word]


def print_missing():
    def text(*patterns):
        paths = [path for pattern in patterns for path in glob.glob(pattern, recursive=True)]
        return "".join(open(path, encoding="utf-8", errors="replace").read() for path in paths if os.path.isfile(path))

    folders = ("agent", "cache", "cli", "interpose", "keygen", "tests", "scripts")
    sources = text("scripts/*", *(f"{folder}/**/*.{kind}" for folder in folders for kind in ("[chS]", "py", "sh")))
    functions = {name.replace(")", "") for name in re.findall(r"\w+\)?\(", sources)}
    rules = text("Makefile", "*/**/*.mk")
    targets = {target for rule in re.findall(r"^(?:\.PHONY:)?([\w -]+)(?::(?!=)|$)", rules, re.MULTILINE) for target in rule.split()}
    for path in glob.glob("*.md") + glob.glob("[!b]*/**/*.md", recursive=True):
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                words = re.findall(r"`([^`]+)`", line)
                for bracket in re.findall(r"\[([0-9a-z_.*/, `]+)\](?!\()", line) if path.startswith("docs/") else []:
                    words += re.split(r"[, `]+", bracket)
                for word in words:
                    if word and is_missing(word, functions, targets):
                        print(f"{path}:{number}: {word}")


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "examples":
        examples(rest[0], rest[1:])
    elif what == "blocks":
        fenced_blocks(*rest)
    else:
        {"options": manual_options, "synopsis": manual_synopsis, "variables": variables,
         "missing": print_missing}[what](*rest)
