/* SPDX-License-Identifier: MIT */
/*
 * verify: every file of the cache directory read to the last byte, and what is bad named
 *
 * A result is sound when its checksums are right and what it says of itself and of its dependencies can be read. It is out of
 * date, and no less sound, where a path that any request would look at (an absolute one, outside of roots that are not
 * spelled out) is not as it was: of others that cannot be said from here.
 */
#include "cache/discard.h"
#include "cache/tools/inspect.h"
#include "cache/tools/usage.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/interrupt.h"
#include "cli/console/options.h"
#include "cli/console/progress.h"
#include "keygen/about.h"
#include "keygen/dependencies_tell.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum form { FORM_TEXT, FORM_JSON };
enum removal { REMOVE_NOTHING, REMOVE_BAD };

struct verify {
	const struct settings *settings;
	enum form form;
	struct json json; /* FORM_JSON: what is not written yet */
	enum removal removal;
	struct progress progress;
	uint64_t about; /* as many files as there seem to be; 0: nobody knows */
	uint64_t files[INSPECT_VERDICTS];
	uint64_t looked_at, results, bytes;
	uint64_t outdated; /* results */
	uint64_t removed, left;
	unsigned unreadable; /* directories */
};

static const struct {
	const char *json, *text;
	bool bad;
} verdicts[INSPECT_VERDICTS] = {
    [INSPECT_SOUND] = {"sound", "sound", false},
    [INSPECT_DAMAGED] = {"damaged", "damaged", true},
    [INSPECT_UNTRUSTED] = {"untrusted", "not trusted", true},
    [INSPECT_OTHER_FORMAT] = {"other_format", "of another format", false},
    [INSPECT_FOREIGN] = {"foreign", "none of ours", false},
    [INSPECT_TEMPORARY] = {"temporaries", "temporary", false},
    [INSPECT_UNREADABLE] = {"unreadable", "not readable", true},
};

static int read_fact(const struct about_fact *fact, void *context)
{
	(void)fact;
	(void)context;
	return 0;
}

static void see_state(const struct dependency *dependency, void *context)
{
	bool *outdated = context;

	switch (dependency->state) {
	case DEPENDENCY_UNCHANGED:
	case DEPENDENCY_NOT_ASKED:
	case DEPENDENCY_DOUBTFUL:
	case DEPENDENCY_UNREADABLE: /* by us */
		break;
	default:
		*outdated = true;
	}
}

static const char *judge(void *context, const struct entry *entry, bool *ret_other)
{
	/* neither roots nor a working directory: only what is the same to everybody is looked at */
	static const struct dependency_places everywhere = {.root = NULL};
	struct verify *verify = context;
	struct dependencies_told told;
	struct section about;
	bool outdated = false;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);
	int error = dependencies_tell(dependencies, size, &everywhere, see_state, &outdated, &told);

	if (error == -EPROTONOSUPPORT) {
		*ret_other = true;
		return "its dependencies are of another format";
	}
	if (error == -EBADMSG) {
		return "its dependencies cannot be read";
	}
	if (entry_section(entry, ABOUT_SECTION, &about) &&
	    about_read(about.bytes, about.size, read_fact, NULL) == -EBADMSG) {
		return "what it says of itself cannot be read";
	}
	verify->outdated += outdated;
	return NULL;
}

static void name_file(struct verify *verify, const struct inspected *file, const char *done)
{
	char *path = NULL;

	if (asprintf(&path, "%s/v1/%02x/%s", verify->settings->directory, file->number, file->name) < 0) {
		return;
	}
	if (verify->form == FORM_JSON) {
		json_begin_object(&verify->json, NULL);
		json_string(&verify->json, "file", path);
		json_string(&verify->json, "verdict", verdicts[file->verdict].json);
		json_string(&verify->json, "reason", file->reason);
		json_bool(&verify->json, "removed", *done != '\0');
		json_end(&verify->json);
		console_json(&verify->json);
	} else {
		console_error("%s: %s: %s%s", path, verdicts[file->verdict].text, file->reason, done);
	}
	free(path);
}

static void meet_bad(struct verify *verify, const struct inspected *file)
{
	const struct directory directory = {.path = verify->settings->directory, .shared = verify->settings->shared};
	int error = -EAGAIN;

	if (verify->removal == REMOVE_BAD && file->verdict != INSPECT_UNREADABLE) {
		error = discard_file(&directory, file->home, file->shard, file->key, file->name, &file->found);
		if (error != 0 && error != -EAGAIN) {
			console_error("%s/v1/%02x/%s: cannot be removed: %s", verify->settings->directory, file->number,
			              file->name, strerror(-error));
		}
	}
	verify->removed += error == 0;
	verify->left += error != 0;
	name_file(verify, file, error == 0 ? "; removed" : "");
}

/* Shards have about as many files each. */
static uint64_t guess_by_shard(const struct verify *verify, unsigned number)
{
	return verify->looked_at * DIRECTORY_SHARDS / (number + 1);
}

