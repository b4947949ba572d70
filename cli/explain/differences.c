/* SPDX-License-Identifier: MIT */
/*
 * The table `parts` has a row for each part of a request: where its facts are, how to compare them, and how to say the
 * difference. Single facts (compiler, program, directory) have a test of their own. All other facts are lists, which
 * items.c compares.
 */
#include "cli/explain/differences.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORDER_WEIGHT 3
#define SHOWN_BYTES  400
#define HEAD_BYTES   60 /* bytes shown of the beginning of a long text */
#define LEAD_BYTES   40 /* bytes shown before its first difference */

static difference_test is_other_release, is_other_build, is_other_program, is_moved_program, is_other_place,
    is_other_pwd;

/* The texts for a changed, new and gone part. */
#define VALUE    "%n   was %w", "%n   is new", "%w   is gone"
#define CONTENT  "has changed", "is new", "is gone"
#define CONTENTS "have changed", "are new", "are gone"
#define SETTING  "has another value", "is set, and was not", "is not set, and was"
#define GIVEN    "has changed (given in memory)", "is new (given in memory)", "is gone (given in memory)"
#define ORDER    "%n comes before %w, and came after it"
#define ROUNDING \
	"the thread's rounding mode, or its flushing of denormal numbers, differs; constants are folded with it"
#define SOURCE "has changed (source text is not stored, so the lines are not known)"
#define BUILD  "%t %n is another build"
#define PLACE  "bound to %w%b; now it is %n"
#define PWD    "$PWD is spelled differently, and the entry is bound to it%b"

/* In the order in which differences are listed. */
static const struct difference_part parts[] = {
    {ABOUT_PART, "compiler", is_other_release, DIFFERENCE_COMPILER, 30, "compiler", {"%t %n   was %w"}},
    {0, "", is_other_build, DIFFERENCE_COMPILER, 20, "build of the compiler", {BUILD}},
    {ABOUT_PART, "program name", is_other_program, DIFFERENCE_REST, 40, "program name", {VALUE}},
    {0, "", is_moved_program, DIFFERENCE_PATHS, 3, "program name", {VALUE}},
    /* a source that only one request has: the other recorded an earlier compilation of the handle instead */
    {ABOUT_PART, "source", NULL, DIFFERENCE_SOURCE, 60, "source", {SOURCE}},
    {ABOUT_PART, "input ", NULL, DIFFERENCE_SOURCE, 10, "", {CONTENT}},
    {ABOUT_PART, "module ", NULL, DIFFERENCE_SOURCE, 10, "", {CONTENT}},
    {ABOUT_PART, "header ", NULL, DIFFERENCE_HEADERS, 8, "header", {GIVEN, "order of headers"}},
    {ABOUT_PART, "variable ", NULL, DIFFERENCE_REST, 4, "variable", {SETTING}},
    {ABOUT_PART, "rounding mode", NULL, DIFFERENCE_REST, 4, "arithmetic mode", {ROUNDING, ROUNDING, ROUNDING}},
    {ABOUT_PART, "decimals", NULL, DIFFERENCE_REST, 4, "decimals of the locale", {CONTENTS}},
    {ABOUT_PART, "namespace", NULL, DIFFERENCE_REST, 6, "namespace", {SETTING}},
    {ABOUT_PART, "earlier compiles", NULL, DIFFERENCE_EARLIER, 8, "earlier compiles of the handle", {CONTENTS}},
    {ABOUT_PART, "earlier inputs", NULL, DIFFERENCE_EARLIER, 8, "earlier inputs", {CONTENTS}},
    {ABOUT_OPTION, "", NULL, DIFFERENCE_OPTIONS, 4, "option", {VALUE, "order of options"}},
    {ABOUT_EXPRESSION, "", NULL, DIFFERENCE_REST, 5, "name expression", {VALUE, "order of names"}},
    {ABOUT_PART, "working directory", is_other_place, DIFFERENCE_PATHS, 3, "bound path", {PLACE}},
    {ABOUT_PART, "PWD", is_other_pwd, DIFFERENCE_PATHS, 3, "bound path", {PWD}},
};

/* A part that a newer version of the library has recorded, and that this version does not know. */
static const struct difference_part unknown = {ABOUT_PART, "", NULL, DIFFERENCE_REST, 8, "part", {CONTENT}};

void differences_add(struct comparison *comparison, const struct difference_part *part, enum difference_way way,
                     struct difference difference)
{
	struct differences *differences = comparison->differences;
	struct difference *grown = realloc(differences->list, (differences->count + 1) * sizeof(*grown));

	difference.name = way == DIFFERENCE_ORDER ? part->says[DIFFERENCE_ORDER] : part->name;
	difference.saying = way == DIFFERENCE_ORDER ? ORDER : part->says[way];
	/* also without memory for the difference, so that the choice of the closest entry does not depend on memory */
	differences->weight += way == DIFFERENCE_ORDER ? ORDER_WEIGHT : part->weight;
	differences->topics |= part->topic;
	if (grown) {
		differences->list = grown;
		grown[differences->count++] = difference;
	}
}

