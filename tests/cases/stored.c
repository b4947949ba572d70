/* SPDX-License-Identifier: MIT */
/*
 * stored: compares the results that two cache directories hold of the same keys, for stored.py
 *
 * usage: stored DIRECTORY OTHER
 *
 * A result is compared with the one whose dependencies ask for the same: section by section, and byte by byte except for
 * what a compiler makes anew in every process, which verify mode passes over too. The sections that say what a result is
 * of, for people, are passed over; so are stamps. One line for each difference. Last line: how many results were equal,
 * equal except for module ids, different where a compiler seals them, different, and how many have no counterpart because
 * other files or another machine were asked for (elsewhere), or because the key is missing in the other directory.
 * Exit status: 1 where results differ, 2 for files that cannot be read.
 */
#include "interpose/compile/result.h"
#include "interpose/compiler.h"
#include "interpose/compilers.h"
#include "interpose/elf/next_symbol.h"
#include "keygen/dependencies.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RESULTS_OF_A_KEY 16
#define ENTRY_ALIGNMENT  16

enum verdict { SAME, IDS, SEALED, DIFFERENT, ELSEWHERE, MISSING, VERDICTS };

struct file {
	struct entry *entries[RESULTS_OF_A_KEY];
	size_t count;
};

static unsigned long tally[VERDICTS];

static void fail(const char *path, const char *why)
{
	fprintf(stderr, "stored: %s: %s\n", path, why);
	exit(2);
}

static char *read_whole(const char *path, size_t *ret_size)
{
	FILE *stream = fopen(path, "rb");
	struct stat found;
	char *bytes;

	if (!stream) {
		return NULL;
	}
	if (fstat(fileno(stream), &found) != 0 || !(bytes = malloc((size_t)found.st_size + 1)) ||
	    fread(bytes, 1, (size_t)found.st_size, stream) != (size_t)found.st_size) {
		fail(path, "cannot be read");
	}
	fclose(stream);
	*ret_size = (size_t)found.st_size;
	return bytes;
}

static bool read_entries(const char *path, struct file *ret_file)
{
	struct entry_info info;
	size_t size, at = 0;
	char *bytes = read_whole(path, &size), *copy;

	if (!bytes) {
		return false;
	}
	for (ret_file->count = 0; at < size && ret_file->count < RESULTS_OF_A_KEY; at += info.total_size) {
		if (entry_parse_header(bytes + at, size - at, size - at, &info) != 0 ||
		    !(copy = malloc(info.total_size))) {
			fail(path, "no entry");
		}
		memcpy(copy, bytes + at, info.total_size);
		if (entry_adopt(copy, info.total_size, &ret_file->entries[ret_file->count++]) != 0) {
			fail(path, "damaged");
		}
	}
	free(bytes);
	return true;
}

static void free_entries(struct file *file)
{
	for (size_t i = 0; i < file->count; i++) {
		entry_unref(file->entries[i]);
	}
}

static int note_compiler(const struct about_fact *fact, void *context)
{
	const struct compiler **ret_compiler = context;

	for (size_t i = 0; fact->kind == ABOUT_COMPILER && i < COMPILER_COUNT; i++) {
		if (strlen(compilers[i]->name) == fact->size &&
		    memcmp(compilers[i]->name, fact->text, fact->size) == 0) {
			*ret_compiler = compilers[i];
		}
	}
	return 0;
}

static const struct compiler *compiler_of(const struct entry *entry)
{
	const struct compiler *compiler = NULL;
	struct section section;

	if (entry_section(entry, RESULT_TAG_ABOUT, &section)) {
		(void)about_read(section.bytes, section.size, note_compiler, &compiler);
	}
	return compiler;
}

/* One that says to which processes a result is given, which result_compare() passes over. */
static bool same_section(const struct entry *one, const struct entry *other, uint32_t tag)
{
	struct section left, right;
	bool here = entry_section(one, tag, &left), there = entry_section(other, tag, &right);

	return here == there && (!here || (left.value == right.value && left.size == right.size &&
	                                   (left.size == 0 || memcmp(left.bytes, right.bytes, left.size) == 0)));
}

static bool all_zero(const uint8_t *bytes, const uint8_t *end)
{
	while (bytes < end && *bytes == 0) {
		bytes++;
	}
	return bytes >= end;
}

