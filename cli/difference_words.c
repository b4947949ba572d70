/* SPDX-License-Identifier: MIT */
#include "cli/difference_words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN(span) (int)((span).size < 400 ? (span).size : 400), (span).size ? (const char *)(span).bytes : ""

__attribute__((format(printf, 3, 4))) static void put(char *text, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, size, format, arguments);
	va_end(arguments);
}

#define PUT(field, ...) put((field), sizeof(field), __VA_ARGS__)

static void put_option(char text[DIFFERENCE_TEXT_BYTES], const struct request_option *option)
{
	put(text, DIFFERENCE_TEXT_BYTES, "%.*s%s%.*s", SHOWN(option->text), option->value.size ? " " : "",
	    SHOWN(option->value));
}

/* Of a part of which only a digest is known. */
static const char *became(enum difference_way way)
{
	switch (way) {
	case DIFFERENCE_NEW:
		return "is new";
	case DIFFERENCE_GONE:
		return "is gone";
	default:
		return "is another";
	}
}

static void say_texts(const struct difference *difference, struct difference_words *words)
{
	switch (difference->way) {
	case DIFFERENCE_NEW:
		PUT(words->words, "%s   is new", words->now);
		break;
	case DIFFERENCE_GONE:
		PUT(words->words, "%s   is gone", words->was);
		break;
	default:
		PUT(words->words, "%s   was %s", words->now, words->was);
	}
}

static void say_place(const struct difference *difference, struct difference_words *words)
{
	char by[DIFFERENCE_TEXT_BYTES] = "";

	if (difference->by.size > 0) {
		PUT(by, " by %.*s", SHOWN(difference->by));
	}
	if (difference->of.size > 0) {
		PUT(words->words, "$%.*s is spelled otherwise, and the result is bound to it%s", SHOWN(difference->of),
		    by);
	} else {
		PUT(words->words, "bound to %s%s; now it is %s", words->was, by, words->now);
	}
}

static void say_variable(enum difference_way way, struct difference_words *words)
{
	PUT(words->words, "%s",
	    way == DIFFERENCE_NEW    ? "is set, and was not"
	    : way == DIFFERENCE_GONE ? "is not set, and was"
	                             : "is set to something else");
}

void difference_in_words(const struct difference *difference, struct span title, struct difference_words *ret_words)
{
	struct difference_words *words = ret_words;

	*words = (struct difference_words){.what = ""};
	PUT(words->what, "%s%s%.*s", difference_name(difference->kind),
	    difference->of.size && difference->kind != DIFFERENCE_PLACE ? " " : "",
	    difference->kind != DIFFERENCE_PLACE ? (int)(difference->of.size < 400 ? difference->of.size : 400) : 0,
	    difference->of.size ? (const char *)difference->of.bytes : "");
	put_option(words->now, &difference->now);
	put_option(words->was, &difference->was);
	switch (difference->kind) {
	case DIFFERENCE_COMPILER:
		PUT(words->words, "%.*s %s   was %s", SHOWN(title), words->now, words->was);
		break;
	case DIFFERENCE_BUILD:
		PUT(words->words, "%.*s %s, or what it loads by itself, is another build", SHOWN(title), words->now);
		break;
	case DIFFERENCE_SOURCE:
		PUT(words->words, "is another (no source text is kept, so which lines cannot be told)");
		break;
	case DIFFERENCE_INPUT:
		PUT(words->what, "%.*s", SHOWN(difference->of));
		PUT(words->words, "%s", became(difference->way));
		break;
	case DIFFERENCE_HEADER:
		PUT(words->words, "%s (given in memory)",
		    difference->way == DIFFERENCE_CHANGED ? "has another text" : became(difference->way));
		break;
	case DIFFERENCE_OPTION_ORDER:
	case DIFFERENCE_HEADER_ORDER:
	case DIFFERENCE_EXPRESSION_ORDER:
		PUT(words->words, "%s stands where %s stood", words->now, words->was);
		break;
	case DIFFERENCE_VARIABLE:
	case DIFFERENCE_NAMESPACE:
		say_variable(difference->way, words);
		break;
	case DIFFERENCE_ROUNDING:
		PUT(words->words, "the thread computes in another one, and constants are folded by it");
		break;
	case DIFFERENCE_PLACE:
		say_place(difference, words);
		break;
	case DIFFERENCE_EARLIER:
	case DIFFERENCE_EARLIER_INPUTS:
		PUT(words->words, "were others, or there were none");
		break;
	case DIFFERENCE_DECIMALS:
	case DIFFERENCE_OTHER:
		PUT(words->words, "%s", became(difference->way));
		break;
	default:
		say_texts(difference, words);
	}
}
