/* SPDX-License-Identifier: MIT */
#include "interpose/elf/slots.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

void slots_add(struct slots *slots, const struct elf_import *import)
{
	struct slot_pages *pages = import->in_relro ? &slots->constant : &slots->variable;
	uintptr_t at = (uintptr_t)import->place;

	if (pages->high == 0 || at < pages->low) {
		pages->low = at;
	}
	if (at + sizeof(void *) > pages->high) {
		pages->high = at + sizeof(void *);
	}
}

static void round_pages(struct slot_pages *pages, uintptr_t page)
{
	pages->low &= ~(page - 1);
	pages->high = (pages->high + page - 1) & ~(page - 1);
}

static int protect_pages(const struct slot_pages *pages, int protection)
{
	if (pages->low >= pages->high) {
		return 0;
	}
	return mprotect((void *)pages->low, pages->high - pages->low, protection) == 0 ? 0 : -EPERM;
}

/* The loader protects only whole pages of RELRO, so both ends are rounded down. */
int slots_open(struct slots *slots)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	int error;

	slots->relro.low = slots->object->relro_start & ~(page - 1);
	slots->relro.high = slots->object->relro_end & ~(page - 1);
	round_pages(&slots->variable, page);
	round_pages(&slots->constant, page);
	if (slots->constant.high > slots->relro.high) {
		slots->constant.high = slots->relro.high;
	}
	error = protect_pages(&slots->constant, PROT_READ | PROT_WRITE);
	return error ? error : protect_pages(&slots->variable, PROT_READ | PROT_WRITE);
}

static bool pages_overlap(const struct slot_pages *one, const struct slot_pages *other)
{
	return one->low < other->high && other->low < one->high;
}

void slots_close(const struct slots *slots)
{
	if (pages_overlap(&slots->constant, &slots->relro) || pages_overlap(&slots->variable, &slots->relro)) {
		protect_pages(&slots->relro, PROT_READ);
	}
}
