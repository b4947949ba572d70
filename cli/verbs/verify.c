/* SPDX-License-Identifier: MIT */
/*
 * verify: reads every entry of the cache directory completely and reports bad files
 *
 * An entry is sound if its checksums are right and its dependencies can be read. A sound entry is out of date if a
 * path that is the same for every request (an absolute one, outside of roots) has changed. Other paths depend on the
 * request and cannot be checked without one.
 */
#include "cache/store.h"
#include "cache/tools/inspect.h"
#include "cli/console/console.h"
#include "cli/console/progress.h"
#include "cli/console/request.h"
#include "cli/console/verb.h"
#include "keygen/dependencies.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
	bool json, remove;
} asked;

struct verify {
	const struct settings *settings;
	struct directory directory;
	struct json json;
	uint64_t files[INSPECT_VERDICTS];
	uint64_t looked_at, entries, bytes;
	uint64_t outdated; /* entries */
	uint64_t removed, left;
	unsigned unreadable; /* directories */
};

static const struct {
	const char *json, *text, *counted; /* NULL: not counted in the report */
	bool bad;
} verdicts[INSPECT_VERDICTS] = {
    [INSPECT_SOUND] = {"sound", "sound", NULL, false},
    [INSPECT_DAMAGED] = {"damaged", "damaged", "damaged", true},
    [INSPECT_UNTRUSTED] = {"untrusted", "not trusted", "not trusted", true},
    [INSPECT_OTHER_FORMAT] = {"other_format", "of another format", "in the format of another version: left alone",
                              false},
    [INSPECT_FOREIGN] = {"foreign", "not ours", "not made by this cache: left alone", false},
    [INSPECT_TEMPORARY] = {"temporaries", "temporary", "temporary: 'nvrtccache prune' removes stale ones", false},
    [INSPECT_UNREADABLE] = {"unreadable", "not readable", "not readable", true},
};

static void see_state(const struct dependency *dependency, void *context)
{
	bool *outdated = context;

	switch (dependency->state) {
	case DEPENDENCY_UNCHANGED:
	case DEPENDENCY_NOT_ASKED:
	/* these two do not prove a change */
	case DEPENDENCY_DOUBTFUL:
	case DEPENDENCY_UNREADABLE: /* this user cannot read the file, but the program perhaps can */
		break;
	default:
		*outdated = true;
	}
}

static const char *judge_entry(void *context, const struct entry *entry, bool *ret_other)
{
	/* without roots and working directory, only paths that are the same for every request are checked */
	static const struct dependency_places everywhere = {.root = NULL};
	struct verify *verify = context;
	struct dependencies_told told;
	struct request request;
	struct section about;
	bool outdated = false;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	int error = dependencies_tell(dependencies, size, &everywhere, see_state, &outdated, &told);

	if (error == -EPROTONOSUPPORT) {
		*ret_other = true;
		/* not reported as damage, because the version that wrote the entry may be able to read it */
		return "the dependencies have another format";
	}
	if (error == -EBADMSG) {
		return "the dependencies cannot be read";
	}
	if (entry_section(entry, ABOUT_SECTION, &about)) {
		error = request_read(about.bytes, about.size, &request);
		if (error == -EBADMSG) {
			return "the description cannot be read";
		}
		if (error == 0) {
			request_free(&request);
		}
	}
	verify->outdated += outdated;
	return NULL;
}

static void name_file(struct verify *verify, const struct inspected *file, bool is_removed)
{
	char *path = NULL;

	if (asprintf(&path, "%s/v1/%02x/%s", verify->directory.path, file->number, file->name) < 0) {
		return;
	}
	if (asked.json) {
		json_begin_object(&verify->json, NULL);
		json_string(&verify->json, "file", path);
		json_string(&verify->json, "verdict", verdicts[file->verdict].json);
		json_string(&verify->json, "reason", file->reason);
		json_bool(&verify->json, "removed", is_removed);
		json_end(&verify->json);
		console_json(&verify->json);
	} else {
		console_error("%s: %s: %s%s", path, verdicts[file->verdict].text, file->reason,
		              is_removed ? "; removed" : "");
	}
	free(path);
}

static void take_bad(struct verify *verify, const struct inspected *file)
{
	/*
	 * -EAGAIN: removal was not tried, or store_discard() left the file because it has changed or another process is
	 * replacing it. Neither is reported as an error.
	 */
	int error = -EAGAIN;

	if (asked.remove && file->verdict != INSPECT_UNREADABLE) {
		error = store_discard(&verify->directory, file->home, file->shard, file->key, file->name, &file->found);
		if (error != 0 && error != -EAGAIN) {
			console_error("%s/v1/%02x/%s: cannot be removed: %s", verify->directory.path, file->number,
			              file->name, strerror(-error));
		}
	}
	verify->removed += error == 0;
	verify->left += error != 0;
	name_file(verify, file, error == 0);
}

static int take_file(void *context, const struct inspected *file)
{
	struct verify *verify = context;

	verify->files[file->verdict]++;
	verify->entries += file->results;
	/* only files of entries are read to the end */
	verify->bytes += file->key ? (uint64_t)file->found.st_size : 0;
	if (verdicts[file->verdict].bad) {
		take_bad(verify, file);
	}
	verify->looked_at++;
	/* the total is extrapolated: all shards have about the same number of files */
	return progress_show("verifying", verify->looked_at, verify->looked_at * DIRECTORY_SHARDS / (file->number + 1))
	           ? -EINTR
	           : 0;
}

/* Inspects all shards and goes on after bad files. Returns EXIT_TROUBLE, after a message, if there is no access. */
static int inspect_all(struct verify *verify)
{
	int home = -1;
	int error = directory_open(&verify->directory, DIRECTORY_REACH, &home);

	if (error != 0) {
		/* a missing directory is not an error, because it means that nothing was ever stored */
		return error == -ENOENT ? EXIT_DONE : console_refuse(verify->settings, error);
	}
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS && interrupt_seen() == 0; shard++) {
		error = inspect_shard(&verify->directory, home, shard, judge_entry, take_file, verify);
		/* an unreadable shard does not end the work */
		if (error < 0 && error != -EINTR) {
			verify->unreadable++;
			console_error("%s/v1/%02x: %s", verify->directory.path, shard, console_reason(error));
		}
	}
	console_status("");
	close(home);
	return EXIT_DONE;
}

static void print_count(const char *text, uint64_t count)
{
	if (text && count != 0) {
		printf("%12" PRIu64 "  %s\n", count, text);
	}
}

static void print_report(const struct verify *verify, int64_t began_ns)
{
	char size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	fputs(interrupt_seen() ? "Interrupted: " : "Verified ", stdout);
	console_print_count(verify->entries, "sound entry", "sound entries");
	console_line(" in %s, %s read, in %s", verify->directory.path, console_bytes(verify->bytes, size),
	             console_time((uint64_t)(progress_clock() - began_ns), took));
	for (int verdict = 0; verdict < INSPECT_VERDICTS; verdict++) {
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
	for (int verdict = 0; verdict < INSPECT_VERDICTS; verdict++) {
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
		verify.json = json_growing(JSON_BYTES_KEPT);
		json_begin_object(&verify.json, NULL);
		json_begin_array(&verify.json, "bad");
	}
	interrupt_hold();
	status = inspect_all(&verify);
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
