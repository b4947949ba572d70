# SPDX-License-Identifier: MIT
"""Case files: what player.c plays, after what concerns only some versions of a compiler and what stands for many is
settled.

A case begins with "=== A sentence." Lines with # in it are for the driver:

    #for X in a b c         the case is there once for a, b and c: $X in its lines and its sentence is replaced.
                            ~ in a value is a blank between words. More than one such line: every combination.
    #needs FUNCTION         not for a library without that function
    #needs nvJitLink        not where there is none; libNVVM likewise
    #since 12.8             not for older releases
    #before 13.0            not for this one and later ones
    #hits N                 so many of its compiles are hits when warm; without it all that return 0 or 6
    #hits any               nobody counts them
    #hits-before 12.8 N     the same, for releases before that
    #neutral N              so many are hits in round 2 of the cold run, in another directory with the same content
    #once                   only round 1 is counted
    #unverified             what it makes cannot be compared (NVRTC gives another each time), nor what is made of that

Lines with # in front of the first case hold for all of a file.

A line that ends in "<<NAME WORD..." is followed by the text of that name in TEXTS, with the words in it. "made INPUT
PRODUCT OPTION... <<NAME WORD..." is an input of nvJitLink's that NVRTC makes of such a text. "whole OPTION..."
stands for create, compile OPTION..., all and destroy, "start OPTION..." for its first two, "finish OPTION..." for all but
the first, "nvvm finish OPTION..." and "linker finish" for that of other compilers. "compile-all OPTION..." is compile and
all, "settled PATH << TEXT" write and settle. "VERB... << TEXT" has its text on the same line.

casefile.py FILE prints what the player is given.
"""
import itertools
import re
import sys

# $1 is the first word. A second is what "caller" calls, and what "callee" multiplies by.
TEXTS = {
    # PTX: a kernel and the function that it calls; a kernel that calls nothing
    "caller": """.extern .func (.param .b32 r) $2(.param .b32 a);
.visible .entry k$1(.param .u64 p)
{
.reg .b64 %rd<2>;
.reg .b32 %r<3>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, $1;
{
.param .b32 x;
.param .b32 y;
st.param.b32 [x], %r1;
call.uni (y), $2, (x);
ld.param.b32 %r2, [y];
}
st.global.u32 [%rd1], %r2;
ret;
}""",
    "callee": """.visible .func (.param .b32 r) f$1(.param .b32 a)
{
.reg .b32 %r<3>;
ld.param.b32 %r1, [a];
mul.lo.s32 %r2, %r1, $2;
st.param.b32 [r], %r2;
ret;
}""",
    "kernel": """.visible .entry k$1(.param .u64 p)
{
.reg .b64 %rd<2>;
.reg .b32 %r<2>;
ld.param.u64 %rd1, [p];
mov.u32 %r1, $1;
st.global.u32 [%rd1], %r1;
ret;
}""",
    # the same two in CUDA C++, and a kernel as NVVM IR
    "calls": """extern "C" __device__ int f$1(int);
extern "C" __global__ void k$1(int *p) { *p = f$1(*p); }""",
    "called": """extern "C" __device__ int f$1(int a) { return a * $1; }""",
    "ir": """define void @k$1(i32* %p) {
  store i32 $1, i32* %p
  ret void
}
!nvvm.annotations = !{!0}
!0 = !{void (i32*)* @k$1, !"kernel", i32 1}""",
}
FINISH = ["linker complete", "linker all", "linker destroy"]
WHOLE = re.compile("(whole|start|finish|nvvm finish)( .*)?")
ALL = re.compile("(nvvm )?(compile|verify)-all( .*)?")
SHORT = re.compile(r"(\S+)((?: \S+)*? <<x?) (.*)")
DEFAULTS = {"caller": "f$1", "callee": "$1"}  # for the second word
MADE = re.compile(r"made (\S+ \S+) (.*) <<")
NAMED = re.compile(r"(.* <<)(%s) (\S+)(?: (\S+))?" % "|".join(TEXTS))

COMPILERS = ("nvJitLink", "libNVVM")
MARKS = ("for", "needs", "since", "before", "hits", "hits-before", "neutral", "once", "unverified")


