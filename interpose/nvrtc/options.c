/* SPDX-License-Identifier: MIT */
/*
 * One string of the array is in one of these states:
 *
 *     option --FLAG, -Ix, -I x, --name=value--> option
 *        \----name alone, of an option with a value--> value --any string--> option
 *
 * NVRTC removes blanks at both ends of every string first, then looks the name up exactly. Measured on 11.8, 12.0,
 * 12.4, 12.9, 13.0 and 13.5, which differ only in the names that they know (tests/cases/spellings.py).
 */
#include "interpose/nvrtc/options.h"

#include "cache/digits.h"
#include "interpose/compile/ptxas_options.h"
#include "keygen/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum option_form {
	FORM_FLAG,   /* only the name */
	FORM_JOINED, /* name=value */
	FORM_VALUE,  /* name=value, or the value is the next string */
	FORM_LETTER  /* like VALUE, or the value follows directly or after blanks: -Ix, "-I x" */
};

/*
 * X(effect, form, --long name, -short name). HARMLESS: PTX, CUBIN and log of one program had the same bytes with two
 * different directories for sources, headers, cwd and PWD and with different header times, in every release that knows
 * the option.
 */
#define OPTIONS(X)                                                                    \
	X(HARMLESS, LETTER, "define-macro", "D")                                      \
	X(HARMLESS, LETTER, "undefine-macro", "U")                                    \
	X(INCLUDE, LETTER, "include-path", "I")                                       \
	X(BUNDLE, JOINED, "use-bundled-headers", "=")                                 \
	X(PRE_INCLUDE, VALUE, "pre-include", "include")                               \
	X(HARMLESS, VALUE, "gpu-architecture", "arch")                                \
	X(HARMLESS, JOINED, "std", "std")                                             \
	X(HARMLESS, FLAG, "device-as-default-execution-space", "default-device")      \
	X(HARMLESS, VALUE, "relocatable-device-code", "rdc")                          \
	X(HARMLESS, FLAG, "device-c", "dc")                                           \
	X(HARMLESS, FLAG, "device-w", "dw")                                           \
	X(HARMLESS, FLAG, "extensible-whole-program", "ewp")                          \
	X(HARMLESS, VALUE, "ftz", "ftz")                                              \
	X(HARMLESS, VALUE, "prec-sqrt", "prec-sqrt")                                  \
	X(HARMLESS, VALUE, "prec-div", "prec-div")                                    \
	X(HARMLESS, VALUE, "fmad", "fmad")                                            \
	X(HARMLESS, FLAG, "use_fast_math", "use_fast_math")                           \
	X(HARMLESS, FLAG, "fassociative-math", "fassociative-math")                   \
	X(HARMLESS, FLAG, "extra-device-vectorization", "extra-device-vectorization") \
	X(HARMLESS, VALUE, "maxrregcount", "maxrregcount")                            \
	X(HARMLESS, VALUE, "dopt", "dopt")                                            \
	X(HARMLESS, VALUE, "Ofast-compile", "Ofc")                                    \
	X(HARMLESS, VALUE, "jump-table-density", "jtd")                               \
	X(SPLIT, VALUE, "split-compile", "split-compile")                             \
	X(HARMLESS, VALUE, "device-stack-protector", "device-stack-protector")        \
	X(HARMLESS, VALUE, "modify-stack-limit", "modify-stack-limit")                \
	X(RESTRICT, FLAG, "restrict", "restrict")                                     \
	X(HARMLESS, FLAG, "device-int128", "device-int128")                           \
	X(NO_CACHE, FLAG, "no-cache", "no-cache")                                     \
	X(HARMLESS, JOINED, "frandom-seed", "frandom-seed")                           \
	X(HARMLESS, FLAG, "no-source-include", "no-source-include")                   \
	X(HARMLESS, VALUE, "builtin-move-forward", "builtin-move-forward")            \
	X(HARMLESS, VALUE, "builtin-initializer-list", "builtin-initializer-list")    \
	X(HARMLESS, FLAG, "disable-warnings", "w")                                    \
	X(OPT_INFO, JOINED, "optimization-info", "opt-info")                          \
	X(HARMLESS, FLAG, "display-error-number", "err-no")                           \
	X(HARMLESS, FLAG, "no-display-error-number", "no-err-no")                     \
	X(DIAG_ERROR, VALUE, "diag-error", "diag-error")                              \
	X(HARMLESS, VALUE, "diag-suppress", "diag-suppress")                          \
	X(HARMLESS, VALUE, "diag-warn", "diag-warn")                                  \
	X(HARMLESS, VALUE, "brief-diagnostics", "brief-diag")                         \
	X(HARMLESS, FLAG, "fdevice-syntax-only", "fdevice-syntax-only")               \
	X(HARMLESS, FLAG, "minimal", "minimal")                                       \
	X(HARMLESS, FLAG, "Wconversion", "Wconversion")                               \
	X(HARMLESS, FLAG, "Wreorder", "Wreorder")                                     \
	X(HARMLESS, VALUE, "fmax-errors", "fmax-errors")                              \
	X(HARMLESS, FLAG, "ffinite-math-only", "ffinite-math-only")                   \
	X(HARMLESS, FLAG, "fno-signed-zeros", "fno-signed-zeros")                     \
	X(HARMLESS, FLAG, "uumn", "uumn")                                             \
	X(PTXAS, VALUE, "ptxas-options", "Xptxas")                                    \
	X(NVVM, VALUE, "=", "Xnvvm")                                                  \
	X(DEBUG, FLAG, "device-debug", "G")                                           \
	X(DEBUG, FLAG, "generate-line-info", "lineinfo")                              \
	X(IR, FLAG, "dlink-time-opt", "dlto")                                         \
	X(GEN_LTO, FLAG, "gen-opt-lto", "gen-opt-lto")                                \
	X(OPTIX, FLAG, "optix-ir", "optix-ir")                                        \
	X(PCH, FLAG, "pch", "pch")                                                    \
	X(PCH_FILE, JOINED, "create-pch", "create-pch")                               \
	X(PCH_FILE, JOINED, "use-pch", "use-pch")                                     \
	X(PCH_FILE, JOINED, "pch-dir", "pch-dir")                                     \
	X(PCH, VALUE, "pch-verbose", "pch-verbose")                                   \
	X(PCH, VALUE, "pch-messages", "pch-messages")                                 \
	X(PCH, VALUE, "instantiate-templates-in-pch", "instantiate-templates-in-pch") \
	X(TRACE, JOINED, "fdevice-time-trace", "fdevice-time-trace")                  \
	X(TIME, JOINED, "time", "time")                                               \
	X(BINDS, FLAG, "device-float128", "device-float128")                          \
	X(BINDS, FLAG, "no-lineinfo-inlined-at", "no-lineinfo-ia")                    \
	X(BINDS, FLAG, "warning-as-error", "Werror")                                  \
	X(BINDS, FLAG, "numba-debug", "numba-debug")                                  \
	X(BINDS, FLAG, "utf-8", "utf-8")                                              \
	X(BINDS, FLAG, "enable-tile", "enable-tile")                                  \
	X(BINDS, FLAG, "tile-only", "tile-only")                                      \
	X(BINDS, FLAG, "simt-only", "simt-only")                                      \
	X(BINDS, FLAG, "tile-as-default-execution-space", "default-tile")             \
	X(BINDS, VALUE, "discard-value-names", "discard-value-names")                 \
	X(BINDS, VALUE, "version-ident", "dQ")                                        \
	X(PROCESS, FLAG, "enable-cache-trace", "enable-cache-trace")

