/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"

#include <string.h>

const char *difference_name(enum difference_kind kind)
{
	static const char *const names[DIFFERENCE_KINDS] = {
#define DIFFERENCE_TEXT(name, weight, text) [DIFFERENCE_##name] = (text),
	    DIFFERENCES(DIFFERENCE_TEXT)
#undef DIFFERENCE_TEXT
	};

	return names[kind];
}

struct telling {
	const struct request *now, *was;
	difference_visit *each;
	void *context;
};

static void tell(const struct telling *telling, const struct difference *difference)
{
	telling->each(difference, telling->context);
}

static void tell_texts(const struct telling *telling, enum difference_kind kind, struct span now, struct span was)
{
	const struct difference difference = {
	    .kind = kind,
	    .way = !was.bytes   ? DIFFERENCE_NEW
	           : !now.bytes ? DIFFERENCE_GONE
	                        : DIFFERENCE_CHANGED,
	    .now.text = now,
	    .was.text = was,
	};

	tell(telling, &difference);
}

/* What a key sees of the directory of a program's name of NVRTC's that is not bound to its place. */
enum name_place { NAME_BARE, NAME_RELATIVE, NAME_ABSOLUTE };

static enum name_place name_place(struct span program)
{
	const char *text = program.bytes;

	if (program.size == 0 || !memchr(text, '/', program.size)) {
		return NAME_BARE;
	}
	return text[0] == '/' ? NAME_ABSOLUTE : NAME_RELATIVE;
}

/*
 * The directory of the name counts where it is part of the key: it is bound, or relative. An absolute one is a root, which
 * may be any, but not none.
 */
static void tell_program(const struct telling *telling)
{
	const uint8_t *now = request_part(telling->now, "program name"),
	              *was = request_part(telling->was, "program name");
	bool elsewhere = span_is(telling->now->compiler, "nvrtc") &&
	                 name_place(telling->now->program) != name_place(telling->was->program);
	bool named = now && was && memcmp(now, was, ABOUT_DIGEST_BYTES) != 0 &&
	             !span_equal(telling->now->program, telling->was->program);

	if (elsewhere || named || !span_equal(span_base(telling->now->program), span_base(telling->was->program))) {
		tell_texts(telling, DIFFERENCE_PROGRAM, telling->now->program, telling->was->program);
	}
}

/* How often it is among the first so many. */
static size_t count_expression(const struct request *request, size_t first, struct span expression)
{
	size_t count = 0;

	for (size_t i = 0; i < first; i++) {
		count += span_equal(request->expressions[i], expression);
	}
	return count;
}

/* Has `other` as many of it as `request` has up to the one at `at`? The same name may be added twice. */
static bool has_expression(const struct request *other, const struct request *request, size_t at)
{
	const struct span expression = request->expressions[at];

	return count_expression(other, other->expression_count, expression) > count_expression(request, at, expression);
}

static void tell_expressions(const struct telling *telling)
{
	const struct request *now = telling->now, *was = telling->was;
	const struct span none = {NULL, 0};
	bool same = now->expression_count == was->expression_count;

	for (size_t i = 0; i < now->expression_count; i++) {
		if (!has_expression(was, now, i)) {
			same = false;
			tell_texts(telling, DIFFERENCE_EXPRESSION, now->expressions[i], none);
		}
	}
	for (size_t i = 0; i < was->expression_count; i++) {
		if (!has_expression(now, was, i)) {
			same = false;
			if (!now->is_cut) {
				tell_texts(telling, DIFFERENCE_EXPRESSION, none, was->expressions[i]);
			}
		}
	}
	for (size_t i = 0; same && i < now->expression_count; i++) {
		if (!span_equal(now->expressions[i], was->expressions[i])) {
			tell_texts(telling, DIFFERENCE_EXPRESSION_ORDER, now->expressions[i], was->expressions[i]);
			return;
		}
	}
}

