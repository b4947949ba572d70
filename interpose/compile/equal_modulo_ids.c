/* SPDX-License-Identifier: MIT */
#include "interpose/compile/equal_modulo_ids.h"

#include <ctype.h>
#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The length of a module id's tail at `at`: '_', eight hex digits, '_', the pid's digits; 0 where there is none. */
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

/* The length of these words and the number behind them; 0 where it is something else. */
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
 * The length of what NVRTC makes anew in every process, where such begins here; 0 where none does. Each kind begins
 * with another byte. Up to 12.6 PTX numbers its calls through the whole process, in comments ("// callseq 17, 0"), and
 * -G puts that PTX into the CUBIN; ptxas tells its run time with -v ("Compile time = 1.871 ms").
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

/* How much of a text are tails of module ids. */
static size_t module_ids(const uint8_t *text, size_t size)
{
	size_t sum = 0;

	for (size_t i = 0; i < size;) {
		size_t id = module_id(text + i, size - i);

		sum += id;
		i += id ? id : 1;
	}
	return sum;
}

/* A decimal number at `at`; *ret_digits 0 where there is none, or more than a length has. */
static size_t number(const uint8_t *at, size_t left, size_t *ret_digits)
{
	size_t value = 0, digits = 0;

	while (digits < left && isdigit(at[digits]) && digits < 7) {
		value = value * 10 + (size_t)(at[digits++] - '0');
	}
	*ret_digits = digits < left && isdigit(at[digits]) ? 0 : digits;
	return value;
}

/* Do so many bytes make a part of a mangled name? */
static bool is_name(const uint8_t *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (!isalnum(text[i]) && text[i] != '_' && text[i] != '$' && text[i] != '.') {
			return false;
		}
	}
	return true;
}

/*
 * Mangled names begin with their lengths: _ZN43_GLOBAL__N__00000000_4_k_cu_1f2e3d4c_12345E. Are these two lengths such
 * that differ by the digits of the process in the name, and nothing else? Gives how many digits each has.
 */
static bool lengths_alike(const uint8_t *a, size_t a_left, const uint8_t *b, size_t b_left, size_t *ret_a,
                          size_t *ret_b)
{
	size_t a_digits, b_digits, a_ids, b_ids;
	size_t a_length = number(a, a_left, &a_digits), b_length = number(b, b_left, &b_digits);

	if (!a_digits || !b_digits || a_length == b_length || a_length > a_left - a_digits ||
	    b_length > b_left - b_digits || !is_name(a + a_digits, a_length) || !is_name(b + b_digits, b_length)) {
		return false;
	}
	a_ids = module_ids(a + a_digits, a_length);
	b_ids = module_ids(b + b_digits, b_length);
	*ret_a = a_digits;
	*ret_b = b_digits;
	return a_ids && b_ids && a_length - a_ids == b_length - b_ids;
}

static bool text_alike(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
	size_t i = 0, j = 0;

	while (i < a_size && j < b_size) {
		size_t a_anew = made_anew(a + i, a_size - i), b_anew = made_anew(b + j, b_size - j);
		size_t a_digits, b_digits;

		if (a_anew && b_anew && a[i] == b[j]) {
			i += a_anew;
			j += b_anew;
		} else if (lengths_alike(a + i, a_size - i, b + j, b_size - j, &a_digits, &b_digits)) {
			/* Behind a digit too: cuda::std::__4::(anonymous) is mangled 4cuda3std3__454_GLOBAL__N__ */
			i += a_digits;
			j += b_digits;
		} else if (a[i] == b[j]) {
			i++;
			j++;
		} else {
			return false;
		}
	}
	return i == a_size && j == b_size;
}

struct cubin {
	const uint8_t *bytes;
	size_t size;
	Elf64_Ehdr header;
};

static bool read_cubin(const uint8_t *bytes, size_t size, struct cubin *ret_cubin)
{
	Elf64_Ehdr header;

	if (size < sizeof(header) || memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_CLASS] != ELFCLASS64) {
		return false;
	}
	memcpy(&header, bytes, sizeof(header));
	if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff > size ||
	    header.e_shnum > (size - header.e_shoff) / sizeof(Elf64_Shdr)) {
		return false;
	}
	*ret_cubin = (struct cubin){bytes, size, header};
	return true;
}

/* False where the section does not lie in the file. */
static bool read_section(const struct cubin *cubin, size_t index, Elf64_Shdr *ret_section)
{
	memcpy(ret_section, cubin->bytes + cubin->header.e_shoff + index * sizeof(Elf64_Shdr), sizeof(Elf64_Shdr));
	return ret_section->sh_type == SHT_NOBITS ||
	       (ret_section->sh_offset <= cubin->size && ret_section->sh_size <= cubin->size - ret_section->sh_offset);
}

/* All of each symbol but where its name stands. */
static bool symbols_alike(const uint8_t *a, const uint8_t *b, size_t size)
{
	for (size_t i = 0; i + sizeof(Elf64_Sym) <= size; i += sizeof(Elf64_Sym)) {
		const size_t rest = offsetof(Elf64_Sym, st_info);

		if (memcmp(a + i + rest, b + i + rest, sizeof(Elf64_Sym) - rest) != 0) {
			return false;
		}
	}
	return true;
}

/* Where names are longer, all that lies behind them is moved: the sections are compared one by one. */
static bool cubins_alike(const struct cubin *a, const struct cubin *b)
{
	if (a->header.e_shnum != b->header.e_shnum || a->header.e_flags != b->header.e_flags ||
	    a->header.e_phnum != b->header.e_phnum) {
		return false;
	}
	for (size_t i = 0; i < a->header.e_shnum; i++) {
		Elf64_Shdr one, other;

		if (!read_section(a, i, &one) || !read_section(b, i, &other) || one.sh_type != other.sh_type ||
		    one.sh_flags != other.sh_flags || one.sh_info != other.sh_info) {
			return false;
		}
		if (one.sh_type == SHT_NOBITS || one.sh_type == SHT_SYMTAB) {
			if (one.sh_size != other.sh_size ||
			    (one.sh_type == SHT_SYMTAB &&
			     !symbols_alike(a->bytes + one.sh_offset, b->bytes + other.sh_offset, one.sh_size))) {
				return false;
			}
		} else if (!text_alike(a->bytes + one.sh_offset, one.sh_size, b->bytes + other.sh_offset,
		                       other.sh_size)) {
			return false;
		}
	}
	return a->header.e_shnum > 0;
}

bool hides_ids(const void *bytes, size_t size)
{
	static const uint8_t magic[] = {0xed, 0x43, 0x4e, 0x7f};
	static const char debug[] = ".debug_info"; /* as PTX and the names of a CUBIN's sections spell it */

	return (size > sizeof(magic) && memcmp(bytes, magic, sizeof(magic)) == 0) ||
	       memmem(bytes, size, debug, sizeof(debug) - 1);
}

bool equal_modulo_ids(const void *left, size_t left_size, const void *right, size_t right_size)
{
	struct cubin a, b;

	return text_alike(left, left_size, right, right_size) ||
	       (read_cubin(left, left_size, &a) && read_cubin(right, right_size, &b) && cubins_alike(&a, &b));
}