/* What lies between the parts of an entry is stored too. */
static bool zero_between(const struct entry *entry)
{
	const struct entry_info *info = entry_info(entry);
	const uint8_t *bytes = entry_bytes(entry, &(size_t){0}), *end;
	struct section section;

	if (!all_zero(bytes + ENTRY_HEADER_BYTES + info->dependencies_size, bytes + info->body_offset)) {
		return false;
	}
	for (size_t i = 0; entry_section_at(entry, i, &section); i++) {
		end = section.size ? (const uint8_t *)section.bytes + section.size : bytes;
		if (!all_zero(end, end + (size_t)(bytes - end) % ENTRY_ALIGNMENT)) {
			return false;
		}
	}
	return true;
}

static bool same_dependencies(const struct entry *one, const struct entry *other)
{
	size_t size, other_size;
	const void *bytes = entry_dependencies(one, &size), *other_bytes = entry_dependencies(other, &other_size);

	return size == other_size && memcmp(bytes, other_bytes, size) == 0;
}

/* In the order in which they were built, which is the same for both. */
static bool same_bytes(const struct entry *one, const struct entry *other)
{
	struct section left, right;
	size_t i = 0;

	for (; entry_section_at(one, i, &left); i++) {
		if (!entry_section_at(other, i, &right) || left.tag != right.tag || left.value != right.value) {
			return false;
		}
		if (left.tag != RESULT_TAG_ABOUT &&
		    (left.size != right.size || (left.size != 0 && memcmp(left.bytes, right.bytes, left.size) != 0))) {
			return false;
		}
	}
	return !entry_section_at(other, i, &right);
}

static enum verdict compare(const struct entry *one, const struct entry *other, const char **ret_what)
{
	const struct compiler *compiler = compiler_of(one);

	if (!zero_between(one) || !zero_between(other)) {
		*ret_what = "bytes between its parts";
		return DIFFERENT;
	}
	*ret_what = "its sections";
	if (same_bytes(one, other)) {
		return SAME;
	}
	if (!same_section(one, other, RESULT_TAG_UNSET) || !same_section(one, other, RESULT_TAG_SLOPPY)) {
		*ret_what = "what it may be given to";
		return DIFFERENT;
	}
	switch (compiler ? result_compare(compiler, one, other, ret_what) : RESULTS_DIFFER) {
	case RESULTS_ALIKE:
		return IDS;
	case RESULTS_HIDDEN:
		return SEALED;
	default:
		return DIFFERENT;
	}
}

static enum verdict find(const struct entry *entry, const struct file *others, const char **ret_what)
{
	for (size_t i = 0; i < others->count; i++) {
		if (same_dependencies(entry, others->entries[i])) {
			return compare(entry, others->entries[i], ret_what);
		}
	}
	return ELSEWHERE;
}

static void judge(const char *path, const char *other_path)
{
	static const char *const words[VERDICTS] = {[IDS] = "ids",
	                                            [SEALED] = "sealed",
	                                            [DIFFERENT] = "DIFFERENT",
	                                            [ELSEWHERE] = "elsewhere",
	                                            [MISSING] = "missing"};
	struct file here, there;
	bool is_there = read_entries(other_path, &there);
	enum verdict verdict;
	const char *what;

	if (!read_entries(path, &here)) {
		fail(path, "cannot be read");
	}
	for (size_t i = 0; i < here.count; i++) {
		what = "";
		verdict = is_there ? find(here.entries[i], &there, &what) : MISSING;
		tally[verdict]++;
		if (words[verdict]) {
			printf("%s %s %s\n", words[verdict], strrchr(path, '/') - 2, what);
		}
	}
	free_entries(&here);
	if (is_there) {
		free_entries(&there);
	}
}

int main(int count, char **words)
{
	char path[4096], other[4096];
	struct dirent *item;
	DIR *shard;

	if (count != 3) {
		fputs("usage: stored DIRECTORY OTHER\n", stderr);
		return 2;
	}
	for (unsigned number = 0; number < 256; number++) {
		snprintf(path, sizeof(path), "%s/v1/%02x", words[1], number);
		shard = opendir(path);
		while (shard && (item = readdir(shard))) {
			if (strlen(item->d_name) != 2 * ENTRY_KEY_BYTES - 2) {
				continue;
			}
			snprintf(path, sizeof(path), "%s/v1/%02x/%s", words[1], number, item->d_name);
			snprintf(other, sizeof(other), "%s/v1/%02x/%s", words[2], number, item->d_name);
			judge(path, other);
		}
		if (shard) {
			closedir(shard);
		}
	}
	printf("same %lu ids %lu sealed %lu different %lu elsewhere %lu missing %lu\n", tally[SAME], tally[IDS],
	       tally[SEALED], tally[DIFFERENT], tally[ELSEWHERE], tally[MISSING]);
	return tally[DIFFERENT] != 0;
}
