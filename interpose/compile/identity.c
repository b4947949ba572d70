/* SPDX-License-Identifier: MIT */
/*
 * An identity is a list of tagged pieces: release, build-ids or file digests. It is computed without loading the
 * companion, so that a hit does not pay for loading it.
 */
#include "interpose/compile/attempt.h"

#include "cache/calls.h"
#include "interpose/compile/log.h"
#include "interpose/elf/loader.h"
#include "keygen/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build-id is usually in the first page of a file; if it is not there, FIRST_PAGES bytes are read. */
#define FIRST_PAGE  4096
#define FIRST_PAGES 65536

/* One per library slot: published once, and replaced once if the loader loaded another companion than predicted. */
static _Atomic(const struct identity *) identities[LIBRARIES_MAX];

static bool append_piece(struct identity *identity, uint8_t kind, const void *bytes, size_t size)
{
	if (size > 200 || identity->size + size + 2 > sizeof(identity->bytes)) {
		return false;
	}
	identity->bytes[identity->size++] = kind;
	identity->bytes[identity->size++] = (uint8_t)size;
	memcpy(identity->bytes + identity->size, bytes, size);
	identity->size += size;
	return true;
}

/* Reads one byte more than the size from fstat(), to detect that the file has grown. -EAGAIN: its size has changed. */
static int read_all(int descriptor, char *bytes, size_t size)
{
	const ssize_t got = call_pread(descriptor, bytes, size + 1, 0);

	if (got < 0) {
		return -errno;
	}
	return (size_t)got == size ? 0 : -EAGAIN;
}

int identity_read_file(const char *path, size_t least, size_t most, void **ret_bytes, size_t *ret_size)
{
	char *bytes = NULL;
	struct stat status;
	int descriptor, result = -EINVAL;

	/* Checked before the open, because opening a FIFO or a device can have an effect. */
	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
		return -EINVAL;
	}
	descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (descriptor < 0) {
		return -errno;
	}
	if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && (size_t)status.st_size >= least) {
		const size_t size = (size_t)status.st_size;

		bytes = size <= most ? malloc(size + 1) : NULL;
		result = bytes ? read_all(descriptor, bytes, size) : size <= most ? -ENOMEM : -EFBIG;
	}
	(void)close(descriptor);
	if (result != 0) {
		free(bytes);
		return result;
	}
	bytes[status.st_size] = '\0';
	*ret_bytes = bytes;
	*ret_size = (size_t)status.st_size;
	return 0;
}

static bool append_content(struct identity *identity, const char *path)
{
	struct span span = {NULL, 0};
	struct key digest;
	void *bytes = NULL;
	bool appended;

	if (identity_read_file(path, 0, SIZE_MAX - 1, &bytes, &span.size) != 0) {
		return false;
	}
	span.bytes = bytes;
	digest_key(&span, 1, &digest);
	appended = append_piece(identity, 'c', digest.bytes, sizeof(digest.bytes));
	free(bytes);
	return appended;
}

/* Appends the build-id if it is within the first `most` bytes of the file; -ENOENT if it is not. */
static int append_build_id(struct identity *identity, int file, size_t most)
{
	const uint8_t *id;
	void *bytes = malloc(most);
	ssize_t size = bytes ? call_pread(file, bytes, most, 0) : -1;
	size_t id_size;
	int result = size < 0 ? -EIO : elf_build_id_in_file(bytes, (size_t)size, &id, &id_size);

	if (result == 0 && !append_piece(identity, 'b', id, id_size)) {
		result = -EINVAL;
	}
	free(bytes);
	return result;
}

static bool append_file(struct identity *identity, const struct loader_file *file)
{
	int result = append_build_id(identity, file->descriptor, FIRST_PAGE);

	if (result == -ENOENT) {
		result = append_build_id(identity, file->descriptor, FIRST_PAGES);
	}
	return result == 0 || (result == -ENOENT && append_content(identity, file->path));
}

struct wanted_object {
	const char *name;
	struct identity *identity;
	bool found;
	char path[PATH_MAX];
};

/*
 * Appends the build-id of the loaded object with the wanted name. Without a build-id, sets `path` to the object's path.
 */
