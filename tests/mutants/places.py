# SPDX-License-Identifier: MIT
"""Where C code can be made wrong in one place, and how: found by reading tokens, so that no place is left out by taste.

A comparison turned round or moved by one, `&&` for `||`, a `!` left out, a condition that is always or never true, another
`return`, `true` for `false`, a statement left out (an assignment, a call, `continue`, `break`), a flag left out of an `|`,
a 1 that is added or taken. Only the bodies of functions are read: the tree is formatted so that these begin and end with
a brace in the first column.
"""
import re
import typing

TOKEN = re.compile(r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:[^\n\\]|\\.|\\\n)*)
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d(?:[\w.]|[eEpP][+-])*)
  | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.MULTILINE | re.DOTALL)

COMPARISONS = {"==": ["!="], "!=": ["=="], "<": ["<=", ">="], ">": [">=", "<="], "<=": ["<", ">"], ">=": [">", "<"]}
KEYWORDS = {"if", "while", "for", "switch", "return", "else", "do", "goto", "case", "sizeof", "default"}


class Token(typing.NamedTuple):
    kind: str
    text: str
    at: int


class Place(typing.NamedTuple):
    """One change of one place."""
    path: str
    function: str
    kind: str
    line: int
    at: int
    old: str
    new: str
    text: str   # of the line, blanks made one
    number: int  # of such changes in such lines of the function, from 1

    def name(self):
        return " | ".join([self.path, self.function, self.kind, self.text, str(self.number)])

    def apply(self, source):
        return source[:self.at] + self.new + source[self.at + len(self.old):]


def tokens(source):
    return [Token(match.lastgroup, match.group(), match.start()) for match in TOKEN.finditer(source)
            if match.lastgroup != "blank"]


def bodies(source):
    """(name, first offset, last offset) of each function's body."""
    found = []
    for match in re.finditer(r"^\{\n(.*?)^\}", source, re.MULTILINE | re.DOTALL):
        before = source[:match.start()].rstrip()
        head = before[max(before.rfind(mark) for mark in ("\n\n", ";\n", "}\n", "*/\n")) + 1:]
        names = re.findall(r"\b(\w+)\(", re.sub(r"/\*.*?\*/|__attribute__\(\(.*?\)\)", "", head, flags=re.DOTALL))
        found.append((names[0] if names else "?", match.start() + 1, match.end() - 1))
    return found


def closing(run, at):
    """The index of the bracket that closes the one at `at`."""
    depth = 0
    for index in range(at, len(run)):
        depth += (run[index].text in "([{") - (run[index].text in ")]}") if run[index].kind == "sign" else 0
        if depth == 0:
            return index
    return at


def is_unary(run, at):
    before = run[at - 1] if at else None
    return before is None or before.kind == "sign" and before.text not in (")", "]") or before.text == "return"


def of_sign(run, at):
    token = run[at]
    for new in COMPARISONS.get(token.text, []):
        yield "comparison", token.at, token.text, new
    if token.text in ("&&", "||"):
        yield "connective", token.at, token.text, "||" if token.text == "&&" else "&&"
    if token.text == "!" and is_unary(run, at):
        yield "negation", token.at, "!", " "
    if token.text in ("+", "-") and not is_unary(run, at) and run[at + 1].text == "1":
        yield "one", run[at + 1].at, "1", "0"
    if token.text == "|" and run[at + 1].kind == "name" and run[at + 1].text.isupper():
        yield "flag", token.at, None, ""


def of_condition(run, at, source):
    end = closing(run, at + 1)
    first, last = run[at + 1].at, run[end].at + 1
    for name, begin in (("never", "(0 && "), ("always", "(1 || ")):
        yield name, first, source[first:last], begin + source[first:last] + ")"


def of_return(run, at, source):
    value, end = run[at + 1], run[at + 2]
    if value.text == ";":
        return
    if end.text == ";" and value.text in ("true", "false"):
        yield "return", value.at, value.text, "false" if value.text == "true" else "true"
    elif end.text == ";" and value.text == "0":
        yield "return", value.at, "0", "-22"
    elif value.text == "-" and run[at + 3].text == ";" and end.text.startswith("E"):
        yield "return", value.at, source[value.at:run[at + 3].at], "0"


def statement_end(run, at):
    while at < len(run) and run[at].text != ";":
        at = closing(run, at) + 1 if run[at].text in ("(", "[", "{") else at + 1
    return at


def of_statement(run, at, source):
    """At the first token of a statement that may be left out."""
    token, index = run[at], at
    if token.text == "(" and run[at + 1].text == "void":
        index = at + 3
    if token.text in ("continue", "break"):
        yield "left out", token.at, token.text, ""
        return
    if run[index].kind != "name" or run[index].text in KEYWORDS:
        return
    end = statement_end(run, at)
    if end >= len(run):
        return
    depth = 0
    for each in run[index:end]:
        depth += (each.text in ("(", "[")) - (each.text in (")", "]"))
        if depth < 0:  # the head of a for
            return
        if depth == 0 and re.fullmatch(r"[-+*/%&|^]?=|<<=|>>=|\+\+|--", each.text):
            break
    else:
        if run[index + 1].text != "(" or closing(run, index + 1) != end - 1:
            return
    # A declaration with a value cannot be left out: two names, or a name and a star, before anything else.
    if run[index + 1].kind == "name" or (run[index + 1].text == "*" and run[index + 2].kind == "name"):
        return
    yield "left out", token.at, source[token.at:run[end].at], ""


def changes(run, source):
    for at in range(len(run) - 3):
        token, before = run[at], run[at - 1].text if at else "{"
        if token.kind == "sign":
            yield from of_sign(run, at)
        elif token.text in ("if", "while"):
            yield from of_condition(run, at, source)
        elif token.text == "return":
            yield from of_return(run, at, source)
        elif token.text in ("true", "false") and before != "return":
            yield "truth", token.at, token.text, "false" if token.text == "true" else "true"
        ends_condition = before == ")" and at >= 2 and follows_condition(run, at - 1)
        if before in (";", "{", "}", "else", "do") or ends_condition or (before == ":" and run[at - 2].kind == "name"):
            yield from of_statement(run, at, source)


def follows_condition(run, at):
    """Does the bracket at `at` end the condition of an if, a while or a for?"""
    depth = 0
    for index in range(at, -1, -1):
        depth += (run[index].text == ")") - (run[index].text == "(")
        if depth == 0:
            return index > 0 and run[index - 1].text in ("if", "while", "for")
    return False


def places(path, source):
    """Every change of every place of a file, in order."""
    found, seen = [], {}
    for function, first, last in bodies(source):
        run = [Token(token.kind, token.text, token.at + first) for token in tokens(source[first:last])]
        for kind, at, old, new in changes(run, source):
            if old is None:  # an | and the name behind it
                old = re.match(r"\|\s*\w+", source[at:]).group()
            line = source.count("\n", 0, at)
            text = " ".join(source.split("\n")[line].split())
            shown = f"{kind} {' '.join(old.split())} -> {new}".strip() if kind in ("comparison",) else kind
            seen[function, shown, text] = number = seen.get((function, shown, text), 0) + 1
            # what is left out keeps its lines, so that those behind it keep their numbers
            new += "\n" * (old.count("\n") - new.count("\n"))
            found.append(Place(path, function, shown, line + 1, at, old, new, text, number))
    return found
