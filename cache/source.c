/* SPDX-License-Identifier: MIT */
/*
 * source: reading entries from files that may be damaged or forged
 *
 *   --open: regular? trusted? long enough?--> open --load: small--> in memory, closed
 *                                               |                        |
 *                                               `--> header --> head --> take --> entry
 */
#include "cache/source.h"

#include "cache/calls.h"
#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOAD_MAX (UINT64_C(1) << 20)

/* Maps errors of the file system that have another meaning in the API of the store. */
static int file_error(int error)
{
	switch (error) {
	case ESTALE: /* NFS: removed on the server */
	case EBADMSG:
	case ENXIO:
	case EPERM:
		return -EIO;
	default:
		return -error;
	}
}

/* A file that is shorter than a header is torn, and counts as damaged, not as foreign. */
static int check_kind_and_owner(const struct directory *directory, int at, const struct stat *found)
{
	if (!S_ISREG(found->st_mode)) {
		return -EBADMSG;
	}
	if (!trust_found(directory->shared, at, found)) {
		return -EPERM;
	}
	return found->st_size < ENTRY_HEADER_BYTES ? -EBADMSG : 0;
}

/* Checks the open descriptor, so that the file that is read is the one that was checked. */
int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source)
{
	/* O_NONBLOCK: a FIFO of that name must not block the host */
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = TEMP_FAILURE_RETRY(openat(at, path, flags));
	int rc;

	if (file < 0) {
		rc = -errno;
		/* a symbolic link, or a socket */
		if ((rc == -ELOOP || rc == -ENXIO) && fstatat(at, path, ret_found, AT_SYMLINK_NOFOLLOW) == 0 &&
		    !S_ISREG(ret_found->st_mode)) {
			return -EBADMSG;
		}
		return file_error(-rc);
	}
	rc = fstat(file, ret_found) < 0 ? file_error(errno) : check_kind_and_owner(directory, at, ret_found);
	if (rc < 0) {
		close(file);
		return rc;
	}
	*ret_source = (struct source){.file = file, .size = (uint64_t)ret_found->st_size};
	return 0;
}

/* Accepts a source that was never opened, so that callers can clean up in one place. */
void source_close(struct source *source)
{
	if (source->file >= 0) {
		close(source->file);
		source->file = -1;
	}
	free(source->whole);
	source->whole = NULL;
}

bool source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found, bool *ret_ours)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = TEMP_FAILURE_RETRY(openat(shard, name, flags));
	bool seen;

	*ret_ours = false;
	if (file < 0) { /* a link, a socket, or a file that we may not read */
		return errno != ENOENT && fstatat(shard, name, ret_found, AT_SYMLINK_NOFOLLOW) == 0;
	}
	seen = fstat(file, ret_found) == 0;
	*ret_ours = seen && S_ISREG(ret_found->st_mode) && trust_found(directory->shared, shard, ret_found) &&
	            directory_is_ours(file, entry_magic);
	close(file);
	return seen;
}

/* Called before a file is removed, because a name does not show which program wrote the file. */
bool source_is_ours(const struct directory *directory, int shard, const char *name)
{
	struct stat found;
	bool ours;

	return source_look(directory, shard, name, &found, &ours) && ours;
}

/* A file that ends early was truncated after its size was read, and counts as damaged. */
static int read_fully(int file, uint64_t offset, void *bytes, size_t size)
{
	ssize_t got = call_pread(file, bytes, size, (off_t)offset);

	return got < 0 ? file_error(errno) : (size_t)got < size ? -EBADMSG : 0;
}

/*
 * Most files are small: they are read by one call and closed before anything is checked. Of a large file, only the
 * results that are needed are read.
 */
int source_load(struct source *source)
{
	uint8_t *bytes;
	int rc;

	if (source->size > LOAD_MAX) {
		return 0;
	}
	bytes = malloc(source->size);
	if (!bytes) {
		return -ENOMEM;
	}
	rc = read_fully(source->file, 0, bytes, source->size);
	if (rc < 0) {
		free(bytes);
		return rc;
	}
	source->whole = bytes;
	close(source->file);
	source->file = -1;
	return 0;
}

