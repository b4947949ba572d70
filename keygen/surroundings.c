/* SPDX-License-Identifier: MIT */
/*
 * Every field has a tag and a length, and optional fields are left out when unset, so that no two different
 * surroundings give the same bytes.
 */
#include "keygen/surroundings.h"

enum place { PLACE_NEUTRAL = 1, PLACE_BOUND = 2, PLACE_NOWHERE = 3 };

static void put_bound(struct stream *stream, const struct surroundings *surroundings, const char *name)
{
	/* The kind of place comes first, so that no neutral request equals a path-dependent one. */
	stream_number(stream, REQUEST_TAG_PLACE, surroundings->cwd ? PLACE_BOUND : PLACE_NOWHERE);
	stream_string(stream, REQUEST_TAG_NAME, name);
	if (surroundings->pwd) {
		stream_string(stream, REQUEST_TAG_PWD, surroundings->pwd);
	}
	if (surroundings->cwd) {
		stream_string(stream, REQUEST_TAG_CWD, surroundings->cwd);
	}
}

static void put_neutral(struct stream *stream, const struct request_name *name, const struct directories *directories)
{
	stream_number(stream, REQUEST_TAG_PLACE, PLACE_NEUTRAL);
	stream_number(stream, REQUEST_TAG_ROOTS, directories->roots.count);
	if (name->lies == NAME_IN_FIRST_DIRECTORY) {
		directories_put(stream, directories, 0);
	} else if (name->lies == NAME_IN_RELATIVE_DIRECTORY) {
		stream_string(stream, REQUEST_TAG_NAME, name->text);
	}
}

void surroundings_begin(struct stream *stream, const struct surroundings *surroundings, const struct request_name *name,
                        const struct directories *directories)
{
	stream_number(stream, REQUEST_TAG_CALL, REQUEST_FORMAT);
	stream_field(stream, REQUEST_TAG_IDENTITY, surroundings->identity, surroundings->identity_size);
	if (surroundings->namespace_name) {
		stream_string(stream, REQUEST_TAG_NAMESPACE, surroundings->namespace_name);
	}
	if (directories) {
		put_neutral(stream, name, directories);
	} else {
		put_bound(stream, surroundings, name->text);
	}
}

void surroundings_compute(struct stream *stream, const struct surroundings *surroundings)
{
	stream_number(stream, REQUEST_TAG_FLOATING_POINT, surroundings->floating_point);
	if (surroundings->decimals) {
		stream_string(stream, REQUEST_TAG_DECIMALS, surroundings->decimals);
	}
}

void surroundings_end(struct stream *stream, const struct surroundings *surroundings)
{
	for (size_t i = 0; i < surroundings->environment_count; i++) {
		stream_string(stream, REQUEST_TAG_VARIABLE, surroundings->environment[i].name);
		/* An unset variable has no VALUE field, unlike an empty one. */
		if (surroundings->environment[i].value) {
			stream_string(stream, REQUEST_TAG_VALUE, surroundings->environment[i].value);
		}
	}
	for (size_t i = 0; i < surroundings->history_count; i++) {
		stream_field(stream, REQUEST_TAG_HISTORY, surroundings->history[i].bytes, KEY_BYTES);
	}
}
