/* SPDX-License-Identifier: MIT */
/*
 * Two requests are compared part by part. Each single fact (compiler, program, directory) has its own comparison. Parts
 * with a digest are looked up by name in the other request. Lists (options, name expressions, headers) are matched item
 * by item. The table `kinds` has the weight and the text of each difference.
 */
#include "cli/explain/differences.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_BYTES 400
#define HEAD_BYTES  60 /* bytes shown of the beginning of a long text */
#define LEAD_BYTES  40 /* bytes shown before its first difference */

#define ROUNDS "the thread's rounding mode, or its flushing of denormal numbers, differs; constants are folded with it"
#define ORDER  "%n comes before %w, and came after it"
#define GIVEN  " (given in memory)"

/*
 * For each kind of difference: its name in messages; its weight in the distance of two requests; the names of its parts
 * in the about section if they are compared by digest (a name that ends with a blank is a prefix); and the texts for a
 * changed, new and gone part. In a text, %n and %w are the values now and before, %t is the compiler's title, and %b is
 * the option that makes the result path-dependent. NULL: the default of find_saying().
 */
static const struct {
	const char *name;
	unsigned weight;
	const char *parts[2];
	const char *changed, *new, *gone;
} kinds[DIFFERENCE_KINDS] = {
    [DIFFERENCE_COMPILER] = {"compiler", 30, {NULL}, "%t %n   was %w", NULL, NULL},
    [DIFFERENCE_BUILD] =
        {"build of the compiler", 20, {NULL}, "%t %n, or a library that it loads, is another build", NULL, NULL},
    [DIFFERENCE_PROGRAM] = {"program name", 40, {NULL}, NULL, NULL, NULL},
    [DIFFERENCE_SOURCE] = {"source",
                           60,
                           {"source"},
                           "has changed (source text is not stored, so the lines are not known)",
                           "is new",
                           "is gone"},
    [DIFFERENCE_INPUT] = {"", 10, {"input ", "module "}, "has changed", "is new", "is gone"},
    [DIFFERENCE_HEADER] = {"header", 8, {"header "}, "has changed" GIVEN, "is new" GIVEN, "is gone" GIVEN},
    [DIFFERENCE_VARIABLE] =
        {"variable", 4, {"variable "}, "has another value", "is set, and was not", "is not set, and was"},
    [DIFFERENCE_ROUNDING] = {"arithmetic mode", 4, {"rounding mode"}, ROUNDS, ROUNDS, ROUNDS},
    [DIFFERENCE_DECIMALS] = {"decimals of the locale", 4, {"decimals"}, "have changed", "are new", "are gone"},
    [DIFFERENCE_NAMESPACE] =
        {"namespace", 6, {"namespace"}, "has another value", "is set, and was not", "is not set, and was"},
    [DIFFERENCE_EARLIER] =
        {"earlier compiles of the handle", 8, {"earlier compiles"}, "have changed", "are new", "are gone"},
    [DIFFERENCE_EARLIER_INPUTS] = {"earlier inputs", 8, {"earlier inputs"}, "have changed", "are new", "are gone"},
    [DIFFERENCE_OTHER] = {"part", 8, {NULL}, "has changed", "is new", "is gone"},
    [DIFFERENCE_HEADER_ORDER] = {"order of headers", 3, {NULL}, ORDER, NULL, NULL},
    [DIFFERENCE_OPTION] = {"option", 4, {NULL}, NULL, NULL, NULL},
    [DIFFERENCE_OPTION_ORDER] = {"order of options", 3, {NULL}, ORDER, NULL, NULL},
    [DIFFERENCE_EXPRESSION] = {"name expression", 5, {NULL}, NULL, NULL, NULL},
    [DIFFERENCE_EXPRESSION_ORDER] = {"order of names", 3, {NULL}, ORDER, NULL, NULL},
    [DIFFERENCE_PLACE] = {"bound path", 3, {NULL}, "bound to %w%b; now it is %n", NULL, NULL},
    [DIFFERENCE_PWD] =
        {"bound path", 3, {NULL}, "$PWD is spelled differently, and the entry is bound to it%b", NULL, NULL},
};

struct comparison {
	const struct request *now, *was;
	struct differences *differences;
};

static bool is_moved_program(const struct difference *difference)
{
	return difference->kind == DIFFERENCE_PROGRAM &&
	       span_equal(span_base(difference->now.text), span_base(difference->was.text));
}