const struct difference_part *differences_part(enum about_kind about, struct span fact, struct span *ret_of)
{
	for (const struct difference_part *part = parts; part < parts + sizeof(parts) / sizeof(parts[0]); part++) {
		const char *end = strchr(part->fact, '\0');
		bool is_head = end == part->fact || end[-1] == ' ';

		if (part->about == about && span_behind(fact, span_text(part->fact), ret_of) &&
		    (is_head || ret_of->size == 0)) {
			*ret_of = *part->name ? *ret_of : fact;
			return part;
		}
	}
	*ret_of = fact;
	return &unknown;
}

/* ---- the compiler, the program's name, the working directory ---- */

/* Whether both requests have a digest of a part, and the same one. */
enum sameness { SAMENESS_UNKNOWN, SAMENESS_SAME, SAMENESS_OTHER };

static enum sameness compare_part(const struct request *now, const struct request *was, const char *name)
{
	const uint8_t *now_part = request_part(now, name), *was_part = request_part(was, name);

	if (!now_part || !was_part) {
		return SAMENESS_UNKNOWN;
	}
	return memcmp(now_part, was_part, ABOUT_DIGEST_BYTES) == 0 ? SAMENESS_SAME : SAMENESS_OTHER;
}

/* Takes the texts of both requests. Returns whether they differ. */
static bool take_texts(const struct request *now, const struct request *was, enum about_kind about,
                       struct difference *difference)
{
	difference->now.text = request_text(now, about);
	difference->was.text = request_text(was, about);
	return !span_equal(difference->now.text, difference->was.text);
}

static bool is_other_release(const struct request *now, const struct request *was, struct difference *difference)
{
	bool knows_build = now->counts[ABOUT_BUILD] > 0 && was->counts[ABOUT_BUILD] > 0;

	/* equal digests mean the same library, even if the names differ */
	return take_texts(now, was, knows_build ? ABOUT_BUILD : ABOUT_RELEASE, difference) &&
	       compare_part(now, was, "compiler") != SAMENESS_SAME;
}

static bool is_other_build(const struct request *now, const struct request *was, struct difference *difference)
{
	return !is_other_release(now, was, difference) && compare_part(now, was, "compiler") == SAMENESS_OTHER;
}

static bool is_other_program(const struct request *now, const struct request *was, struct difference *difference)
{
	take_texts(now, was, ABOUT_PROGRAM, difference);
	return !span_equal(span_base(difference->now.text), span_base(difference->was.text));
}

/*
 * Returns what of the directory of a program's name is in the key of an NVRTC request that is not path-dependent: 0: it
 * has none, 1: it is relative, 2: it is absolute.
 */
static int find_name_place(struct span program)
{
	bool has_directory = span_base(program).size < program.size;

	return has_directory && *(const char *)program.bytes == '/' ? 2 : has_directory;
}

/*
 * Compares the directory of the name only if it is in the key: the request is path-dependent, or the name is relative.
 * The directory of an absolute name is a root, and any two roots are equal. A name with a root differs from a name
 * without one.
 */
static bool is_moved_program(const struct request *now, const struct request *was, struct difference *difference)
{
	bool is_renamed =
	    take_texts(now, was, ABOUT_PROGRAM, difference) && compare_part(now, was, "program name") == SAMENESS_OTHER;
	bool is_elsewhere = request_is(now, ABOUT_COMPILER, "nvrtc") &&
	                    find_name_place(difference->now.text) != find_name_place(difference->was.text);

	return (is_renamed || is_elsewhere) && !is_other_program(now, was, difference);
}

/* Only path-dependent requests have the part, and $PWD matters only to them. */
static bool is_other_place(const struct request *now, const struct request *was, struct difference *difference)
{
	take_texts(now, was, ABOUT_BOUND, difference);
	return compare_part(now, was, "working directory") == SAMENESS_OTHER;
}

static bool is_other_pwd(const struct request *now, const struct request *was, struct difference *difference)
{
	(void)difference;
	return compare_part(now, was, "working directory") == SAMENESS_SAME &&
	       compare_part(now, was, "PWD") != SAMENESS_SAME && (request_part(now, "PWD") || request_part(was, "PWD"));
}

/* ---- the whole ---- */

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	struct comparison comparison = {now, was, ret_differences};
	enum about_kind list = 0;

	*ret_differences = (struct differences){.count = 0};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		struct difference difference = {.name = NULL};

		if (parts[i].test && parts[i].test(now, was, &difference)) {
			differences_add(&comparison, &parts[i], DIFFERENCE_CHANGED, difference);
		} else if (!parts[i].test && parts[i].about != list) {
			list = parts[i].about;
			items_compare(&comparison, list);
		}
	}
}

void differences_free(struct differences *differences)
{
	free(differences->list);
	*differences = (struct differences){.count = 0};
}

bool differences_are_paths(const struct differences *differences, const struct request *now)
{
	struct span binder = request_binder(now);

	return differences->topics == DIFFERENCE_PATHS && binder.size > 0 && !span_is(binder, "-pch") &&
	       !span_is(binder, "--pch");
}

