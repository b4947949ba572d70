/* SPDX-License-Identifier: MIT */
#include "cli/explain/similarity.h"

#include "cli/explain/differences.h"

#include <string.h>
#include <xxhash.h>

/* What is least of all that a part can be told as. */
#define PART_WEIGHT differences_weight_of(DIFFERENCE_VARIABLE)

static uint64_t hash_text(struct span text, uint64_t seed)
{
	return XXH3_64bits_withSeed(text.bytes, text.size, seed);
}

static void add(struct similarity *similarity, enum similarity_set set, uint64_t hash)
{
	similarity->sets[set] |= UINT64_C(1) << (hash % 64);
}

static void add_options(struct similarity *similarity, const struct request *request)
{
	for (size_t i = 0; i < request->option_count; i++) {
		const struct request_option *option = &request->options[i];
		uint64_t hash = hash_text(option->value, hash_text(option->text, 0));

		if (!differences_is_include(option)) {
			add(similarity, SIMILARITY_OPTIONS, hash);
			similarity->options += hash;
		}
	}
}

static enum similarity_set set_of(enum difference_kind kind)
{
	switch (kind) {
	case DIFFERENCE_SOURCE:
		return SIMILARITY_SOURCES;
	case DIFFERENCE_INPUT:
		return SIMILARITY_INPUTS;
	case DIFFERENCE_HEADER:
		return SIMILARITY_HEADERS;
	default:
		return SIMILARITY_PARTS;
	}
}

static void add_part(struct similarity *similarity, const struct request_part *part)
{
	enum difference_kind kind;
	struct span of;
	uint64_t digest;

	if (!differences_part_kind(part->name, &kind, &of)) {
		return;
	}
	memcpy(&digest, part->digest, sizeof(digest));
	add(similarity, set_of(kind), hash_text(part->name, digest));
	if (kind == DIFFERENCE_SOURCE && !similarity->has_source) {
		similarity->has_source = true;
		similarity->source = digest;
	}
}

struct similarity similarity_of(const struct request *request)
{
	struct similarity similarity = {
	    .scope = hash_text(request->step, hash_text(request->compiler, 0)),
	    .program = hash_text(span_base(request->program), 0),
	    .is_named = differences_is_named(request->program),
	    .is_cut = request->is_cut,
	};

	add_options(&similarity, request);
	for (size_t i = 0; i < request->expression_count; i++) {
		add(&similarity, SIMILARITY_EXPRESSIONS, hash_text(request->expressions[i], 0));
	}
	for (size_t i = 0; i < request->part_count; i++) {
		add_part(&similarity, &request->parts[i]);
	}
	return similarity;
}

bool similarity_related(const struct similarity *now, const struct similarity *was)
{
	return now->scope == was->scope && ((now->is_named && now->program == was->program) ||
	                                    (now->sets[SIMILARITY_SOURCES] & was->sets[SIMILARITY_SOURCES]) != 0 ||
	                                    (now->sets[SIMILARITY_INPUTS] & was->sets[SIMILARITY_INPUTS]) != 0);
}

/* How many texts at least are in one and not in the other. */
static unsigned lacking(const struct similarity *one, const struct similarity *other, enum similarity_set set)
{
	uint64_t bits = one->sets[set] & ~other->sets[set];

	return bits ? (unsigned)__builtin_popcountll(bits) : 0;
}

/* Each that has no like is told once, or together with one of the other's. */
static unsigned least_options(const struct similarity *now, const struct similarity *was)
{
	unsigned more = lacking(now, was, SIMILARITY_OPTIONS), less = lacking(was, now, SIMILARITY_OPTIONS);
	unsigned count = more > less ? more : less;

	if (now->is_cut) {
		return more;
	}
	return count > 0 ? count : now->options != was->options;
}

/* Of a part that the other has too, but another one, only now's counts: a name may stand there twice. */
unsigned similarity_least(const struct similarity *now, const struct similarity *was)
{
	const bool other_source = now->has_source && was->has_source && now->source != was->source;
	const bool other_program = now->program != was->program;
	const unsigned expressions =
	    lacking(now, was, SIMILARITY_EXPRESSIONS) + (now->is_cut ? 0 : lacking(was, now, SIMILARITY_EXPRESSIONS));

	return other_source * differences_weight_of(DIFFERENCE_SOURCE) +
	       other_program * differences_weight_of(DIFFERENCE_PROGRAM) +
	       least_options(now, was) * differences_weight_of(DIFFERENCE_OPTION) +
	       expressions * differences_weight_of(DIFFERENCE_EXPRESSION) +
	       lacking(now, was, SIMILARITY_INPUTS) * differences_weight_of(DIFFERENCE_INPUT) +
	       lacking(now, was, SIMILARITY_HEADERS) * differences_weight_of(DIFFERENCE_HEADER) +
	       lacking(now, was, SIMILARITY_PARTS) * PART_WEIGHT;
}
