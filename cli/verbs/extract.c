/* SPDX-License-Identifier: MIT */
/* extract: artifacts of a result as files that cuobjdump, nvdisasm, ptxas and linkers read */
#include "cache/store.h"
#include "cache/tools/inventory.h"
#include "cli/console/commands.h"
#include "cli/console/console.h"
#include "cli/console/interrupt.h"
#include "cli/console/key.h"
#include "cli/console/options.h"
#include "cli/console/target.h"
#include "cli/verbs/artifacts.h"
#include "keygen/about.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wish {
	bool forms[ARTIFACT_FORM_COUNT];
	unsigned form_count;
	const char *file;      /* NULL: by the program's name */
	const char *directory; /* of all; NULL: one form is asked for */
	unsigned long number;  /* among the results of the key */
};

/* The results of a key, the oldest first. */
struct found {
	struct entry *entries[STORE_RESULTS_MAX];
	size_t count;
};

static int take(void *context, const struct entry *entry)
{
	struct found *found = context;
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return entry_amend(entry, dependencies, size, &found->entries[found->count]) == 0 ? (found->count++, 0)
	                                                                                  : -ENOMEM;
}

/* False: said why. */
static bool write_file(const struct artifact *artifact, const char *file)
{
	bool is_output = strcmp(file, "-") == 0;
	struct target target;
	int error = 0;

	if (is_output && isatty(STDOUT_FILENO) == 1 && !artifact_is_harmless(artifact)) {
		console_error("not written to a terminal, as it is not plain text: -o FILE");
		return false;
	}
	/* a rename would replace what may not be written to */
	if (!is_output && access(file, W_OK) < 0 && errno != ENOENT) {
		error = -errno;
	}
	error = error ? error : target_open(file, &target);
	if (error == 0) {
		error = target_close(&target, DURABILITY_NONE, target_put(&target, artifact->bytes, artifact->size));
	}
	if (error != 0) {
		console_error("%s: %s", is_output ? "standard output" : file,
		              interrupt_seen() ? "interrupted" : strerror(-error));
	}
	return error == 0;
}

static void report(const char *file, size_t size)
{
	char *name = strdup(file);
	char bytes[CONSOLE_NUMBER_BYTES];

	if (name) {
		console_disarm(name);
		printf("wrote %s (%s)\n", name, console_bytes(size, bytes));
	}
	free(name);
}

struct writing {
	const struct wish *wish;
	const char *base;
	int return_code; /* of the compile; where it failed, what is empty was never made */
	bool written[ARTIFACT_FORM_COUNT];
	bool failed;
};

/* A log may be empty. */
static bool is_made(const struct artifact *artifact, int return_code)
{
	return return_code == 0 || artifact->size > 0 || artifact->form == ARTIFACT_LOG ||
	       artifact->form == ARTIFACT_INFO_LOG || artifact->form == ARTIFACT_ERROR_LOG;
}

static int write_wanted(const struct artifact *artifact, void *context)
{
	struct writing *writing = context;
	const struct wish *wish = writing->wish;
	struct artifact mine = *artifact;
	char path[PATH_MAX];
	const char *file = wish->file;

	if (is_made(&mine, writing->return_code) && (wish->directory || wish->forms[mine.form])) {
		if (!file) {
			if (snprintf(path, sizeof(path), "%s%s%s%s", wish->directory ? wish->directory : "",
			             wish->directory ? "/" : "", writing->base,
			             artifact_suffix(mine.form)) >= PATH_MAX) {
				console_error("%s: %s", wish->directory, strerror(ENAMETOOLONG));
			} else {
				file = path;
			}
		}
		if (!file || !write_file(&mine, file)) {
			writing->failed = true;
		} else {
			writing->written[mine.form] = true;
			if (strcmp(file, "-") != 0) {
				report(file, mine.size);
			}
		}
	}
	artifact_free(&mine);
	return writing->failed;
}

struct listing {
	int return_code;
	char list[256];
};

static int list_form(const struct artifact *artifact, void *context)
{
	struct artifact mine = *artifact;
	struct listing *listing = context;
	size_t end = strlen(listing->list);

	if (is_made(&mine, listing->return_code)) {
		snprintf(listing->list + end, sizeof(listing->list) - end, "%s--%s", end ? ", " : "",
		         artifact_option(mine.form));
	}
	artifact_free(&mine);
	return 0;
}

/* False: something that was wished for is not there. */
static bool is_complete(const struct entry *entry, const struct writing *writing)
{
	struct listing listing = {.return_code = writing->return_code};
	char failure[64] = "";
	bool complete = true;

	(void)artifacts_each(entry, list_form, &listing);
	if (writing->return_code != 0) {
		snprintf(failure, sizeof(failure), "the compile failed (return code %d): ", writing->return_code);
	}
	for (int form = 0; form < ARTIFACT_FORM_COUNT; form++) {
		if (writing->wish->forms[form] && !writing->written[form]) {
			console_error("%sthe result has no %s; it has %s", failure,
			              artifact_option((enum artifact_form)form),
			              *listing.list ? listing.list : "nothing");
			complete = false;
		}
	}
	return complete;
}

