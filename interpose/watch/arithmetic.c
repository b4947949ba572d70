/* SPDX-License-Identifier: MIT */
/*
 * There is one replacement for each watched function, and each replacement has one real function for the whole process.
 * If a second library is bound to another version of that function, its slot is not redirected, and every compilation
 * of that library is assumed to call the function.
 */
#include "interpose/watch/arithmetic.h"

#include "interpose/watch/record.h"
#include "keygen/trace.h"

#include <stdlib.h>
#include <string.h>

typedef void any_function(void);

/* The real function of each replacement; 0 until a library imports it. */
static _Atomic(uintptr_t) real[ARITHMETIC_COUNT];

#define REAL(name) ((__typeof__(&watch_##name))atomic_load_explicit(&real[ARITHMETIC_##name], memory_order_relaxed))

#define WATCH_ONE(type, name)                  \
	static type watch_##name(type x)       \
	{                                      \
		record_soft(TAINT_ARITHMETIC); \
		return REAL(name)(x);          \
	}
#define WATCH_TWO(type, name)                    \
	static type watch_##name(type x, type y) \
	{                                        \
		record_soft(TAINT_ARITHMETIC);   \
		return REAL(name)(x, y);         \
	}
#define WATCH_D(name)  WATCH_ONE(double, name)
#define WATCH_F(name)  WATCH_ONE(float, name)
#define WATCH_DD(name) WATCH_TWO(double, name)
#define WATCH_FF(name) WATCH_TWO(float, name)
#define WATCH_ODD(name)
#define WATCH(kind, name) WATCH_##kind(name)
ARITHMETIC(WATCH)
#undef WATCH

#define REPLACEMENT_D(name)   (any_function *)watch_##name
#define REPLACEMENT_F(name)   (any_function *)watch_##name
#define REPLACEMENT_DD(name)  (any_function *)watch_##name
#define REPLACEMENT_FF(name)  (any_function *)watch_##name
#define REPLACEMENT_ODD(name) NULL

static const struct function {
	const char *name;
	any_function *replacement;
} functions[ARITHMETIC_COUNT] = {
#define FUNCTION(kind, name) {#name, REPLACEMENT_##kind(name)},
    ARITHMETIC(FUNCTION)
#undef FUNCTION
};

static int by_name(const void *name, const void *function)
{
	return strcmp(name, ((const struct function *)function)->name);
}

static size_t find_function(const char *name)
{
	const struct function *found = bsearch(name, functions, ARITHMETIC_COUNT, sizeof(functions[0]), by_name);

	return found ? (size_t)(found - functions) : ARITHMETIC_COUNT;
}

bool arithmetic_knows(const char *name)
{
	return find_function(name) < ARITHMETIC_COUNT;
}

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

	if (arithmetic->unbound_count == ARITHMETIC_COUNT || !elf_each_object(defines_too, &wanted)) {
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

/*
 * Returns the function to which the slot is, or would be, bound; 0 if there is none. An unbound slot leads to a stub in
 * the object itself, which calls the lazy resolver.
 */
static uintptr_t function_behind(const struct arithmetic *arithmetic, const struct elf_object *object,
                                 const struct elf_import *import)
{
	uintptr_t function = atomic_load((_Atomic(uintptr_t) *)import->slot);

	return function && elf_contains(object, function) ? arithmetic->resolve(object, import->name, import->version)
	                                                  : function;
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

enum arithmetic_slot arithmetic_add(struct arithmetic *arithmetic, const struct elf_object *object,
                                    const struct elf_import *import, uintptr_t *ret_replacement)
{
	size_t id = find_function(import->name);
	uintptr_t function, there = 0;

	if (id == ARITHMETIC_COUNT) {
		return ARITHMETIC_KEPT;
	}
	if (import->slot) {
		function = atomic_load((_Atomic(uintptr_t) *)import->slot);
		if (function && elf_contains(object, function) && wait_for_use(arithmetic, import, function)) {
			return ARITHMETIC_KEPT;
		}
	}
	function = import->slot ? function_behind(arithmetic, object, import) : 0;
	if (!function) {
		/* A weak import that nothing defines is never called. */
		if (!import->slot || !import->weak || atomic_load((_Atomic(uintptr_t) *)import->slot) != 0) {
			know_less(arithmetic, ARITHMETIC_UNKNOWN);
		}
		return ARITHMETIC_KEPT;
	}
	if (arithmetic->real[id] && arithmetic->real[id] != function) {
		know_less(arithmetic, ARITHMETIC_UNKNOWN);
		return ARITHMETIC_KEPT;
	}
	arithmetic->real[id] = function;
	/* One replacement has one real function, and another library may be bound to another version of it. */
	if (!functions[id].replacement ||
	    (!atomic_compare_exchange_strong(&real[id], &there, function) && there != function)) {
		know_less(arithmetic, ARITHMETIC_ALWAYS);
		return ARITHMETIC_KEPT;
	}
	*ret_replacement = (uintptr_t)functions[id].replacement;
	return ARITHMETIC_REDIRECTED;
}

void arithmetic_end(struct arithmetic *arithmetic)
{
	struct elf_object object = {0};
	uint64_t places[ARITHMETIC_COUNT][2];
	struct span spans[3 * ARITHMETIC_COUNT + 2];
	const uint8_t *id = NULL;
	size_t id_size = 0, count = 0;

	for (size_t i = 0; i < ARITHMETIC_COUNT; i++) {
		if (!arithmetic->real[i]) {
			continue;
		}
		if ((!id || !elf_contains(&object, arithmetic->real[i])) &&
		    (!elf_object_at(arithmetic->real[i], &object) || elf_build_id(&object, &id, &id_size) != 0)) {
			know_less(arithmetic, ARITHMETIC_UNKNOWN);
			return;
		}
		places[i][0] = arithmetic->real[i] - object.base;
		places[i][1] = id_size;
		spans[count++] = (struct span){functions[i].name, strlen(functions[i].name) + 1};
		spans[count++] = (struct span){places[i], sizeof(places[i])};
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
