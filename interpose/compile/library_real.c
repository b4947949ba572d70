/* SPDX-License-Identifier: MIT */
/* Apart from library.c, so that tests of getters need no loader. */
#include "interpose/compile/library.h"

real_function *library_real(const struct library *library, size_t function)
{
	_Atomic(real_function *) *place = (_Atomic(real_function *) *)&library->real[function];
	real_function *known = atomic_load_explicit(place, memory_order_relaxed);
	char room[NODE_NAME_BYTES];

	if (!known) {
		known = (real_function *)elf_symbol(&library->object, node_name(library->node, function, room),
		                                    library->node->name);
		atomic_store_explicit(place, known, memory_order_relaxed);
	}
	return known;
}
