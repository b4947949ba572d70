/* SPDX-License-Identifier: MIT */
#include "cache/tools/age.h"

#include "cache/digits.h"

#include <stddef.h>

/* Months and years are not supported, because they have no fixed length. */
static const struct {
	char letter;
	int32_t seconds;
} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 24 * 3600}, {'w', 7 * 24 * 3600}};

/* Does not use strtod(), which accepts signs, exponents, "nan" and the locale's decimal comma. */
bool age_parse(const char *text, int64_t *ret_ns)
{
	uint64_t number, fraction;
	bool has_point;

	text = digits_decimal(text, &number, &fraction, &has_point);
	for (size_t i = 0; text != NULL && i < sizeof(units) / sizeof(units[0]); i++) {
		const int64_t unit = units[i].seconds * INT64_C(1000000000);

		if (text[0] == units[i].letter && text[1] == '\0' && number < (uint64_t)(INT64_MAX / unit)) {
			*ret_ns = (int64_t)number * unit +
			          (int64_t)((double)fraction / (double)(UINT64_C(1) << DIGITS_FRACTION) * (double)unit);
			return true;
		}
	}
	return false;
}
