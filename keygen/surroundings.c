/* SPDX-License-Identifier: MIT */
/*
 * Every field has a tag and a length, and optional fields are left out when unset, so that no two different
 * surroundings give the same bytes. The outermost directory is found by comparing texts, so the roots depend only on
 * the spelling of the request and not on the file system.
 */
#include "keygen/surroundings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const struct key *roots_arithmetic(const struct roots *roots)
{
	return roots->arithmetic ? roots->arithmetic(roots->context) : NULL;
}

const struct key *roots_companion(const struct roots *roots)
{
	return roots->companion ? roots->companion(roots->context) : NULL;
}

void roots_free(struct roots *roots)
{
	for (size_t i = 0; i < roots->count; i++) {
		free(roots->root[i].text);
	}
	free(roots->root);
	*roots = (struct roots){0};
}

/* With "..", "." or an empty component a directory would have several texts, and roots could overlap unnoticed. */
bool directories_plain(const char *path, size_t size)
{
	const char *end = path + size;

	if (size < 2 || path[0] != '/') {
		return false;
	}
	while (path < end) {
		const char *name = path + 1;
		const char *slash = memchr(name, '/', (size_t)(end - name));
		size_t length = (size_t)((slash ? slash : end) - name);

		if (length == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.')))) {
			return false;
		}
		path = name + length;
	}
	return true;
}

bool directories_add(struct directories *directories, const char *text, size_t size)
{
	if (directories->count == DIRECTORIES_MAX) {
		return false;
	}
	directories->list[directories->count++] = (struct request_directory){.text = text, .size = size};
	return true;
}

/* Returns true if the directory is `text` or inside it. A prefix is not enough: /v/include is not inside /v/inc. */
static bool lies_in(const struct request_directory *inner, const char *text, size_t size)
{
	return inner->size >= size && (inner->size == size || inner->text[size] == '/') &&
	       memcmp(inner->text, text, size) == 0;
}

/* Returns the shortest of the directories that `directory` is in; itself if it is in no other. */
static const struct request_directory *outermost_of(const struct directories *directories,
                                                    const struct request_directory *directory)
{
	const struct request_directory *outermost = directory;

	for (size_t i = 0; i < directories->count; i++) {
		const struct request_directory *other = &directories->list[i];

		if (other->size < outermost->size && lies_in(directory, other->text, other->size)) {
			outermost = other;
		}
	}
	return outermost;
}

int directories_number(struct directories *directories)
{
	struct roots *roots = &directories->roots;

	if (directories->count == 0) {
		return 0;
	}
	roots->root = calloc(directories->count, sizeof(*roots->root));
	if (!roots->root) {
		return -ENOMEM;
	}
	roots->count = 0;
	for (size_t i = 0; i < directories->count; i++) {
		struct request_directory *directory = &directories->list[i];
		const struct request_directory *outermost;
		char *text;

		/* A root is an outermost directory, so the first one that contains the directory is the only one. */
		for (directory->root = 0; directory->root < roots->count; directory->root++) {
			const struct root *root = &roots->root[directory->root];

			if (lies_in(directory, root->text, root->size)) {
				break;
			}
		}
		if (directory->root < roots->count) {
			continue;
		}
		outermost = outermost_of(directories, directory);
		text = strndup(outermost->text, outermost->size);
		if (!text) {
			roots_free(roots);
			return -ENOMEM;
		}
		roots->root[roots->count++] = (struct root){.text = text, .size = outermost->size};
	}
	return 0;
}

void directories_put(struct stream *stream, const struct directories *directories, size_t index)
{
	const struct request_directory *directory = &directories->list[index];

	stream_number(stream, REQUEST_TAG_ROOT, directory->root);
	stream_string(stream, REQUEST_TAG_REST, directory->text + directories->roots.root[directory->root].size);
}

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
