/* SPDX-License-Identifier: MIT */
#include "cli/explain/differences.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SHOWN_BYTES 400
#define SHOWN(span) \
	(int)((span).size < SHOWN_BYTES ? (span).size : SHOWN_BYTES), (span).size ? (const char *)(span).bytes : ""

__attribute__((format(printf, 3, 4))) static void put(char *text, size_t size, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, size, format, arguments);
	va_end(arguments);
}

#define PUT(field, ...) put((field), sizeof(field), __VA_ARGS__)

#define HEAD \
	60 /* of what is too long to be shown: so much of its beginning, and what stands around the first difference */
#define LEAD 40

/* How far two texts are the same. */
static size_t common(struct span one, struct span other)
{
	const char *a = one.bytes, *b = other.bytes;
	size_t size = 0;

	while (size < one.size && size < other.size && a[size] == b[size]) {
		size++;
	}
	return size;
}

/* What is left out is marked; of two long texts the first difference is shown. */
static void put_long(char text[DIFFERENCE_TEXT_BYTES], struct span span, struct span other)
{
	const char *bytes = span.bytes;
	size_t same = common(span, other);
	size_t from = same > HEAD + LEAD && same < span.size ? same - LEAD : HEAD;
	size_t size = span.size - from < SHOWN_BYTES - HEAD ? span.size - from : SHOWN_BYTES - HEAD;

	put(text, DIFFERENCE_TEXT_BYTES, "%.*s%s%.*s%s", HEAD, bytes, from > HEAD ? "..." : "", (int)size, bytes + from,
	    from + size < span.size ? "..." : "");
}

static void put_option(char text[DIFFERENCE_TEXT_BYTES], const struct request_option *option,
                       const struct request_option *other)
{
	if (option->text.size > SHOWN_BYTES) {
		put_long(text, option->text, other->text);
	} else if (option->text.size + option->value.size > SHOWN_BYTES) {
		put_long(text, option->value, other->value);
	} else {
		put(text, DIFFERENCE_TEXT_BYTES, "%.*s%s%.*s", SHOWN(option->text), option->value.size ? " " : "",
		    SHOWN(option->value));
	}
}

/* Around a text that nobody would see otherwise, or not where it ends. */
static const char *quotes_of(const char *text)
{
	size_t size = strlen(text);

	return size == 0 || text[0] == ' ' || text[size - 1] == ' ' ? "\"" : "";
}

static void say_texts(const struct difference *difference, struct difference_words *words)
{
	const char *now = quotes_of(words->now), *was = quotes_of(words->was);

	switch (difference->way) {
	case DIFFERENCE_NEW:
		PUT(words->words, "%s%s%s   is new", now, words->now, now);
		break;
	case DIFFERENCE_GONE:
		PUT(words->words, "%s%s%s   is gone", was, words->was, was);
		break;
	default:
		PUT(words->words, "%s%s%s   was %s%s%s", now, words->now, now, was, words->was, was);
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

#define ROUNDS \
	"the thread rounds, or flushes the smallest numbers to zero, in another way, and constants are folded by it"

/* Kinds of which no more is known than that there is one, is none, or is another; NULL: said otherwise. */
static const struct {
	const char *changed, *new, *gone;
} sayings[DIFFERENCE_KINDS] = {
    [DIFFERENCE_SOURCE] = {"is another (no source text is kept, so which lines cannot be told)", "is new", "is gone"},
    [DIFFERENCE_INPUT] = {"is another", "is new", "is gone"},
    [DIFFERENCE_HEADER] = {"has another text (given in memory)", "is new (given in memory)",
                           "is gone (given in memory)"},
    [DIFFERENCE_VARIABLE] = {"is set to something else", "is set, and was not", "is not set, and was"},
    [DIFFERENCE_NAMESPACE] = {"is set to something else", "is set, and was not", "is not set, and was"},
    [DIFFERENCE_ROUNDING] = {ROUNDS, ROUNDS, ROUNDS},
    [DIFFERENCE_DECIMALS] = {"is another", "is new", "is gone"},
    [DIFFERENCE_EARLIER] = {"were others, or were given other options", "there are some, and were none",
                            "there are none, and were some"},
    [DIFFERENCE_EARLIER_INPUTS] = {"were others, or were given other options", "there are some, and were none",
                                   "there are none, and were some"},
    [DIFFERENCE_OTHER] = {"is another", "is new", "is gone"},
};

static const char *saying_of(const struct difference *difference)
{
	return difference->way == DIFFERENCE_NEW    ? sayings[difference->kind].new
	       : difference->way == DIFFERENCE_GONE ? sayings[difference->kind].gone
	                                            : sayings[difference->kind].changed;
}

void difference_in_words(const struct difference *difference, struct span title, struct difference_words *ret_words)
{
	struct difference_words *words = ret_words;

	*words = (struct difference_words){.what = ""};
	PUT(words->what, "%s%s%.*s", difference_name(difference->kind),
	    difference->of.size && difference->kind != DIFFERENCE_PLACE ? " " : "",
	    difference->kind != DIFFERENCE_PLACE ? (int)(difference->of.size < 400 ? difference->of.size : 400) : 0,
	    difference->of.size ? (const char *)difference->of.bytes : "");
	put_option(words->now, &difference->now, &difference->was);
	put_option(words->was, &difference->was, &difference->now);
	if (difference->kind == DIFFERENCE_INPUT) {
		PUT(words->what, "%.*s", SHOWN(difference->of));
	}
	words->knows_now = difference->now.text.bytes != NULL;
	words->knows_was = difference->was.text.bytes != NULL;
	switch (difference->kind) {
	case DIFFERENCE_COMPILER:
		PUT(words->words, "%.*s %s   was %s", SHOWN(title), words->now, words->was);
		break;
	case DIFFERENCE_BUILD:
		PUT(words->words, "%.*s %s, or what it loads by itself, is another build", SHOWN(title), words->now);
		break;
	case DIFFERENCE_OPTION_ORDER:
		PUT(words->words, "%s stands %s %s, and stood %s it", words->now,
		    difference->before ? "before" : "behind", words->was, difference->before ? "behind" : "before");
		break;
	case DIFFERENCE_HEADER_ORDER:
	case DIFFERENCE_EXPRESSION_ORDER:
		PUT(words->words, "%s stands where %s stood", words->now, words->was);
		break;
	case DIFFERENCE_PLACE:
		say_place(difference, words);
		break;
	default:
		if (saying_of(difference)) {
			PUT(words->words, "%s", saying_of(difference));
		} else {
			say_texts(difference, words);
		}
	}
}