static int meet(void *context, const struct inspected *file)
{
	struct verify *verify = context;

	verify->files[file->verdict]++;
	verify->results += file->results;
	verify->bytes += file->key ? (uint64_t)file->found.st_size : 0;
	if (verdicts[file->verdict].bad) {
		meet_bad(verify, file);
	}
	verify->looked_at++;
	progress_guess(&verify->progress, verify->looked_at,
	               verify->about != 0 ? verify->about : guess_by_shard(verify, file->number));
	return interrupt_seen() != 0 ? -EINTR : 0;
}

/* False: said why. */
static bool look_at_all(struct verify *verify)
{
	const struct directory directory = {.path = verify->settings->directory, .shared = verify->settings->shared};
	char refusal[CONSOLE_REFUSAL_BYTES];
	int home = -1;
	int error = directory_open(&directory, DIRECTORY_REACH, &home);

	if (error == -ENOENT) {
		return true; /* nothing was ever stored */
	}
	if (error != 0) {
		console_error("%s: %s", directory.path, console_refusal(verify->settings, error, refusal));
		return false;
	}
	verify->about = usage_guess(&directory); /* without a walk: nothing would be shown meanwhile */
	progress_begin(&verify->progress, "verifying");
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS && interrupt_seen() == 0; shard++) {
		error = inspect_shard(&directory, home, shard, judge, meet, verify);
		if (error < 0 && error != -EINTR) {
			verify->unreadable++;
			console_error("%s/v1/%02x: %s", directory.path, shard, console_reason(error));
		}
	}
	progress_end(&verify->progress);
	close(home);
	return true;
}

static void print_count(const char *text, uint64_t count)
{
	char number[CONSOLE_NUMBER_BYTES];

	if (count != 0) {
		printf("%12s  %s\n", console_count(count, number), text);
	}
}

static void report(const struct verify *verify, int64_t began_ns)
{
	char results[CONSOLE_NUMBER_BYTES], size[CONSOLE_NUMBER_BYTES], took[CONSOLE_NUMBER_BYTES];

	console_print(stdout, "%s %s sound %s in %s, of %s read, in %s", interrupt_seen() ? "Interrupted:" : "Verified",
	              console_count(verify->results, results), verify->results == 1 ? "result" : "results",
	              verify->settings->directory, console_bytes(verify->bytes, size),
	              console_time((uint64_t)(progress_clock() - began_ns), took));
	putchar('\n');
	print_count("damaged", verify->files[INSPECT_DAMAGED]);
	print_count("not trusted", verify->files[INSPECT_UNTRUSTED]);
	print_count("not readable", verify->files[INSPECT_UNREADABLE]);
	print_count("removed of these", verify->removed);
	print_count("of another format, of another build: left alone", verify->files[INSPECT_OTHER_FORMAT]);
	print_count("none of ours: left alone", verify->files[INSPECT_FOREIGN]);
	print_count("temporary: 'prune' removes those that are stale", verify->files[INSPECT_TEMPORARY]);
	print_count("sound, and out of date: a file that they depend on is another by now", verify->outdated);
}

static void report_json(struct verify *verify, bool read)
{
	struct json *json = &verify->json;

	json_end(json);
	json_string(json, "dir", verify->settings->directory);
	json_number(json, "results", verify->results);
	json_number(json, "bytes", verify->bytes);
	for (int verdict = 0; verdict < INSPECT_VERDICTS; verdict++) {
		json_number(json, verdicts[verdict].json, verify->files[verdict]);
	}
	json_number(json, "out_of_date", verify->outdated);
	json_number(json, "removed", verify->removed);
	json_bool(json, "complete", read && interrupt_seen() == 0 && verify->unreadable == 0);
	json_end(json);
	console_json_end(json);
}

static int verify_all(struct verify *verify)
{
	int64_t began_ns = progress_clock();
	bool read;

	if (verify->removal == REMOVE_BAD && verify->settings->read_only) {
		console_error("%s: nothing is removed, because NVRTCCACHE_READONLY is set",
		              verify->settings->directory);
		return EXIT_TROUBLE;
	}
	if (verify->form == FORM_JSON) {
		verify->json = json_growing(JSON_BYTES_KEPT, 2);
		json_begin_object(&verify->json, NULL);
		json_begin_array(&verify->json, "bad");
	}
	read = look_at_all(verify);
	if (verify->form == FORM_JSON) {
		report_json(verify, read);
	} else if (read) {
		report(verify, began_ns);
	}
	return read && verify->left == 0 && verify->unreadable == 0 ? EXIT_DONE : EXIT_TROUBLE;
}

int command_verify(int argc, char **argv)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"json", no_argument, NULL, 'j'},
	                                        {"remove", no_argument, NULL, 'r'},
	                                        {NULL, 0, NULL, 0}};
	struct settings settings;
	struct verify verify = {.settings = &settings};
	int option, status;

	while ((option = options_getopt(argc, argv, "hj", options)) != -1) {
		if (option == 'h') {
			options_help("verify");
			return EXIT_DONE;
		}
		if (option == 'j') {
			verify.form = FORM_JSON;
		} else if (option == 'r') {
			verify.removal = REMOVE_BAD;
		} else {
			return options_usage("verify");
		}
	}
	if (optind < argc) {
		console_error("verify takes no argument: '%s'", argv[optind]);
		return options_usage("verify");
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = console_directory(&settings) ? verify_all(&verify) : EXIT_TROUBLE;
	settings_free(&settings);
	interrupt_release();
	return status;
}
