/* SPDX-License-Identifier: MIT */
/*
 * extract: writes artifacts of an entry to files that cuobjdump, nvdisasm, ptxas and linkers read
 *
 * Each compiler has its own names for its artifacts; a form ("ptx") is the same for all compilers. The bytes are those
 * that the getter returned to the program, without the NUL at the end of PTX and logs, because ptxas rejects it.
 */
#include "cli/console/console.h"
#include "cli/console/key.h"
#include "cli/console/progress.h"
#include "cli/console/request.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"
#include "keygen/lowered.h"
#include "keygen/stream.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* X(NAME, option, words, suffix, is it text?) */
#define FORMS(X)                                                                \
	X(PTX, "ptx", "PTX", ".ptx", true)                                      \
	X(CUBIN, "cubin", "CUBIN: machine code", ".cubin", false)               \
	X(LTOIR, "ltoir", "LTO-IR, for linking", ".ltoir", false)               \
	X(OPTIXIR, "optixir", "OptiX IR", ".optixir", false)                    \
	X(TILEIR, "tileir", "Tile IR", ".tileir", false)                        \
	X(NVVM, "nvvm", "NVVM IR of older releases", ".nvvm", false)            \
	X(LOG, "log", "log of NVRTC or libNVVM", ".log", true)                  \
	X(INFO_LOG, "info-log", "info log of nvJitLink", ".info.log", true)     \
	X(ERROR_LOG, "error-log", "error log of nvJitLink", ".error.log", true) \
	X(NAMES, "lowered-names", "lines: lowered name, tab, name expression", ".names", true)

enum form {
#define FORM_ENUM(name, option, words, suffix, text) FORM_##name,
	FORMS(FORM_ENUM)
#undef FORM_ENUM
	    FORM_COUNT
};

static const struct {
	const char *option, *suffix;
	bool is_text;
} forms[] = {
#define FORM_ROW(name, option, words, suffix, text) {option, suffix, text},
    FORMS(FORM_ROW)
#undef FORM_ROW
};

/* The names of artifacts in entries (ABOUT_ARTIFACT): those of the compilers' getters, without their prefix. */
static const struct {
	const char *name;
	enum form form;
} names[] = {
    {"PTX", FORM_PTX},
    {"LinkedPtx", FORM_PTX},
    {"CUBIN", FORM_CUBIN},
    {"LinkedCubin", FORM_CUBIN},
    {"LTOIR", FORM_LTOIR},
    {"LinkedLTOIR", FORM_LTOIR},
    {"TileIR", FORM_TILEIR},
    {"NVVM", FORM_NVVM},
    {"ProgramLog", FORM_LOG},
    {"log", FORM_LOG},
    {"OptiXIR", FORM_OPTIXIR},
    {"InfoLog", FORM_INFO_LOG},
    {"ErrorLog", FORM_ERROR_LOG},
};

/* libNVVM has a single result: PTX, or with -gen-lto LTO-IR, which begins with these bytes. */
static const char compiled_result[] = "compiled result";
static const uint8_t ltoir_magic[] = {0xed, 0x43, 0x4e, 0x7f};

static struct {
	bool wanted[FORM_COUNT];
	const char *file, *all, *number;
} asked;

/* The artifacts of an entry, indexed by form; bytes NULL: the entry does not have that form. */
struct artifacts {
	struct span of[FORM_COUNT];
	void *lines; /* memory of the lowered names */
	int return_code;
};

static enum form find_form(struct span name, struct span bytes)
{
	if (span_is(name, compiled_result)) {
		return bytes.size >= sizeof(ltoir_magic) && memcmp(bytes.bytes, ltoir_magic, sizeof(ltoir_magic)) == 0
		           ? FORM_LTOIR
		           : FORM_PTX;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (span_is(name, names[i].name)) {
			return names[i].form;
		}
	}
	return FORM_COUNT;
}

/*
 * Returns whether the compiler made the artifact. An entry of a failed compilation has empty sections for artifacts
 * that were not made. An empty log counts as made, because the getter returned it.
 */
static bool is_made(enum form form, struct span bytes, int return_code)
{
	return return_code == 0 || bytes.size > 0 || form == FORM_LOG || form == FORM_INFO_LOG ||
	       form == FORM_ERROR_LOG;
}

static void take_artifact(const struct entry *entry, const struct about_fact *fact, struct artifacts *artifacts)
{
	struct section section;
	struct span bytes;
	enum form form;

	/* the first `skip` bytes of the section were not returned by a getter */
	if (!entry_section(entry, fact->tag, &section) || section.size < fact->skip) {
		return;
	}
	bytes = (struct span){(const char *)section.bytes + fact->skip, section.size - fact->skip};
	form = find_form(span_of(fact), bytes);
	if (form == FORM_COUNT) {
		return;
	}
	if (forms[form].is_text && bytes.size > 0 && ((const char *)bytes.bytes)[bytes.size - 1] == '\0') {
		bytes.size--;
	}
	if (is_made(form, bytes, artifacts->return_code)) {
		artifacts->of[form] = bytes;
	}
}

