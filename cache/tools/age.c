/* SPDX-License-Identifier: MIT */
#include "cache/tools/age.h"

#include "cache/digits.h"

#include <stddef.h>

#define SECOND_NS INT64_C(1000000000)

/* Months and years are not supported, because they have no fixed length. */
static int64_t unit_ns(char letter)
{
	switch (letter) {
	case 's':
		return SECOND_NS;
	case 'm':
		return 60 * SECOND_NS;
	case 'h':
		return 3600 * SECOND_NS;
	case 'd':
		return 24 * 3600 * SECOND_NS;
	case 'w':
		return 7 * 24 * 3600 * SECOND_NS;
	default:
		return 0;
	}
}

/* Does not use strtod(), which accepts signs, exponents, "nan" and the locale's decimal comma. */
bool age_parse(const char *text, int64_t *ret_ns)
{
	double fraction = 0;
	double place = 1;
	uint64_t number;
	int64_t unit;

	text = digits_number(text, INT64_MAX, &number);
	if (text == NULL) {
		return false;
	}
	if (*text == '.') {
		const char *first = ++text;

		for (; *text >= '0' && *text <= '9'; text++) {
			place /= 10;
			fraction += place * (*text - '0');
		}
		if (text == first) {
			return false;
		}
	}
	unit = unit_ns(*text);
	if (unit == 0 || text[1] != '\0' || number >= (uint64_t)(INT64_MAX / unit)) {
		return false;
	}
	*ret_ns = (int64_t)number * unit + (int64_t)(fraction * (double)unit);
	return true;
}
