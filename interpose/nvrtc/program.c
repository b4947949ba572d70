/* SPDX-License-Identifier: MIT */
#include "interpose/nvrtc/program.h"

#include "interpose/nvrtc/decoder.h"
#include "interpose/nvrtc/nodes.h"
#include "interpose/nvrtc/scan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(offsetof(struct program, handle) == 0, "a handle's record is a program's");

struct program *program_add(nvrtcProgram value, struct library *library, enum reach reach)
{
	struct program *program = handle_add(sizeof(*program), value, library, reach);

	if (program) {
		/* before the texts are scanned, they are assumed to be path-dependent */
		program->findings = SCAN_PATH | SCAN_PLACE;
	}
	return program;
}

struct program *program_find(nvrtcProgram value)
{
	return program_of(handle_find_of(&nvrtc_compiler, value));
}

void program_release(struct handle *handle)
{
	struct program *program = program_of(handle);

	for (size_t i = 0; i < program->name_count; i++) {
		free(program->names[i]);
	}
	free(program->names);
	free(program->lent);
	decoder_free(program->decoder);
}

int program_add_name(struct program *program, const char *expression)
{
	char **names = realloc(program->names, (program->name_count + 1) * sizeof(char *));
	char *copy = strdup(expression);

	if (names) {
		program->names = names;
	}
	if (!names || !copy) {
		free(copy);
		return -ENOMEM;
	}
	program->names[program->name_count++] = copy;
	return 0;
}
