/* SPDX-License-Identifier: MIT */
/*
 * There is one replacement for each watched function, and each replacement has one real function for the whole process.
 * If a second library is bound to another version of that function, its slot is not redirected, and every compilation
 * of that library is assumed to call the function.
 */
#include "interpose/watch/arithmetic.h"

#include "interpose/watch/imports.h"
#include "interpose/watch/live.h"
#include "keygen/trace.h"

#include <string.h>

#define WATCH_ONE(type, name)                 \
	REPLACEMENT(type, name, (type x))     \
	{                                     \
		live_taint(TAINT_ARITHMETIC); \
		return REAL(name)(x);         \
	}
#define WATCH_TWO(type, name)                     \
	REPLACEMENT(type, name, (type x, type y)) \
	{                                         \
		live_taint(TAINT_ARITHMETIC);     \
		return REAL(name)(x, y);          \
	}
#define WATCH_D(name)      WATCH_ONE(double, name)
#define WATCH_F(name)      WATCH_ONE(float, name)
#define WATCH_DD(name)     WATCH_TWO(double, name)
#define WATCH_FF(name)     WATCH_TWO(float, name)
#define WATCH(class, name) WATCH_##class(name)
IMPORTS(IMPORT_NONE, IMPORT_NONE, WATCH, IMPORT_NONE, IMPORT_NONE, IMPORT_NONE)
#undef WATCH

#define COUNT(...) +1
_Static_assert(0 IMPORTS(IMPORT_NONE, IMPORT_NONE, COUNT, COUNT, IMPORT_NONE, IMPORT_NONE) <= ARITHMETIC_MAX, "room");
#undef COUNT

static bool is_soname_of_libm(const struct elf_object *object)
{
	return object->soname && strncmp(object->soname, "libm.so.", 8) == 0;
}

/* For elf_each_object(): returns nonzero if an object other than libm defines the function too. */
static int defines_too(const struct elf_object *object, void *context)
{
	const struct elf_import *import = context;

	return !is_soname_of_libm(object) && elf_symbol(object, import->name, import->version) != 0;
}

/*
 * Records an unbound slot, and returns true, if its function may be another one than libm's: a program's log() may not
 * be a logarithm, so it must not be called just to resolve the slot.
 */
static bool wait_for_use(struct arithmetic *arithmetic, const struct elf_import *import, uintptr_t stub)
{
	struct elf_import wanted = *import;

	if (arithmetic->unbound_count == ARITHMETIC_MAX || !elf_each_object(defines_too, &wanted)) {
		return false;
	}
	arithmetic->unbound[arithmetic->unbound_count++] =
	    (struct arithmetic_unbound){(_Atomic(uintptr_t) *)import->slot, stub};
	return true;
}

bool arithmetic_missed(const struct arithmetic *arithmetic)
{
	for (size_t i = 0; i < arithmetic->unbound_count; i++) {
		if (atomic_load(arithmetic->unbound[i].slot) != arithmetic->unbound[i].stub) {
			return true;
		}
	}
	return false;
}

static void know_less(struct arithmetic *arithmetic, enum arithmetic_knowledge knowledge)
{
	if (knowledge > arithmetic->knowledge) {
		arithmetic->knowledge = knowledge;
	}
}

static int is_libm(const struct elf_object *object, void *context)
{
	struct elf_object *found = context;

	if (is_soname_of_libm(object)) {
		*found = *object;
		return 1;
	}
	return 0;
}

bool arithmetic_add(struct arithmetic *arithmetic, const struct elf_object *object, const struct elf_import *import,
                    const struct import_entry *entry, uintptr_t *real)
{
	uintptr_t function = import->slot ? atomic_load((_Atomic(uintptr_t) *)import->slot) : 0;
	bool is_unbound = function && elf_contains(object, function); /* it is a stub, which calls the lazy resolver */
	uintptr_t there = 0;

	if (is_unbound) {
		if (wait_for_use(arithmetic, import, function)) {
			return false;
		}
		function = arithmetic->resolve(object, import->name, import->version);
	}
	if (!function) {
		/* A weak import that nothing defines is never called. */
		if (is_unbound || !import->slot || !import->weak) {
			know_less(arithmetic, ARITHMETIC_UNKNOWN);
		}
		return false;
	}
	if (*real && *real != function) {
		know_less(arithmetic, ARITHMETIC_UNKNOWN);
		return false;
	}
	*real = function;
	/* One replacement has one real function, and another library may be bound to another version of it. */
	if (!entry->replacement ||
	    (!atomic_compare_exchange_strong(&imports_real[entry - imports], &there, function) && there != function)) {
		know_less(arithmetic, ARITHMETIC_ALWAYS);
		return false;
	}
	return true;
}

void arithmetic_end(struct arithmetic *arithmetic, const uintptr_t real[])
{
	struct elf_object object = {0};
	uint64_t places[ARITHMETIC_MAX][2];
	struct span spans[3 * ARITHMETIC_MAX + 2];
	const uint8_t *id = NULL;
	size_t id_size = 0, count = 0;

	for (size_t i = 0; i < IMPORT_COUNT; i++) {
		uint64_t *place = places[count / 3];

		if (!imports[i].is_arithmetic || !real[i]) {
			continue;
		}
		if ((!id || !elf_contains(&object, real[i])) &&
		    (!elf_object_at(real[i], &object) || elf_build_id(&object, &id, &id_size) != 0)) {
			know_less(arithmetic, ARITHMETIC_UNKNOWN);
			return;
		}
		place[0] = real[i] - object.base;
		place[1] = id_size;
		spans[count++] = (struct span){imports[i].name, strlen(imports[i].name) + 1};
		spans[count++] = (struct span){place, sizeof(places[0])};
		spans[count++] = (struct span){id, id_size};
	}
	/* libm is added even if none of the functions is libm's own, because a preloaded pow() may call libm's. */
	if (elf_each_object(is_libm, &object) && elf_build_id(&object, &id, &id_size) == 0) {
		spans[count++] = (struct span){"libm", sizeof("libm")};
		spans[count++] = (struct span){id, id_size};
	}
	digest_key(spans, count, &arithmetic->digest);
}

uint64_t arithmetic_mode(void)
{
#if defined(__x86_64__)
	uint32_t vector;
	uint16_t stack;

	__asm__ volatile("stmxcsr %0" : "=m"(vector));
	__asm__ volatile("fnstcw %0" : "=m"(stack));
	/* The low six bits of MXCSR are exception flags, which every inexact operation sets. */
	return (uint64_t)stack << 32 | (vector & ~UINT32_C(0x3f));
#elif defined(__aarch64__)
	uint64_t control;

	__asm__ volatile("mrs %0, fpcr" : "=r"(control));
	return control;
#else
#error "how does this machine spell its rounding mode?"
#endif
}

void arithmetic_restore(uint64_t mode)
{
#if defined(__x86_64__)
	uint32_t vector;
	uint16_t stack = (uint16_t)(mode >> 32);

	__asm__ volatile("stmxcsr %0" : "=m"(vector));
	vector = (uint32_t)mode | (vector & UINT32_C(0x3f));
	__asm__ volatile("ldmxcsr %0" : : "m"(vector));
	__asm__ volatile("fldcw %0" : : "m"(stack));
#else
	__asm__ volatile("msr fpcr, %0" : : "r"(mode));
#endif
}