static int write_from(const struct entry *entry, const struct wish *wish)
{
	char base[ARTIFACT_BASE_BYTES];
	struct writing writing = {.wish = wish, .base = base};
	struct section code;
	int error;

	if (entry_section(entry, ABOUT_CODE_SECTION, &code)) {
		writing.return_code = code.value;
	}
	artifact_base(entry, base);
	if (wish->directory && strlen(wish->directory) + 2 * ARTIFACT_BASE_BYTES >= PATH_MAX) {
		console_error("%s: %s", wish->directory, strerror(ENAMETOOLONG));
		return EXIT_TROUBLE;
	}
	if (wish->directory && mkdir(wish->directory, 0777) < 0 && errno != EEXIST) {
		console_error("%s: %s", wish->directory, strerror(errno));
		return EXIT_TROUBLE;
	}
	error = artifacts_each(entry, write_wanted, &writing);
	if (writing.failed) {
		return EXIT_TROUBLE;
	}
	if (error != 0) {
		console_error("%s", error == -ENODATA
		                        ? "an earlier build made this result, and did not note what its parts are"
		                    : error == -EBADMSG ? "what the result says of itself cannot be read"
		                                        : strerror(-error));
		return EXIT_TROUBLE;
	}
	return is_complete(entry, &writing) ? EXIT_DONE : EXIT_TROUBLE;
}

static int extract(const struct settings *settings, const char *text, const struct wish *wish)
{
	const struct directory directory = {.path = settings->directory, .shared = settings->shared};
	struct found found = {.count = 0};
	struct inventory_record record;
	char key[KEY_TEXT_BYTES];
	int status = key_find(settings, text, &record);
	int error;

	if (status != EXIT_DONE) {
		return status;
	}
	error = inventory_read(&directory, record.key, take, &found);
	status = EXIT_TROUBLE;
	if (error != 0) {
		key_spell(record.key, key);
		console_error("%s/v1/%.2s/%s: %s", settings->directory, key, key + 2,
		              error == -EBADMSG ? "damaged" : console_reason(error));
	}
	if (found.count == 0 && error == 0) {
		console_error("%s: it has just been removed", text);
	} else if (found.count < wish->number) {
		console_error("there is no result %lu under this key, but %zu", wish->number, found.count);
	} else {
		status = write_from(found.entries[found.count - wish->number], wish);
	}
	while (found.count > 0) {
		entry_unref(found.entries[--found.count]);
	}
	return error == 0 ? status : EXIT_TROUBLE;
}

static bool read_number(const char *text, unsigned long *ret_number)
{
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno != 0 || *end != '\0' || number == 0 || strspn(text, "0123456789") != strlen(text)) {
		console_error("bad number '%s': 1 is the newest result of a key", text);
		return false;
	}
	*ret_number = number;
	return true;
}

/* Does what was asked for go together? */
static bool is_sound(const struct wish *wish)
{
	if (wish->directory && (wish->form_count > 0 || wish->file)) {
		console_error("--all writes every artifact into its directory: no other, and no -o, with it");
	} else if (!wish->directory && wish->form_count == 0) {
		console_error("extract takes the kind of artifact, or --all DIR");
	} else if (wish->directory && wish->directory[0] == '\0') {
		console_error("--all takes the name of a directory");
	} else if (wish->file && wish->file[0] == '\0') {
		console_error("-o takes the name of a file, or '-' for standard output");
	} else if (wish->form_count > 1 && wish->file) {
		console_error("-o names one file: one kind of artifact with it");
	} else {
		return true;
	}
	return false;
}

enum { OPTION_ALL = 256, OPTION_NUMBER, OPTION_FORM };

/* False: the status is *ret_status. */
static bool read_options(int argc, char **argv, struct wish *wish, int *ret_status)
{
	static const struct option options[] = {{"help", no_argument, NULL, 'h'},
	                                        {"output", required_argument, NULL, 'o'},
	                                        {"all", required_argument, NULL, OPTION_ALL},
	                                        {"number", required_argument, NULL, OPTION_NUMBER},
#define FORM_OPTION(name, option, suffix, text) {option, no_argument, NULL, OPTION_FORM + ARTIFACT_##name},
	                                        ARTIFACT_FORMS(FORM_OPTION)
#undef FORM_OPTION
	                                            {NULL, 0, NULL, 0}};
	int option;

	*ret_status = EXIT_USAGE;
	while ((option = options_getopt(argc, argv, "ho:", options)) != -1) {
		if (option == 'h') {
			options_help("extract");
			*ret_status = EXIT_DONE;
			return false;
		}
		if (option == 'o') {
			wish->file = optarg;
		} else if (option == OPTION_ALL) {
			wish->directory = optarg;
		} else if (option == OPTION_NUMBER) {
			if (!read_number(optarg, &wish->number)) {
				return false;
			}
		} else if (option >= OPTION_FORM) {
			wish->form_count += !wish->forms[option - OPTION_FORM];
			wish->forms[option - OPTION_FORM] = true;
		} else {
			return false;
		}
	}
	if (optind + 1 != argc) {
		console_error("extract takes one key");
		return false;
	}
	return is_sound(wish);
}

int command_extract(int argc, char **argv)
{
	struct wish wish = {.number = 1};
	struct settings settings;
	int status;

	if (!read_options(argc, argv, &wish, &status)) {
		return status == EXIT_USAGE ? options_usage("extract") : status;
	}
	if (!console_settings(&settings)) {
		return EXIT_TROUBLE;
	}
	interrupt_hold();
	status = console_directory(&settings) ? extract(&settings, argv[optind], &wish) : EXIT_TROUBLE;
	settings_free(&settings);
	interrupt_release();
	return status;
}
