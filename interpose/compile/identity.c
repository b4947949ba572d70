/* SPDX-License-Identifier: MIT */
#include "interpose/compile/identity.h"

#include "cache/calls.h"
#include "interpose/compile/log.h"
#include "interpose/compiler.h"
#include "interpose/elf/loader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build-id is usually in the first page of a file; if it is not there, FIRST_PAGES bytes are read. */
#define FIRST_PAGE  4096
#define FIRST_PAGES 65536

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

static int digest_content(const char *path, struct key *ret_digest)
{
	struct span span = {NULL, 0};
	void *bytes = NULL;
	int error = identity_read_file(path, 0, SIZE_MAX - 1, &bytes, &span.size);

	if (error == 0) {
		span.bytes = bytes;
		digest_key(&span, 1, ret_digest);
		free(bytes);
	}
	return error;
}

static void put_piece(struct library *library, uint8_t kind, const void *bytes, size_t size)
{
	uint8_t *at = library->identity + library->identity_size;

	at[0] = kind;
	at[1] = (uint8_t)size;
	memcpy(at + 2, bytes, size);
	library->identity_size += 2 + size;
}

int identity_make(struct library *library)
{
	const int release[] = {library->major, library->minor};
	const char *name = library->node->name;
	struct key digest;
	int error = library->build_id_size ? 0 : digest_content(library->path, &digest);

	if (error != 0) {
		return error;
	}
	library->identity_size = 0;
	put_piece(library, 'n', name, strlen(name));
	put_piece(library, 'r', release, sizeof(release));
	if (library->build_id_size) {
		put_piece(library, 'b', library->build_id, library->build_id_size);
	} else {
		put_piece(library, 'c', digest.bytes, sizeof(digest.bytes));
	}
	return 0;
}

/* ---- the companion ---- */

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

/* Finds the build-id if it is within the first `most` bytes of the file; -ENOENT if it is not. */
static int read_build_id(int file, void *bytes, size_t most, struct key *ret_digest)
{
	const uint8_t *id;
	ssize_t size = bytes ? call_pread(file, bytes, most, 0) : -1;
	size_t id_size;
	int result = size < 0 ? -EIO : elf_build_id_in_file(bytes, (size_t)size, &id, &id_size);

	if (result == 0) {
		put_build_id(id, id_size, ret_digest);
	}
	return result;
}

static int digest_file(const struct loader_file *file, struct key *ret_digest)
{
	uint8_t page[FIRST_PAGE] __attribute__((aligned(8))); /* a fresh block of malloc() costs a page fault */
	int result = read_build_id(file->descriptor, page, sizeof(page), ret_digest);

	if (result == -ENOENT) {
		void *bytes = malloc(FIRST_PAGES);

		result = read_build_id(file->descriptor, bytes, FIRST_PAGES, ret_digest);
		free(bytes);
	}
	return result == -ENOENT ? digest_content(file->path, ret_digest) : result;
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
	return wanted.path[0] && digest_content(wanted.path, ret_digest) != 0 ? -EIO : 0;
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

const struct key *identity_companion(struct library *library)
{
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

const struct key *identity_confirm(struct library *library)
{
	char name[NAME_MAX];
	struct key digest;

	library->compiler->companion(library, name);
	return find_loaded(name, &digest) == 0 ? publish_companion(library, &digest) : NULL;
}
