/* SPDX-License-Identifier: MIT */
/* loaded: the module that tests/hosts/forker.c loads and unloads */
#pragma weak forkerModuleLoads
void forkerModuleLoads(void);

__attribute__((constructor)) static void load(void)
{
	if (forkerModuleLoads) {
		forkerModuleLoads();
	}
}
