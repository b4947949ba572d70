/* SPDX-License-Identifier: MIT */
#include "cli/verbs/artifacts.h"

#include "cli/console/console.h"
#include "keygen/about.h"
#include "keygen/lowered.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *option, *suffix;
	bool is_text;
} forms[] = {
#define ARTIFACT_ROW(name, option, suffix, text) {option, suffix, text},
    ARTIFACT_FORMS(ARTIFACT_ROW)
#undef ARTIFACT_ROW
};

/* How compilers' sections are called in their about sections. */
static const struct {
	const char *name;
	enum artifact_form form;
} names[] = {
    {"PTX", ARTIFACT_PTX},
    {"LinkedPtx", ARTIFACT_PTX},
    {"CUBIN", ARTIFACT_CUBIN},
    {"LinkedCubin", ARTIFACT_CUBIN},
    {"LTOIR", ARTIFACT_LTOIR},
    {"LinkedLTOIR", ARTIFACT_LTOIR},
    {"OptiXIR", ARTIFACT_OPTIXIR},
    {"TileIR", ARTIFACT_TILEIR},
    {"NVVM", ARTIFACT_NVVM},
    {"ProgramLog", ARTIFACT_LOG},
    {"log", ARTIFACT_LOG},
    {"InfoLog", ARTIFACT_INFO_LOG},
    {"ErrorLog", ARTIFACT_ERROR_LOG},
};

/* libNVVM's one result is PTX, or with -gen-lto LTO-IR, which begins so. */
static const char compiled_result[] = "compiled result";
static const uint8_t ltoir_magic[] = {0xed, 0x43, 0x4e, 0x7f};

const char *artifact_option(enum artifact_form form)
{
	return forms[form].option;
}

const char *artifact_suffix(enum artifact_form form)
{
	return forms[form].suffix;
}

static bool is_called(const struct about_fact *fact, const char *name)
{
	return fact->size == strlen(name) && memcmp(fact->text, name, fact->size) == 0;
}

static enum artifact_form form_of(const struct about_fact *fact, const struct artifact *artifact)
{
	if (is_called(fact, compiled_result)) {
		return artifact->size >= sizeof(ltoir_magic) &&
		               memcmp(artifact->bytes, ltoir_magic, sizeof(ltoir_magic)) == 0
		           ? ARTIFACT_LTOIR
		           : ARTIFACT_PTX;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (is_called(fact, names[i].name)) {
			return names[i].form;
		}
	}
	return ARTIFACT_FORM_COUNT;
}

struct walk {
	const struct entry *entry;
	int (*each)(const struct artifact *artifact, void *context);
	void *context;
	bool has_names;
};

static int give(const struct about_fact *fact, void *context)
{
	struct walk *walk = context;
	struct artifact artifact = {.owned = NULL};
	struct section section;

	if (fact->kind == ABOUT_COMPILER) {
		walk->has_names = is_called(fact, "nvrtc");
	}
	if (fact->kind != ABOUT_ARTIFACT || !entry_section(walk->entry, fact->tag, &section) ||
	    section.size < fact->skip) {
		return 0;
	}
	artifact.bytes = (const char *)section.bytes + fact->skip;
	artifact.size = section.size - fact->skip;
	artifact.form = form_of(fact, &artifact);
	if (artifact.form == ARTIFACT_FORM_COUNT) {
		return 0;
	}
	if (forms[artifact.form].is_text && artifact.size > 0 &&
	    ((const char *)artifact.bytes)[artifact.size - 1] == '\0') {
		artifact.size--;
	}
	return walk->each(&artifact, walk->context);
}

/* A tab or a line's end in an expression would be taken for those between names. */
static void put_expression(struct stream *lines, const char *expression)
{
	for (; *expression != '\0'; expression++) {
		stream_bytes(lines, strchr("\t\n", *expression) ? " " : expression, 1);
	}
}

static int give_names(const struct walk *walk)
{
	struct artifact artifact = {.form = ARTIFACT_NAMES};
	struct stream lines = STREAM_EMPTY;
	struct section section;
	struct lowered lowered;
	struct cursor cursor;

	if (!walk->has_names || !entry_section(walk->entry, LOWERED_SECTION, &section) || section.size == 0) {
		return 0;
	}
	cursor = cursor_over(section.bytes, section.size);
	while (lowered_next(&cursor, &lowered)) {
		if (lowered.name) {
			stream_bytes(&lines, lowered.name, strlen(lowered.name));
			stream_bytes(&lines, "\t", 1);
			put_expression(&lines, lowered.expression);
			stream_bytes(&lines, "\n", 1);
		}
	}
	if (lines.failed || cursor.failed) {
		int error = lines.failed ? -ENOMEM : -EBADMSG;

		stream_free(&lines);
		return error;
	}
	artifact.owned = lines.bytes;
	artifact.bytes = lines.bytes;
	artifact.size = lines.size;
	return walk->each(&artifact, walk->context);
}

int artifacts_each(const struct entry *entry, int (*each)(const struct artifact *artifact, void *context),
                   void *context)
{
	struct walk walk = {.entry = entry, .each = each, .context = context};
	struct section about;
	int rc;

	if (!entry_section(entry, ABOUT_SECTION, &about)) {
		return -ENODATA;
	}
	rc = about_read(about.bytes, about.size, give, &walk);
	return rc == 0 ? give_names(&walk) : rc;
}

void artifact_free(struct artifact *artifact)
{
	free(artifact->owned);
	artifact->owned = NULL;
}

bool artifact_is_harmless(const struct artifact *artifact)
{
	const size_t size = artifact->size;
	char *text, *disarmed;
	bool harmless;

	if (!forms[artifact->form].is_text || (size > 0 && memchr(artifact->bytes, '\0', size))) {
		return false;
	}
	text = strndup(size > 0 ? artifact->bytes : "", size);
	if (!text) {
		return false;
	}
	for (size_t i = 0; i < size; i++) {
		text[i] = strchr("\t\r\n", text[i]) ? ' ' : text[i];
	}
	disarmed = strdup(text);
	if (disarmed) {
		console_disarm(disarmed);
	}
	harmless = disarmed && strcmp(text, disarmed) == 0;
	free(text);
	free(disarmed);
	return harmless;
}

static int find_program(const struct about_fact *fact, void *context)
{
	struct about_fact *found = context;

	if (fact->kind != ABOUT_PROGRAM) {
		return 0;
	}
	*found = *fact;
	return 1;
}

void artifact_base(const struct entry *entry, char ret_base[ARTIFACT_BASE_BYTES])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-";
	struct about_fact program = {.text = ""};
	const char *name, *slash, *dot;
	struct section about;
	size_t size;

	if (entry_section(entry, ABOUT_SECTION, &about)) {
		(void)about_read(about.bytes, about.size, find_program, &program);
	}
	slash = memrchr(program.text, '/', program.size);
	name = slash ? slash + 1 : program.text;
	size = program.size - (size_t)(name - program.text);
	dot = memrchr(name, '.', size);
	size = dot ? (size_t)(dot - name) : size;
	size = size < ARTIFACT_BASE_BYTES ? size : ARTIFACT_BASE_BYTES - 1;
	for (size_t i = 0; i < size; i++) {
		/* nor an option, nor a hidden file */
		bool fits = name[i] != '\0' && strchr(plain, name[i]) && (i > 0 || (name[i] != '-' && name[i] != '.'));

		ret_base[i] = fits ? name[i] : '_';
	}
	ret_base[size] = '\0';
	if (size == 0) {
		strcpy(ret_base, "result");
	}
}