static void add_difference(struct comparison *comparison, const struct difference *difference)
{
	struct differences *differences = comparison->differences;
	struct difference *grown = realloc(differences->list, (differences->count + 1) * sizeof(*grown));

	/*
	 * A program that only moved to another directory weighs less than another program. The weight is added even if
	 * there is no memory for the difference, so that the choice of the closest entry does not depend on memory.
	 */
	differences->weight += kinds[is_moved_program(difference) ? DIFFERENCE_PLACE : difference->kind].weight;
	if (grown) {
		differences->list = grown;
		grown[differences->count++] = *difference;
	}
}

static void add_texts(struct comparison *comparison, enum difference_kind kind, const struct request_option *now,
                      const struct request_option *was)
{
	struct difference difference = {
	    .kind = kind,
	    .way = !was   ? DIFFERENCE_NEW
	           : !now ? DIFFERENCE_GONE
	                  : DIFFERENCE_CHANGED,
	};

	if (now) {
		difference.now = *now;
	}
	if (was) {
		difference.was = *was;
	}
	add_difference(comparison, &difference);
}

static void add_spans(struct comparison *comparison, enum difference_kind kind, struct span now, struct span was)
{
	add_texts(comparison, kind, &(struct request_option){.text = now}, &(struct request_option){.text = was});
}

/* ---- the compiler, the program's name, the working directory ---- */

static bool is_same_digest(const uint8_t *now, const uint8_t *was)
{
	return now && was && memcmp(now, was, ABOUT_DIGEST_BYTES) == 0;
}

static void compare_compiler(struct comparison *comparison)
{
	const struct request *now = comparison->now, *was = comparison->was;
	const uint8_t *now_part = request_part(now, "compiler"), *was_part = request_part(was, "compiler");
	bool knows_build = now->counts[ABOUT_BUILD] > 0 && was->counts[ABOUT_BUILD] > 0;
	enum about_kind kind = knows_build ? ABOUT_BUILD : ABOUT_RELEASE;
	struct span now_text = request_text(now, kind), was_text = request_text(was, kind);

	/* equal digests mean the same library, even if the names differ */
	if (is_same_digest(now_part, was_part)) {
		return;
	}
	if (!span_equal(now_text, was_text)) {
		add_spans(comparison, DIFFERENCE_COMPILER, now_text, was_text);
	} else if (now_part && was_part) {
		add_spans(comparison, DIFFERENCE_BUILD, now_text, was_text);
	}
}

/* The part of the directory of a program's name that is in the key of an NVRTC request that is not path-dependent. */
enum name_place { NAME_BARE, NAME_RELATIVE, NAME_ABSOLUTE };

static enum name_place find_name_place(struct span program)
{
	if (program.size == 0 || !memchr(program.bytes, '/', program.size)) {
		return NAME_BARE;
	}
	return *(const char *)program.bytes == '/' ? NAME_ABSOLUTE : NAME_RELATIVE;
}

/*
 * Compares the directory of the name only if it is in the key: the request is path-dependent, or the name is relative.
 * The directory of an absolute name is a root, and any two roots are equal. A name with a root differs from a name
 * without one.
 */
static void compare_program(struct comparison *comparison)
{
	struct span now = request_text(comparison->now, ABOUT_PROGRAM),
	            was = request_text(comparison->was, ABOUT_PROGRAM);
	const uint8_t *now_part = request_part(comparison->now, "program name"),
	              *was_part = request_part(comparison->was, "program name");
	bool is_elsewhere =
	    request_is(comparison->now, ABOUT_COMPILER, "nvrtc") && find_name_place(now) != find_name_place(was);
	bool is_renamed = now_part && was_part && !is_same_digest(now_part, was_part) && !span_equal(now, was);

	if (is_elsewhere || is_renamed || !span_equal(span_base(now), span_base(was))) {
		add_spans(comparison, DIFFERENCE_PROGRAM, now, was);
	}
}

static void compare_place(struct comparison *comparison)
{
	const struct request *now = comparison->now, *was = comparison->was;
	const uint8_t *pwd = request_part(now, "PWD"), *old_pwd = request_part(was, "PWD");

	if (!request_is_bound(now) || !request_is_bound(was)) {
		return;
	}
	if (!is_same_digest(request_part(now, "working directory"), request_part(was, "working directory"))) {
		add_spans(comparison, DIFFERENCE_PLACE, request_text(now, ABOUT_BOUND), request_text(was, ABOUT_BOUND));
	} else if ((pwd || old_pwd) && !is_same_digest(pwd, old_pwd)) {
		add_difference(comparison, &(struct difference){.kind = DIFFERENCE_PWD});
	}
}

