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

#include "interpose/compile/ptxas_options.h"
#include "interpose/nvrtc/cleared.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* From this bit on: STICKY_*, of options with an effect on later compilations. */
#define STICKY_AT 16

/* What options do: a set of bits for each. */
enum option_effect {
	OPTION_HARMLESS = 0,
	OPTION_INCLUDE = 1 << 0,
	OPTION_BUNDLE = 1 << 1, /* like INCLUDE; NVRTC unpacks its headers there, under a lock */
	OPTION_PRE_INCLUDE = 1 << 2,
	OPTION_PTXAS = 1 << 3,
	OPTION_DEBUG = 1 << 4,
	OPTION_OPTIX = 1 << 5,
	OPTION_LTO = 1 << 6,
	OPTION_PCH = 1 << 7,
	OPTION_DIAG_ERROR = 1 << 8, /* harmless, and turns warnings into errors */
	OPTION_BINDS = 1 << 9,      /* may let paths reach the output */
	OPTION_TELLS = 1 << 10,     /* its output depends on the process */
	OPTION_TIME = 1 << 11,      /* like BINDS; its value is the file for run times, or "-" for the log */
	OPTION_NVVM = 1 << 12,      /* passes its value on to NVVM */
	OPTION_WRITES = 1 << 13,    /* may name a file to write */
	OPTION_PCH_FILE = OPTION_PCH | OPTION_WRITES,
	OPTION_RESTRICT = STICKY_RESTRICT << STICKY_AT,
	OPTION_OPT_INFO = STICKY_OPT_INFO << STICKY_AT,
	OPTION_SPLIT = STICKY_SPLIT << STICKY_AT,
	OPTION_IR = OPTION_OPTIX | OPTION_LTO,
	OPTION_GEN_LTO = OPTION_IR | STICKY_GEN_OPT_LTO << STICKY_AT,
	OPTION_TRACE = OPTION_BINDS | OPTION_WRITES | STICKY_TIME_TRACE << STICKY_AT,
	OPTION_PROCESS = OPTION_BINDS | OPTION_TELLS | OPTION_WRITES
};

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
	X(HARMLESS, FLAG, "no-cache", "no-cache")                                     \
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

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns true for values of -Xptxas that do not concern lines or files. "-v" logs a run time, but no path. */
static bool ptxas_value_is_harmless(const char *value)
{
	static const char registers[] = "-maxrregcount=";
	static const char *const harmless[] = {"-v",  "--verbose", "-O0",      "-O1",      "-O2",
	                                       "-O3", "-w",        "-dlcm=ca", "-dlcm=cg", "--warn-on-spills"};

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		if (strcmp(value, harmless[i]) == 0) {
			return true;
		}
	}
	return strncmp(value, registers, sizeof(registers) - 1) == 0 &&
	       value[strspn(value + sizeof(registers) - 1, "0123456789") + sizeof(registers) - 1] == '\0';
}

/*
 * Adds to the hash. Several options, or the same ones in another order, have another hash, so that such a compilation
 * does not count as one with the same options.
 */
static void note_uncleared(struct options *options, const char *option)
{
	options->uncleared = (options->uncleared * 3 + XXH3_64bits(option, strlen(option))) | 1;
}

static void note_ptxas(struct options *options, const char *value)
{
	bool harmless = ptxas_value_is_harmless(value), cleared = ptxas_options_cleared(value);

	options->ptxas_speaks |= strstr(value, "-v") || strstr(value, "-warn");
	if ((harmless && cleared) || cleared_option(CLEARED_PTXAS, NULL, value)) {
		return;
	}
	options->unknown |= !harmless;
	if (!cleared) {
		note_uncleared(options, value);
	}
}

