/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"
#include "cli/explain/similarity.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* What is drawn for a request: with few of each, so that many are alike, some stand twice, and some differ in one. */
static const char *const options[] = {"-DN=1", "-DN=2", "-DM", "-arch=sm_80", "-arch=sm_90", "-I/a/x", "-I/b/x", "-w"};
static const char *const names[] = {"a.cu", "/x/a.cu", "b.cu", "link", "default_program"};
static const char *const parts[] = {"source",           "header a",     "header b", "input 1",       "module m",
                                    "variable V",       "PWD",          "decimals", "rounding mode", "namespace",
                                    "earlier compiles", "program name", "unheard",  "compiler"};
static const char *const expressions[] = {"f<1>", "f<2>", "g"};
static const char *const roots[] = {"/a", "/b"};

#define PICK(list, random) (list)[draw(random) % (sizeof(list) / sizeof((list)[0]))]

static unsigned draw(uint64_t *random)
{
	*random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(*random >> 33);
}

struct drawn {
	struct stream about;
	struct request request;
	struct similarity similarity;
};

static void draw_request(uint64_t *random, struct drawn *ret_drawn)
{
	struct stream about = STREAM_EMPTY;

	about_begin(&about);
	about_text(&about, ABOUT_COMPILER, draw(random) % 8 ? "nvrtc" : "nvvm");
	about_text(&about, ABOUT_STEP, draw(random) % 8 ? "compile" : "verify");
	about_text(&about, ABOUT_PROGRAM, PICK(names, random));
	about_text(&about, ABOUT_ROOT, PICK(roots, random));
	for (unsigned i = draw(random) % 5; i > 0; i--) {
		about_text(&about, ABOUT_OPTION, PICK(options, random));
	}
	for (unsigned i = draw(random) % 3; i > 0; i--) {
		about_text(&about, ABOUT_EXPRESSION, PICK(expressions, random));
	}
	for (unsigned i = draw(random) % 6; i > 0; i--) {
		const struct span content = {draw(random) % 2 ? "x" : "y", 1};

		about_part(&about, PICK(parts, random), &content, 1);
	}
	cr_assert(!about.failed);
	ret_drawn->about = about;
	cr_assert_eq(request_read(about.bytes, about.size, &ret_drawn->request), 0);
	ret_drawn->request.is_cut = draw(random) % 8 == 0;
	ret_drawn->similarity = similarity_of(&ret_drawn->request);
}

static void drawn_free(struct drawn *drawn)
{
	request_free(&drawn->request);
	stream_free(&drawn->about);
}

Test(similarity, says_neither_too_much_nor_nothing)
{
	uint64_t random = 1;
	unsigned unrelated = 0, exact = 0;

	for (unsigned i = 0; i < 100000; i++) {
		struct drawn now, was;
		unsigned least, weight;

		draw_request(&random, &now);
		draw_request(&random, &was);
		least = similarity_least(&now.similarity, &was.similarity);
		weight = differences_weight(&now.request, &was.request);
		cr_assert_leq(least, weight, "pair %u", i);
		exact += weight > 0 && least == weight;
		if (!similarity_related(&now.similarity, &was.similarity)) {
			cr_assert(!differences_related(&now.request, &was.request), "pair %u", i);
			unrelated++;
		}
		drawn_free(&now);
		drawn_free(&was);
	}
	cr_expect_gt(unrelated, 10000);
	cr_expect_gt(exact, 1000);
}

Test(similarity, one_option_that_is_another_costs_its_weight)
{
	const struct request_option one = {.text = {"-DN=1", 5}}, other = {.text = {"-DN=65", 6}};
	struct request_option here = one, there = other;
	const struct similarity now = similarity_of(&(struct request){.options = &here, .option_count = 1});
	const struct similarity was = similarity_of(&(struct request){.options = &there, .option_count = 1});

	cr_expect_eq(similarity_least(&now, &was), differences_weight_of(DIFFERENCE_OPTION));
	cr_expect_eq(similarity_least(&now, &now), 0);
}