/* ---- parts with a digest ---- */

/* Finds the kind of a part that is compared by digest. Returns false if other functions compare the part. */
static bool find_part(struct span name, enum difference_kind *ret_kind, struct span *ret_of)
{
	static const char *const elsewhere[] = {"compiler", "program name", "working directory", "PWD"};

	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (span_is(name, elsewhere[i])) {
			return false;
		}
	}
	for (int kind = 0; kind < DIFFERENCE_KINDS; kind++) {
		for (size_t i = 0; i < 2 && kinds[kind].parts[i]; i++) {
			const char *part = kinds[kind].parts[i];
			bool is_head = part[strlen(part) - 1] == ' ';

			if (span_behind(name, part, ret_of) && (is_head || ret_of->size == 0)) {
				/* "input " or "module " is part of the name that is printed */
				*ret_of = kind == DIFFERENCE_INPUT ? name : *ret_of;
				*ret_kind = (enum difference_kind)kind;
				return true;
			}
		}
	}
	/* a newer version of the library has recorded a part that this version does not know */
	*ret_kind = DIFFERENCE_OTHER;
	*ret_of = name;
	return true;
}

/*
 * Adds the difference of a part. A source that only one request has is ignored: the other request recorded an earlier
 * compilation of the handle instead.
 */
static void add_part(struct comparison *comparison, const struct about_fact *part, enum difference_way way)
{
	struct difference difference = {.way = way};

	if (find_part(span_of(part), &difference.kind, &difference.of) &&
	    (way == DIFFERENCE_CHANGED || difference.kind != DIFFERENCE_SOURCE)) {
		add_difference(comparison, &difference);
	}
}

static void compare_parts(struct comparison *comparison)
{
	const struct request *now = comparison->now, *was = comparison->was;

	for (size_t i = 0; i < now->counts[ABOUT_PART]; i++) {
		const struct about_fact *part = &now->facts[ABOUT_PART][i], *before = request_find(was, span_of(part));

		if (!before || !is_same_digest(before->digest, part->digest)) {
			add_part(comparison, part, before ? DIFFERENCE_CHANGED : DIFFERENCE_NEW);
		}
	}
	/* a cut record does not have all facts, so a missing part does not mean that it is gone */
	for (size_t i = 0; i < was->counts[ABOUT_PART] && !now->is_cut; i++) {
		if (!request_find(now, span_of(&was->facts[ABOUT_PART][i]))) {
			add_part(comparison, &was->facts[ABOUT_PART][i], DIFFERENCE_GONE);
		}
	}
}

/* ---- lists: options, name expressions, headers ---- */

struct items {
	struct request_option *list;
	size_t count;
};

/*
 * For each item, the index of the matching item in the other list plus one; 0: none. PAIRED: the item was reported as
 * the old value of an unmatched item.
 */
struct matching {
	const struct items *now, *was;
	size_t *of_now, *of_was;
};

#define PAIRED SIZE_MAX

typedef bool item_test(const struct comparison *comparison, const struct request_option *now,
                       const struct request_option *was);

static bool is_same_text(const struct comparison *comparison, const struct request_option *now,
                         const struct request_option *was)
{
	(void)comparison;
	return span_equal(now->text, was->text) && span_equal(now->value, was->value);
}

/* Splits a -I option into its directory and the text before it. Returns false if it is another option. */
static bool split_include(const struct request_option *option, struct span *ret_head, struct span *ret_directory)
{
	static const char *const heads[] = {"--include-path=", "-I=", "-I"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (span_behind(option->text, heads[i], ret_directory) && ret_directory->size > 0) {
			*ret_head = (struct span){option->text.bytes, option->text.size - ret_directory->size};
			return true;
		}
	}
	*ret_head = option->text;
	*ret_directory = option->value;
	return (span_is(option->text, "-I") || span_is(option->text, "--include-path")) && option->value.size > 0;
}

/* Finds the root that contains a path, and the rest of the path. Returns false if no root contains it. */
static bool find_root(const struct request *request, struct span path, size_t *ret_root, struct span *ret_rest)
{
	for (size_t i = 0; i < request->counts[ABOUT_ROOT]; i++) {
		const struct about_fact *root = &request->facts[ABOUT_ROOT][i];

		if (root->size <= path.size && memcmp(path.bytes, root->text, root->size) == 0 &&
		    (root->size == path.size || ((const char *)path.bytes)[root->size] == '/')) {
			*ret_root = i;
			*ret_rest = (struct span){(const char *)path.bytes + root->size, path.size - root->size};
			return true;
		}
	}
	return false;
}

