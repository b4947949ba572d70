/* SPDX-License-Identifier: MIT */
/*
 * helgrind: atomics as helgrind understands them; goes before each source (-include)
 *
 * Helgrind takes a locked read-modify-write for a read (hg_main.c, Ist_CAS: "Just pretend it's a read") and an atomic
 * store, which is a plain instruction, for a write: it reports every atomic that is stored to, as its manual says. With
 * exchanges in the place of stores only real races are left, and no suppression is needed.
 */
#ifndef TESTS_HOSTS_HELGRIND_H
#define TESTS_HOSTS_HELGRIND_H

#ifndef __ASSEMBLER__
#include <stdatomic.h>

#undef atomic_store
#undef atomic_store_explicit
#undef atomic_flag_clear_explicit
#define atomic_store(object, value)                 ((void)atomic_exchange((object), (value)))
#define atomic_store_explicit(object, value, order) ((void)atomic_exchange_explicit((object), (value), (order)))
#define atomic_flag_clear_explicit(flag, order)     ((void)__atomic_exchange_n((unsigned char *)(flag), 0, (order)))
#endif

#endif