static int match_loaded(const struct elf_object *object, void *context)
{
	struct wanted_object *wanted = context;
	const char *slash = strrchr(object->path, '/');
	const char *base = slash ? slash + 1 : object->path;
	const uint8_t *id;
	size_t id_size;

	if (strcmp(base, wanted->name) != 0 && (!object->soname || strcmp(object->soname, wanted->name) != 0)) {
		return 0;
	}
	wanted->found = true;
	wanted->path[0] = '\0';
	if (elf_build_id(object, &id, &id_size) != 0 || !append_piece(wanted->identity, 'b', id, id_size)) {
		strncat(wanted->path, object->path, sizeof(wanted->path) - 1);
	}
	return 1;
}

/*
 * Returns 1 if the build-id or digest was appended, 0 if no such object is loaded, -1 if a loaded one cannot be
 * identified.
 */
static int append_loaded(struct identity *identity, const char *name)
{
	struct wanted_object *wanted = calloc(1, sizeof(*wanted));
	int result = -1;

	if (wanted) {
		wanted->name = name;
		wanted->identity = identity;
		(void)elf_each_object(match_loaded, wanted);
		if (!wanted->found) {
			result = 0;
		} else if (!wanted->path[0] || append_content(identity, wanted->path)) {
			result = 1;
		}
	}
	free(wanted);
	return result;
}

/* Whether a companion that is not loaded is searched where the loader would find it, or counts as missing. */
enum companion { COMPANION_FORETOLD, COMPANION_LOADED };

static int make_identity(struct library *library, enum companion companion, struct identity *identity)
{
	char name[96];
	struct loader_file *file;
	int found;

	identity->size = 0;
	(void)snprintf(name, sizeof(name), "%s %d.%d", library->node->name, library->major, library->minor);
	if (!append_piece(identity, 'n', name, strlen(name)) ||
	    !(library->build_id_size ? append_piece(identity, 'b', library->build_id, library->build_id_size)
	                             : append_content(identity, library->path))) {
		return -ENOENT;
	}
	if (!library->compiler->companion || !library->compiler->companion(library, name, sizeof(name))) {
		return 0;
	}
	found = append_loaded(identity, name);
	if (found != 0 || companion == COMPANION_LOADED) {
		return found > 0 ? 0 : -ENOENT;
	}
	file = malloc(sizeof(*file));
	if (!file) {
		return -ENOMEM;
	}
	found = loader_search(library->path, name, file) == LOADER_SEARCH_FOUND;
	if (found) {
		found = append_file(identity, file);
		(void)close(file->descriptor);
	}
	log_write(LOG_DEBUG, "%s: %s %s", library->path, found ? "will load" : "cannot find",
	          found ? file->path : name);
	free(file);
	return found ? 0 : -ENOENT;
}

int identity_of(struct library *library, const struct identity **ret_identity)
{
	const struct identity *known = atomic_load_explicit(&identities[library->slot], memory_order_acquire);
	struct identity *made;
	int result;

	if (known) {
		*ret_identity = known;
		return 0;
	}
	made = calloc(1, sizeof(*made));
	if (!made) {
		return -ENOMEM;
	}
	result = make_identity(library, COMPANION_FORETOLD, made);
	if (result != 0) {
		free(made);
		return result;
	}
	if (!atomic_compare_exchange_strong(&identities[library->slot], &known, made)) {
		free(made);
		*ret_identity = known;
		return 0;
	}
	*ret_identity = made;
	return 0;
}

bool identity_confirm(struct library *library, const struct identity *identity)
{
	struct identity *truth = calloc(1, sizeof(*truth));
	bool same;

	if (!truth || make_identity(library, COMPANION_LOADED, truth) != 0) {
		free(truth);
		return false;
	}
	same = truth->size == identity->size && memcmp(truth->bytes, identity->bytes, truth->size) == 0;
	if (same) {
		free(truth);
		return true;
	}
	/*
	 * The wrong identity is not freed, because another thread may still read it. This happens at most once per
	 * library.
	 */
	log_write(LOG_WARNING, "%s loaded another companion library than expected: not cached", library->path);
	atomic_store_explicit(&identities[library->slot], truth, memory_order_release);
	return false;
}
