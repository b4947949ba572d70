/* SPDX-License-Identifier: MIT */
/*
 * Findings of the source and the in-memory headers are stored with the program. The places differ from call to call, so
 * when the texts are no longer known, they count as containing one.
 */
#include "interpose/nvrtc/texts.h"

#include "cache/digits.h"
#include "interpose/nvrtc/describe.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/scan.h"

#include <string.h>

struct found {
	const struct places *places;
	uint32_t findings;
};

/* Adds the findings of a text; for lent_read(). */
static void read_text(void *context, const char *text, size_t size)
{
	struct found *found = context;

	found->findings |= scan_program_text(text, size, found->places);
}

/* Returns the findings in source and in-memory headers. Texts that cannot be read count as containing everything. */
static uint32_t read_creation(struct program *program, const struct places *places)
{
	const struct stream *creation = &program->handle.creation;
	struct found found = {.places = places};

	if (!creation->bytes) {
		return program->findings;
	}
	read_text(&found, (const char *)creation->bytes, creation->size);
	program->texts_known = !program->lent || lent_read(program->lent, read_text, &found) == 0;
	if (!program->texts_known) {
		found.findings = SCAN_TIME | SCAN_PATH | SCAN_PLACE;
	}
	program->findings = found.findings | SCAN_PLACE;
	return found.findings;
}

/* Returns the findings (enum scan_finding) in all texts of this compilation that are not files. */
static uint32_t find_in_texts(struct program *program, const struct call *call, const struct options *options,
                              const struct places *places)
{
	const char *name = program->handle.name;
	uint32_t found = read_creation(program, places);

	for (int i = 0; i < call->option_count; i++) {
		const char *text = call->options[i];

		/* a path in the value of an -I is a place itself, not a mention of one */
		found |= scan_program_text(text, strlen(text), options_directory(options, i) ? NULL : places);
	}
	for (size_t i = 0; i < program->name_count; i++) {
		found |= scan_program_text(program->names[i], strlen(program->names[i]), places);
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
	trace_taint(trace, taints_of(find_in_texts(program_of(handle), call, options_of(request), trace->places)));
}

/*
 * Headers of CCCL, by the digest of their content, that use __FILE__ only in assertions, messages and feature tests.
 * Its text reaches the output completely or not at all, so that it is enough to search the output. A program that uses
 * one of their macros in another way contains only the macro's name, so a header that merely has the same name or path
 * must not count as known. scripts/known-headers makes the list from NVIDIA's wheels.
 *
 * Sorted hexadecimal digits. An array of pointers would need a relocation for each in every process.
 */
static const char known[][DIGITS_BYTES(KEY_BYTES)] = {
#include "interpose/nvrtc/known_headers.list"
};

uint32_t texts_reader(const void *bytes, size_t size, const struct key *digest, const struct places *places)
{
	uint32_t found = taints_of(scan_text(bytes, size, places));

	if ((found & TAINT_PATH_MACRO) && digits_listed(digest->bytes, known, sizeof(known) / sizeof(known[0]))) {
		found ^= TAINT_PATH_MACRO | TAINT_KNOWN_MACRO;
	}
	return found;
}
