/* SPDX-License-Identifier: MIT */
/*
 * source: reading entries without believing them
 *
 *   --open: regular? trusted? long enough?--> open --load: small--> in memory, closed
 *                                               |                        |
 *                                               `--> header --> head --> take --> entry
 */
#include "cache/source.h"

#include "cache/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOAD_MAX (UINT64_C(1) << 20)

/* Errors of the file system that would say something else in the store's own words. */
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

int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source)
{
	/* O_NONBLOCK: a FIFO of that name must not hold the host */
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

void source_close(struct source *source)
{
	if (source->file >= 0) {
		close(source->file);
		source->file = -1;
	}
	free(source->whole);
	source->whole = NULL;
}

bool source_is_ours(const struct directory *directory, int shard, const char *name)
{
	int file;
	bool ours;

	if (directory_open_file(directory, shard, name, O_RDONLY, &file) < 0) {
		return false;
	}
	ours = directory_is_ours(file, entry_magic);
	close(file);
	return ours;
}

bool source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found, bool *ret_ours)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int file = TEMP_FAILURE_RETRY(openat(shard, name, flags));
	bool seen;

	*ret_ours = false;
	if (file < 0) { /* a link, a socket, or not ours to read */
		return errno != ENOENT && fstatat(shard, name, ret_found, AT_SYMLINK_NOFOLLOW) == 0;
	}
	seen = fstat(file, ret_found) == 0;
	*ret_ours = seen && S_ISREG(ret_found->st_mode) && trust_found(directory->shared, shard, ret_found) &&
	            directory_is_ours(file, entry_magic);
	close(file);
	return seen;
}

static int read_fully(int file, uint64_t offset, void *bytes, size_t size)
{
	uint8_t *next = bytes;

	while (size > 0) {
		ssize_t done = TEMP_FAILURE_RETRY(pread(file, next, size, (off_t)offset));

		if (done <= 0) {
			return done < 0 ? file_error(errno) : -EBADMSG;
		}
		next += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return 0;
}

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

int source_take(struct source *source, uint64_t offset, const struct entry_info *info, uint8_t *owned,
                struct entry **ret_entry)
{
	size_t have = owned ? info->body_offset : 0;
	uint8_t *bytes;
	int rc = 0;

	if (source->whole && offset == 0) {
		/* the buffer itself becomes the entry; the rest of it, older results, is given back */
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
