/* SPDX-License-Identifier: MIT */
/* What a profiler does that hooks imports while a compile runs: other functions than ours stand in the slots afterwards. */
#include "tests/fake/fake.h"
#include "tests/slots.h"

#include <dlfcn.h>

static void put_next(const struct slot *slot, void *unused)
{
	void *function = strncmp(slot->name, "open", 4) == 0 && !slot->is_data ? dlsym(RTLD_NEXT, slot->name) : NULL;

	if (function != NULL) {
		(void)slots_put(slot, function);
	}
}

void fake_rehook(void)
{
	struct link_map *map;
	Dl_info info;

	if (dladdr1((void *)(uintptr_t)fake_rehook, &info, (void **)&map, RTLD_DL_LINKMAP) != 0) {
		slots_each(map->l_addr, map->l_ld, put_next, NULL);
	}
}