static bool share_source(const struct request *now, const struct request *was)
{
	for (size_t i = 0; i < now->counts[ABOUT_PART]; i++) {
		const struct about_fact *part = &now->facts[ABOUT_PART][i], *before = request_find(was, span_of(part));
		struct span of;

		if (before && differences_part(ABOUT_PART, span_of(part), &of)->topic == DIFFERENCE_SOURCE &&
		    memcmp(before->digest, part->digest, ABOUT_DIGEST_BYTES) == 0) {
			return true;
		}
	}
	return false;
}

bool differences_related(const struct request *now, const struct request *was)
{
	struct span program = request_text(now, ABOUT_PROGRAM);
	/* these two names are defaults for programs without a name */
	bool is_named = program.size > 0 && !span_is(program, "default_program") && !span_is(program, "<unnamed>");

	/* an input that is added first to a link is not compared with one that is added later */
	if (!span_equal(request_text(now, ABOUT_COMPILER), request_text(was, ABOUT_COMPILER)) ||
	    !span_equal(request_text(now, ABOUT_STEP), request_text(was, ABOUT_STEP)) ||
	    !request_part(now, "earlier inputs") != !request_part(was, "earlier inputs")) {
		return false;
	}
	return (is_named && span_equal(span_base(program), span_base(request_text(was, ABOUT_PROGRAM)))) ||
	       share_source(now, was);
}

/* ---- in words ---- */

/* Appends to a text. What does not fit is cut off. */
__attribute__((format(printf, 3, 4))) static void append(char *text, size_t capacity, const char *format, ...)
{
	size_t end = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + end, capacity - end, format, arguments);
	va_end(arguments);
}

/* Writes a text; of a long text only its beginning and the bytes around its first difference, with dots for gaps. */
static void spell_span(struct span span, struct span other, char ret_text[DIFFERENCE_TEXT_BYTES])
{
	const char *bytes = span.bytes, *other_bytes = other.bytes;
	size_t same = 0, from, size;

	if (span.size <= SHOWN_BYTES) {
		snprintf(ret_text, DIFFERENCE_TEXT_BYTES, "%.*s", SPAN(span));
		return;
	}
	while (same < span.size && same < other.size && bytes[same] == other_bytes[same]) {
		same++;
	}
	from = same > HEAD_BYTES + LEAD_BYTES && same < span.size ? same - LEAD_BYTES : HEAD_BYTES;
	size = span.size - from < SHOWN_BYTES - HEAD_BYTES ? span.size - from : SHOWN_BYTES - HEAD_BYTES;
	snprintf(ret_text, DIFFERENCE_TEXT_BYTES, "%.*s%s%.*s%s", HEAD_BYTES, bytes, from > HEAD_BYTES ? "..." : "",
	         (int)size, bytes + from, from + size < span.size ? "..." : "");
}

static void spell_option(const struct request_option *option, const struct request_option *other,
                         char ret_text[DIFFERENCE_TEXT_BYTES])
{
	if (option->text.size > SHOWN_BYTES || option->value.size == 0) {
		spell_span(option->text, other->text, ret_text);
	} else if (option->text.size + option->value.size > SHOWN_BYTES) {
		/* only the value, so that the difference in it is visible */
		spell_span(option->value, other->value, ret_text);
	} else {
		snprintf(ret_text, DIFFERENCE_TEXT_BYTES, "%.*s %.*s", SPAN(option->text), SPAN(option->value));
	}
}

/* Returns quotes for a text that is empty, or whose blanks at the ends would be invisible. */
static const char *find_quotes(const char *text)
{
	size_t size = strlen(text);

	return size == 0 || text[0] == ' ' || text[size - 1] == ' ' ? "\"" : "";
}

void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words)
{
	struct span title = request_text(now, ABOUT_TITLE), binder = request_binder(now);
	const size_t capacity = sizeof(ret_words->words);
	const char *saying = difference->saying;
	char of[DIFFERENCE_TEXT_BYTES];

	*ret_words = (struct difference_words){.what = ""};
	spell_span(difference->of, (struct span){NULL, 0}, of);
	append(ret_words->what, sizeof(ret_words->what), "%s%s%s", difference->name,
	       *difference->name && *of ? " " : "", of);
	spell_option(&difference->now, &difference->was, ret_words->now);
	spell_option(&difference->was, &difference->now, ret_words->was);
	for (const char *mark; (mark = strchr(saying, '%')) != NULL; saying = mark + 2) {
		const char *text = mark[1] == 'n' ? ret_words->now : ret_words->was, *quote = find_quotes(text);

		append(ret_words->words, capacity, "%.*s", (int)(mark - saying), saying);
		if (mark[1] == 't') {
			append(ret_words->words, capacity, "%.*s", SPAN(title));
		} else if (mark[1] == 'b') {
			append(ret_words->words, capacity, "%s%.*s", binder.size ? " by " : "", SPAN(binder));
		} else {
			append(ret_words->words, capacity, "%s%s%s", quote, text, quote);
		}
	}
	append(ret_words->words, capacity, "%s", saying);
}