/* Appends an expression. Tabs and line breaks in it become blanks, because they separate fields and lines. */
static void put_expression(struct stream *lines, const char *expression)
{
	for (; *expression != '\0'; expression++) {
		stream_bytes(lines, strchr("\t\n", *expression) ? " " : expression, 1);
	}
	stream_bytes(lines, "\n", 1);
}

static int take_names(const struct entry *entry, struct artifacts *artifacts)
{
	struct stream lines = STREAM_EMPTY;
	struct section section;
	struct lowered lowered;
	struct cursor cursor;
	int error;

	if (!entry_section(entry, LOWERED_SECTION, &section) || section.size == 0) {
		return 0;
	}
	cursor = cursor_over(section.bytes, section.size);
	while (lowered_next(&cursor, &lowered)) {
		if (lowered.name) {
			stream_bytes(&lines, lowered.name, strlen(lowered.name));
			stream_bytes(&lines, "\t", 1);
			put_expression(&lines, lowered.expression);
		}
	}
	error = lines.failed ? -ENOMEM : cursor.failed ? -EBADMSG : 0;
	if (error != 0) {
		stream_free(&lines);
	} else if (is_made(FORM_NAMES, (struct span){lines.bytes, lines.size}, artifacts->return_code)) {
		artifacts->of[FORM_NAMES] = (struct span){lines.bytes ? (const void *)lines.bytes : "", lines.size};
	}
	/* `lines` owns the bytes that the artifact points to */
	artifacts->lines = error ? NULL : lines.bytes;
	return error;
}

static int take_artifacts(const struct entry *entry, const struct request *request, struct artifacts *ret_artifacts)
{
	struct section code;

	if (entry_section(entry, ABOUT_CODE_SECTION, &code)) {
		ret_artifacts->return_code = code.value;
	}
	for (size_t i = 0; i < request->counts[ABOUT_ARTIFACT]; i++) {
		take_artifact(entry, &request->facts[ABOUT_ARTIFACT][i], ret_artifacts);
	}
	return request_is(request, ABOUT_COMPILER, "nvrtc") ? take_names(entry, ret_artifacts) : 0;
}

/*
 * Writes the base of the file names: "add" for "/src/add.cu". Bytes that are unusual in file names become '_', because
 * the program chose the name, and it may contain any bytes.
 */
static void spell_base(const struct request *request, char ret_base[NAME_MAX])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
	struct span base = span_base(request_text(request, ABOUT_PROGRAM));
	const char *text = base.bytes, *dot = base.size ? memrchr(text, '.', base.size) : NULL;
	size_t size = dot ? (size_t)(dot - text) : base.size;

	/* leaves room for the suffix in NAME_MAX */
	size = size < 128 ? size : 127;
	for (size_t i = 0; i < size; i++) {
		/* the name must not begin like an option or a hidden file */
		bool is_plain = memchr(plain, text[i], sizeof(plain) - 1) && (i > 0 || !strchr("-.", text[i]));

		ret_base[i] = is_plain ? text[i] : '_';
	}
	strcpy(ret_base + size, size == 0 ? "result" : "");
}

static int write_file(struct span bytes, const char *file)
{
	char size[CONSOLE_NUMBER_BYTES];
	struct target target;

	/* checked here, because the rename would replace a file that has no write permission */
	if (strcmp(file, "-") != 0 && access(file, W_OK) < 0 && errno != ENOENT) {
		console_error("%s: %s", file, strerror(errno));
		return EXIT_TROUBLE;
	}
	if (!target_open(file, "an artifact", &target) ||
	    !target_close(&target, DURABILITY_NONE, target_put(&target, bytes.bytes, bytes.size))) {
		return EXIT_TROUBLE;
	}
	if (strcmp(file, "-") != 0) {
		console_line("wrote %s (%s)", file, console_bytes(bytes.size, size));
	}
	return EXIT_DONE;
}

static void complain_of_missing(enum form form, const struct artifacts *artifacts)
{
	char list[256] = "", failure[64] = "";

	for (int i = 0; i < FORM_COUNT; i++) {
		if (artifacts->of[i].bytes) {
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s--%s", *list ? ", " : "",
			         forms[i].option);
		}
	}
	if (artifacts->return_code != 0) {
		snprintf(failure, sizeof(failure), "the compilation failed (return code %d): ", artifacts->return_code);
	}
	console_error("%sthe entry has no %s; it has %s", failure, forms[form].option, *list ? list : "nothing");
}