/* Notes an option that no document names, or a value of one. */
static void note_unlisted(struct options *options, enum cleared_kind kind, const char *before, const char *text)
{
	if (!cleared_option(kind, before, text)) {
		options->unknown = true;
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

static int add_include(struct options *options, size_t capacity, int index, const char *directory)
{
	if (has_doubtful_ends(directory, strlen(directory))) {
		options->unknown = true;
		return 0;
	}
	if (!options->include) {
		options->include = calloc(capacity, sizeof(*options->include));
		if (!options->include) {
			return -ENOMEM;
		}
	}
	options->include[options->include_count++] = (struct include_option){index, directory};
	return 0;
}

/*
 * Adds the directory of --use-bundled-headers. NVRTC locks it by its name as passed, and from 13.3 on opens its headers
 * by their absolute names. Both depend on the working directory, so a relative name makes the request path-dependent.
 */
static int add_bundle(struct options *options, size_t capacity, int index, const char *directory)
{
	options->unknown |= directory[0] != '/' || options->bundle;
	options->bundle = directory;
	return add_include(options, capacity, index, directory);
}

static int note_value(struct options *options, size_t capacity, const struct known_option *known, int index,
                      const char *value)
{
	const uint32_t effects = known->effects;

	options->debug |= (effects & OPTION_DEBUG) != 0;
	options->ir |= (effects & OPTION_IR) != 0;
	options->lto |= (effects & OPTION_LTO) != 0;
	options->pch |= (effects & OPTION_PCH) != 0;
	options->errors |= (effects & OPTION_DIAG_ERROR) != 0;
	options->unknown |= (effects & OPTION_BINDS) != 0;
	options->tells_process |= (effects & OPTION_TELLS) != 0;
	options->writes |= (effects & (OPTION_WRITES | OPTION_BUNDLE | OPTION_TIME)) != 0;
	options->sticky |= effects >> STICKY_AT;
	switch (effects) {
	case OPTION_INCLUDE:
		return add_include(options, capacity, index, value);
	case OPTION_BUNDLE:
		return add_bundle(options, capacity, index, value);
	case OPTION_PRE_INCLUDE:
		/*
		 * Its text is in the key, and the watch sees the compiler open the file. But an absolute path may be in
		 * a root.
		 */
		options->unknown |= value[0] == '/' || has_doubtful_ends(value, strlen(value));
		return 0;
	case OPTION_TIME:
		options->unknown = true;
		options->tells_process |= value[strspn(value, " \t")] == '-';
		return 0;
	case OPTION_PTXAS:
		note_ptxas(options, value);
		return 0;
	case OPTION_NVVM:
		note_unlisted(options, CLEARED_NVVM, options->passed, value);
		options->passed = value;
		return 0;
	default:
		return 0;
	}
}

static int read_option(struct options *options, size_t capacity, int index, const char *string,
                       const struct known_option **ret_waiting)
{
	const struct known_option *known;
	const char *name, *value;
	int dashes;
	size_t size, end;

	while (is_blank(*string)) {
		string++;
	}
	end = strlen(string);
	while (end && string[end - 1] == ' ') {
		end--;
	}
	if (has_doubtful_ends(string, end) || string[0] != '-') {
		goto unknown;
	}
	dashes = string[1] == '-' ? 2 : 1;
	name = string + dashes;
	if (dashes == 1 && (*name == 'D' || *name == 'U' || *name == 'I')) {
		known = find_option(name, 1, 1);
		if (end == 2) {
			*ret_waiting = known;
			return 0;
		}
		/* NVRTC skips either one '=' right after the letter, or blanks, but not both: "-I= x" is " x", "-I =x"
		 * is "=x". */
		value = name + 1;
		if (*value == '=') {
			value++;
		} else {
			while (*value == ' ') {
				value++;
			}
		}
		return note_value(options, capacity, known, index, value);
	}
	for (size = 0; dashes + size < end && name[size] != '='; size++)
		;
	known = find_option(name, size, dashes);
	if (!known) {
		goto unknown;
	}
	if (dashes + size == end) {
		if (known->form == FORM_FLAG) {
			return note_value(options, capacity, known, index, "");
		}
		if (known->form == FORM_JOINED) {
			goto unknown;
		}
		*ret_waiting = known;
		return 0;
	}
	if (known->form == FORM_FLAG) {
		goto unknown;
	}
	return note_value(options, capacity, known, index, name + size + 1);
unknown:
	note_unlisted(options, CLEARED_FRONT_END, NULL, string);
	return 0;
}

int options_read(const char *const *options, int count, struct options *ret_options)
{
	struct options found = {0};
	const struct known_option *waiting = NULL;
	int rc;

	for (int i = 0; i < count; i++) {
		const char *string = options ? options[i] : NULL;

		if (!string) {
			found.unknown = true;
			continue;
		}
		if (waiting) {
			while (is_blank(*string)) {
				string++;
			}
			rc = note_value(&found, (size_t)count, waiting, i, string);
			waiting = NULL;
		} else {
			rc = read_option(&found, (size_t)count, i, string, &waiting);
		}
		if (rc) {
			options_free(&found);
			return rc;
		}
	}
	if (waiting) { /* NVRTC reports that the value is missing: of -Xnvvm only as a warning, so that it compiles */
		found.unknown = true;
		if (waiting->effects & OPTION_NVVM) {
			note_uncleared(&found, waiting->names[1]);
		}
	}
	found.spells = found.debug || found.ir;
	/*
	 * The warnings about precompiled headers depend on earlier compilations of the process, and with these options
	 * they may be errors.
	 */
	found.tells_process |= found.pch && (found.errors || found.unknown);
	*ret_options = found;
	return 0;
}

bool options_bind(const struct options *options)
{
	return (options->spells && !options->loose) || options->unknown || options->pch;
}

bool options_exact(const struct options *options)
{
	return (options->debug && !options->loose) || options->unknown;
}

bool options_may_write(const struct call *call)
{
	struct options options;
	bool may = true;

	if (options_read(call->options, call->option_count, &options) == 0) {
		may = options.writes || options.uncleared != 0;
		options_free(&options);
	}
	return may;
}

void options_free(struct options *options)
{
	free(options->include);
	*options = (struct options){0};
}
