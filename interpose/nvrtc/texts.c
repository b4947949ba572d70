/* SPDX-License-Identifier: MIT */
/*
 * Findings of the source and the in-memory headers are stored with the program. SCAN_PLACE is not, because the places
 * differ from call to call; instead, the possible paths of the text are stored and searched again.
 */
#include "interpose/nvrtc/texts.h"

#include "cache/digits.h"
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/scan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* What was found in texts, and the paths in them. */
struct found {
	struct stream paths;
	uint32_t findings;
};

/* Adds the findings of a text; for lent_read(). */
static int read_text(void *context, const char *text, size_t size)
{
	struct found *found = context;

	if (scan_paths(text, size, &found->paths) != 0) {
		return -ENOMEM;
	}
	found->findings |= scan_text(text, size, NULL) | scan_macros(text, size);
	return 0;
}

/* Scans source and in-memory headers, unless that was done. If it fails, they are assumed to contain everything. */
static void read_creation(struct program *program)
{
	const struct stream *creation = &program->handle.creation;
	struct found found = {.paths = STREAM_EMPTY};

	if (!creation->bytes || program->texts_known) {
		return;
	}
	if (read_text(&found, (const char *)creation->bytes, creation->size) != 0 ||
	    (program->lent && lent_read(program->lent, read_text, &found) != 0)) {
		stream_free(&found.paths);
		program->findings |= SCAN_TIME;
		return;
	}
	program->paths = found.paths;
	program->findings = found.findings;
	program->texts_known = true;
}

/* Returns true if the option is an -I. A path in its value is a place itself, not a mention of one. */
static bool is_include(const struct options *read, int index)
{
	for (size_t i = 0; i < read->include_count; i++) {
		if (read->include[i].index == index) {
			return true;
		}
	}
	return false;
}

/* Returns the findings (enum scan_finding) in all texts of this compilation that are not files. */
static uint32_t find_in_texts(const struct program *program, const struct call *call, const struct options *options,
                              const struct places *places)
{
	const char *name = program->handle.name;
	uint32_t found = program->findings | scan_text(program->paths.bytes, program->paths.size, places);

	for (int i = 0; i < call->option_count; i++) {
		const char *text = call->options[i];

		found |= scan_text(text, strlen(text), is_include(options, i) ? NULL : places) |
		         scan_macros(text, strlen(text));
	}
	for (size_t i = 0; i < program->name_count; i++) {
		found |= scan_text(program->names[i], strlen(program->names[i]), places) |
		         scan_macros(program->names[i], strlen(program->names[i]));
	}
	/* The name is searched without places, because its directory is a place itself. */
	return name ? found | scan_text(name, strlen(name), NULL) : found;
}

static uint32_t taints_of(uint32_t findings)
{
	return (findings & SCAN_TIME ? TAINT_TIME_MACRO : 0) | (findings & SCAN_PATH ? TAINT_PATH_MACRO : 0) |
	       (findings & SCAN_PLACE ? TAINT_PLACE : 0);
}

void texts_read(struct handle *handle, const struct call *call, const struct request *request, struct trace *trace)
{
	struct program *program = program_of(handle);

	read_creation(program);
	trace_taint(trace, taints_of(find_in_texts(program, call, options_of(request), trace->places)));
}

static void begin_search(void *search, const struct places *places)
{
	scan_begin(search, places);
}

static void search_piece(void *search, uint8_t *bytes, size_t size)
{
	scan_piece(search, bytes, size);
}

/* Sorted hexadecimal digits. An array of pointers would need a relocation for each in every process. */
static const char known[][DIGITS_BYTES(KEY_BYTES)] = {
#include "interpose/nvrtc/known_headers.list"
};

bool known_header(const struct key *digest)
{
	return digits_listed(digest->bytes, known, sizeof(known) / sizeof(known[0]));
}

static uint32_t found_taints(const void *search, const struct key *digest)
{
	uint32_t found = taints_of(((const struct scan *)search)->found);

	/* in a known header, __FILE__ shows in the output if it is used */
	if ((found & TAINT_PATH_MACRO) && known_header(digest)) {
		found ^= TAINT_PATH_MACRO | TAINT_KNOWN_MACRO;
	}
	return found;
}

_Static_assert(sizeof(struct scan) <= TRACE_SEARCH_BYTES, "a search fits into what the watch has for it");

const struct trace_reader texts_reader = {SCAN_ROOM, begin_search, search_piece, found_taints};
