/* SPDX-License-Identifier: MIT */
/*
 * Sections are collected through the real getters. Marks (UNSET, SLOPPY, ABOUT) are added after them, and are not part
 * of a comparison of two results.
 */
#include "interpose/compile/result.h"

#include "interpose/watch/environment.h"
#include "keygen/about.h"
#include "keygen/dependencies.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void result_add(struct result *result, uint32_t tag, int value, void *owned, size_t size)
{
	result->sections[result->count++] = (struct section){tag, value, owned, size};
}

int result_collect(const struct handle *handle, int return_code, struct result *ret_result)
{
	int error;

	ret_result->count = 0;
	result_add(ret_result, RESULT_TAG_RETURN_CODE, return_code, NULL, 0);
	error = handle->library->compiler->collect(handle, ret_result);
	if (error != 0) {
		result_free(ret_result);
	}
	return error;
}

void result_free(struct result *result)
{
	for (size_t i = 0; i < result->count; i++) {
		free((void *)result->sections[i].bytes);
	}
	result->count = 0;
}

void result_search(const struct result *result, struct needles *needles)
{
	for (size_t i = 0; i < result->count; i++) {
		needles_search(needles, result->sections[i].bytes, result->sections[i].size);
	}
}

const struct section *result_section(const struct result *result, uint32_t tag)
{
	for (size_t i = 0; i < result->count; i++) {
		if (result->sections[i].tag == tag) {
			return &result->sections[i];
		}
	}
	return NULL;
}

bool result_says_one_of(const struct section *log, const char *const *texts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (memmem(log->bytes, log->size, texts[i], strlen(texts[i]))) {
			return true;
		}
	}
	return false;
}

/* Searches for messages of nvcc, ptxas and libstdc++. The first letter of a text is omitted where its case differs. */
bool result_says_shortage(const struct section *log)
{
	static const char *const shortages[] = {"emory allocation", "out of memory", "nsufficient memory", "bad_alloc"};

	return RESULT_SAYS(log, shortages);
}

/* Returns true for a section that describes the result, but is not part of it. */
static bool is_mark(const struct section *section)
{
	return section->tag == RESULT_TAG_UNSET || section->tag == RESULT_TAG_SLOPPY ||
	       section->tag == RESULT_TAG_ABOUT;
}

unsigned result_sloppiness(const struct entry *entry)
{
	return (unsigned)result_value(entry, RESULT_TAG_SLOPPY, 0);
}

bool result_holds(const struct entry *entry, const struct roots *roots)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return dependencies_hold(dependencies, size, roots, NULL, NULL, 0);
}

bool result_names_files(const struct entry *entry)
{
	size_t size;
	const void *dependencies = entry_dependencies(entry, &size);

	return dependencies_name_files(dependencies, size);
}

bool result_applies(const struct entry *entry, unsigned allowed, const char **ret_variable)
{
	struct section section;
	const char *names, *end;

	*ret_variable = NULL;
	if (result_sloppiness(entry) & ~allowed) {
		return false;
	}
	if (entry_section(entry, RESULT_TAG_UNSET, &section)) {
		names = section.bytes;
		end = names + section.size;
		*ret_variable = section.size && end[-1] != '\0' ? "?" : environment_first_set(names, end);
	}
	return !*ret_variable;
}

/* The return code is left out, because only the compilation itself returns it, and no getter does. */
int result_state(const struct handle *handle, struct key *ret_state)
{
	struct result result = {.count = 0};
	struct span spans[2 * RESULT_SECTIONS];
	uint64_t heads[RESULT_SECTIONS][3];
	size_t count = 0;
	int error = handle->served ? 0 : result_collect(handle, 0, &result);

	for (size_t i = 0; error == 0 && count < RESULT_SECTIONS; i++) {
		struct section section = result.sections[i];

		if (handle->served ? !entry_section_at(handle->served, i, &section) : i == result.count) {
			break;
		}
		if (section.tag == RESULT_TAG_RETURN_CODE || is_mark(&section)) {
			continue;
		}
		heads[count][0] = section.tag;
		heads[count][1] = (uint32_t)section.value;
		heads[count][2] = section.size;
		spans[2 * count] = (struct span){heads[count], sizeof(heads[count])};
		spans[2 * count + 1] = (struct span){section.bytes, section.size};
		count++;
	}
	if (error == 0) {
		digest_key(spans, 2 * count, ret_state);
	}
	result_free(&result);
	return error;
}

int result_value(const struct entry *entry, uint32_t tag, int otherwise)
{
	struct section section;

	return entry_section(entry, tag, &section) ? section.value : otherwise;
}

const char *result_section_name(const struct compiler *compiler, uint32_t tag)
{
	if (tag < RESULT_TAG_OWN) {
		return tag == LOWERED_SECTION ? "lowered names" : "return code";
	}
	return tag - RESULT_TAG_OWN < compiler->artifact_count ? compiler->artifacts[tag - RESULT_TAG_OWN].name
	                                                       : "another artifact";
}