static bool is_same_place(const struct comparison *comparison, const struct request_option *now,
                          const struct request_option *was)
{
	struct span now_head, was_head, now_path, was_path, now_rest, was_rest;
	size_t now_root, was_root;

	return split_include(now, &now_head, &now_path) && split_include(was, &was_head, &was_path) &&
	       span_equal(now_head, was_head) && !now->value.size == !was->value.size &&
	       find_root(comparison->now, now_path, &now_root, &now_rest) &&
	       find_root(comparison->was, was_path, &was_root, &was_rest) && now_root == was_root &&
	       span_equal(now_rest, was_rest);
}

static void match_items(const struct comparison *comparison, item_test *is_like, struct matching *matching)
{
	for (size_t i = 0; i < matching->now->count; i++) {
		for (size_t j = 0; j < matching->was->count && !matching->of_now[i]; j++) {
			if (!matching->of_was[j] &&
			    is_like(comparison, &matching->now->list[i], &matching->was->list[j])) {
				matching->of_now[i] = j + 1;
				matching->of_was[j] = i + 1;
			}
		}
	}
}

/* Reports the first position at which the items that both lists have are in another order. */
static void compare_order(struct comparison *comparison, const struct matching *matching, enum difference_kind kind)
{
	size_t j = 0;

	for (size_t i = 0; i < matching->now->count; i++) {
		while (j < matching->was->count && !matching->of_was[j]) {
			j++;
		}
		if (matching->of_now[i] && matching->of_now[i] != j + 1) {
			add_texts(comparison, kind, &matching->now->list[i], &matching->was->list[j]);
			return;
		}
		j += matching->of_now[i] != 0;
	}
}

/* Returns the name of an option: "-DN" of "-DN=4", "-arch" of "-arch=sm_90", "-I" of every option that begins so. */
static struct span find_option_name(const struct request_option *option)
{
	const char *text = option->text.bytes, *end = memchr(text, '=', option->text.size);
	size_t size = end ? (size_t)(end - text) : option->text.size;

	return (struct span){text, option->text.size >= 2 && memcmp(text, "-I", 2) == 0 ? 2 : size};
}

/* Returns the index in `was` of an unmatched option with the same name; matching->was->count if there is none. */
static size_t find_pair(const struct matching *matching, size_t number)
{
	struct span name = find_option_name(&matching->now->list[number]);
	size_t j = 0;

	while (j < matching->was->count &&
	       (matching->of_was[j] || !span_equal(name, find_option_name(&matching->was->list[j])))) {
		j++;
	}
	return j;
}

static void compare_unmatched(struct comparison *comparison, const struct matching *matching, enum difference_kind kind)
{
	const struct items *now = matching->now, *was = matching->was;

	for (size_t i = 0; i < now->count; i++) {
		size_t pair = kind == DIFFERENCE_OPTION ? find_pair(matching, i) : was->count;

		if (!matching->of_now[i]) {
			if (pair < was->count) {
				matching->of_was[pair] = PAIRED;
			}
			add_texts(comparison, kind, &now->list[i], pair < was->count ? &was->list[pair] : NULL);
		}
	}
	for (size_t j = 0; j < was->count && !comparison->now->is_cut; j++) {
		if (!matching->of_was[j]) {
			add_texts(comparison, kind, NULL, &was->list[j]);
		}
	}
}

/*
 * Compares two lists: their items and their order. For headers only the order, because compare_parts() has reported new
 * and missing headers.
 */
static void compare_items(struct comparison *comparison, const struct items *now, const struct items *was,
                          enum difference_kind kind, enum difference_kind order)
{
	size_t *partners = calloc(now->count + was->count + 1, sizeof(*partners));
	struct matching matching = {now, was, partners, partners + now->count};

	if (!partners) {
		return;
	}
	match_items(comparison, is_same_text, &matching);
	if (kind == DIFFERENCE_OPTION) {
		/* equal options are matched first, so that a directory in both lists does not match a different one */
		match_items(comparison, is_same_place, &matching);
	}
	compare_order(comparison, &matching, order);
	if (kind != DIFFERENCE_HEADER) {
		compare_unmatched(comparison, &matching, kind);
	}
	free(partners);
}

