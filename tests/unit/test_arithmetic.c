/* SPDX-License-Identifier: MIT */
#include "interpose/watch/arithmetic.h"

#include "interpose/watch/imports.h"
#include "tests/unit/watched_fixture.h"

#include <dlfcn.h>

/* The watched library is this program; its slot leads to a stub until the stub is called. */
static struct arithmetic arithmetic;
static struct elf_object program;
static uintptr_t slot;
static int stub_calls;

static double stub(double x)
{
	stub_calls++;
	slot = (uintptr_t)dlsym(RTLD_DEFAULT, "strlen"); /* any function of another object */
	return x;
}

static bool add(const char *name, uintptr_t *ret_real)
{
	struct elf_import import = {.name = name, .slot = (void **)&slot};

	cr_assert(elf_object_at((uintptr_t)stub, &program));
	slot = (uintptr_t)stub;
	arithmetic.resolve = resolve_here;
	return arithmetic_add(&arithmetic, &program, &import, imports_find(name), ret_real);
}

Test(arithmetic, the_function_of_an_unbound_slot_is_found_without_a_call)
{
	uintptr_t real = 0;

	cr_assert(add("log", &real));
	cr_expect_eq(real, (uintptr_t)dlsym(RTLD_DEFAULT, "log"));
	cr_expect_eq(stub_calls, 0);
	cr_expect_not(arithmetic_missed(&arithmetic));
}

Test(arithmetic, a_possible_host_function_of_the_same_name_is_not_called)
{
	uintptr_t real = 0;

	(void)load_fixture("libother_log.so");
	cr_expect_not(add("log", &real));
	cr_expect_eq(stub_calls, 0);
	cr_expect_eq(slot, (uintptr_t)stub);
	cr_expect_eq(arithmetic.knowledge, ARITHMETIC_WATCHED);
	cr_expect_not(arithmetic_missed(&arithmetic));
}

Test(arithmetic, a_call_of_an_unreplaced_function_is_noticed)
{
	uintptr_t real = 0;

	(void)load_fixture("libother_log.so");
	cr_expect_not(add("log", &real));
	(void)((double (*)(double))slot)(2);
	cr_expect(arithmetic_missed(&arithmetic));
}

Test(arithmetic, other_functions_are_found_beside_an_overridden_one)
{
	uintptr_t real = 0;

	(void)load_fixture("libother_log.so");
	cr_expect(add("exp", &real));
}
