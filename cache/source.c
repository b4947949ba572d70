/* SPDX-License-Identifier: MIT */
/*
 * source: reading entries from files that may be damaged or forged
 *
 *   --open: regular? trusted? long enough?--> open --header--> head: do the dependencies hold? --> take --> entry
 *
 * One window of the file is in memory: a megabyte, or the result that is needed if that is larger.
 */
#include "cache/source.h"

#include "cache/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW (UINT64_C(1) << 20)

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
int source_open(const struct directory *directory, int at, const char *path, struct stat *ret_found,
                struct source *ret_source)
{
	int file;
	int rc = directory_open_file(directory, at, path, O_RDONLY, &file, ret_found);

	if (rc < 0) {
		/* a symbolic link, or a socket */
		bool is_odd = rc != -ENOENT && fstatat(at, path, ret_found, AT_SYMLINK_NOFOLLOW) == 0 &&
		              !S_ISREG(ret_found->st_mode);

		return rc == -EPERM || is_odd ? -EPERM : file_error(-rc);
	}
	if (ret_found->st_size < ENTRY_HEADER_BYTES) {
		close(file);
		return -EBADMSG;
	}
	*ret_source = (struct source){.file = file, .size = (uint64_t)ret_found->st_size};
	return 0;
}

/* Accepts a source that was never opened, so that callers can clean up in one place. */
void source_close(struct source *source)
{
	call_close(source->file);
	source->file = -1;
	free(source->bytes);
	source->bytes = NULL;
}

/* Called before a file is removed, because a name does not show which program wrote the file. */
int source_look(const struct directory *directory, int shard, const char *name, struct stat *ret_found)
{
	int file;
	bool ours;

	if (directory_open_file(directory, shard, name, O_RDONLY, &file, ret_found) < 0) {
		/* a link, a socket, or a file that we may not read */
		return fstatat(shard, name, ret_found, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	}
	call_keep_atime(file); /* a look is no use */
	ours = directory_is_ours(file, entry_magic);
	close(file);
	return ours;
}

/*
 * Most files are small: they are read by one call and closed before anything is checked. Of a large file, only the
 * results that are needed are read. A file that ends early was truncated after its size was read: it is damaged.
 */
int source_bytes(struct source *source, uint64_t offset, uint64_t size, const uint8_t **ret_bytes)
{
	const uint64_t left = source->size - offset;
	const uint64_t wanted = size > WINDOW ? size : left < WINDOW ? left : WINDOW;
	uint8_t *grown;
	ssize_t got;

	if (offset < source->at || offset + size > source->at + source->have) {
		source->have = offset == source->at ? source->have : 0;
		source->at = offset;
		grown = realloc(source->bytes, wanted);
		if (!grown) {
			return -ENOMEM;
		}
		source->bytes = grown;
		got = call_pread(source->file, grown + source->have, wanted - source->have,
		                 (off_t)(offset + source->have));
		if (got < 0 || (uint64_t)got < wanted - source->have) {
			return got < 0 ? file_error(errno) : -EBADMSG;
		}
		source->have = wanted;
	}
	if (source->have == source->size && source->file >= 0) {
		close(source->file);
		source->file = -1;
	}
	*ret_bytes = source->bytes + (offset - source->at);
	return 0;
}

int source_header(struct source *source, uint64_t offset, const uint8_t key[ENTRY_KEY_BYTES],
                  struct entry_info *ret_info)
{
	const uint64_t left = source->size - offset;
	const uint8_t *bytes;
	int rc = left < ENTRY_HEADER_BYTES ? -EBADMSG : source_bytes(source, offset, ENTRY_HEADER_BYTES, &bytes);

	if (rc == 0) {
		rc = entry_parse_header(bytes, ENTRY_HEADER_BYTES, left, ret_info);
	}
	return rc == 0 && memcmp(ret_info->key, key, ENTRY_KEY_BYTES) != 0 ? -EBADMSG : rc;
}

/* The check of dependencies does not need the body, which may have megabytes. */
int source_head(struct source *source, uint64_t offset, const struct entry_info *info, const uint8_t **ret_head)
{
	int rc = source_bytes(source, offset, info->body_offset, ret_head);

	return rc == 0 && !entry_dependencies_sound(*ret_head, info) ? -EBADMSG : rc;
}

/* Most hits use the first result, for which no copy is made. realloc() releases what is behind it. */
int source_take(struct source *source, uint64_t offset, const struct entry_info *info, struct entry **ret_entry)
{
	const uint8_t *seen;
	uint8_t *bytes;
	int rc = source_bytes(source, offset, info->total_size, &seen);

	if (rc < 0) {
		return rc;
	}
	if (offset == source->at) {
		bytes = info->total_size < source->have ? realloc(source->bytes, info->total_size) : source->bytes;
		bytes = bytes ? bytes : source->bytes;
		source->bytes = NULL;
		source->have = 0;
	} else {
		bytes = malloc(info->total_size);
		if (!bytes) {
			return -ENOMEM;
		}
		memcpy(bytes, seen, info->total_size);
	}
	rc = entry_adopt(bytes, info->total_size, ret_entry);
	if (rc < 0) {
		free(bytes);
	}
	return rc;
}

/* From the last result to the first: source_take() of the first one may take over the bytes. */
int source_each(struct source *source, const uint8_t key[ENTRY_KEY_BYTES], source_visit *visit, void *context,
                uint64_t *ret_end)
{
	struct entry_info infos[STORE_RESULTS_MAX];
	size_t count = 0;
	uint64_t offset = 0;
	int rc = 0, given = 0;

	while (rc == 0 && offset < source->size && count < STORE_RESULTS_MAX) {
		rc = source_header(source, offset, key, &infos[count]);
		offset += rc == 0 ? infos[count++].total_size : 0;
	}
	*ret_end = offset;
	while (count-- > 0 && given >= 0) {
		struct entry *entry = NULL;

		offset -= infos[count].total_size;
		given = source_take(source, offset, &infos[count], &entry);
		if (given == -EBADMSG) {
			rc = rc ? rc : given;
			given = 0;
		} else if (given == 0) {
			given = visit(context, entry);
		}
		entry_unref(entry);
	}
	return given < 0 ? given : rc;
}
