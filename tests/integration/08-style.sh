#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One way to write C, and one brace style: .clang-format's; prose without banned words; and the limits of the tree's size.
. "$(dirname "$0")/lib.sh"
REPO=$(cd "$(dirname "$0")/../.." && pwd)

"$REPO/scripts/style" >"$tmp/said" 2>&1
code=$?
[ "$code" != 77 ] || skip_all "$(sed 's/^style: //' "$tmp/said")"
formatted() { [ "$code" = 0 ] || { tail -n 20 "$tmp/said" && false; }; }
check "All C is formatted as .clang-format says, and the prose follows the rules." formatted

mkdir -p "$tmp/house"/{scripts,cache,keygen,interpose,cli,tests,build}
cp "$REPO/scripts/style" "$tmp/house/scripts/" && cp "$REPO/.clang-format" "$tmp/house/" && ln -s "$REPO/build/style" "$tmp/house/build/style"
printf 'int two(int a)\n{\n\tif (a)\n\t\treturn 1;\n\treturn 2;\n}\n' >"$tmp/house/cache/bare.c"
refused() { ! "$tmp/house/scripts/style" >"$tmp/said" 2>&1 && grep -q 'cache/bare.c' "$tmp/said"; }
check "A statement without braces is rejected." refused
rm "$tmp/house/cache/bare.c" && mkdir "$tmp/house/docs" && printf 'Whoever writes, whoever reads.\n' >"$tmp/house/README.md"
prose_refused() { ! "$tmp/house/scripts/style" >"$tmp/said" 2>&1 && grep -q "^README.md:1:.*whoever" "$tmp/said"; }
check "A sentence with a banned word is rejected." prose_refused
printf 'const char said[] = "the call was passed through";\n' >"$tmp/house/cache/said.c"
string_refused() { ! "$tmp/house/scripts/style" >"$tmp/said" 2>&1 && grep -q 'cache/said.c:1:.*passed through' "$tmp/said"; }
check "A string with a banned word in a program is rejected." string_refused
printf '/* %0115d */\n' 1 >"$tmp/house/cache/said.c"
wide_refused() { ! "$tmp/house/scripts/style" >"$tmp/said" 2>&1 && grep -q 'cache/said.c:1: more than 120 columns' "$tmp/said"; }
check "A too wide comment is rejected." wide_refused
rm "$tmp/house/cache/said.c"
in_limits() { "$REPO/scripts/size" --check "$BUILD" >"$tmp/size" 2>&1 || { cat "$tmp/size" && false; }; }
check "The tree is no larger than the limits in scripts/size." in_limits
plan
