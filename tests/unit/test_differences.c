/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"
#include "tests/unit/support.h"

static char told[5 * DIFFERENCE_TEXT_BYTES];

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

static void tell(const struct differences *differences, const struct request *now)
{
	struct difference_words words;

	told[0] = '\0';
	for (size_t i = 0; i < differences->count; i++) {
		size_t end = strlen(told);

		differences_spell(&differences->list[i], now, &words);
		snprintf(told + end, sizeof(told) - end, "%s: %s\n", words.what, words.words);
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

static unsigned weight_of(const struct pair *pair)
{
	struct differences differences;
	unsigned weight;

	differences_find(&pair->now, &pair->was, &differences);
	tell(&differences, &pair->now);
	weight = differences.weight;
	differences_free(&differences);
	return weight;
}

static void expect(const char *now, const char *was, const char *expected)
{
	struct pair pair = pair_of(now, was);
	unsigned weight = weight_of(&pair);

	cr_expect_str_eq(told, expected, "%s and %s: %s", now, was, told);
	cr_expect_eq(weight == 0, *expected == '\0');
	pair_free(&pair);
}

static bool related(const char *now, const char *was)
{
	struct pair pair = pair_of(now, was);
	bool is = differences_related(&pair.now, &pair.was);

	pair_free(&pair);
	return is;
}

Test(differences, equal_requests_have_no_differences)
{
	expect("cnvrtc;r13.0;na.cu;o-DN=4;psource=x", "cnvrtc;r13.0;na.cu;o-DN=4;psource=x", "");
}

Test(differences, options_are_paired_by_their_names)
{
	expect("o-DN=8;o-arch=sm_90", "o-DN=4;o-arch=sm_90", "option: -DN=8   was -DN=4\n");
	expect("o-DN=8;o-DM", "o-DM;o-w", "option: -DN=8   is new\noption: -w   is gone\n");
	expect("o-arch=sm_90", "o-arch=sm_80", "option: -arch=sm_90   was -arch=sm_80\n");
	expect("o-Ia;o-Ib", "o-Ia;o-Ic", "option: -Ib   was -Ic\n");
	expect("o-DN;o-DN", "o-DN", "option: -DN   is new\n");
}

Test(differences, values_in_strings_of_their_own_are_paired)
{
	expect("o-arch;osm_90;o-w", "o-arch;osm_80;o-w", "option: sm_90   was sm_80\n");
	expect("o-D;oN=4", "o-D;oN=5", "option: N=4   was N=5\n");
}

Test(differences, an_order_is_no_difference)
{
	expect("o-Ib;o-Ia;o-w", "o-Ia;o-Ib;o-w", "");
	expect("o-Ib;o-Ia;o-DX", "o-Ia;o-Ib", "option: -DX   is new\n");
}

Test(differences, moved_roots_are_no_difference)
{
	expect("R/ci/2;o-I/ci/2/inc;n/ci/2/a.cu", "R/ci/1;o-I/ci/1/inc;n/ci/1/a.cu", "");
	expect("R/ci/2;o-I;o/ci/2", "R/ci/1;o-I;o/ci/1", "");
	expect("R/ci/2;o-I/ci/2/inc", "R/ci/1;o-I/ci/1/other", "option: -I/ci/2/inc   was -I/ci/1/other\n");
	expect("R/ci/2;o-I/ci/22", "R/ci/1;o-I/ci/12", "option: -I/ci/22   was -I/ci/12\n");
	expect("R/ci;o-I;o/ci", "R/ci;o-I/ci", "option: -I   was -I/ci\noption: /ci   is new\n");
}

Test(differences, only_a_new_directory_is_reported)
{
	expect("R/new;R/a;R/b;o-I/new;o-I/a;o-I/b", "R/a;R/b;o-I/a;o-I/b", "option: -I/new   is new\n");
	expect("R/a;R/b;o-I/a;o-I/b", "R/old;R/a;R/b;o-I/old;o-I/a;o-I/b", "option: -I/old   is gone\n");
}

Test(differences, facts_missing_from_a_truncated_request_are_not_reported_as_gone)
{
	struct pair pair = pair_of("o-DN=8", "o-DN=4;o-w;ea;pheader a.h=1");

	pair.now.is_cut = true;
	(void)weight_of(&pair);
	cr_expect_str_eq(told, "option: -DN=8   was -DN=4\n");
	pair_free(&pair);
}

Test(differences, empty_texts_and_blanks_are_quoted)
{
	expect("o-w;o", "o-w", "option: \"\"   is new\n");
	expect("e t<3>", "et<3>", "name expression: \" t<3>\"   is new\nname expression: t<3>   is gone\n");
	expect("n", "na.cu", "program name: \"\"   was a.cu\n");
}

Test(differences, changed_texts_are_found_by_their_digests)
{
	expect("psource=a", "psource=b",
	       "source: has changed (source text is not stored, so the lines are not known)\n");
	expect("pheader a.h=1;pheader b.h=2", "pheader a.h=9;pheader c.h=2",
	       "header a.h: has changed (given in memory)\nheader b.h: is new (given in memory)\n"
	       "header c.h: is gone (given in memory)\n");
	expect("pinput 1, PTX a=1", "pinput 1, PTX a=2", "input 1, PTX a: has changed\n");
	expect("pmodule 1 a=1;pmodule 2 b=1", "pmodule 1 a=1", "module 2 b: is new\n");
}

Test(differences, a_source_without_a_digest_is_no_difference)
{
	expect("pearlier compiles=x", "psource=a", "earlier compiles of the handle: are new\n");
	expect("pearlier inputs=x", "pearlier inputs=y", "earlier inputs: have changed\n");
}

Test(differences, compilers_differ_in_release_or_build)
{
	expect("tNVRTC;r13.5;pcompiler=a", "r13.0;pcompiler=b", "compiler: NVRTC 13.5   was 13.0\n");
	expect("tNVRTC;r13.0;B13.0.88;pcompiler=a", "r13.0;B13.0.48;pcompiler=b",
	       "compiler: NVRTC 13.0.88   was 13.0.48\n");
	expect("tNVRTC;r13.5;B13.5.37;pcompiler=a", "r13.0;pcompiler=b", "compiler: NVRTC 13.5   was 13.0\n");
	expect("tNVRTC;r13.0;B13.0.88;pcompiler=a", "r13.0;B13.0.48;pcompiler=a", "");
	expect("tNVRTC;r13.0;pcompiler=a", "r13.0;pcompiler=b", "compiler: NVRTC 13.0 is another build\n");
}

Test(differences, differences_in_surroundings_are_reported)
{
	expect("pvariable A=1", "", "variable A: is set, and was not\n");
	expect("", "pvariable A=1", "variable A: is not set, and was\n");
	expect("pvariable A=1", "pvariable A=2", "variable A: has another value\n");
	expect("pnamespace=1", "", "namespace: is set, and was not\n");
	expect(
	    "prounding mode=1", "prounding mode=2",
	    "arithmetic mode: the thread's rounding mode, or its flushing of denormal numbers, differs; constants are "
	    "folded with it\n");
	expect("pdecimals=,", "", "decimals of the locale: are new\n");
	expect("psomething of later builds=1", "", "part something of later builds: is new\n");
}

Test(differences, a_program_name_is_compared_without_its_directory_unless_the_key_has_it)
{
	expect("nb.cu", "na.cu", "program name: b.cu   was a.cu\n");
	expect("n/x/a.cu", "n/y/a.cu", "");
	expect("nx/a.cu;pprogram name=x/a.cu", "ny/a.cu;pprogram name=y/a.cu", "program name: x/a.cu   was y/a.cu\n");
}

Test(differences, added_and_removed_names_are_reported)
{
	expect("ek<1>;ek<2>", "ek<1>", "name expression: k<2>   is new\n");
	expect("ek<1>", "ek<1>;ek<2>", "name expression: k<2>   is gone\n");
	expect("ea;ea;eb", "ea;eb", "name expression: a   is new\n");
	expect("ea;eb", "ea;ea;eb", "name expression: a   is gone\n");
}

Test(differences, a_bound_path_is_reported_with_the_option_that_binds)
{
	expect("o-lineinfo;pworking directory=/ci/2;b/ci/2", "o-lineinfo;pworking directory=/ci/1;b/ci/1",
	       "bound path: bound to /ci/1 by -lineinfo; now it is /ci/2\n");
	expect("pworking directory=/ci/2;b/ci/2", "pworking directory=/ci/1;b/ci/1",
	       "bound path: bound to /ci/1; now it is /ci/2\n");
	expect("o-G;pworking directory=/ci;pPWD=/a;b/ci", "o-G;pworking directory=/ci;b/ci",
	       "bound path: $PWD is spelled differently, and the entry is bound to it by -G\n");
	expect("o-lineinfo;pworking directory=/ci;b/ci", "", "option: -lineinfo   is new\n");
}

Test(differences, only_related_requests_are_compared)
{
	cr_expect(related("cnvrtc;na.cu;psource=1", "cnvrtc;na.cu;psource=2"));
	cr_expect(related("cnvrtc;na.cu;psource=1", "cnvrtc;nb.cu;psource=1"));
	cr_expect_not(related("cnvrtc;na.cu;psource=1", "cnvrtc;nb.cu;psource=2"));
	cr_expect_not(related("cnvrtc;ndefault_program;psource=1", "cnvrtc;ndefault_program;psource=2"));
	cr_expect_not(related("cnvrtc;na;psource=1", "cnvvm;na;psource=1"));
	cr_expect_not(related("cnvvm;na;scompile;pmodule 1=1", "cnvvm;na;sverify;pmodule 1=1"));
	cr_expect_not(related("cnvjitlink;na.ptx", "cnvjitlink;na.ptx;pearlier inputs=1"));
	cr_expect(related("cnvvm;n<unnamed>;pmodule 1=1", "cnvvm;n<unnamed>;pmodule 1=1"));
}

Test(differences, a_missing_option_weighs_less_than_another_source)
{
	struct pair option = pair_of("na.cu;psource=1;o-DN=4;o-w", "na.cu;psource=1;o-DN=5"),
	            source = pair_of("na.cu;psource=1", "na.cu;psource=2");

	cr_expect_lt(weight_of(&option), weight_of(&source));
	pair_free(&option);
	pair_free(&source);
}

Test(differences, another_directory_weighs_less_than_a_missing_option)
{
	const char *now = "n/w2/a.cu;pprogram name=/w2/a.cu;o-lineinfo";
	struct pair place = pair_of(now, "n/w1/a.cu;pprogram name=/w1/a.cu;o-lineinfo"),
	            option = pair_of(now, "n/w1/a.cu"), name = pair_of(now, "n/w2/b.cu;o-lineinfo");

	cr_expect_lt(weight_of(&place), weight_of(&option));
	cr_expect_lt(weight_of(&option), weight_of(&name));
	pair_free(&place);
	pair_free(&option);
	pair_free(&name);
}

Test(differences, a_damaged_request_is_rejected)
{
	struct request request;

	cr_expect_eq(request_read("damaged", 7, &request), -EBADMSG);
	cr_expect_eq(request_read("", 0, &request), -EBADMSG);
}
