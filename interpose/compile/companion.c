/* SPDX-License-Identifier: MIT */
#include "interpose/compile/companion.h"

#include "cache/calls.h"
#include "interpose/compile/host_data.h"
#include "interpose/compile/log.h"
#include "interpose/compiler.h"
#include "interpose/elf/loader.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_PAGE 4096 /* has the build-id of every release */

/* A build-id is a digest itself, usually of 20 bytes: zeros and its size follow it. A longer one is digested. */
static void put_build_id(const uint8_t *id, size_t size, struct key *ret_digest)
{
	const struct span span = {id, size};

	if (size >= sizeof(ret_digest->bytes)) {
		digest_key(&span, 1, ret_digest);
		return;
	}
	memset(ret_digest->bytes, 0, sizeof(ret_digest->bytes));
	memcpy(ret_digest->bytes, id, size);
	ret_digest->bytes[sizeof(ret_digest->bytes) - 1] = (uint8_t)size;
}

static int digest_file(const struct loader_file *file, struct key *ret_digest)
{
	uint8_t page[FIRST_PAGE];
	const uint8_t *id;
	size_t id_size;
	ssize_t size = call_pread(file->descriptor, page, sizeof(page), 0);
	int result = size < 0 ? -EIO : elf_build_id_in_file(page, (size_t)size, &id, &id_size);

	if (result == 0) {
		put_build_id(id, id_size, ret_digest);
	}
	return result == -ENOENT ? host_data_digest(file->path, ret_digest) : result;
}

struct wanted_object {
	const char *name;
	struct key *digest;
	char path[PATH_MAX]; /* of an object without a build-id */
};

/*
 * The loader takes an object for `name` by its DT_SONAME, or if it was itself opened by that plain name. The name of
 * its file does not count.
 */
static int match_loaded(const struct elf_object *object, void *context)
{
	struct wanted_object *wanted = context;
	const uint8_t *id;
	size_t id_size;

	if (!object->soname || strcmp(object->soname, wanted->name) != 0) {
		return 0;
	}
	if (elf_build_id(object, &id, &id_size) == 0) {
		put_build_id(id, id_size, wanted->digest);
	} else {
		strncat(wanted->path, object->path, sizeof(wanted->path) - 1);
	}
	return 1;
}

/* Finds the companion among the loaded objects. -ENOENT: it is not loaded; others: it cannot be identified. */
static int find_loaded(const char *name, struct key *ret_digest)
{
	struct wanted_object wanted; /* not cleared: `path` is long, and usually not used */

	wanted.name = name;
	wanted.digest = ret_digest;
	wanted.path[0] = '\0';
	if (!elf_each_object(match_loaded, &wanted)) {
		return -ENOENT;
	}
	return wanted.path[0] && host_data_digest(wanted.path, ret_digest) != 0 ? -EIO : 0;
}

/* Finds the companion that the loader would load now. */
static int find_on_disk(const struct library *library, const char *name, struct key *ret_digest)
{
	struct loader_file file;
	bool found = loader_search(library->handle, name, &file) == LOADER_SEARCH_FOUND;
	int error = found ? digest_file(&file, ret_digest) : -ENOENT;

	if (found) {
		(void)close(file.descriptor);
	}
	log_write(LOG_DEBUG, "%s: %s %s", library->path, error == 0 ? "will load" : "cannot find",
	          found ? file.path : name);
	return error;
}

/* Publishes the digest unless it is already published. A replaced one is leaked: another thread may still read it. */
static const struct key *publish_companion(struct library *library, const struct key *digest)
{
	const struct key *known = atomic_load_explicit(&library->companion, memory_order_acquire);
	struct key *made;

	if (known && memcmp(known, digest, sizeof(*digest)) == 0) {
		return known;
	}
	made = malloc(sizeof(*made));
	if (made) {
		*made = *digest;
		atomic_store_explicit(&library->companion, made, memory_order_release);
	}
	return made;
}

const struct key *companion_find(void *context)
{
	struct library *library = context;
	const struct key *known = atomic_load_explicit(&library->companion, memory_order_acquire);
	char name[NAME_MAX];
	struct key digest;
	int error;

	if (known || !library->compiler->companion) {
		return known;
	}
	library->compiler->companion(library, name);
	error = find_loaded(name, &digest);
	if (error == -ENOENT) {
		error = find_on_disk(library, name, &digest);
	}
	return error == 0 ? publish_companion(library, &digest) : NULL;
}

const struct key *companion_confirm(struct library *library)
{
	char name[NAME_MAX];
	struct key digest;

	library->compiler->companion(library, name);
	return find_loaded(name, &digest) == 0 ? publish_companion(library, &digest) : NULL;
}
