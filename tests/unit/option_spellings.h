/* SPDX-License-Identifier: MIT */
/*
 * option_spellings: what NVRTC makes of every way to spell an include directory
 *
 * "@" stands for a directory that holds a header. `nvrtc` is what the compiler did with a program that includes it:
 * measured on 11.8, 12.0, 12.4, 12.9, 13.0 and 13.5, which agree in every row. `directory` is what options_read()
 * must find: the text, or NULL for none. tests/cases/spellings.py reads this table, measures the first column again with
 * the NVRTC that is installed, and checks that the second column claims no directory that NVRTC does not search.
 */
#ifndef TESTS_OPTION_SPELLINGS_H
#define TESTS_OPTION_SPELLINGS_H

#include <stdbool.h>
#include <stddef.h>

enum nvrtc_outcome { HEADER_FOUND, HEADER_MISSED, REFUSED };

struct option_spelling {
	enum nvrtc_outcome nvrtc;
	const char *directory;
	const char *strings[4];
};

/* clang-format off */
static const struct option_spelling option_spellings[] = {
	{HEADER_FOUND, "@", {"-I@"}},
	{HEADER_FOUND, "@", {" -I@"}},
	{HEADER_FOUND, "@", {"  -I@"}},
	{HEADER_FOUND, "@", {"\t-I@"}},
	{HEADER_FOUND, "@", {"-I=@"}},
	{HEADER_FOUND, "@", {" -I=@"}},
	{HEADER_FOUND, "@", {"-I @"}},
	{HEADER_FOUND, "@", {"-I  @"}},
	{HEADER_FOUND, "@", {"  -I  @"}},
	{HEADER_FOUND, "@", {"-I", "@"}},
	{HEADER_FOUND, "@", {"-I ", "@"}},
	{HEADER_FOUND, "@", {" -I", "@"}},
	{HEADER_FOUND, "@", {"-I", " @"}},
	{HEADER_FOUND, "@", {"-I", "\t@"}},
	{HEADER_FOUND, "@", {"--include-path=@"}},
	{HEADER_FOUND, "@", {"  --include-path=@"}},
	{HEADER_FOUND, "@", {"--include-path", "@"}},
	{HEADER_FOUND, "@", {"--include-path ", "@"}},
	{HEADER_FOUND, "@", {"--include-path", " @"}},
	{HEADER_FOUND, "@", {" --include-path", "@"}},
	{HEADER_FOUND, "@/", {"-I@/"}},
	{HEADER_FOUND, "@//", {"-I@//"}},
	{HEADER_FOUND, "@/.", {"-I@/."}},
	{HEADER_FOUND, "@", {"-I@", "-I/nowhere"}},
	{HEADER_FOUND, "@", {"-DX=1", "-I@"}},
	{HEADER_FOUND, "@", {"-D", "X=1", "-I@"}},
	{HEADER_FOUND, "@", {"-D ", "X=1", "-I@"}},
	{HEADER_FOUND, "@", {"-D X=1", "-I@"}},
	{HEADER_FOUND, "@", {"-U", "X", "-I@"}},
	{HEADER_FOUND, "@", {"--define-macro", "X", "-I@"}},
	{HEADER_FOUND, "@", {"-maxrregcount", "32", "-I@"}},
	{HEADER_FOUND, "@", {"-ftz", "true", "-I@"}},
	{HEADER_FOUND, "@", {"-rdc", "true", "-I@"}},
	{HEADER_FOUND, "@", {"-dopt", "on", "-I@"}},
	{HEADER_FOUND, "@", {"-diag-suppress", "177", "-I@"}},
	{HEADER_FOUND, "@", {"-Xptxas", "-v", "-I@"}},
	{HEADER_FOUND, "@", {"-w", "-I@"}},
	{HEADER_FOUND, "@", {"-G", "-I@"}},
	{HEADER_FOUND, "@", {"-restrict", "-I@"}},
	{HEADER_FOUND, "@", {"-std=c++14 ", "-I@"}},
	/* NVRTC finds the header after it cuts off bytes at an end; options_read() leaves such an option as text. */
	{HEADER_FOUND, NULL, {"-I@ "}},
	{HEADER_FOUND, NULL, {"-I@\n"}},
	{HEADER_FOUND, NULL, {"-I @\t"}},
	{HEADER_FOUND, NULL, {"-I", "@ "}},
	{HEADER_FOUND, NULL, {"-I\t", "@"}},
	{HEADER_FOUND, NULL, {"--include-path\t", "@"}},
	{HEADER_FOUND, NULL, {"--include-path=@ "}},
	/* The text means another directory, which is not there. */
	{HEADER_MISSED, NULL, {"-I= @"}},
	{HEADER_MISSED, "=@", {"-I =@"}},
	{HEADER_MISSED, "=@", {"-I==@"}},
	{HEADER_MISSED, "= @", {"-I = @"}},
	{HEADER_MISSED, "= =@", {"-I== =@"}},
	{HEADER_MISSED, "=@", {"-I", "=@"}},
	{HEADER_MISSED, NULL, {"-I\t@"}},
	{HEADER_MISSED, NULL, {"-I\n@"}},
	{HEADER_MISSED, NULL, {"--include-path= @"}},
	{HEADER_MISSED, "=@", {"--include-path==@"}},
	{HEADER_MISSED, "=@", {"--include-path", "=@"}},
	{HEADER_MISSED, "\"@\"", {"-I\"@\""}},
	{HEADER_MISSED, "@,/nowhere", {"-I@,/nowhere"}},
	{HEADER_MISSED, "/nowhere,@", {"-I/nowhere,@"}},
	{HEADER_MISSED, "/nowhere -I@", {"-I/nowhere -I@"}},
	{HEADER_MISSED, "X@", {"-IX@"}},
	{HEADER_MISSED, "-I@", {"-I", "-I@"}},
	{HEADER_MISSED, NULL, {"-I"}},
	{HEADER_MISSED, NULL, {"-I="}},
	{HEADER_MISSED, NULL, {"--include-path"}},
	{HEADER_MISSED, NULL, {"--include-path="}},
	/* The string that looks like an include is the value of the option before it. */
	{HEADER_MISSED, NULL, {"-D", "-I@"}},
	{HEADER_MISSED, NULL, {"-D ", "-I@"}},
	{HEADER_MISSED, NULL, {"-U", "-I@"}},
	{HEADER_MISSED, NULL, {"--define-macro", "-I@"}},
	{HEADER_MISSED, NULL, {"--undefine-macro", "-I@"}},
	{HEADER_MISSED, NULL, {"-Xptxas", "-I@"}},
	{HEADER_MISSED, NULL, {"--ptxas-options", "-I@"}},
	{HEADER_MISSED, NULL, {"-include", "-I@"}},
	{HEADER_MISSED, NULL, {"--pre-include", "-I@"}},
	{HEADER_MISSED, NULL, {"--pre-include=-I@"}},
	/* Refused as a whole (rc 5): what is found in them does not matter, but must not be what is not there. */
	{REFUSED, NULL, {"--I@"}},
	{REFUSED, NULL, {"---I@"}},
	{REFUSED, NULL, {"-include-path=@"}},
	{REFUSED, NULL, {"-include-path", "@"}},
	{REFUSED, NULL, {"--include-path@"}},
	{REFUSED, NULL, {"--include-path @"}},
	{REFUSED, NULL, {"--include-path =@"}},
	{REFUSED, NULL, {"--include-pat=@"}},
	{REFUSED, NULL, {"--include=@"}},
	{REFUSED, NULL, {"-isystem", "@"}},
	{REFUSED, NULL, {"-isystem=@"}},
	{REFUSED, NULL, {"-iquote", "@"}},
	{REFUSED, NULL, {"-i@"}},
	{REFUSED, NULL, {"-I=", "@"}},
	{REFUSED, NULL, {"-I", "", "@"}},
	{REFUSED, NULL, {"-I", " ", "@"}},
	{REFUSED, "=", {"-I", "=", "@"}},
	{REFUSED, NULL, {"@"}},
	{REFUSED, "@", {"--", "-I@"}},
	{REFUSED, "@", {"-std", "-I@"}},
	{REFUSED, NULL, {"-arch", "-I@"}},
	{REFUSED, NULL, {"-maxrregcount", "-I@"}},
	{REFUSED, NULL, {"-ftz", "-I@"}},
	{REFUSED, "@", {"-lineinfo=false", "-I@"}},
	{REFUSED, "@", {"-G=false", "-I@"}},
	{REFUSED, "@", {"-dlto=false", "-I@"}},
	{REFUSED, "@", {"", "-I@"}},
};
/* clang-format on */

#define OPTION_SPELLING_COUNT (COUNT(option_spellings))

#endif
