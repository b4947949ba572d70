/* SPDX-License-Identifier: MIT */
#include "keygen/about.h"
#include "tests/unit/support.h"

static char told[1024];

static int tell(const struct about_fact *fact, void *context)
{
	char line[128];

	snprintf(line, sizeof(line), "%d %.*s %u %u %s;", (int)fact->kind, (int)fact->size, fact->text, fact->tag,
	         fact->skip, fact->digest ? "digest" : "");
	strncat(told, line, sizeof(told) - strlen(told) - 1);
	return 0;
}

static int stop(const struct about_fact *fact, void *context)
{
	return fact->kind == ABOUT_OPTION ? 7 : 0;
}

static struct stream about; /* of each test */

static void describe(void)
{
	const struct span source = {"text", 4};

	about_begin(&about);
	about_text(&about, ABOUT_COMPILER, "nvrtc");
	about_text(&about, ABOUT_OPTION, "-arch=sm_90");
	about_part(&about, "source", &source);
	about_artifact(&about, "PTX", 0x100, 8);
	cr_assert(!about.failed);
}

static void drop(void)
{
	stream_free(&about);
}

TestSuite(about, .init = describe, .fini = drop);

Test(about, facts_are_read_in_the_order_of_writing)
{
	told[0] = '\0';
	cr_expect_eq(about_read(about.bytes, about.size, tell, NULL), 0);
	cr_expect_str_eq(told, "2 nvrtc 0 0 ;6 -arch=sm_90 0 0 ;10 source 0 0 digest;11 PTX 256 8 ;");
}

Test(about, a_callback_can_end_the_reading)
{
	cr_expect_eq(about_read(about.bytes, about.size, stop, NULL), 7);
}

Test(about, different_parts_have_different_digests)
{
	const struct span one = {"text", 4}, other = {"texu", 4};
	struct stream a = STREAM_EMPTY, b = STREAM_EMPTY;

	about_part(&a, "source", &one);
	about_part(&b, "source", &other);
	cr_expect_eq(a.size, b.size);
	cr_expect_neq(memcmp(a.bytes, b.bytes, a.size), 0);
	stream_free(&a);
	stream_free(&b);
}

Test(about, facts_of_unknown_kinds_are_skipped)
{
	stream_string(&about, 200, "what is to come");
	about_text(&about, ABOUT_PROGRAM, "k.cu");
	told[0] = '\0';
	cr_expect_eq(about_read(about.bytes, about.size, tell, NULL), 0);
	cr_expect(strstr(told, "5 k.cu") && !strstr(told, "to come"));
}

Test(about, another_format_is_rejected)
{
	drop();
	stream_number(&about, 1, 2);
	cr_expect_eq(about_read(about.bytes, about.size, tell, NULL), -EPROTONOSUPPORT);
	cr_expect_eq(about_read("", 0, tell, NULL), -EBADMSG);
}

Test(about, a_text_with_a_size_needs_no_terminating_nul)
{
	const struct span name = {"vec.h and more", 5}, content = {"text", 4};

	drop();
	about_begin(&about);
	about_sized(&about, ABOUT_OPTION, "-DN=4567", 5);
	about_part_of(&about, "header", &name, &content);
	told[0] = '\0';
	cr_expect_eq(about_read(about.bytes, about.size, tell, NULL), 0);
	cr_expect_str_eq(told, "6 -DN=4 0 0 ;10 header vec.h 0 0 digest;");
}

Test(about, a_truncated_description_is_damaged_or_has_fewer_facts)
{
	for (size_t size = 0; size < about.size; size++) {
		char *copy = malloc(size + 1); /* exact size, so that a sanitizer sees a read past the end */
		int result;

		memcpy(copy, about.bytes, size);
		told[0] = '\0';
		result = about_read(copy, size, tell, NULL);
		cr_expect(result == 0 || result == -EBADMSG, "%zu", size);
		free(copy);
	}
}
