/* SPDX-License-Identifier: MIT */
#include "cache/tools/inspect.h"

#include "cache/error_text.h"
#include "cache/source.h"
#include "cache/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct look {
	const struct directory *directory;
	inspect_judge *judge;
	inspect_visit *visit;
	void *context;
	struct inspected file;
	char text[ERROR_TEXT_BYTES];
	uint8_t key[ENTRY_KEY_BYTES];
};

static void find(struct look *look, enum inspect_verdict verdict, const char *reason)
{
	look->file.verdict = verdict;
	look->file.reason = reason;
}

static void find_error(struct look *look, int error)
{
	find(look, error == -EPERM ? INSPECT_UNTRUSTED : INSPECT_UNREADABLE,
	     error == -EPERM ? "others could have written it" : error_text(error, look->text));
}

/* The first bytes, whatever they are. */
static size_t read_beginning(const struct source *source, uint64_t offset, uint8_t ret_bytes[ENTRY_HEADER_BYTES])
{
	const uint64_t left = source->size - offset;
	size_t size = left < ENTRY_HEADER_BYTES ? (size_t)left : ENTRY_HEADER_BYTES;
	ssize_t got;

	if (source->whole) {
		memcpy(ret_bytes, source->whole + offset, size);
		return size;
	}
	got = TEMP_FAILURE_RETRY(pread(source->file, ret_bytes, size, (off_t)offset));
	return got > 0 ? (size_t)got : 0;
}

/* What is wrong with a header that source_header() did not take. */
static void find_header(struct look *look, const struct source *source, uint64_t offset)
{
	uint8_t bytes[ENTRY_HEADER_BYTES];
	const size_t size = read_beginning(source, offset, bytes);
	struct entry_info info;
	uint32_t format;

	if (size < sizeof(entry_magic) || memcmp(bytes, entry_magic, sizeof(entry_magic)) != 0) {
		if (offset > 0) {
			find(look, INSPECT_DAMAGED, "what follows its first results is none");
		} else if (size < sizeof(entry_magic) || bytes[0] == 0) {
			find(look, INSPECT_DAMAGED, "it was never written to the end");
		} else {
			find(look, INSPECT_FOREIGN, "it does not begin as a result does");
		}
		return;
	}
	if (size < sizeof(bytes)) {
		find(look, INSPECT_DAMAGED, "it is cut short");
		return;
	}
	memcpy(&format, bytes + sizeof(entry_magic), sizeof(format));
	if (entry_parse_header(bytes, sizeof(bytes), source->size - offset, &info) == 0) {
		find(look, INSPECT_DAMAGED, "it is the result of another key than its name says");
	} else if (entry_parse_header(bytes, sizeof(bytes), UINT64_MAX, &info) == 0) {
		find(look, INSPECT_DAMAGED, "it is cut short");
	} else if (format != ENTRY_FORMAT) {
		find(look, INSPECT_OTHER_FORMAT, "it is of another format");
	} else {
		find(look, INSPECT_DAMAGED, "the checksum of its header is wrong");
	}
}

static bool judge(struct look *look, struct source *source, uint64_t offset, const struct entry_info *info)
{
	struct entry *entry;
	const char *wrong;
	bool other = false;
	int rc = source_take(source, offset, info, NULL, &entry);

	if (rc == -EBADMSG) {
		find(look, INSPECT_DAMAGED, "a checksum is wrong");
		return false;
	}
	if (rc < 0) {
		find_error(look, rc);
		return false;
	}
	wrong = look->judge(look->context, entry, &other);
	entry_unref(entry);
	if (wrong) {
		find(look, other ? INSPECT_OTHER_FORMAT : INSPECT_DAMAGED, wrong);
		return false;
	}
	look->file.results++;
	return true;
}

struct place {
	uint64_t offset;
	struct entry_info info;
};

/* From the last to the first: taking the first may leave nothing of what was loaded. */
static void read_results(struct look *look, struct source *source)
{
	struct place places[STORE_RESULTS_MAX];
	uint64_t offset = 0;
	size_t count = 0;
	int rc = source_load(source);

	while (rc == 0 && offset < source->size && count < STORE_RESULTS_MAX) {
		rc = source_header(source, offset, look->key, &places[count].info);
		if (rc == 0) {
			places[count].offset = offset;
			offset += places[count++].info.total_size;
		}
	}
	if (rc == -EBADMSG) {
		find_header(look, source, offset);
	} else if (rc < 0) {
		find_error(look, rc);
	}
	while (count-- > 0) {
		(void)judge(look, source, places[count].offset, &places[count].info);
	}
}

static void read_file(struct look *look)
{
	struct source source = {.file = -1};
	int rc = source_open(look->directory, look->file.shard, look->file.name, &look->file.found, &source);

	if (rc == 0) {
		(void)fcntl(source.file, F_SETFL, O_NONBLOCK | O_NOATIME);
		read_results(look, &source);
	} else if (rc == -EBADMSG && S_ISREG(look->file.found.st_mode)) {
		if (source_is_ours(look->directory, look->file.shard, look->file.name)) {
			find(look, INSPECT_DAMAGED, "it is cut short");
		} else {
			find(look, INSPECT_FOREIGN, "it does not begin as a result does");
		}
	} else if (rc == -EBADMSG) {
		find(look, INSPECT_DAMAGED, "it is no regular file");
	} else {
		find_error(look, rc);
	}
	source_close(&source);
}

static int look_at(struct look *look, const char *name)
{
	look->file.name = name;
	look->file.key = NULL;
	look->file.results = 0;
	look->file.found = (struct stat){0};
	find(look, INSPECT_SOUND, NULL);
	if (directory_is_temporary(name)) {
		find(look, INSPECT_TEMPORARY, "a program is writing it, or was interrupted");
	} else if (!directory_entry_key(look->file.number, name, look->key)) {
		find(look, INSPECT_FOREIGN, "no result is called so");
	} else {
		look->file.key = look->key;
		read_file(look);
		/* it went, as any result may at any moment */
		if (look->file.verdict == INSPECT_UNREADABLE &&
		    faccessat(look->file.shard, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
			return 0;
		}
	}
	return look->visit(look->context, &look->file);
}

int inspect_shard(const struct directory *directory, int home, unsigned number, inspect_judge *judge_entry,
                  inspect_visit *visit, void *context)
{
	struct look look = {.directory = directory, .judge = judge_entry, .visit = visit, .context = context};
	struct dirent *found;
	int shard = -1;
	int rc = directory_open_shard(directory, home, number, DIRECTORY_LIST, &shard);
	DIR *names;

	if (rc < 0) {
		return rc == -ENOENT ? 0 : rc;
	}
	names = fdopendir(shard);
	if (!names) {
		rc = -errno;
		close(shard);
		return rc;
	}
	look.file.home = home;
	look.file.shard = shard;
	look.file.number = number;
	for (errno = 0; rc == 0 && (found = readdir(names)) != NULL; errno = 0) {
		if (strcmp(found->d_name, ".") != 0 && strcmp(found->d_name, "..") != 0) {
			rc = look_at(&look, found->d_name);
		}
	}
	if (rc == 0 && errno != 0) {
		rc = -errno;
	}
	closedir(names);
	return rc;
}
