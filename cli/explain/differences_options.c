/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"

#include <stdlib.h>
#include <string.h>

struct comparing {
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

bool differences_is_include(const struct request_option *option)
{
	struct span head, directory;

	return include_of(option, &head, &directory);
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

static bool same_place(const struct comparing *telling, const struct request_option *now,
                       const struct request_option *was)
{
	struct span now_head, was_head, now_path, was_path, now_rest, was_rest;
	size_t now_root, was_root;

	return include_of(now, &now_head, &now_path) && include_of(was, &was_head, &was_path) &&
	       span_equal(now_head, was_head) && !now->value.size == !was->value.size &&
	       in_root(telling->now, now_path, &now_root, &now_rest) &&
	       in_root(telling->was, was_path, &was_root, &was_rest) && now_root == was_root &&
	       span_equal(now_rest, was_rest);
}

static bool same_text(const struct comparing *telling, const struct request_option *now,
                      const struct request_option *was)
{
	(void)telling;
	return span_equal(now->text, was->text) && span_equal(now->value, was->value);
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

typedef bool option_test(const struct comparing *telling, const struct request_option *now,
                         const struct request_option *was);

static void match(const struct comparing *telling, option_test *like, struct matching *matching)
{
	const struct request *now = telling->now, *was = telling->was;

	for (size_t i = 0; i < now->option_count; i++) {
		for (size_t j = 0; j < was->option_count && !matching->of_now[i]; j++) {
			if (!matching->of_was[j] && like(telling, &now->options[i], &was->options[j])) {
				matching->of_now[i] = j + 1;
				matching->of_was[j] = i + 1;
			}
		}
	}
}

static void tell_option(const struct comparing *telling, const struct request_option *now,
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
static void tell_unmatched(const struct comparing *telling, struct matching *matching)
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
	for (size_t j = 0; j < was->option_count && !now->is_cut; j++) {
		if (!matching->of_was[j]) {
			tell_option(telling, NULL, &was->options[j]);
		}
	}
}

/* The matched options in the order of `now`: where each stands there, and in `was`. */
struct ranks {
	size_t *now, *was, *longest; /* `longest`: run of them in the same order that ends with that one */
	bool *stays;
	size_t count;
};

static bool ranks_make(const struct request *now, const struct matching *matching, struct ranks *ret_ranks)
{
	const size_t room = now->option_count + 1;
	struct ranks ranks = {
	    .now = calloc(room, sizeof(size_t)),
	    .was = calloc(room, sizeof(size_t)),
	    .longest = calloc(room, sizeof(size_t)),
	    .stays = calloc(room, sizeof(bool)),
	};

	*ret_ranks = ranks;
	if (!ranks.now || !ranks.was || !ranks.longest || !ranks.stays) {
		return false;
	}
	for (size_t i = 0; i < now->option_count; i++) {
		if (matching->of_now[i]) {
			ret_ranks->now[ret_ranks->count] = i;
			ret_ranks->was[ret_ranks->count++] = matching->of_now[i] - 1;
		}
	}
	return true;
}

static void ranks_free(struct ranks *ranks)
{
	free(ranks->now);
	free(ranks->was);
	free(ranks->longest);
	free(ranks->stays);
}

/* As many as can stay where they are, so that as few as can be have moved. */
static void find_staying(struct ranks *ranks)
{
	size_t last = 0;

	for (size_t i = 0; i < ranks->count; i++) {
		ranks->longest[i] = 1;
		for (size_t j = 0; j < i; j++) {
			if (ranks->was[j] < ranks->was[i] && ranks->longest[j] >= ranks->longest[i]) {
				ranks->longest[i] = ranks->longest[j] + 1;
			}
		}
		last = ranks->longest[i] >= ranks->longest[last] ? i : last;
	}
	for (size_t i = last + 1, left = ranks->longest[last], bound = SIZE_MAX; i-- > 0 && left > 0;) {
		if (ranks->longest[i] == left && ranks->was[i] < bound) {
			ranks->stays[i] = true;
			bound = ranks->was[i];
			left--;
		}
	}
}

/* The nearest one that stays and is on the other side of it now. There is one, or it would stay too. */
static size_t passed_by(const struct ranks *ranks, size_t moved)
{
	for (size_t distance = 1; distance < ranks->count; distance++) {
		const size_t sides[] = {moved + distance, moved - distance}; /* below 0: larger than any */

		for (size_t i = 0; i < 2; i++) {
			size_t at = sides[i];

			if (at < ranks->count && ranks->stays[at] &&
			    (at < moved) != (ranks->was[at] < ranks->was[moved])) {
				return at;
			}
		}
	}
	return moved;
}

static bool is_in_order(const struct matching *matching, size_t count)
{
	size_t last = 0;

	for (size_t i = 0; i < count; i++) {
		if (matching->of_now[i] && matching->of_now[i] < last) {
			return false;
		}
		last = matching->of_now[i] ? matching->of_now[i] : last;
	}
	return true;
}

/* Each that has moved past others, of as few as can be. */
static void tell_order(const struct comparing *telling, const struct matching *matching)
{
	const struct request *now = telling->now;
	struct ranks ranks;

	if (is_in_order(matching, now->option_count)) {
		return;
	}
	if (ranks_make(now, matching, &ranks)) {
		find_staying(&ranks);
		for (size_t i = 0; i < ranks.count; i++) {
			size_t other = ranks.stays[i] ? i : passed_by(&ranks, i);
			const struct difference difference = {
			    .kind = DIFFERENCE_OPTION_ORDER,
			    .now = now->options[ranks.now[i]],
			    .was = now->options[ranks.now[other]],
			    .before = i < other,
			};

			if (!ranks.stays[i]) {
				telling->each(&difference, telling->context);
			}
		}
	}
	ranks_free(&ranks);
}

void differences_tell_options(const struct request *now, const struct request *was, difference_visit *each,
                              void *context)
{
	const struct comparing telling = {now, was, each, context};
	struct matching matching = {
	    .of_now = calloc(now->option_count + 1, sizeof(size_t)),
	    .of_was = calloc(was->option_count + 1, sizeof(size_t)),
	};

	if (matching.of_now && matching.of_was) {
		/* a directory that both have is no other's new place */
		match(&telling, same_text, &matching);
		match(&telling, same_place, &matching);
		tell_order(&telling, &matching);
		tell_unmatched(&telling, &matching);
	}
	free(matching.of_now);
	free(matching.of_was);
}

void differences_tell_moved(const struct request *now, const struct request *was, difference_visit *each, void *context)
{
	const struct comparing telling = {now, was, each, context};

	for (size_t i = 0; i < now->option_count && now->option_count == was->option_count; i++) {
		if (!same_text(&telling, &now->options[i], &was->options[i])) {
			tell_option(&telling, &now->options[i], &was->options[i]);
		}
	}
}
