/* SPDX-License-Identifier: MIT */
/*
 * extract: writes an artifact of an entry, for cuobjdump, nvdisasm, ptxas and linkers
 *
 * Each compiler has its own names for its artifacts; a form ("ptx") is the same for all compilers. The bytes are those
 * that the getter returned to the program, without the NUL at the end of PTX and logs, because ptxas rejects it.
 */
#include "cli/console/console.h"
#include "cli/console/entries.h"
#include "cli/console/progress.h"
#include "cli/console/target.h"
#include "cli/console/verb.h"
#include "cli/verbs/results.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * X(NAME, option, words, is it text?, names): the names are those of artifacts in entries (ABOUT_ARTIFACT): the
 * compilers' getters without their prefix.
 */
#define FORMS(X)                                                                \
	X(PTX, "ptx", "PTX", true, "PTX", "LinkedPtx")                          \
	X(CUBIN, "cubin", "CUBIN: machine code", false, "CUBIN", "LinkedCubin") \
	X(LTOIR, "ltoir", "LTO-IR, for linking", false, "LTOIR", "LinkedLTOIR") \
	X(OPTIXIR, "optixir", "OptiX IR", false, "OptiXIR", "")                 \
	X(TILEIR, "tileir", "Tile IR", false, "TileIR", "")                     \
	X(NVVM, "nvvm", "NVVM IR of older releases", false, "NVVM", "")         \
	X(LOG, "log", "log of NVRTC or libNVVM", true, "ProgramLog", "log")     \
	X(INFO_LOG, "info-log", "info log of nvJitLink", true, "InfoLog", "")   \
	X(ERROR_LOG, "error-log", "error log of nvJitLink", true, "ErrorLog", "")

enum form {
#define FORM_ENUM(name, ...) FORM_##name,
	FORMS(FORM_ENUM)
#undef FORM_ENUM
	    FORM_COUNT
};

static const struct {
	const char *option;
	bool is_text;
	const char *names[2];
} forms[] = {
#define FORM_ROW(name, option, words, text, ...) {option, text, {__VA_ARGS__}},
    FORMS(FORM_ROW)
#undef FORM_ROW
};

/* libNVVM has a single result: PTX, or with -gen-lto LTO-IR, which begins with these bytes. */
static const char compiled_result[] = "compiled result";
static const uint8_t ltoir_magic[] = {0xed, 0x43, 0x4e, 0x7f};

static struct {
	bool wanted[FORM_COUNT];
	const char *file;
} asked;

static enum form find_form(struct span name, struct span bytes)
{
	int form = 0;

	if (span_is(name, compiled_result)) {
		return bytes.size >= sizeof(ltoir_magic) && memcmp(bytes.bytes, ltoir_magic, sizeof(ltoir_magic)) == 0
		           ? FORM_LTOIR
		           : FORM_PTX;
	}
	while (form < FORM_COUNT && !span_is(name, forms[form].names[0]) && !span_is(name, forms[form].names[1])) {
		form++;
	}
	return (enum form)form;
}

/*
 * Finds an artifact of the entry. Returns FORM_COUNT if there is none. An entry of a failed compilation has empty
 * sections for artifacts that were not made. An empty log counts as made, because the getter returned it.
 */
static enum form take_artifact(const struct entry *entry, const struct about_fact *fact, struct span *ret_bytes)
{
	struct span bytes = results_artifact(entry, fact);
	enum form form = find_form(span_of(fact), bytes);

	if (!bytes.bytes) {
		return FORM_COUNT;
	}
	if (form < FORM_COUNT && forms[form].is_text && bytes.size > 0 &&
	    ((const char *)bytes.bytes)[bytes.size - 1] == '\0') {
		bytes.size--;
	}
	if (bytes.size == 0 && form < FORM_LOG && results_return_code(entry) != 0) {
		return FORM_COUNT;
	}
	*ret_bytes = bytes;
	return form;
}

static int write_artifact(struct span bytes)
{
	const char *file = asked.file ? asked.file : "-";
	bool is_file = strcmp(file, "-") != 0;
	char size[CONSOLE_NUMBER_BYTES];
	struct target target;

	/* checked here, because the rename would replace a file that has no write permission */
	if (is_file && access(file, W_OK) < 0 && errno != ENOENT) {
		console_error("%s: %s", file, strerror(errno));
		return EXIT_TROUBLE;
	}
	if (!target_open(file, "an artifact", &target) ||
	    !target_close(&target, target_put(&target, bytes.bytes, bytes.size))) {
		return EXIT_TROUBLE;
	}
	if (is_file) {
		console_line("wrote %s (%s)", file, console_bytes(bytes.size, size));
	}
	return EXIT_DONE;
}

static int extract_from(const struct entry *entry, const struct request *request)
{
	struct span bytes, wanted = {NULL, 0};
	char list[256] = "";

	for (size_t i = 0; i < request->counts[ABOUT_ARTIFACT]; i++) {
		enum form form = take_artifact(entry, &request->facts[ABOUT_ARTIFACT][i], &bytes);

		if (form < FORM_COUNT) {
			wanted = asked.wanted[form] ? bytes : wanted;
			snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s--%s", *list ? ", " : "",
			         forms[form].option);
		}
	}
	if (wanted.bytes) {
		return write_artifact(wanted);
	}
	console_error("the entry has no such artifact; it has %s", *list ? list : "none");
	return EXIT_TROUBLE;
}

static int run_extract(struct settings *settings, char **operands)
{
	struct key_entries entries;
	struct request request;
	unsigned count = 0;
	int status, written = EXIT_DONE;

	for (int form = 0; form < FORM_COUNT; form++) {
		count += asked.wanted[form];
	}
	if (count != 1) {
		console_error("extract: it takes one artifact: --ptx, --cubin, ...");
		return verb_usage(&verb_extract);
	}
	interrupt_hold();
	/* key_open() may fail for one entry and still return the others */
	status = key_open(settings, operands[0], &entries);
	if (entries.count > 0) {
		const struct entry *newest = entries.list[entries.count - 1];

		request = results_request(newest);
		written = extract_from(newest, &request);
		request_free(&request);
	}
	key_release(&entries);
	return status ? status : written;
}

const struct verb verb_extract = {
    .name = "extract",
    .arguments = "KEY --ptx|--cubin|--log|... [-o FILE]",
    .summary = "write an artifact of an entry",
    .more =
        "KEY is a key or its beginning, as 'nvrtccache ls' shows it; of several entries of a key, the newest is read.\n"
        "An existing file is overwritten. Text is written without its terminating NUL.",
    .example = "nvrtccache extract 5addf761 --ptx -o add.ptx",
    .options = (const struct verb_option[]){{"output", 'o', "FILE", "write to FILE (default: standard output)", NULL,
                                             &asked.file},
#define FORM_OPTION(name, option, words, ...) {option, 0, NULL, words, &asked.wanted[FORM_##name], NULL},
                                            FORMS(FORM_OPTION)
#undef FORM_OPTION
                                                {NULL, 0, NULL, NULL, NULL, NULL}},
    .needs = VERB_DIRECTORY,
    .operand = "KEY",
    .least = 1,
    .most = 1,
    .run = run_extract,
};
