/* SPDX-License-Identifier: MIT */
/*
 * Options, program name and cwd from arbitrary bytes (strings separated by NUL): no crash, every directory lies in the
 * string that it was read from, and moving every root to another place leaves the key's bytes as they are.
 */
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/runs.h"

#include "tests/fuzz/fuzz.h"

#define STRINGS_MAX 32
#define MOVED       "/somewhere/else"

/* `text` with its leading root put elsewhere; the string that it stands in keeps what is before it. */
static char *moved(const char *string, const char *text, const struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		const struct root *root = &roots->root[i];
		char *result = NULL;

		if (strncmp(text, root->text, root->size) != 0 ||
		    (text[root->size] != '/' && text[root->size] != '\0')) {
			continue;
		}
		require(asprintf(&result, "%.*s" MOVED "%c%s", (int)(text - string), string, (char)('a' + i % 26),
		                 text + root->size) > 0);
		return result;
	}
	return strdup(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *strings[STRINGS_MAX], *other[STRINGS_MAX];
	char *copy = text_of(data, size), *moved_strings[STRINGS_MAX] = {NULL}, *name;
	struct surroundings around = {.identity = (const uint8_t *)"", .cwd = "/"};
	struct program program = {.name_count = 0};
	struct call call = {0};
	struct stream stream = STREAM_EMPTY, again = STREAM_EMPTY;
	struct roots roots, other_roots;
	struct options options, other_options;
	size_t count = 0;

	for (size_t at = 0; at < size && count < STRINGS_MAX; at += strlen(copy + at) + 1) {
		strings[count++] = copy + at;
	}
	if (count) {
		program.handle.name = (char *)(uintptr_t)strings[0];
	}
	call.options = strings + (count ? 1 : 0);
	call.option_count = count ? (int)count - 1 : 0;
	require(options_read(call.options, call.option_count, &options) == 0);
	require(runs_call(&program, &call, &options, &around, &stream, &roots) == 0);
	for (int i = 0; i < call.option_count; i++) {
		const char *string = call.options[i], *directory = options_directory(&options, i);

		require(!directory || (directory >= string && directory < string + strlen(string)));
	}
	require(roots.count == 0 || !options_bind(&options));
	if (count && roots.count && roots.count <= 26) {
		name = program.handle.name[0] == '/' ? moved(program.handle.name, program.handle.name, &roots)
		                                     : strdup(program.handle.name);
		for (int i = 0; i < call.option_count; i++) {
			const char *text = call.options[i];

			if (options_directory(&options, i)) {
				moved_strings[i] = moved(text, options_directory(&options, i), &roots);
			}
			other[i] = moved_strings[i] ? moved_strings[i] : text;
		}
		program.handle.name = name;
		call.options = other;
		require(options_read(other, call.option_count, &other_options) == 0);
		require(runs_call(&program, &call, &other_options, &around, &again, &other_roots) == 0);
		require(other_roots.count == roots.count);
		require(again.size == stream.size && memcmp(again.bytes, stream.bytes, stream.size) == 0);
		stream_free(&again);
		roots_free(&other_roots);
		options_free(&other_options);
		for (size_t i = 0; i < STRINGS_MAX; i++) {
			free(moved_strings[i]);
		}
		free(name);
	}
	stream_free(&stream);
	roots_free(&roots);
	options_free(&options);
	free(copy);
	return 0;
}
