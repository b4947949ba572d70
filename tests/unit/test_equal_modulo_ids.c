/* SPDX-License-Identifier: MIT */
/* Comparing results apart from what NVRTC makes anew in every process. */
#include "interpose/compile/equal_modulo_ids.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

static bool alike(const char *a, const char *b)
{
	return equal_modulo_ids(a, strlen(a) + 1, b, strlen(b) + 1);
}

Test(equal_modulo_ids, module_ids_of_other_processes_are_alike)
{
	cr_assert(alike("x_1f2e3d4c_12345 y", "x_a1b2c3d4_54321 y"));
	cr_assert(alike("x_1f2e3d4c_999 y", "x_1f2e3d4c_1000 y"));
	cr_assert_not(alike("x_1f2e3d4c_999 y", "x_1f2e3d4c_999 z"));
	cr_assert_not(alike("x_1f2e3d4_999 y", "x_1f2e3d5_999 y"), "seven digits are no module id");
}

Test(equal_modulo_ids, lengths_of_mangled_names_follow_the_digits_of_the_process)
{
	const char *three = "_ZN40_GLOBAL__N__00000000_4_k_cu_1f2e3d4c_9991kE;";
	const char *four = "_ZN41_GLOBAL__N__00000000_4_k_cu_a1b2c3d4_10001kE;";

	cr_assert(alike(three, four));
	cr_assert(alike(three, "_ZN40_GLOBAL__N__00000000_4_k_cu_a1b2c3d4_1001kE;"));
	cr_assert_not(alike("_ZN3foo1kE", "_ZN4foox1kE"));
	cr_assert_not(alike("bytes 38", "bytes 39"));
	cr_assert_not(alike(three, "_ZN43_GLOBAL__N__00000000_4_k_cu_a1b2c3d4_1000xx1kE;"));
}

/* As of CUB: cuda::std::__4::(anonymous namespace). */
Test(equal_modulo_ids, lengths_behind_a_name_that_ends_with_a_digit_follow_too)
{
	const char *four = "_ZN4cuda3std3__441_GLOBAL__N__00000000_4_k_cu_1f2e3d4c_10006ignoreE[1];";

	cr_assert(alike(four, "_ZN4cuda3std3__440_GLOBAL__N__00000000_4_k_cu_a1b2c3d4_9996ignoreE[1];"));
	cr_assert_not(alike(four, "_ZN4cuda3std3__440_GLOBAL__N__00000000_4_k_cu_a1b2c3d4_9996ignorfE[1];"));
}

Test(equal_modulo_ids, numbers_before_what_is_no_name_are_compared_as_they_are)
{
	cr_assert_not(alike("20 x_1f2e3d4c_999 yyy z", "21 x_1f2e3d4c_1000 yyy z"));
}

Test(equal_modulo_ids, lengths_that_end_behind_the_text_are_compared_as_they_are)
{
	cr_assert_not(alike("_ZN938_GLOBAL__N__1f2e3d4c_9", "_ZN939_GLOBAL__N__1f2e3d4c_10"));
	cr_assert_not(alike("_ZN99999999999999999999999", "_ZN99999999999999999999998"));
}

Test(equal_modulo_ids, call_numbers_and_run_times_are_alike)
{
	cr_assert(alike("// callseq 9, 0\n", "// callseq 10, 0\n"));
	cr_assert(alike("Compile time = 1.871 ms", "Compile time = 12.3 ms"));
	cr_assert_not(alike("Compile time = 1.871 ms", "Compile time = 1.871 s"));
}

/* A CUBIN of three sections behind a table of names: a text, names, symbols. */
struct sample {
	uint8_t bytes[1024];
	size_t size;
};

static struct sample cubin(const char *names, const char *text, uint64_t symbol_value)
{
	struct sample sample = {.size = sizeof(Elf64_Ehdr)};
	Elf64_Ehdr header = {
	    .e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64}, .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 3};
	Elf64_Sym symbol = {.st_name = (Elf64_Word)strlen(names), .st_value = symbol_value};
	Elf64_Shdr sections[3] = {{.sh_type = SHT_STRTAB, .sh_size = strlen(names) + 1},
	                          {.sh_type = SHT_PROGBITS, .sh_size = strlen(text) + 1},
	                          {.sh_type = SHT_SYMTAB, .sh_size = sizeof(symbol)}};
	const void *contents[3] = {names, text, &symbol};

	for (int i = 0; i < 3; i++) {
		sections[i].sh_offset = sample.size;
		memcpy(sample.bytes + sample.size, contents[i], sections[i].sh_size);
		sample.size += sections[i].sh_size;
	}
	header.e_shoff = sample.size;
	memcpy(sample.bytes + sample.size, sections, sizeof(sections));
	sample.size += sizeof(sections);
	memcpy(sample.bytes, &header, sizeof(header));
	return sample;
}

static bool samples_alike(struct sample a, struct sample b)
{
	return equal_modulo_ids(a.bytes, a.size, b.bytes, b.size);
}

#define SHORT_NAME "x_1f2e3d4c_999"
#define LONG_NAME  "x_a1b2c3d4_1000"

Test(equal_modulo_ids, cubins_whose_names_have_other_lengths_are_compared_by_sections)
{
	cr_assert(samples_alike(cubin(SHORT_NAME, "code", 7), cubin(LONG_NAME, "code", 7)));
	cr_assert_not(samples_alike(cubin(SHORT_NAME, "code", 7), cubin(LONG_NAME, "kode", 7)));
	cr_assert_not(samples_alike(cubin(SHORT_NAME, "code", 7), cubin(LONG_NAME, "code", 8)));
	cr_assert_not(samples_alike(cubin("name", "code", 7), cubin("names", "code", 7)));
}

Test(equal_modulo_ids, every_cut_of_a_cubin_is_another)
{
	struct sample whole = cubin(SHORT_NAME, "code", 7), other = cubin(LONG_NAME, "code", 7);

	for (size_t size = 0; size < other.size; size++) {
		uint8_t *cut = malloc(size + 1);

		memcpy(cut, other.bytes, size);
		cr_assert_not(equal_modulo_ids(whole.bytes, whole.size, cut, size), "%zu", size);
		free(cut);
	}
}

Test(equal_modulo_ids, section_tables_that_lead_elsewhere_are_survived)
{
	struct sample whole = cubin(SHORT_NAME, "code", 7);

	for (size_t at = 0; at < whole.size; at++) {
		struct sample bent = cubin(LONG_NAME, "code", 7);
		uint8_t *bytes = malloc(bent.size);

		bent.bytes[at % bent.size] ^= 0xff;
		memcpy(bytes, bent.bytes, bent.size);
		(void)equal_modulo_ids(whole.bytes, whole.size, bytes, bent.size);
		free(bytes);
	}
}
