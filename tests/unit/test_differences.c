/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"
#include "tests/unit/support.h"

static char told[4096];

/* Makes a description from a text: "o-DN=4" is an option, "psource=text" a part, and so on. */
static struct stream about_of(const char *facts)
{
	static const struct {
		char letter;
		enum about_kind kind;
	} letters[] = {
	    {'c', ABOUT_COMPILER},   {'t', ABOUT_TITLE},  {'r', ABOUT_RELEASE}, {'n', ABOUT_PROGRAM},
	    {'s', ABOUT_STEP},       {'o', ABOUT_OPTION}, {'B', ABOUT_BUILD},   {'R', ABOUT_ROOT},
	    {'e', ABOUT_EXPRESSION}, {'b', ABOUT_BOUND},
	};
	struct stream about = STREAM_EMPTY;
	char copy[1024], *rest = copy, *fact;

	snprintf(copy, sizeof(copy), "%s", facts);
	about_begin(&about);
	while ((fact = strsep(&rest, ";")) != NULL) {
		char *content = *fact == 'p' ? strchr(fact, '=') : NULL;

		for (size_t i = 0; i < COUNT(letters); i++) {
			if (*fact == letters[i].letter) {
				about_text(&about, letters[i].kind, fact + 1);
			}
		}
		if (content) {
			struct span span = {content + 1, strlen(content + 1)};

			*content = '\0';
			about_part(&about, fact + 1, &span);
		}
	}
	cr_assert(!about.failed);
	return about;
}

static void tell(const struct differences *differences)
{
	told[0] = '\0';
	for (size_t i = 0; i < differences->count; i++) {
		const struct difference *one = &differences->list[i];
		size_t end = strlen(told);
		bool is_pair = one->now.bytes && one->was.bytes;

		snprintf(told + end, sizeof(told) - end, "%.*s: %.*s%s%.*s\n", SPAN(one->what),
		         SPAN(one->now.bytes ? one->now : one->was), is_pair ? " was " : " ",
		         SPAN(is_pair ? one->was : span_text(one->way)));
	}
}

struct pair {
	struct stream bytes[2];
	struct request now, was;
};

static struct pair pair_of(const char *now, const char *was)
{
	struct pair pair = {.bytes = {about_of(now), about_of(was)}};

	cr_assert_eq(request_read(pair.bytes[0].bytes, pair.bytes[0].size, &pair.now), 0);
	cr_assert_eq(request_read(pair.bytes[1].bytes, pair.bytes[1].size, &pair.was), 0);
	return pair;
}

static void pair_free(struct pair *pair)
{
	request_free(&pair->now);
	request_free(&pair->was);
	stream_free(&pair->bytes[0]);
	stream_free(&pair->bytes[1]);
}

static void expect(const char *now, const char *was, const char *expected)
{
	struct pair pair = pair_of(now, was);
	struct differences differences;

	differences_find(&pair.now, &pair.was, &differences);
	tell(&differences);
	cr_expect_str_eq(told, expected, "%s and %s: %s", now, was, told);
	cr_expect_eq(differences.weight == 0, *expected == '\0');
	pair_free(&pair);
}

static bool related(const char *now, const char *was)
{
	struct pair pair = pair_of(now, was);
	bool is = differences_related(&pair.now, &pair.was);

	pair_free(&pair);
	return is;
}

Test(differences, options_are_paired_by_their_names)
{
	expect("o-DN=8;o-arch=sm_90", "o-DN=4;o-arch=sm_90", "option: -DN=8 was -DN=4\n");
	expect("o-DN=8;o-DM", "o-DM;o-w", "option: -DN=8 is new\noption: -w is gone\n");
	expect("o-arch=sm_90", "o-arch=sm_80", "option: -arch=sm_90 was -arch=sm_80\n");
	expect("o-Ia;o-Ib", "o-Ia;o-Ic", "option: -Ib was -Ic\n");
	expect("o-DN;o-DN", "o-DN", "option: -DN is new\n");
}

Test(differences, moved_roots_are_no_difference)
{
	expect("R/ci/2;o-I/ci/2/inc;n/ci/2/a.cu", "R/ci/1;o-I/ci/1/inc;n/ci/1/a.cu", "");
	expect("R/ci/2;o-I;o/ci/2", "R/ci/1;o-I;o/ci/1", "");
	expect("R/ci/2;o-I/ci/2/inc", "R/ci/1;o-I/ci/1/other", "option: -I/ci/2/inc was -I/ci/1/other\n");
	expect("R/ci/2;o-I/ci/22", "R/ci/1;o-I/ci/12", "option: -I/ci/22 was -I/ci/12\n");
	expect("R/ci;o-I;o/ci", "R/ci;o-I/ci", "option: -I was -I/ci\noption: /ci is new\n");
}

Test(differences, only_a_new_directory_is_reported)
{
	expect("R/new;R/a;R/b;o-I/new;o-I/a;o-I/b", "R/a;R/b;o-I/a;o-I/b", "option: -I/new is new\n");
	expect("R/a;R/b;o-I/a;o-I/b", "R/old;R/a;R/b;o-I/old;o-I/a;o-I/b", "option: -I/old is gone\n");
}

Test(differences, parts_without_a_value_have_changed_or_are_new_or_gone)
{
	expect("pearlier compiles=x", "psource=a", "earlier compiles:  is new\nsource:  is gone\n");
	expect("pearlier inputs=x", "pearlier inputs=y", "earlier inputs:  has changed\n");
}

Test(differences, only_related_requests_are_compared)
{
	cr_expect(related("cnvrtc;na.cu;psource=1", "cnvrtc;na.cu;psource=2"));
	cr_expect(related("cnvrtc;na.cu;psource=1", "cnvrtc;nb.cu;psource=1"));
	cr_expect_not(related("cnvrtc;na.cu;psource=1", "cnvrtc;nb.cu;psource=2"));
	cr_expect_not(related("cnvrtc;ndefault_program;psource=1", "cnvrtc;ndefault_program;psource=2"));
	cr_expect_not(related("cnvrtc;na;psource=1", "cnvvm;na;psource=1"));
	cr_expect(related("cnvjitlink;pinput a=1;pinput a=2", "cnvjitlink;pinput a=3;pinput a=2"));
	cr_expect_not(related("cnvvm;na;scompile;pmodule 1=1", "cnvvm;na;sverify;pmodule 1=1"));
	cr_expect(related("cnvvm;n<unnamed>;pmodule 1=1", "cnvvm;n<unnamed>;pmodule 1=1"));
}

Test(differences, a_damaged_request_is_rejected)
{
	struct request request;

	cr_expect_eq(request_read("damaged", 7, &request), -EBADMSG);
	cr_expect_eq(request_read("", 0, &request), -EBADMSG);
}
