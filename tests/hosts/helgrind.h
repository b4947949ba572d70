/* SPDX-License-Identifier: MIT */
/*
 * helgrind: atomics as helgrind understands them; goes before each source (-include)
 *
 * Helgrind takes a locked read-modify-write for a read (hg_main.c, Ist_CAS: "Just pretend it's a read") and an atomic
 * store, which is a plain instruction, for a write: it reports every atomic that is stored to, as its manual says. So
 * stores are exchanges here. Helgrind does not know release and acquire either: it reports a read of memory that a
 * release store has published, if another thread has written that memory before. So both are announced to it here.
 * Relaxed operations announce nothing.
 */
#ifndef TESTS_HOSTS_HELGRIND_H
#define TESTS_HOSTS_HELGRIND_H

#ifndef __ASSEMBLER__
#pragma GCC system_header /* nested operations shadow each other's variables, as gcc's own do */
#include <stdatomic.h>
#include <valgrind/helgrind.h>

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_flag_test_and_set_explicit
#undef atomic_flag_clear_explicit

static inline void tell_release(const volatile void *object, int order)
{
	if (order != memory_order_relaxed) {
		ANNOTATE_HAPPENS_BEFORE((void *)object);
	}
}

static inline void tell_acquire(const volatile void *object, int order)
{
	if (order != memory_order_relaxed) {
		ANNOTATE_HAPPENS_AFTER((void *)object);
	}
}

#define atomic_load_explicit(object, order)                       \
	__extension__({                                           \
		__auto_type load_object = (object);               \
		__typeof__((void)0, *load_object) load_value;     \
		__atomic_load(load_object, &load_value, (order)); \
		tell_acquire(load_object, (order));               \
		load_value;                                       \
	})
#define atomic_store_explicit(object, value, order)                             \
	__extension__({                                                         \
		__auto_type store_object = (object);                            \
		tell_release(store_object, (order));                            \
		(void)atomic_exchange_explicit(store_object, (value), (order)); \
	})
#define atomic_load(object)         atomic_load_explicit((object), memory_order_seq_cst)
#define atomic_store(object, value) atomic_store_explicit((object), (value), memory_order_seq_cst)

#define atomic_flag_test_and_set_explicit(flag, order)                  \
	__extension__({                                                 \
		_Bool was_set = __atomic_test_and_set((flag), (order)); \
		tell_acquire((flag), (order));                          \
		was_set;                                                \
	})
#define atomic_flag_clear_explicit(flag, order) \
	(tell_release((flag), (order)), (void)__atomic_exchange_n((unsigned char *)(flag), 0, (order)))
#endif

#endif
