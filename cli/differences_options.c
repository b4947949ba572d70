/* SPDX-License-Identifier: MIT */
#include "cli/differences.h"

#include <stdlib.h>
#include <string.h>

struct telling {
	const struct request *now, *was;
	difference_visit *each;
	void *context;
};

/* The directory of a -I, if that is what the option is. */
static bool include_of(const struct request_option *option, struct span *ret_head, struct span *ret_directory)
{
	static const char *const heads[] = {"--include-path=", "-I=", "-I"};
	struct span rest;

	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		if (span_behind(option->text, heads[i], &rest) && rest.size > 0) {
			*ret_head = (struct span){option->text.bytes, option->text.size - rest.size};
			*ret_directory = rest;
			return true;
		}
	}
	*ret_head = option->text;
	*ret_directory = option->value;
	return (span_is(option->text, "-I") || span_is(option->text, "--include-path")) && option->value.size > 0;
}

/* Which root a path lies in, and what comes behind that; false: in none. */
static bool in_root(const struct request *request, struct span path, size_t *ret_root, struct span *ret_rest)
{
	for (size_t i = 0; i < request->root_count; i++) {
		const struct span root = request->roots[i];

		if (root.size <= path.size && memcmp(path.bytes, root.bytes, root.size) == 0 &&
		    (root.size == path.size || ((const char *)path.bytes)[root.size] == '/')) {
			*ret_root = i;
			*ret_rest = (struct span){(const char *)path.bytes + root.size, path.size - root.size};
			return true;
		}
	}
	return false;
}

static bool same_place(const struct telling *telling, const struct request_option *now,
                       const struct request_option *was)
{
	struct span now_head, was_head, now_path, was_path, now_rest, was_rest;
	size_t now_root, was_root;

	return include_of(now, &now_head, &now_path) && include_of(was, &was_head, &was_path) &&
	       span_equal(now_head, was_head) && in_root(telling->now, now_path, &now_root, &now_rest) &&
	       in_root(telling->was, was_path, &was_root, &was_rest) && now_root == was_root &&
	       span_equal(now_rest, was_rest);
}

static bool same_option(const struct telling *telling, const struct request_option *now,
                        const struct request_option *was)
{
	return (span_equal(now->text, was->text) && span_equal(now->value, was->value)) ||
	       same_place(telling, now, was);
}

/* How far an option's name goes: "-DN" of "-DN=4", "-I" of all of those, "-arch" of "-arch=sm_90". */
static struct span name_of(const struct request_option *option)
{
	const char *text = option->text.bytes;
	const char *end = memchr(text, '=', option->text.size);
	size_t size = end ? (size_t)(end - text) : option->text.size;

	if (option->text.size >= 2 && text[0] == '-' && text[1] == 'I') {
		size = 2;
	}
	return (struct span){text, size};
}

/* For each option of `now` the number of its like in `was` plus one, or 0; of those the other way round, likewise. */
struct matching {
	size_t *of_now, *of_was;
};

static void match(const struct telling *telling, struct matching *matching)
{
	const struct request *now = telling->now, *was = telling->was;

	for (size_t i = 0; i < now->option_count; i++) {
		for (size_t j = 0; j < was->option_count && !matching->of_now[i]; j++) {
			if (!matching->of_was[j] && same_option(telling, &now->options[i], &was->options[j])) {
				matching->of_now[i] = j + 1;
				matching->of_was[j] = i + 1;
			}
		}
	}
}

static void tell_option(const struct telling *telling, const struct request_option *now,
                        const struct request_option *was)
{
	struct difference difference = {
	    .kind = DIFFERENCE_OPTION,
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
	telling->each(&difference, telling->context);
}

/* Those without a like: by pairs of one name first. */
static void tell_unmatched(const struct telling *telling, struct matching *matching)
{
	const struct request *now = telling->now, *was = telling->was;

	for (size_t i = 0; i < now->option_count; i++) {
		size_t j = 0;

		if (matching->of_now[i]) {
			continue;
		}
		while (j < was->option_count &&
		       (matching->of_was[j] || !span_equal(name_of(&now->options[i]), name_of(&was->options[j])))) {
			j++;
		}
		if (j < was->option_count) {
			matching->of_was[j] = SIZE_MAX;
		}
		tell_option(telling, &now->options[i], j < was->option_count ? &was->options[j] : NULL);
	}
	for (size_t j = 0; j < was->option_count; j++) {
		if (!matching->of_was[j]) {
			tell_option(telling, NULL, &was->options[j]);
		}
	}
}

/* The first of the matched that stands where another stood. */
static void tell_order(const struct telling *telling, const struct matching *matching)
{
	const struct request *now = telling->now, *was = telling->was;
	size_t j = 0;

	for (size_t i = 0; i < now->option_count; i++) {
		if (!matching->of_now[i]) {
			continue;
		}
		while (!matching->of_was[j]) {
			j++;
		}
		if (matching->of_now[i] != j + 1) {
			const struct difference difference = {
			    .kind = DIFFERENCE_OPTION_ORDER,
			    .now = now->options[i],
			    .was = was->options[j],
			};

			telling->each(&difference, telling->context);
			return;
		}
		j++;
	}
}

void differences_tell_options(const struct request *now, const struct request *was, difference_visit *each,
                              void *context)
{
	const struct telling telling = {now, was, each, context};
	struct matching matching = {
	    .of_now = calloc(now->option_count + 1, sizeof(size_t)),
	    .of_was = calloc(was->option_count + 1, sizeof(size_t)),
	};

	if (matching.of_now && matching.of_was) {
		match(&telling, &matching);
		tell_order(&telling, &matching);
		tell_unmatched(&telling, &matching);
	}
	free(matching.of_now);
	free(matching.of_was);
}
