/* SPDX-License-Identifier: MIT */
/*
 * A file is checked in the same order as by a host that reads it: type and owner, first bytes, headers and checksums.
 * Then the caller's function checks the content.
 */
#include "cache/tools/inspect.h"

#include "cache/error_text.h"
#include "cache/source.h"

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
	int rc; /* of the last visit */
};

static void note_verdict(struct look *look, enum inspect_verdict verdict, const char *reason)
{
	look->file.verdict = verdict;
	look->file.reason = reason;
}

static void note_error(struct look *look, int error)
{
	note_verdict(look, error == -EPERM ? INSPECT_UNTRUSTED : INSPECT_UNREADABLE,
	             error == -EPERM ? "other users can write to it" : error_text(error, look->text));
}

/*
 * Finds out why source_header() rejected a header. The rest of a file that was written incompletely is zero, so a file
 * that begins with another byte than the magic is not ours.
 */
static void judge_header(struct look *look, struct source *source, uint64_t offset)
{
	const bool is_whole = source->size - offset >= ENTRY_HEADER_BYTES;
	const uint8_t *bytes = NULL;
	uint32_t format = ENTRY_FORMAT;
	bool is_ours = true;

	if (is_whole && source_bytes(source, offset, ENTRY_HEADER_BYTES, &bytes) == 0) {
		is_ours = memcmp(bytes, entry_magic, sizeof(entry_magic)) == 0;
		memcpy(&format, bytes + sizeof(entry_magic), sizeof(format));
	}
	if (!is_ours && offset == 0 && bytes[0] != 0) {
		note_verdict(look, INSPECT_FOREIGN, "not an entry");
	} else if (is_ours && format != ENTRY_FORMAT) {
		note_verdict(look, INSPECT_OTHER_FORMAT, "another format");
	} else {
		note_verdict(look, INSPECT_DAMAGED, "truncated, or a wrong header");
	}
}

/* The caller's function recognises a result of another build, which is intact but not usable. */
static int judge_result(void *context, int error, const struct entry *entry)
{
	struct look *look = context;
	bool other = false;
	const char *wrong = error ? NULL : look->judge(look->context, entry, &other);

	if (error == -EBADMSG) {
		note_verdict(look, INSPECT_DAMAGED, "wrong checksum");
	} else if (error < 0) {
		note_error(look, error);
	} else if (wrong) {
		note_verdict(look, other ? INSPECT_OTHER_FORMAT : INSPECT_DAMAGED, wrong);
	}
	look->file.results += !error && !wrong;
	return 0;
}

/* A damaged file has the verdict on its first header that cannot be read. */
static void read_results(struct look *look, struct source *source)
{
	uint64_t end;
	int rc = source_each(source, look->file.key, judge_result, look, &end);

	if (rc == -EBADMSG) {
		judge_header(look, source, end);
	} else if (rc < 0) {
		note_error(look, rc);
	}
}

/* Sets O_NOATIME after opening, because open() with O_NOATIME fails for another user's file. */
static void read_file(struct look *look)
{
	struct source source = {.file = -1};
	int rc = source_open(look->directory, look->file.shard, look->file.name, &look->file.found, &source);

	if (rc == 0) {
		(void)fcntl(source.file, F_SETFL, O_NONBLOCK | O_NOATIME);
		read_results(look, &source);
	} else if (rc == -EBADMSG) {
		if (source_is_ours(look->directory, look->file.shard, look->file.name)) {
			note_verdict(look, INSPECT_DAMAGED, "truncated");
		} else {
			note_verdict(look, INSPECT_FOREIGN, "not an entry");
		}
	} else if (rc == -EPERM && !S_ISREG(look->file.found.st_mode)) {
		note_verdict(look, INSPECT_DAMAGED, "not a regular file");
	} else {
		note_error(look, rc);
	}
	source_close(&source);
}

/* Temporary files are reported but not checked, because another process may still be writing them. */
static int inspect_file(void *context, const struct directory_file *file)
{
	struct look *look = context;

	if (look->rc != 0 || file->kind == DIRECTORY_BESIDE || file->kind == DIRECTORY_FACTS) {
		return 0;
	}
	look->file.shard = file->shard;
	look->file.name = file->name;
	look->file.key = file->kind == DIRECTORY_ENTRY ? file->key : NULL;
	look->file.results = 0;
	look->file.found = (struct stat){0};
	note_verdict(look, INSPECT_SOUND, NULL);
	if (file->kind == DIRECTORY_TEMPORARY) {
		note_verdict(look, INSPECT_TEMPORARY, "being written, or left by an interrupted program");
	} else if (file->kind == DIRECTORY_FOREIGN) {
		note_verdict(look, INSPECT_FOREIGN, "not the name of an entry");
	} else {
		read_file(look);
		/* not reported if another process has removed it meanwhile, as eviction may at any time */
		if (look->file.verdict == INSPECT_UNREADABLE &&
		    faccessat(file->shard, file->name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT) {
			return 0;
		}
	}
	look->rc = look->visit(look->context, &look->file);
	return 0;
}

int inspect_shard(const struct directory *directory, int home, unsigned number, inspect_judge *judge_entry,
                  inspect_visit *visit, void *context)
{
	struct look look = {.directory = directory, .judge = judge_entry, .visit = visit, .context = context};
	int rc;

	look.file.home = home;
	look.file.number = number;
	rc = directory_walk_shard(directory, home, number, inspect_file, &look);
	return look.rc != 0 ? look.rc : rc;
}