struct known_option {
	const char *names[2]; /* [0] after two dashes, [1] after one */
	uint32_t effects;
	uint8_t sizes[2];
	uint8_t form;
};

static const struct known_option known_options[] = {
#define KNOWN_OPTION(e, f, l, s) {{l, s}, OPTION_##e, {sizeof(l) - 1, sizeof(s) - 1}, FORM_##f},
    OPTIONS(KNOWN_OPTION)
#undef KNOWN_OPTION
};

static const struct known_option *find_option(const char *name, size_t size, int dashes)
{
	const int which = dashes == 2 ? 0 : 1;

	for (size_t i = 0; i < sizeof(known_options) / sizeof(known_options[0]); i++) {
		const struct known_option *known = &known_options[i];

		if (known->sizes[which] == size && memcmp(known->names[which], name, size) == 0) {
			return known;
		}
	}
	return NULL;
}

/* The state between two strings. */
struct reading {
	struct options *options;
	size_t count;                       /* of the strings */
	int index;                          /* of the present one */
	const struct known_option *waiting; /* the present string is its value; NULL: it is an option */
	const char *passed;                 /* the value of the last -Xnvvm */
	bool failed;                        /* no memory */
};

/* The letter is part of the digest. */
enum cleared_kind {
	CLEARED_FRONT_END = 'f', /* the option itself */
	CLEARED_PTXAS = 'p',     /* a value of -Xptxas */
	CLEARED_NVVM = 'n'       /* a value of -Xnvvm */
};