static int write_artifacts(const struct request *request, const struct artifacts *artifacts)
{
	char base[NAME_MAX], path[PATH_MAX];
	int status = EXIT_DONE;

	spell_base(request, base);
	errno = asked.all && strlen(asked.all) >= PATH_MAX - NAME_MAX ? ENAMETOOLONG : 0;
	if (errno != 0 || (asked.all && mkdir(asked.all, 0777) < 0 && errno != EEXIST)) {
		console_error("%s: %s", asked.all, strerror(errno));
		return EXIT_TROUBLE;
	}
	for (int form = 0; form < FORM_COUNT && status == EXIT_DONE; form++) {
		if (artifacts->of[form].bytes && (asked.all || asked.wanted[form])) {
			snprintf(path, sizeof(path), "%s%s%s%s", asked.all ? asked.all : "", asked.all ? "/" : "", base,
			         forms[form].suffix);
			status = write_file(artifacts->of[form], asked.file ? asked.file : path);
		}
	}
	/* missing artifacts are reported last, so that the others are written first */
	for (int form = 0; form < FORM_COUNT && status == EXIT_DONE; form++) {
		if (asked.wanted[form] && !artifacts->of[form].bytes) {
			complain_of_missing((enum form)form, artifacts);
			status = EXIT_TROUBLE;
		}
	}
	return status;
}

static int extract_from(const struct entry *entry)
{
	struct artifacts artifacts = {.lines = NULL};
	struct section about;
	struct request request;
	int status = EXIT_TROUBLE;
	int error =
	    entry_section(entry, ABOUT_SECTION, &about) ? request_read(about.bytes, about.size, &request) : -ENODATA;

	if (error == 0) {
		error = take_artifacts(entry, &request, &artifacts);
		if (error == 0) {
			status = write_artifacts(&request, &artifacts);
		}
		free(artifacts.lines);
		request_free(&request);
	}
	if (error != 0) {
		console_error("the entry cannot be read: %s",
		              error == -ENODATA   ? "an earlier build stored it without the names of its artifacts"
		              : error == -EBADMSG ? "its description is damaged"
		                                  : strerror(-error));
	}
	return status;
}

/* Checks the combination of options and reads --number. Returns false after a message if they are wrong. */
static bool check_options(unsigned long *ret_number)
{
	unsigned count = 0;
	char *end;

	for (int form = 0; form < FORM_COUNT; form++) {
		count += asked.wanted[form];
	}
	*ret_number = asked.number ? strtoul(asked.number, &end, 10) : 1;
	if (asked.number &&
	    (*ret_number == 0 || *end != '\0' || strspn(asked.number, "0123456789") != strlen(asked.number))) {
		console_error("extract: --number: bad number '%s': 1 is the newest entry of a key", asked.number);
	} else if (asked.all && (count > 0 || asked.file)) {
		console_error("extract: --all writes every artifact into DIR and excludes -o and single artifacts");
	} else if (!asked.all && count == 0) {
		console_error("extract: the artifact is missing: --ptx, --cubin, ... or --all DIR");
	} else if (count > 1 && asked.file) {
		console_error("extract: -o names one file and takes one artifact");
	} else {
		return true;
	}
	return false;
}

static int run_extract(struct settings *settings, char **operands)
{
	struct inventory_record record;
	struct key_entries entries;
	unsigned long number;
	int status, read;

	if (!check_options(&number)) {
		return verb_usage(&verb_extract);
	}
	interrupt_hold();
	status = key_find(settings, operands[0], &record);
	if (status != EXIT_DONE) {
		return status;
	}
	/* key_read() may fail for one entry and still return the others */
	read = key_read(settings, record.key, &entries);
	if (entries.count == 0) {
		status = EXIT_TROUBLE;
	} else if (number > entries.count) {
		console_error("%s: no entry %lu: this key has %zu", operands[0], number, entries.count);
		status = EXIT_TROUBLE;
	} else {
		status = extract_from(entries.list[number - 1]);
	}
	key_release(&entries);
	return read ? read : status;
}

const struct verb verb_extract = {
    .name = "extract",
    .arguments = "KEY --ptx|--cubin|--log|... [-o FILE]",
    .summary = "write artifacts of an entry to files",
    .more =
        "KEY is a key or its beginning, as 'nvrtccache ls' shows it. Existing files are overwritten. Text is written\n"
        "without its terminating NUL.",
    .example = "nvrtccache extract 5addf761 --ptx -o add.ptx",
    .options =
        (const struct verb_option[]){
            {"output", 'o', "FILE", "write to FILE, or to standard output ('-'); default: named after the source", NULL,
             &asked.file},
            {"all", 0, "DIR", "write all artifacts into DIR, creating it if needed", NULL, &asked.all},
            {"number", 0, "N", "take the N-th entry that 'show' lists under the key (default: 1)", NULL, &asked.number},
#define FORM_OPTION(name, option, words, suffix, text) {option, 0, NULL, words, &asked.wanted[FORM_##name], NULL},
            FORMS(FORM_OPTION)
#undef FORM_OPTION
                {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .least = 1,
    .most = 1,
    .run = run_extract,
};