bool differences_part_kind(struct span name, enum difference_kind *ret_kind, struct span *ret_of)
{
	static const struct {
		const char *name;
		enum difference_kind kind;
	} exact[] =
	    {
	        {"source", DIFFERENCE_SOURCE},
	        {"namespace", DIFFERENCE_NAMESPACE},
	        {"rounding mode", DIFFERENCE_ROUNDING},
	        {"decimals", DIFFERENCE_DECIMALS},
	        {"earlier compiles", DIFFERENCE_EARLIER},
	        {"earlier inputs", DIFFERENCE_EARLIER_INPUTS},
	    },
	  heads[] = {
	      {"header ", DIFFERENCE_HEADER},
	      {"variable ", DIFFERENCE_VARIABLE},
	      {"input ", DIFFERENCE_INPUT},
	      {"module ", DIFFERENCE_INPUT},
	  };
	static const char *const elsewhere[] = {"compiler", "program name", "working directory", "PWD"};

	*ret_of = (struct span){NULL, 0};
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
		if (span_is(name, elsewhere[i])) {
			return false;
		}
	}
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		if (span_is(name, exact[i].name)) {
			*ret_kind = exact[i].kind;
			return true;
		}
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (span_behind(name, heads[i].name, ret_of)) {
			if (heads[i].kind == DIFFERENCE_INPUT) {
				*ret_of = name;
			}
			*ret_kind = heads[i].kind;
			return true;
		}
	}
	*ret_kind = DIFFERENCE_OTHER;
	*ret_of = name;
	return true;
}

/*
 * A source that only one of them tells was not known in the other: behind an earlier compile of the handle that stands for
 * it.
 */
static void tell_part(const struct telling *telling, const struct request_part *part, enum difference_way way)
{
	struct difference difference = {.way = way};

	if (differences_part_kind(part->name, &difference.kind, &difference.of) &&
	    (way == DIFFERENCE_CHANGED || difference.kind != DIFFERENCE_SOURCE)) {
		tell(telling, &difference);
	}
}

static void tell_parts(const struct telling *telling)
{
	const struct request *now = telling->now, *was = telling->was;

	for (size_t i = 0; i < now->part_count; i++) {
		const struct request_part *part = &now->parts[i], *before = request_find(was, part->name);

		if (!before) {
			tell_part(telling, part, DIFFERENCE_NEW);
		} else if (memcmp(before->digest, part->digest, ABOUT_DIGEST_BYTES) != 0) {
			tell_part(telling, part, DIFFERENCE_CHANGED);
		}
	}
	for (size_t i = 0; i < was->part_count; i++) {
		if (!now->is_cut && !request_find(now, was->parts[i].name)) {
			tell_part(telling, &was->parts[i], DIFFERENCE_GONE);
		}
	}
}

/* The next header from `*at` on that both have. */
static bool next_header(const struct request *request, const struct request *other, size_t *at, struct span *ret_name)
{
	struct span rest;

	for (; *at < request->part_count; (*at)++) {
		if (span_behind(request->parts[*at].name, "header ", &rest) &&
		    request_find(other, request->parts[*at].name)) {
			*ret_name = rest;
			(*at)++;
			return true;
		}
	}
	return false;
}

static void tell_header_order(const struct telling *telling)
{
	struct span now, was;
	size_t i = 0, j = 0;

	while (next_header(telling->now, telling->was, &i, &now) && next_header(telling->was, telling->now, &j, &was)) {
		if (!span_equal(now, was)) {
			tell_texts(telling, DIFFERENCE_HEADER_ORDER, now, was);
			return;
		}
	}
}

static void tell_compiler(const struct telling *telling)
{
	const struct request *now = telling->now, *was = telling->was;
	const uint8_t *now_part = request_part(now, "compiler"), *was_part = request_part(was, "compiler");
	bool known = now->build.size > 0 && was->build.size > 0;
	const struct span now_text = known ? now->build : now->release, was_text = known ? was->build : was->release;
	bool same = now_part && was_part && memcmp(now_part, was_part, ABOUT_DIGEST_BYTES) == 0;

	/* the same library may be known by two names */
	if (!same && !span_equal(now_text, was_text)) {
		tell_texts(telling, DIFFERENCE_COMPILER, now_text, was_text);
	} else if (!same && now_part && was_part) {
		tell_texts(telling, DIFFERENCE_BUILD, now_text, was_text);
	}
}

