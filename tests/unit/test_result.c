/* SPDX-License-Identifier: MIT */
/* result: which results count as equal */
#include "interpose/nvrtc/artifacts.h"
#include "keygen/about.h"

#include "keygen/stream.h"
#include "tests/unit/support.h"

#include <xxhash.h>

/* The part of NVRTC's table that comparing results uses. */
static const struct compiler compiler = {
    .internal_error = RESULT_INTERNAL_ERROR,
    .artifacts = nvrtc_products,
    .artifact_count = PRODUCT_COUNT,
    .comparable = artifacts_comparable,
    .hides_ids = true,
};

#define TAG_NAMES   2
#define TAG_PRODUCT 0x100

static struct entry *made[16]; /* by the test */
static size_t made_count;

static struct entry *entry_with(struct section section)
{
	static const uint8_t key[ENTRY_KEY_BYTES] = {1};

	cr_assert_lt(made_count, COUNT(made));
	cr_assert_eq(entry_build(key, 0, NULL, 0, &section, 1, &made[made_count]), 0);
	return made[made_count++];
}

static struct entry *entry_of(uint32_t tag, int value, const char *text)
{
	return entry_with((struct section){tag, value, text, strlen(text)});
}

static void drop(void)
{
	while (made_count > 0) {
		entry_unref(made[--made_count]);
	}
}

TestSuite(result, .fini = drop);

static bool same(const char *left, const char *right)
{
	struct entry *a = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, left);
	struct entry *b = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, right);
	const char *what = NULL;
	bool result = result_compare(&compiler, a, b, &what) == RESULTS_ALIKE;

	cr_assert(result || strcmp(what, "PTX") == 0);
	drop();
	return result;
}

Test(result, equal_bytes_are_equal_results)
{
	cr_assert(same("", ""));
	cr_assert(same(".visible .entry k", ".visible .entry k"));
	cr_assert_not(same(".visible .entry k", ".visible .entry l"));
	cr_assert_not(same(".visible .entry k", ".visible .entry"));
}

Test(result, different_module_ids_are_equal_results)
{
	cr_assert(same("a_0123abcd_77_b", "a_fedc4567_12345_b"));
	cr_assert_not(same("a_0123abcd_77_b", "a_fedc4567_x_b"));
	cr_assert_not(same("a_0123abcd_77_b", "a_fedc4567_77_c"));
}

Test(result, different_call_numbers_in_comments_are_equal_results)
{
	cr_assert(same("{ // callseq 0, 0\n} // callseq 0\n", "{ // callseq 9, 0\n} // callseq 10\n"));
	cr_assert(same("// callseq 9", "// callseq 10"));
	cr_assert_not(same("{ // callseq 0, 0", "{ // callseq 0, 1"));
	cr_assert_not(same("callseq 0", "callseq 1"));
	cr_assert_not(same("// callseq 1", "// callseq x"));
	cr_assert_not(same("// callseq ", "// callseq 1"));
}

Test(result, another_code_or_a_missing_product_is_a_difference)
{
	struct entry *ptx = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, "x");
	struct entry *code = entry_of(TAG_PRODUCT + PRODUCT_PTX, 6, "x");
	struct entry *cubin = entry_of(TAG_PRODUCT + PRODUCT_CUBIN, 0, "x");
	struct entry *names = entry_of(TAG_NAMES, 0, "x");
	const char *what;

	cr_assert_eq(result_compare(&compiler, ptx, code, &what), RESULTS_DIFFER);
	cr_assert_eq(result_compare(&compiler, ptx, cubin, &what), RESULTS_DIFFER);
	cr_assert_str_eq(what, "PTX");
	cr_assert_eq(result_compare(&compiler, names, cubin, &what), RESULTS_DIFFER);
	cr_assert_str_eq(what, "lowered names");
}

Test(result, artifacts_of_later_versions_are_compared_under_a_generic_name)
{
	struct entry *one = entry_of(TAG_PRODUCT + PRODUCT_COUNT + 314, 0, "x");
	struct entry *other = entry_of(TAG_PRODUCT + PRODUCT_COUNT + 314, 0, "y");
	const char *what = NULL;

	cr_assert_eq(result_compare(&compiler, one, one, &what), RESULTS_ALIKE);
	cr_assert_eq(result_compare(&compiler, one, other, &what), RESULTS_DIFFER);
	cr_assert_str_eq(what, "another artifact");
}

Test(result, a_lowered_name_without_a_nul_is_not_returned)
{
	for (size_t size = 4; size <= 5; size++) {
		struct stream names = STREAM_EMPTY;
		struct entry *entry;
		struct program program = {.name_count = 1};
		const char *name = "";

		stream_field(&names, 1, "f", 2);
		stream_u32(&names, 0);
		stream_field(&names, 2, "_Z1f", size);
		entry = entry_with((struct section){.tag = TAG_NAMES, .bytes = names.bytes, .size = names.size});
		cr_assert_eq(artifacts_lowered_name(&program, entry, "f", &name) == 0, size == 5);
		cr_assert(size == 5 ? strcmp(name, "_Z1f") == 0 : name == NULL);
		stream_free(&names);
	}
}