/*
 * ---- texts that a compiler generates anew in every process ----
 *
 * Module ids (_<8 hex>_<pid>: the time in seconds and the process) count as equal, and, up to 12.6, so do the call
 * numbers in comments of PTX and the run times that ptxas reports with -v. Everything else is compared byte by byte.
 *
 * Some differences that come only from a module id cannot be recognised. LTO-IR and OptiX IR are encoded: an id
 * changes everything after their heads. Debug information (-G) writes names byte by byte. A process id with more
 * digits makes names longer, which changes their lengths in mangled names and moves what follows them in a CUBIN.
 */

/*
 * Returns the length of a module id's tail at `at`: '_', eight hex digits, '_', the pid's digits; 0 if there is none.
 */
static size_t module_id(const uint8_t *at, size_t left)
{
	size_t size = 10;

	if (left < 11 || at[0] != '_' || at[9] != '_' || !isdigit(at[10])) {
		return 0;
	}
	for (int i = 1; i < 9; i++) {
		if (!isxdigit(at[i])) {
			return 0;
		}
	}
	while (size < left && isdigit(at[size])) {
		size++;
	}
	return size;
}

/* Returns the length of `words` and the number after them, of `digits`; 0 if another text begins at `at`. */
static size_t number_told(const char *words, const char *digits, const uint8_t *at, size_t left)
{
	size_t size = strlen(words);

	if (left <= size || memcmp(at, words, size) != 0 || !isdigit(at[size])) {
		return 0;
	}
	while (size < left && at[size] && strchr(digits, at[size])) {
		size++;
	}
	return size;
}

/*
 * Returns the length of a text at `at` that NVRTC generates anew in every process; 0 if there is none. Each kind begins
 * with another byte. Up to 12.6, PTX comments number the calls of the whole process ("// callseq 17, 0"), and with -G
 * that PTX is contained in the CUBIN; with -v, ptxas reports its run time ("Compile time = 1.871 ms").
 */
static size_t made_anew(const uint8_t *at, size_t left)
{
	switch (*at) {
	case '_':
		return module_id(at, left);
	case '/':
		return number_told("// callseq ", "0123456789", at, left);
	case 'C':
		return number_told("Compile time = ", "0123456789.", at, left);
	default:
		return 0;
	}
}

/*
 * Both artifacts are scanned in parallel. Where both contain a text that is generated anew, each text is skipped by its
 * own length, because a pid or a time may have more digits in one of them.
 */
static bool equal_modulo_ids(const struct section *left, const struct section *right)
{
	const uint8_t *a = left->bytes, *b = right->bytes;
	size_t i = 0, j = 0;

	while (i < left->size && j < right->size && a[i] == b[j]) {
		size_t a_anew = made_anew(a + i, left->size - i), b_anew = made_anew(b + j, right->size - j);
		bool both = a_anew > 0 && b_anew > 0;

		i += both ? a_anew : 1;
		j += both ? b_anew : 1;
	}
	return i == left->size && j == right->size;
}

/*
 * Returns the length of the longest tail of a module id in the text; 0 if there is none. The length depends on the pid.
 */
static size_t longest_id(const uint8_t *text, size_t size)
{
	size_t longest = 0;

	for (size_t i = 0; i < size; i++) {
		size_t length = module_id(text + i, size - i);

		longest = length > longest ? length : longest;
	}
	return longest;
}

/* Returns true for encoded artifacts (LTO-IR, OptiX IR) and for debug information. */
static bool hides_ids(const void *bytes, size_t size)
{
	static const uint8_t magic[] = {0xed, 0x43, 0x4e, 0x7f};
	static const char debug[] = ".debug_info"; /* in PTX, and in the section names of a CUBIN */

	return (size > sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0) ||
	       memmem(bytes, size, debug, sizeof(debug) - 1);
}

/*
 * For two unequal artifacts: returns true if they may differ only by module ids, in a form that cannot be compared.
 * That is neither a mismatch nor a proof of equality.
 */
static bool differ_by_hidden_ids(const struct section *left, const struct section *right)
{
	size_t left_id = longest_id(left->bytes, left->size), right_id = longest_id(right->bytes, right->size);

	return (hides_ids(left->bytes, left->size) && hides_ids(right->bytes, right->size)) ||
	       (left_id > 0 && right_id > 0 && left_id != right_id);
}

/* ---- comparison of two results ---- */

enum results result_compare(const struct compiler *compiler, const struct entry *a, const struct entry *b,
                            const char **ret_what)
{
	enum results results = RESULTS_ALIKE;
	struct section left, right;

	for (size_t i = 0; entry_section_at(a, i, &left); i++) {
		if (is_mark(&left) || (compiler->comparable && !compiler->comparable(&left))) {
			continue;
		}
		if (!entry_section(b, left.tag, &right) || left.value != right.value) {
			*ret_what = result_section_name(compiler, left.tag);
			return RESULTS_DIFFER;
		}
		if (equal_modulo_ids(&left, &right)) {
			continue;
		}
		*ret_what = result_section_name(compiler, left.tag);
		if (!compiler->hides_ids || !differ_by_hidden_ids(&left, &right)) {
			return RESULTS_DIFFER;
		}
		results = RESULTS_HIDDEN;
	}
	return results;
}