/* The option that lets paths into what is made; empty: it is not one of those that are known to. */
static struct span binder_of(const struct request *request)
{
	for (size_t i = 0; i < request->option_count; i++) {
		if (request_binds(request->options[i].text)) {
			return request->options[i].text;
		}
	}
	return (struct span){NULL, 0};
}

static void tell_place(const struct telling *telling)
{
	const struct request *now = telling->now, *was = telling->was;
	const uint8_t *here = request_part(now, "working directory"), *there = request_part(was, "working directory");
	const uint8_t *pwd = request_part(now, "PWD"), *old_pwd = request_part(was, "PWD");
	struct difference difference = {.kind = DIFFERENCE_PLACE, .by = binder_of(now)};

	if (!request_is_bound(now) || !request_is_bound(was)) {
		return;
	}
	if (memcmp(here, there, ABOUT_DIGEST_BYTES) != 0) {
		difference.now.text = now->bound_count ? now->bound[0] : (struct span){NULL, 0};
		difference.was.text = was->bound_count ? was->bound[0] : (struct span){NULL, 0};
		tell(telling, &difference);
	} else if (!pwd != !old_pwd || (pwd && memcmp(pwd, old_pwd, ABOUT_DIGEST_BYTES) != 0)) {
		difference.of = (struct span){"PWD", 3};
		tell(telling, &difference);
	}
}

void differences_tell(const struct request *now, const struct request *was, difference_visit *each, void *context)
{
	const struct telling telling = {now, was, each, context};

	tell_compiler(&telling);
	tell_program(&telling);
	tell_parts(&telling);
	tell_header_order(&telling);
	differences_tell_options(now, was, each, context);
	tell_expressions(&telling);
	tell_place(&telling);
}

static void add_weight(const struct difference *difference, void *context)
{
	/* the same program in another directory is nearer than another program */
	bool moved = difference->kind == DIFFERENCE_PROGRAM &&
	             span_equal(span_base(difference->now.text), span_base(difference->was.text));
	unsigned *weight = context;

	*weight += differences_weight_of(moved ? DIFFERENCE_PLACE : difference->kind);
}

unsigned differences_weight(const struct request *now, const struct request *was)
{
	unsigned weight = 0;

	differences_tell(now, was, add_weight, &weight);
	return weight;
}

bool differences_is_named(struct span program)
{
	static const char *const unnamed[] = {"default_program", "link", "<unnamed>", ""};

	for (size_t i = 0; i < sizeof(unnamed) / sizeof(unnamed[0]); i++) {
		if (span_is(program, unnamed[i])) {
			return false;
		}
	}
	return true;
}

/* Have they one text in common that is compiled? */
static bool share_text(const struct request *now, const struct request *was)
{
	for (size_t i = 0; i < now->part_count; i++) {
		const struct request_part *part = &now->parts[i], *before;
		enum difference_kind kind;
		struct span of;

		if (differences_part_kind(part->name, &kind, &of) &&
		    (kind == DIFFERENCE_SOURCE || kind == DIFFERENCE_INPUT)) {
			before = request_find(was, part->name);
			if (before && memcmp(before->digest, part->digest, ABOUT_DIGEST_BYTES) == 0) {
				return true;
			}
		}
	}
	return false;
}

bool differences_related(const struct request *now, const struct request *was)
{
	if (!span_equal(now->compiler, was->compiler) || !span_equal(now->step, was->step)) {
		return false;
	}
	/* the first input of a link is no other's second */
	if (!request_part(now, "earlier inputs") != !request_part(was, "earlier inputs")) {
		return false;
	}
	return (differences_is_named(now->program) && span_equal(span_base(now->program), span_base(was->program))) ||
	       share_text(now, was);
}
