/* SPDX-License-Identifier: MIT */
/*
 * verify: reads every entry of the cache directory completely and reports bad files
 *
 * A host notices a bad file only when it reads that file. All files are read here, one at a time, with the checks of a
 * host in the same order: type and owner, first bytes, headers and checksums. Nothing is written, no lock is taken, and
 * the time of last use does not change.
 * An entry is sound if its checksums are right and its dependencies can be read. A sound entry is out of date if a
 * path that is the same for every request (an absolute one, outside of roots) has changed. Other paths depend on the
 * request and cannot be checked without one.
 */
#include "cache/calls.h"
#include "cache/source.h"
#include "cache/store.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/verb.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool json, remove;
} asked;

enum verdict { SOUND, DAMAGED, UNTRUSTED, OTHER_FORMAT, FOREIGN, TEMPORARY, UNREADABLE, VERDICTS };

static const struct {
	const char *json, *text, *counted; /* NULL: not counted in the report */
	bool bad;
} verdicts[VERDICTS] = {
    [SOUND] = {"sound", "sound", NULL, false},
    [DAMAGED] = {"damaged", "damaged", "damaged", true},
    [UNTRUSTED] = {"untrusted", "not trusted", "not trusted", true},
    [OTHER_FORMAT] = {"other_format", "", "in the format of another version: left alone", false},
    [FOREIGN] = {"foreign", "", "not made by this cache: left alone", false},
    [TEMPORARY] = {"temporaries", "", "temporary: 'nvrtccache prune' removes stale ones", false},
    [UNREADABLE] = {"unreadable", "not readable", "not readable", true},
};

struct verify {
	const struct settings *settings;
	struct directory directory;
	int home;       /* descriptor */
	unsigned shard; /* number */
	struct json json;
	uint64_t files[VERDICTS];
	uint64_t looked_at, entries, bytes;
	uint64_t outdated; /* entries */
	uint64_t removed, left;
	unsigned unreadable; /* directories */
	/* of the file that is examined */
	enum verdict verdict;
	const char *reason; /* why it is not sound */
	struct stat found;
};

/* ---- the verdict on one file ---- */

static void note(struct verify *verify, enum verdict verdict, const char *reason)
{
	verify->verdict = verdict;
	verify->reason = reason;
}

/* A file that is gone is no error: another process may remove it at any time, as eviction does. */
static void note_error(struct verify *verify, int error)
{
	if (error != -ENOENT) {
		note(verify, error == -EPERM ? UNTRUSTED : UNREADABLE,
		     error == -EPERM ? "other users can write to it" : strerror(-error));
	}
}

/* The last two do not prove a change: the program can perhaps read a file that this user cannot. */
static int see_state(const struct dependency *dependency, void *context)
{
	enum dependency_state state = dependency->state;
	bool *outdated = context;

	*outdated |= state != DEPENDENCY_UNCHANGED && state != DEPENDENCY_NOT_ASKED && state != DEPENDENCY_DOUBTFUL &&
	             state != DEPENDENCY_UNREADABLE;
	return 0;
}

static int judge_result(void *context, const struct entry *entry)
{
	/* without roots and working directory, only paths that are the same for every request are checked */
	static const struct roots everywhere = {.root = NULL};
	struct verify *verify = context;
	bool outdated = false;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	int error = dependencies_tell(dependencies, size, &everywhere, false, see_state, &outdated);

	if (error == -EPROTONOSUPPORT) {
		/* not damage, because the version that wrote the entry may be able to read it */
		note(verify, OTHER_FORMAT, "the dependencies have another format");
	} else if (error == -EBADMSG) {
		note(verify, DAMAGED, "the dependencies cannot be read");
	} else {
		verify->entries++;
		verify->outdated += outdated;
	}
	return 0;
}

/*
 * Finds out why source_header() rejected a header. The rest of a file that was written incompletely is zero, so a file
 * that begins with another byte than the magic is not ours.
 */