class Case:
    def __init__(self, sentence, lines, marks=()):
        self.sentence, self.lines, self.marks = sentence, [], []
        text = False
        for line in lines:
            named, short, whole, told = [None] * 4 if text else [form.fullmatch(line) for form in (NAMED, SHORT, WHOLE, ALL)]
            if named:
                self.lines += spell(*named.groups())
            elif short:
                settled = short[1] == "settled"
                self.lines += [("write" if settled else short[1]) + short[2], short[3], "END"] + ["settle"] * settled
            elif whole:
                of, options = "nvvm " if whole[1][:4] == "nvvm" else "", whole[2] or ""
                life = ["create", f"{of}compile{options}", f"{of}all", f"{of}destroy"]
                self.lines += life[:2] if whole[1] == "start" else life[whole[1] != "whole":]
            elif told:
                self.lines += [f"{told[1] or ''}{told[2]}{told[3] or ''}", f"{told[1] or ''}all"]
            elif line == "linker finish" and not text:
                self.lines += FINISH
            elif text or not line.startswith("#"):
                self.lines.append(line)
                text = line != "END" if text else line.endswith((" <<", " <<x"))
            elif line[1:2].isalpha():
                self.marks.append(mark(line))
        self.marks += marks

    def mark(self, name):
        return next((words[1:] for words in self.marks if words[0] == name), None)

    def needs(self):
        return [words[1] for words in self.marks if words[0] == "needs"]

    def unfit(self, library):
        """Why it is not for these libraries (differential.py), or None."""
        since, before = self.mark("since"), self.mark("before")
        for what in self.needs():
            if not library.has(what):
                return f"there is no {what}"
        release, whose = library.release_for(self)
        if since and release < number(since[0]):
            return f"needs {whose} {since[0]} or newer"
        if before and release >= number(before[0]):
            return f"needs {whose} before {before[0]}"
        return None

    def hits(self, compiles, release):
        """None where nobody counts them."""
        given = self.mark("hits")
        for words in self.marks:
            if words[0] == "hits-before" and release < number(words[1]):
                given = words[2:]
                break
        if not given:
            return compiles
        return None if given[0] == "any" else int(given[0])

    def expanded(self):
        loops = [words for words in self.marks if words[0] == "for"]
        self.marks = [words for words in self.marks if words[0] != "for"]
        if not loops:
            return [self]
        made = []
        for values in itertools.product(*(words[3:] for words in loops)):
            pairs = list(zip((words[1] for words in loops), values))
            case = Case(self.sentence, [])
            case.sentence = fill(self.sentence, pairs, shown=True)
            case.lines = [fill(line, pairs) for line in self.lines]
            case.marks = [[fill(word, pairs) for word in words] for words in self.marks]
            made.append(case)
        return made


def spell(begin, name, first, second):
    """The lines that a line with the name of a text stands for."""
    text = TEXTS[name].replace("$2", second or DEFAULTS.get(name, "")).replace("$1", first)
    made = MADE.fullmatch(begin)
    if not made:
        return [begin, *text.split("\n"), "END"]
    return ["source <<", *text.split("\n"), "END", "create 0", f"compile {made[2]}", f"input made {made[1]}", "destroy"]


def mark(line):
    words = line[1:].split()
    if words[0] not in MARKS:
        raise ValueError(f"what is {line}?")
    return words


def number(release):
    """12.8 -> (12, 8)"""
    return tuple(int(part) for part in release.split("."))


def fill(text, pairs, shown=False):
    for name, value in pairs:
        if shown:
            value = value.replace("\\e", "''")
        text = re.sub(rf"\${name}(?![A-Z])", lambda _, v=value: v.replace("~", " "), text)
    return text


def read(path):
    """The cases of a file, in order. Sentences are unique."""
    cases, sentence, lines, marks = [], None, [], []
    with open(path, encoding="latin-1", newline="\n") as file:
        for line in [*file.read().split("\n"), "=== "]:
            if not line.startswith("=== "):
                lines.append(line)
                continue
            if sentence:
                cases += Case(sentence, lines, marks).expanded()
            else:
                marks = [mark(line) for line in lines if line[:1] == "#" and line[1:2].isalpha()]
            sentence, lines = line[4:], []
    sentences = [case.sentence for case in cases]
    twice = {each for each in sentences if sentences.count(each) > 1}
    if twice:
        raise ValueError(f"{path}: told twice: {twice}")
    return cases


def write(path, cases):
    with open(path, "w", encoding="latin-1", newline="\n") as file:
        for case in cases:
            file.write("\n".join([f"=== {case.sentence}", *case.lines]) + "\n")


if __name__ == "__main__":
    write("/dev/stdout", read(sys.argv[1]))