/* Options of cuDNN, by digest, that scripts/cleared-options has found harmless. */
static const char cleared[][DIGITS_BYTES(KEY_BYTES)] = {
#include "interpose/nvrtc/cleared_options.list"
};

static bool is_listed(enum cleared_kind kind, const char *before, const char *text)
{
	const char letter = (char)kind;
	const struct span spans[] = {{&letter, 1}, {before, strlen(before) + 1}, {text, strlen(text)}};
	struct key digest;

	digest_key(spans, sizeof(spans) / sizeof(spans[0]), &digest);
	return digits_listed(digest.bytes, cleared, sizeof(cleared) / sizeof(cleared[0]));
}

/* `before`: the value of the last -Xnvvm before this one, which may need it; or NULL. */
static bool is_cleared(enum cleared_kind kind, const char *before, const char *text)
{
	return is_listed(kind, "", text) || (before && is_listed(kind, before, text));
}

/*
 * Adds to the hash. Several options, or the same ones in another order, have another hash, so that such a compilation
 * does not count as one with the same options.
 */
static void note_uncleared(struct options *options, const char *option)
{
	options->uncleared = (options->uncleared * 3 + XXH3_64bits(option, strlen(option))) | 1;
}

/* Notes an option that no document names, or a value of one, or of -Xptxas, which may write paths (-lineinfo). */
static void note_unlisted(struct options *options, enum cleared_kind kind, const char *before, const char *text)
{
	if (is_cleared(kind, before, text)) {
		return;
	}
	options->effects |= OPTION_BINDS;
	if (kind != CLEARED_PTXAS || !ptxas_options_cleared(text)) {
		note_uncleared(options, text);
	}
}

/*
 * Returns true for an empty string, or one with a blank or control byte at an end. Only space, tab and newline were
 * measured as blanks, so such a string makes the request path-dependent.
 */
static bool has_doubtful_ends(const char *string, size_t size)
{
	return size == 0 || (unsigned char)string[0] <= ' ' || (unsigned char)string[size - 1] <= ' ';
}

static void note_directory(struct reading *reading, const char *directory)
{
	struct options *options = reading->options;

	if (has_doubtful_ends(directory, strlen(directory))) {
		options->effects |= OPTION_BINDS;
		return;
	}
	if (!options->directories) {
		options->directories = calloc(reading->count, sizeof(*options->directories));
	}
	if (options->directories) {
		options->directories[reading->index] = directory;
	} else {
		reading->failed = true;
	}
}

static void note_value(struct reading *reading, const struct known_option *known, const char *value)
{
	struct options *options = reading->options;
	bool binds = false;

	options->effects |= known->effects;
	switch (known->effects) {
	case OPTION_INCLUDE:
		note_directory(reading, value);
		break;
	case OPTION_BUNDLE:
		/*
		 * NVRTC locks the directory by its name as passed, and from 13.3 on opens its headers by their absolute
		 * names. Both depend on the working directory.
		 */
		binds = value[0] != '/' || options->bundle;
		options->bundle = value;
		note_directory(reading, value);
		break;
	case OPTION_PRE_INCLUDE:
		/*
		 * Its text is in the key, and the watch sees the compiler open the file. But an absolute path may be in
		 * a root.
		 */
		binds = value[0] == '/' || has_doubtful_ends(value, strlen(value));
		break;
	case OPTION_TIME:
		options->effects |= value[strspn(value, " \t")] == '-' ? OPTION_TELLS : 0;
		break;
	case OPTION_PTXAS:
		options->effects |= strstr(value, "-v") || strstr(value, "-warn") ? OPTION_SPEAKS : 0;
		note_unlisted(options, CLEARED_PTXAS, NULL, value);
		break;
	case OPTION_NVVM:
		note_unlisted(options, CLEARED_NVVM, reading->passed, value);
		reading->passed = value;
		break;
	default:
		break;
	}
	options->effects |= binds ? OPTION_BINDS : 0;
}