/* Returns the facts of one kind whose texts begin with `head`, without it. The caller frees the list. */
static struct items take_items(const struct request *request, enum about_kind kind, const char *head)
{
	struct items items = {.list = calloc(request->counts[kind] + 1, sizeof(*items.list))};

	for (size_t i = 0; i < request->counts[kind] && items.list; i++) {
		items.count += span_behind(span_of(&request->facts[kind][i]), head, &items.list[items.count].text);
	}
	return items;
}

static void compare_facts(struct comparison *comparison, enum about_kind about, const char *head,
                          enum difference_kind kind, enum difference_kind order)
{
	struct items now = take_items(comparison->now, about, head), was = take_items(comparison->was, about, head);

	compare_items(comparison, &now, &was, kind, order);
	free(now.list);
	free(was.list);
}

/* ---- the whole ---- */

void differences_find(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	struct comparison comparison = {now, was, ret_differences};

	*ret_differences = (struct differences){.count = 0};
	compare_compiler(&comparison);
	compare_program(&comparison);
	compare_parts(&comparison);
	compare_facts(&comparison, ABOUT_PART, "header ", DIFFERENCE_HEADER, DIFFERENCE_HEADER_ORDER);
	compare_items(&comparison, &(struct items){now->options, now->option_count},
	              &(struct items){was->options, was->option_count}, DIFFERENCE_OPTION, DIFFERENCE_OPTION_ORDER);
	compare_facts(&comparison, ABOUT_EXPRESSION, "", DIFFERENCE_EXPRESSION, DIFFERENCE_EXPRESSION_ORDER);
	compare_place(&comparison);
}

