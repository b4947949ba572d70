#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes seeds for fuzz_elf: small shared objects, laid out as the loader would, and the starts of their files.

usage: elf_seeds.py DIRECTORY        needs a C compiler and binutils' ld; tests/fuzz/inputs keeps the seeds
"""
import os
import struct
import subprocess
import sys
import tempfile

SOURCE = r"""
extern void *fopen(const char *, const char *);
extern int weak_one(void) __attribute__((weak));
extern int data_one;
int exported(void) { return fopen("a", "r") != 0 && weak_one && weak_one(); }
int old_exported(void) { return 1; }
int hidden_one(void) { return 2; }
void *table[] = {(void *)fopen, &data_one};
__asm__(".symver old_exported, exported@V_1");
__asm__(".symver hidden_one, hidden_one@V_2");
"""
VERSIONS = "V_1 { global: hidden; local: old_exported; };\nV_2 { global: exported; table; } V_1;\n"
PT_LOAD, PT_DYNAMIC, PT_NOTE, PT_GNU_RELRO = 1, 2, 4, 0x6474E552


def build(directory, style):
    source, script, target = (os.path.join(directory, name) for name in ("a.c", "a.map", f"{style}.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(SOURCE)
    with open(script, "w", encoding="utf-8") as file:
        file.write(VERSIONS)
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-Os", "-nostartfiles", "-fno-asynchronous-unwind-tables", "-s", "-o", target, source,
         f"-Wl,--version-script={script},--hash-style={style},-soname,seed.so,--build-id=sha1,-z,noseparate-code"
         ",-z,max-page-size=64,-z,common-page-size=64,--allow-shlib-undefined", "-lc"], check=True)
    with open(target, "rb") as file:
        return file.read()


def lay_out(elf):
    """The image, where its dynamic section and its notes lie, and how long they are."""
    at, count = struct.unpack_from("<Q", elf, 32)[0], struct.unpack_from("<H", elf, 56)[0]
    segments = [struct.unpack_from("<IIQQQQQQ", elf, at + 56 * i) for i in range(count)]
    image = bytearray(max(s[3] + s[6] for s in segments if s[0] == PT_LOAD))
    for kind, _, offset, address, _, in_file, _, _ in segments:
        if kind == PT_LOAD:
            image[address:address + in_file] = elf[offset:offset + in_file]
    dynamic = next(s[3] for s in segments if s[0] == PT_DYNAMIC)
    notes = next(s for s in segments if s[0] == PT_NOTE)
    return bytes(image), dynamic, notes[3], notes[6]


def main(target):
    os.makedirs(target, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        for style in ("gnu", "sysv", "both"):
            elf = build(work, style)
            image, dynamic, notes, size = lay_out(elf)
            for flags in (4, 8, 6):
                head = struct.pack("<BHHH", flags, dynamic // 8, notes // 4, size)
                with open(os.path.join(target, f"seed-{style}-{flags}"), "wb") as file:
                    file.write(head + image)
            with open(os.path.join(target, f"seed-{style}-file"), "wb") as file:
                file.write(b"\x01" + elf[:1024])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
