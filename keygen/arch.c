/* SPDX-License-Identifier: MIT */
#include "keygen/arch.h"

#include <string.h>

void arch_see(struct arch *arch, const char *option, size_t size)
{
	static const char *const names[] = {"--gpu-architecture", "-gpu-architecture", "--arch", "-arch"};

	if (arch->comes) {
		arch->comes = false;
		arch->text = option;
		arch->size = size;
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (size < length || memcmp(option, names[i], length) != 0) {
			continue;
		}
		if (size == length) {
			arch->comes = true;
		} else if (option[length] == '=') {
			arch->text = option + length + 1;
			arch->size = size - length - 1;
		}
		return;
	}
}