void differences_find_moved(const struct request *now, const struct request *was, struct differences *ret_differences)
{
	struct comparison comparison = {now, was, ret_differences};

	*ret_differences = (struct differences){.count = 0};
	/* requests with equal keys have the same options in the same order, except for directories that are roots */
	for (size_t i = 0; i < now->option_count && now->option_count == was->option_count; i++) {
		if (!is_same_text(&comparison, &now->options[i], &was->options[i])) {
			add_texts(&comparison, DIFFERENCE_OPTION, &now->options[i], &was->options[i]);
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

	for (size_t i = 0; i < differences->count; i++) {
		const struct difference *difference = &differences->list[i];

		if (difference->kind != DIFFERENCE_PLACE && difference->kind != DIFFERENCE_PWD &&
		    !is_moved_program(difference)) {
			return false;
		}
	}
	return differences->count > 0 && binder.size > 0 && !span_is(binder, "-pch") && !span_is(binder, "--pch");
}

static bool share_text(const struct request *now, const struct request *was)
{
	for (size_t i = 0; i < now->counts[ABOUT_PART]; i++) {
		const struct about_fact *part = &now->facts[ABOUT_PART][i], *before;
		enum difference_kind kind;
		struct span of;

		if (find_part(span_of(part), &kind, &of) && (kind == DIFFERENCE_SOURCE || kind == DIFFERENCE_INPUT)) {
			before = request_find(was, span_of(part));
			if (before && is_same_digest(before->digest, part->digest)) {
				return true;
			}
		}
	}
	return false;
}

bool differences_related(const struct request *now, const struct request *was)
{
	struct span program = request_text(now, ABOUT_PROGRAM);
	/* these two names are defaults for programs without a name */
	bool is_named = program.size > 0 && !span_is(program, "default_program") && !span_is(program, "<unnamed>");

	if (!span_equal(request_text(now, ABOUT_COMPILER), request_text(was, ABOUT_COMPILER)) ||
	    !span_equal(request_text(now, ABOUT_STEP), request_text(was, ABOUT_STEP))) {
		return false;
	}
	/* an input that is added first to a link is not compared with one that is added later */
	if (!request_part(now, "earlier inputs") != !request_part(was, "earlier inputs")) {
		return false;
	}
	return (is_named && span_equal(span_base(program), span_base(request_text(was, ABOUT_PROGRAM)))) ||
	       share_text(now, was);
}

/* ---- in words ---- */

const char *differences_name(enum difference_kind kind)
{
	return kinds[kind].name;
}

/* Returns the length of the common beginning of two texts. */
static size_t count_common(struct span one, struct span other)
{
	const char *a = one.bytes, *b = other.bytes;
	size_t size = 0;

	while (size < one.size && size < other.size && a[size] == b[size]) {
		size++;
	}
	return size;
}

/* Writes a text; of a long text only its beginning and the bytes around its first difference, with dots for gaps. */
static void spell_text(struct span span, struct span other, char *ret_text, size_t capacity)
{
	const char *bytes = span.bytes;
	size_t same = count_common(span, other), from, size;

	if (span.size <= SHOWN_BYTES) {
		snprintf(ret_text, capacity, "%.*s", SPAN(span));
		return;
	}
	from = same > HEAD_BYTES + LEAD_BYTES && same < span.size ? same - LEAD_BYTES : HEAD_BYTES;
	size = span.size - from < SHOWN_BYTES - HEAD_BYTES ? span.size - from : SHOWN_BYTES - HEAD_BYTES;
	snprintf(ret_text, capacity, "%.*s%s%.*s%s", HEAD_BYTES, bytes, from > HEAD_BYTES ? "..." : "", (int)size,
	         bytes + from, from + size < span.size ? "..." : "");
}

static void spell_option(const struct request_option *option, const struct request_option *other,
                         char ret_text[DIFFERENCE_TEXT_BYTES])
{
	/* if the value is long, only the value is written, so that the difference in it is visible */
	if (option->text.size <= SHOWN_BYTES && option->text.size + option->value.size > SHOWN_BYTES) {
		spell_text(option->value, other->value, ret_text, DIFFERENCE_TEXT_BYTES);
		return;
	}
	spell_text(option->text, other->text, ret_text, DIFFERENCE_TEXT_BYTES);
	if (option->value.size > 0 && option->text.size <= SHOWN_BYTES) {
		size_t end = strlen(ret_text);

		snprintf(ret_text + end, DIFFERENCE_TEXT_BYTES - end, " %.*s", SPAN(option->value));
	}
}

/* Returns quotes for a text that is empty, or whose blanks at the ends would be invisible. */
static const char *find_quotes(const char *text)
{
	size_t size = strlen(text);

	return size == 0 || text[0] == ' ' || text[size - 1] == ' ' ? "\"" : "";
}

static const char *find_saying(const struct difference *difference)
{
	switch (difference->way) {
	case DIFFERENCE_NEW:
		return kinds[difference->kind].new ? kinds[difference->kind].new : "%n   is new";
	case DIFFERENCE_GONE:
		return kinds[difference->kind].gone ? kinds[difference->kind].gone : "%w   is gone";
	default:
		return kinds[difference->kind].changed ? kinds[difference->kind].changed : "%n   was %w";
	}
}

/* Writes a text of the table with its marks replaced. */
static void spell_saying(const char *saying, const struct request *now, struct difference_words *words)
{
	struct span title = request_text(now, ABOUT_TITLE), binder = request_binder(now);
	size_t end = 0, capacity = sizeof(words->words);

	for (const char *mark; (mark = strchr(saying, '%')) != NULL && end < capacity; saying = mark + 2) {
		const char *text = mark[1] == 'n' ? words->now : words->was, *quote = find_quotes(text);

		end += (size_t)snprintf(words->words + end, capacity - end, "%.*s", (int)(mark - saying), saying);
		if (end >= capacity) {
			return;
		}
		if (mark[1] == 't') {
			end += (size_t)snprintf(words->words + end, capacity - end, "%.*s", SPAN(title));
		} else if (mark[1] == 'b') {
			end += (size_t)snprintf(words->words + end, capacity - end, "%s%.*s", binder.size ? " by " : "",
			                        SPAN(binder));
		} else {
			end += (size_t)snprintf(words->words + end, capacity - end, "%s%s%s", quote, text, quote);
		}
	}
	if (end < capacity) {
		snprintf(words->words + end, capacity - end, "%s", saying);
	}
}

void differences_spell(const struct difference *difference, const struct request *now,
                       struct difference_words *ret_words)
{
	const char *name = kinds[difference->kind].name;
	char of[DIFFERENCE_TEXT_BYTES - 64];

	*ret_words = (struct difference_words){
	    .knows_now = difference->now.text.bytes != NULL,
	    .knows_was = difference->was.text.bytes != NULL,
	};
	spell_text(difference->of, (struct span){NULL, 0}, of, sizeof(of));
	snprintf(ret_words->what, sizeof(ret_words->what), "%s%s%s", name, *name && *of ? " " : "", of);
	spell_option(&difference->now, &difference->was, ret_words->now);
	spell_option(&difference->was, &difference->now, ret_words->was);
	spell_saying(find_saying(difference), now, ret_words);
}
