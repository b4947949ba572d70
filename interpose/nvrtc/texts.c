/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/texts.h"

#include <string.h>

static void read_creation(struct program *program)
{
	struct stream paths = STREAM_EMPTY;

	if (!program->creation.bytes || program->texts_known) {
		return;
	}
	if (scan_paths(program->creation.bytes, program->creation.size, &paths) != 0) {
		stream_free(&paths);
		program->findings |= SCAN_TIME;
		return;
	}
	program->paths = paths;
	program->findings = scan_text(program->creation.bytes, program->creation.size, NULL) |
	                    scan_macros(program->creation.bytes, program->creation.size);
	program->texts_known = true;
}

/* A path in the value of -I is a place itself, not one that a text leads to. */
static bool is_include(const struct options *read, int index)
{
	for (size_t i = 0; i < read->include_count; i++) {
		if (read->include[i].index == index) {
			return true;
		}
	}
	return false;
}

uint32_t texts_read(struct program *program, const struct attempt *attempt, int option_count,
                    const char *const *options)
{
	uint32_t found;

	read_creation(program);
	found = program->findings | scan_text(program->paths.bytes, program->paths.size, &attempt->places);
	for (int i = 0; i < option_count; i++) {
		found |= scan_text(options[i], strlen(options[i]),
		                   is_include(&attempt->options, i) ? NULL : &attempt->places) |
		         scan_macros(options[i], strlen(options[i]));
	}
	for (size_t i = 0; i < program->name_count; i++) {
		found |= scan_text(program->names[i], strlen(program->names[i]), &attempt->places) |
		         scan_macros(program->names[i], strlen(program->names[i]));
	}
	/* The name's own directory is a place. */
	return program->name ? found | scan_text(program->name, strlen(program->name), NULL) : found;
}
