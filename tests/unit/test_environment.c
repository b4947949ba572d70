/* SPDX-License-Identifier: MIT */
#include "interpose/watch/environment.h"
#include "tests/unit/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define VARIABLES(X) X(LOAD, unit_first) X(CALL, unit_last)

static const struct variable variables[] = {VARIABLES(ENVIRONMENT_VARIABLE)};
static struct environment asked = ENVIRONMENT_OF(VARIABLES, variables);

/* More variables than fit into one reading's own room, between the two that are asked for. */
static void set_many(void)
{
	char name[32];

	clearenv();
	setenv("unit_first", "1", 1);
	for (int i = 0; i < 5000; i++) {
		snprintf(name, sizeof(name), "UNIT_%d", i);
		setenv(name, "", 1);
	}
	setenv("unit_last", "2", 1);
}

Test(environment, variables_are_found_among_thousands)
{
	struct environment_value values[ENVIRONMENT_MAX];

	set_many();
	cr_assert_eq(environment_values(&asked, values), 2);
	cr_assert_str_eq(values[0].value, "1");
	cr_assert_str_eq(values[1].value, "2");
	cr_assert_str_eq(environment_get("unit_last"), "2");
}

#ifndef __SANITIZE_ADDRESS__ /* whose malloc() ends the process instead */
/* A variable that is left out would change the key. */
Test(environment, all_variables_are_found_without_memory)
{
	struct rlimit before, none;
	void *volatile taken; /* never freed */
	const char *found;

	set_many();
	cr_assert_eq(getrlimit(RLIMIT_AS, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	cr_assert_eq(setrlimit(RLIMIT_AS, &none), 0);
	for (size_t size = (size_t)1 << 20; size >= 1024; size /= 2) {
		do {
			taken = malloc(size);
		} while (taken);
	}
	found = environment_get("unit_last");
	cr_assert_eq(setrlimit(RLIMIT_AS, &before), 0);
	cr_assert_str_eq(found, "2");
}
#endif

Test(environment, a_name_is_set_only_as_a_whole)
{
	set_many();
	cr_assert_null(environment_get("unit_las"));
	cr_assert_null(environment_get("unit_last="));
}

Test(environment, the_first_name_that_is_set_is_found)
{
	static const char names[] = "unit_none\0unit_last\0unit_first";

	set_many();
	cr_assert_str_eq(environment_first_set(names, names + sizeof(names)), "unit_last");
	cr_assert_null(environment_first_set(names, names + sizeof("unit_none")));
}

Test(environment, no_environment_at_all_is_empty)
{
	clearenv();
	cr_assert_null(environment_get("unit_first"));
}