static void judge_header(struct verify *verify, struct source *source, uint64_t offset)
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
		note(verify, FOREIGN, NULL);
	} else if (is_ours && format != ENTRY_FORMAT) {
		note(verify, OTHER_FORMAT, NULL);
	} else {
		note(verify, DAMAGED, "truncated, or a wrong header");
	}
}

/* A damaged file has the verdict on its first header that cannot be read, or else on its damaged results. */
static void read_file(struct verify *verify, const struct directory_file *file)
{
	struct source source = {.file = -1};
	uint64_t end = 0;
	int error = source_open(&verify->directory, file->shard, file->name, &verify->found, &source);

	if (error == 0) {
		call_keep_atime(source.file);
		error = source_each(&source, file->key, judge_result, verify, &end);
		if (error == -EBADMSG && end == source.size) {
			note(verify, DAMAGED, "wrong checksum");
		} else if (error == -EBADMSG) {
			judge_header(verify, &source, end);
		} else if (error < 0) {
			note_error(verify, error);
		}
	} else if (error == -EBADMSG && source_look(&verify->directory, file->shard, file->name, &verify->found) > 0) {
		note(verify, DAMAGED, "truncated");
	} else if (error == -EBADMSG) {
		note(verify, FOREIGN, NULL);
	} else if (error == -EPERM && !S_ISREG(verify->found.st_mode)) {
		note(verify, DAMAGED, "not a regular file");
	} else {
		note_error(verify, error);
	}
	source_close(&source);
}

/* ---- all files ---- */

static void report_bad(struct verify *verify, const char *path, bool is_removed)
{
	if (!asked.json) {
		console_error("%s: %s: %s%s", path, verdicts[verify->verdict].text, verify->reason,
		              is_removed ? "; removed" : "");
		return;
	}
	json_begin_object(&verify->json, NULL);
	json_string(&verify->json, "file", path);
	json_string(&verify->json, "verdict", verdicts[verify->verdict].json);
	json_string(&verify->json, "reason", verify->reason);
	json_bool(&verify->json, "removed", is_removed);
	json_end(&verify->json);
	console_json(&verify->json);
}

static void take_bad(struct verify *verify, const struct directory_file *file)
{
	char path[PATH_MAX];
	/*
	 * -EAGAIN: removal was not tried, or store_discard() left the file because it has changed or another process is
	 * replacing it. Neither is reported as an error.
	 */
	int error = -EAGAIN;

	(void)snprintf(path, sizeof(path), "%s/v1/%02x/%s", verify->directory.path, verify->shard, file->name);
	if (asked.remove && verify->verdict != UNREADABLE) {
		error =
		    store_discard(&verify->directory, verify->home, file->shard, file->key, file->name, &verify->found);
		if (error != 0 && error != -EAGAIN) {
			console_error("%s: cannot be removed: %s", path, strerror(-error));
		}
	}
	verify->removed += error == 0;
	verify->left += error != 0;
	report_bad(verify, path, error == 0);
}

/* Temporary files are counted but not checked, because another process may still be writing them. */
static int take_file(void *context, const struct directory_file *file)
{
	struct verify *verify = context;

	if (interrupt_seen() || file->kind == DIRECTORY_BESIDE || file->kind == DIRECTORY_FACTS) {
		return 0;
	}
	verify->found = (struct stat){0};
	note(verify,
	     file->kind == DIRECTORY_TEMPORARY ? TEMPORARY
	     : file->kind == DIRECTORY_FOREIGN ? FOREIGN
	                                       : SOUND,
	     NULL);
	if (file->kind == DIRECTORY_ENTRY) {
		read_file(verify, file);
		verify->bytes += (uint64_t)verify->found.st_size;
	}
	verify->files[verify->verdict]++;
	if (verdicts[verify->verdict].bad) {
		take_bad(verify, file);
	}
	verify->looked_at++;
	/* the total is extrapolated: all shards have about the same number of files */
	(void)progress_show("verifying", verify->looked_at, verify->looked_at * DIRECTORY_SHARDS / (verify->shard + 1));
	return 0;
}