int source_header(const struct source *source, uint64_t offset, const uint8_t key[ENTRY_KEY_BYTES],
                  struct entry_info *ret_info)
{
	uint8_t buffer[ENTRY_HEADER_BYTES];
	const uint8_t *bytes = buffer;
	struct entry_info info;
	int rc = 0;

	if (source->size - offset < sizeof(buffer)) {
		return -EBADMSG;
	}
	if (source->whole) {
		bytes = source->whole + offset;
	} else {
		rc = read_fully(source->file, offset, buffer, sizeof(buffer));
	}
	if (rc == 0) {
		rc = entry_parse_header(bytes, sizeof(buffer), source->size - offset, &info);
	}
	if (rc == 0 && memcmp(info.key, key, ENTRY_KEY_BYTES) != 0) {
		rc = -EBADMSG;
	}
	if (rc == 0) {
		*ret_info = info;
	}
	return rc;
}

/* The check of dependencies does not need the body, which may have megabytes. */
int source_head(const struct source *source, uint64_t offset, const struct entry_info *info, const uint8_t **ret_head,
                uint8_t **ret_owned)
{
	uint8_t *owned = NULL;
	const uint8_t *head;
	int rc = 0;

	if (source->whole) {
		head = source->whole + offset;
	} else {
		owned = malloc(info->body_offset);
		if (!owned) {
			return -ENOMEM;
		}
		head = owned;
		rc = read_fully(source->file, offset, owned, info->body_offset);
	}
	if (rc == 0 && !entry_dependencies_sound(head, info)) {
		rc = -EBADMSG;
	}
	if (rc < 0) {
		free(owned);
		return rc;
	}
	*ret_head = head;
	*ret_owned = owned;
	return 0;
}

/* Most hits use the first result, for which no copy is made. */
int source_take(struct source *source, uint64_t offset, const struct entry_info *info, uint8_t *owned,
                struct entry **ret_entry)
{
	size_t have = owned ? info->body_offset : 0;
	uint8_t *bytes;
	int rc = 0;

	if (source->whole && offset == 0) {
		/* the buffer itself becomes the entry; realloc() releases the rest, which holds older results */
		bytes = info->total_size < source->size ? realloc(source->whole, info->total_size) : NULL;
		bytes = bytes ? bytes : source->whole;
		source->whole = NULL;
		source->size = 0;
	} else {
		bytes = realloc(owned, info->total_size);
		if (!bytes) {
			free(owned);
			return -ENOMEM;
		}
		if (source->whole) {
			memcpy(bytes, source->whole + offset, info->total_size);
		} else {
			rc = read_fully(source->file, offset + have, bytes + have, info->total_size - have);
		}
	}
	if (rc == 0) {
		rc = entry_adopt(bytes, info->total_size, ret_entry);
	}
	if (rc < 0) {
		free(bytes);
	}
	return rc;
}

/* From the last result to the first: source_take() of the first one may take over the loaded bytes. */
int source_each(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], source_visit *visit, void *context,
                uint64_t *ret_end)
{
	struct entry_info infos[STORE_RESULTS_MAX];
	size_t count = 0;
	uint64_t offset = 0;
	int rc = source_load(source), given = 0;

	while (rc == 0 && offset < source->size && count < STORE_RESULTS_MAX) {
		rc = source_header(source, offset, key, &infos[count]);
		offset += rc == 0 ? infos[count++].total_size : 0;
	}
	*ret_end = offset;
	while (count-- > 0 && given >= 0) {
		struct entry *entry = NULL;
		int error;

		offset -= infos[count].total_size;
		error = source_take(source, offset, &infos[count], NULL, &entry);
		given = visit(context, error, entry);
		entry_unref(entry);
	}
	return given < 0 ? given : rc;
}