/* If each were searched for from the first one on, it would take minutes. */
Test(result, names_are_found_in_their_order_and_in_any_other, .timeout = 60)
{
	enum { NAMES = 300000 };
	struct stream names = STREAM_EMPTY;
	struct program program = {.has_memory_headers = false};
	char expression[32], lowered[32];
	struct entry *entry;
	const char *name;

	for (unsigned i = 0; i < NAMES; i++) {
		(void)snprintf(expression, sizeof(expression), "t<%u>", i);
		(void)snprintf(lowered, sizeof(lowered), "_Z%u", i);
		lowered_put(&names, expression, 0, lowered);
	}
	entry = entry_with((struct section){.tag = TAG_NAMES, .bytes = names.bytes, .size = names.size});
	for (unsigned i = 0; i < NAMES + 3; i++) {
		(void)snprintf(expression, sizeof(expression), "t<%u>", i < NAMES ? i : NAMES + 1 - i);
		(void)snprintf(lowered, sizeof(lowered), "_Z%u", i < NAMES ? i : NAMES + 1 - i);
		cr_assert_eq(artifacts_lowered_name(&program, entry, expression, &name) == 0, i < NAMES + 2);
		cr_assert(name ? strcmp(name, lowered) == 0 : i == NAMES + 2);
	}
	stream_free(&names);
}

/* The caller's buffer is as large as the size getter said; if that failed, it may have no bytes. */
Test(result, bytes_whose_size_getter_failed_are_not_written)
{
	struct entry *entry = entry_of(TAG_PRODUCT + PRODUCT_PTX, 5, "x");
	char bytes[] = "-";
	size_t size = 0;

	cr_assert_eq(artifact_get(&compiler, entry, PRODUCT_PTX, GETTER_SIZE, &size), 5);
	cr_assert_eq(size, 0);
	cr_assert_eq(artifact_get(&compiler, entry, PRODUCT_PTX, GETTER_BYTES, bytes), 0, "its own code, all the same");
	cr_assert_str_eq(bytes, "-");
}

#define SEAL "\xed\x43\x4e\x7f"

Test(result, differing_sealed_artifacts_are_a_hidden_difference)
{
	struct entry *one = entry_of(TAG_PRODUCT + PRODUCT_LTOIR, 0, SEAL "one");
	struct entry *other = entry_of(TAG_PRODUCT + PRODUCT_LTOIR, 0, SEAL "other");
	struct entry *code = entry_of(TAG_PRODUCT + PRODUCT_LTOIR, 6, SEAL "one");
	struct entry *open = entry_of(TAG_PRODUCT + PRODUCT_LTOIR, 0, "one");
	const char *what = NULL;

	cr_assert_eq(result_compare(&compiler, one, one, &what), RESULTS_ALIKE);
	cr_assert_eq(result_compare(&compiler, one, other, &what), RESULTS_HIDDEN);
	cr_assert_str_eq(what, "LTOIR");
	cr_assert_eq(result_compare(&compiler, one, code, &what), RESULTS_DIFFER);
	cr_assert_eq(result_compare(&compiler, one, open, &what), RESULTS_DIFFER);
	cr_assert_eq(result_compare(&compiler, open, one, &what), RESULTS_DIFFER);
}

Test(result, differing_debug_information_is_a_hidden_difference)
{
	struct entry *one = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, "\t.section .debug_info {.b8 95,90}");
	struct entry *other = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, "\t.section .debug_info {.b8 95,91}");
	struct entry *open = entry_of(TAG_PRODUCT + PRODUCT_PTX, 0, "\t.visible .entry k");
	const char *what = NULL;

	cr_assert_eq(result_compare(&compiler, one, one, &what), RESULTS_ALIKE);
	cr_assert_eq(result_compare(&compiler, one, other, &what), RESULTS_HIDDEN);
	cr_assert_str_eq(what, "PTX");
	cr_assert_eq(result_compare(&compiler, one, open, &what), RESULTS_DIFFER);
}

static bool explains(const char *log)
{
	struct result result = {.count = 1};

	result.sections[0] = (struct section){TAG_PRODUCT + PRODUCT_ProgramLog, 0, log, strlen(log) + 1};
	return artifacts_explain_failure(NULL, &result);
}

Test(result, an_error_other_than_a_shortage_explains_a_failure_of_nvrtc)
{
	cr_expect(explains("k.cu(1): error: expected a declaration"));
	EACH_STRING(log, cr_expect_not(explains(log), "%s", log), "", "warning: something", "error: out of memory",
	            "Catastrophic error: error while writing PCH file: No space left on device");
}