/* Reads all shards and goes on after bad files. Returns EXIT_TROUBLE, after a message, if there is no access. */
static int read_all(struct verify *verify)
{
	int error = directory_open(&verify->directory, DIRECTORY_REACH, &verify->home);

	if (error != 0) {
		/* a missing directory is not an error, because it means that nothing was ever stored */
		return error == -ENOENT ? EXIT_DONE : console_refuse(verify->settings, error);
	}
	for (; verify->shard < DIRECTORY_SHARDS && interrupt_seen() == 0; verify->shard++) {
		error = directory_walk_shard(&verify->directory, verify->home, verify->shard, take_file, verify);
		/* an unreadable shard does not end the work */
		if (error < 0) {
			verify->unreadable++;
			console_error("%s/v1/%02x: %s", verify->directory.path, verify->shard, console_reason(error));
		}
	}
	console_status("");
	close(verify->home);
	return EXIT_DONE;
}

/* ---- the report ---- */

static void print_count(const char *text, uint64_t count)
{
	if (text && count != 0) {
		printf("%12" PRIu64 "  %s\n", count, text);
	}
}

static void print_report(const struct verify *verify, int64_t began_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	console_line("%s %" PRIu64 " sound %s in %s, %s read, in %s", interrupt_seen() ? "Interrupted:" : "Verified",
	             verify->entries, verify->entries == 1 ? "entry" : "entries", verify->directory.path,
	             console_bytes(verify->bytes, size), console_time((uint64_t)(progress_clock() - began_ns), took));
	for (int verdict = 0; verdict < VERDICTS; verdict++) {
		print_count(verdicts[verdict].counted, verify->files[verdict]);
	}
	print_count("removed of these", verify->removed);
	print_count("sound but out of date: a file that they depend on has changed", verify->outdated);
}

static void add_report(struct verify *verify, bool is_complete)
{
	struct json *json = &verify->json;

	json_end(json);
	json_string(json, "dir", verify->directory.path);
	json_number(json, "results", verify->entries);
	json_number(json, "bytes", verify->bytes);
	for (int verdict = 0; verdict < VERDICTS; verdict++) {
		json_number(json, verdicts[verdict].json, verify->files[verdict]);
	}
	json_number(json, "out_of_date", verify->outdated);
	json_number(json, "removed", verify->removed);
	json_bool(json, "complete", is_complete);
	json_end(json);
	console_json_end(json);
}

static int run_verify(struct settings *settings, char **operands)
{
	struct verify verify = {.settings = settings, .directory = {settings->directory, settings->shared}};
	int64_t began_ns = progress_clock();
	int status;

	(void)operands;
	if (asked.remove && settings->read_only) {
		console_error("%s: nothing is removed, because NVRTCCACHE_READONLY is set", settings->directory);
		return EXIT_TROUBLE;
	}
	if (asked.json) {
		json_begin_object(&verify.json, NULL);
		json_begin_array(&verify.json, "bad");
	}
	interrupt_hold();
	status = read_all(&verify);
	if (asked.json) {
		add_report(&verify, status == EXIT_DONE && interrupt_seen() == 0 && verify.unreadable == 0);
	} else if (status == EXIT_DONE) {
		print_report(&verify, began_ns);
	}
	return verify.left == 0 && verify.unreadable == 0 ? status : EXIT_TROUBLE;
}

const struct verb verb_verify = {
    .name = "verify",
    .arguments = "[--json] [--remove]",
    .summary = "check the integrity of all entries",
    .exits = "0: no bad entries, or all were removed; 1: bad entries remain; 2: unknown option.",
    .example = "nvrtccache verify",
    .options = VERB_OPTIONS(VERB_FLAG("json", 'j', "print JSON", &asked.json),
                            VERB_FLAG("remove", 0, "remove entries that are damaged or not trusted", &asked.remove)),
    .needs = VERB_DIRECTORY,
    .run = run_verify,
};
