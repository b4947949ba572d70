/* SPDX-License-Identifier: MIT */
#include "loans.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOANS_MAX 4096

struct lent {
	char *bytes;
	size_t size, mapped;
	bool touched, array;
	enum loan loan;
};

static struct lent lent[LOANS_MAX];
static size_t lent_count;

static const char *action(void)
{
	return getenv("PLAYER_MEMORY");
}

/* Is it the argument that PLAYER_MEMORY names? */
static bool is_chosen(const char *argument)
{
	const char *name = strchr(action(), ':');

	return name && strcmp(name + 1, argument) == 0;
}

static bool acts(const char *verb)
{
	return strncmp(action(), verb, strlen(verb)) == 0;
}

static size_t pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size / page + 1) * page;
}

static void *pages_new(size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (bytes == MAP_FAILED) {
		exit(2);
	}
	return bytes;
}

void *lend(const char *argument, const void *bytes, size_t size, enum loan loan)
{
	struct lent *now = &lent[lent_count];

	if (!bytes) {
		return NULL;
	}
	if (lent_count == LOANS_MAX) {
		printf("  too many arguments\n");
		exit(2);
	}
	*now = (struct lent){.size = size, .loan = loan};
	if (action()) {
		now->mapped = pages(size);
		now->touched = is_chosen(argument);
		now->bytes = pages_new(now->mapped);
		if (acts("tell")) {
			printf("  lends %s\n", argument);
		}
	} else {
		now->bytes = malloc(size + 1);
	}
	memcpy(now->bytes, bytes, size);
	lent_count++;
	return now->bytes;
}

char *lend_text(const char *argument, const char *text, enum loan loan)
{
	return lend(argument, text, text ? strlen(text) + 1 : 0, loan);
}

const char **lend_texts(const char *array, const char *texts, const char *const *from, size_t count, enum loan loan)
{
	const char **copies;

	if (!from) {
		return NULL;
	}
	copies = lend(array, from, count * sizeof(*from), loan);
	lent[lent_count - 1].array = true;
	for (size_t i = 0; i < count; i++) {
		copies[i] = lend_text(texts, from[i], loan);
	}
	return copies;
}

static void fill(char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		bytes[i] = LOANS_POISON[i % strlen(LOANS_POISON)];
	}
}

/* The pointers of an array lead to another text then, not astray. */
static void overwrite(struct lent *loan)
{
	static const char other[] = LOANS_POISON LOANS_POISON;
	const char **pointers = (const char **)loan->bytes;

	if (!loan->array) {
		bool ended = loan->size > 0 && loan->bytes[loan->size - 1] == '\0';

		fill(loan->bytes, loan->size - ended);
		return;
	}
	for (size_t i = 0; i < loan->size / sizeof(*pointers); i++) {
		pointers[i] = other;
	}
}

static void touch(struct lent *loan)
{
	if (acts("overwrite")) {
		overwrite(loan);
	} else if (acts("poison")) {
		fill(loan->bytes, loan->mapped - 1);
	} else if (acts("unmap")) {
		(void)mprotect(loan->bytes, loan->mapped, PROT_NONE);
	}
}

void loans_return(void)
{
	while (lent_count > 0) {
		struct lent *loan = &lent[--lent_count];

		if (loan->mapped) {
			if (loan->touched) {
				touch(loan);
			}
		} else if (loan->loan == LOAN_ENDS) {
			memset(loan->bytes, '#', loan->size);
			/* so that a compiler does not leave it out */
			__asm__ volatile("" : : "r"(loan->bytes) : "memory");
			free(loan->bytes);
		}
	}
}