/*
 * Returns the option that a string without blanks at its ends names, in a form that it may have; NULL: none. `size`:
 * without blanks at the end. `ret_value`: its value, "" for a flag; NULL: the next string.
 */
static const struct known_option *split_option(const char *string, size_t size, const char **ret_value)
{
	const int dashes = string[1] == '-' ? 2 : 1;
	const char *name = string + dashes;
	const struct known_option *known;
	size_t length = 0;
	bool has_value;

	if (dashes == 1 && (*name == 'D' || *name == 'U' || *name == 'I')) {
		/* NVRTC skips either one '=' right after the letter, or blanks, but not both: "-I= x" is " x", "-I =x"
		 * is "=x". */
		*ret_value = size == 2 ? NULL : name[1] == '=' ? name + 2 : name + 1 + strspn(name + 1, " ");
		return find_option(name, 1, 1);
	}
	while (dashes + length < size && name[length] != '=') {
		length++;
	}
	has_value = dashes + length < size;
	known = find_option(name, length, dashes);
	if (!known || known->form == (has_value ? FORM_FLAG : FORM_JOINED)) {
		return NULL;
	}
	*ret_value = has_value ? name + length + 1 : known->form == FORM_FLAG ? "" : NULL;
	return known;
}

static void read_option(struct reading *reading, const char *string)
{
	const struct known_option *known = NULL;
	const char *value = NULL;
	size_t size;

	string += strspn(string, " \t");
	size = strlen(string);
	while (size && string[size - 1] == ' ') {
		size--;
	}
	if (!has_doubtful_ends(string, size) && string[0] == '-') {
		known = split_option(string, size, &value);
	}
	if (!known) {
		note_unlisted(reading->options, CLEARED_FRONT_END, NULL, string);
	} else if (value) {
		note_value(reading, known, value);
	} else {
		reading->waiting = known;
	}
}

static void read_string(struct reading *reading, const char *string)
{
	const struct known_option *known = reading->waiting;

	if (!string) {
		reading->options->effects |= OPTION_BINDS;
	} else if (known) {
		reading->waiting = NULL;
		note_value(reading, known, string + strspn(string, " \t"));
	} else {
		read_option(reading, string);
	}
}

int options_read(const char *const *options, int count, struct options *ret_options)
{
	struct options found = {0};
	struct reading reading = {.options = &found, .count = (size_t)count};

	for (; reading.index < count; reading.index++) {
		read_string(&reading, options ? options[reading.index] : NULL);
	}
	if (reading.failed) {
		options_free(&found);
		return -ENOMEM;
	}
	if (reading.waiting) {
		/* NVRTC reports that the value is missing: of -Xnvvm only as a warning, so that it compiles */
		found.effects |= OPTION_BINDS;
		if (reading.waiting->effects & OPTION_NVVM) {
			note_uncleared(&found, reading.waiting->names[1]);
		}
	}
	if (options_do(&found, OPTION_DEBUG | OPTION_IR)) {
		found.effects |= OPTION_SPELLS;
	}
	/*
	 * The warnings about precompiled headers depend on earlier compilations of the process, and with these options
	 * they may be errors.
	 */
	if (options_do(&found, OPTION_PCH) && options_do(&found, OPTION_DIAG_ERROR | OPTION_BINDS)) {
		found.effects |= OPTION_TELLS;
	}
	*ret_options = found;
	return 0;
}

bool options_bind(const struct options *options)
{
	return (options->effects & (OPTION_SPELLS | OPTION_LOOSE)) == OPTION_SPELLS ||
	       options_do(options, OPTION_BINDS | OPTION_PCH);
}

bool options_exact(const struct options *options)
{
	return (options->effects & (OPTION_DEBUG | OPTION_LOOSE)) == OPTION_DEBUG || options_do(options, OPTION_BINDS);
}

bool options_may_write(const struct call *call)
{
	struct options options;
	bool may = true;

	if (options_read(call->options, call->option_count, &options) == 0) {
		may = options_do(&options, OPTION_WRITES) || options.uncleared != 0;
		options_free(&options);
	}
	return may;
}

void options_free(struct options *options)
{
	free(options->directories);
	*options = (struct options){0};
}
