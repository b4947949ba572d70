/* SPDX-License-Identifier: MIT */
#include "inputs.h"
#include "calls.h"
#include "loans.h"

#include "tests/files.h"

#include <errno.h>
#include <string.h>

#define INPUTS 32

static struct input inputs[INPUTS];
static int input_count;

void inputs_begin(void)
{
	while (input_count) {
		input_count--;
		free(inputs[input_count].name);
		free(inputs[input_count].bytes);
	}
}

static struct input *find(const char *name)
{
	for (int i = 0; i < input_count; i++) {
		if (strcmp(inputs[i].name, name) == 0) {
			return &inputs[i];
		}
	}
	return NULL;
}

static struct input *known(const char *name)
{
	struct input *input = find(name);

	if (!input) {
		printf("  no input %s\n", name);
	}
	return input;
}

void inputs_keep(const char *name, char *bytes, size_t size)
{
	struct input *input = find(name);

	if (!bytes) {
		return;
	}
	if (input) {
		free(input->bytes);
	} else if (input_count < INPUTS) {
		input = &inputs[input_count++];
		input->name = strdup(name);
	} else {
		printf("  too many inputs\n");
		free(bytes);
		return;
	}
	input->bytes = realloc(bytes, size + 1);
	input->bytes[size] = '\0';
	input->size = size;
}

char *inputs_give(const char *name, const char *argument, enum ending ending, size_t *ret_size)
{
	struct input *input = name ? known(name) : NULL;
	char *bytes;

	*ret_size = 0;
	if (!input) {
		return NULL;
	}
	bytes = lend(argument, input->bytes, input->size + 1, LOAN_ENDS);
	*ret_size = input->size + (ending == ENDING_INSIDE);
	if (ending == ENDING_NONE) {
		bytes[input->size] = 'x';
	}
	return bytes;
}

/* ---- containers ---- */

struct buffer {
	char *bytes;
	size_t size;
};

static void put(struct buffer *buffer, const void *bytes, size_t size)
{
	buffer->bytes = realloc(buffer->bytes, buffer->size + size + 1);
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void align(struct buffer *buffer, size_t step)
{
	static const char zeros[16];

	put(buffer, zeros, (step - buffer->size % step) % step);
}

/* What fatbinary(1) writes before each member: 1 PTX, 2 ELF, 8 NVVM. What is not ELF has a list of options behind. */
struct fat_member {
	uint16_t kind, version;
	uint32_t header_size;
	uint64_t size;
	uint32_t packed_size, options;
	uint16_t minor, major;
	uint32_t architecture, name, name_size;
	uint64_t flags, zero, unpacked_size;
};
_Static_assert(sizeof(struct fat_member) == 64, "as in the file");

struct fat_head {
	uint32_t magic;
	uint16_t version, header_size;
	uint64_t size;
};

static void put_member(struct buffer *buffer, const char *kind, int architecture, const struct input *input)
{
	static const uint64_t no_options[2] = {72, 0};
	struct buffer data = {0};
	struct fat_member member = {
	    .version = 0x101, .header_size = 64, .architecture = (uint32_t)architecture, .flags = 0x11};

	put(&data, input->bytes, input->size);
	align(&data, 8);
	member.size = data.size;
	if (strcmp(kind, "cubin") == 0) {
		member.kind = 2;
		member.minor = 7;
		member.major = 1;
	} else {
		member.kind = strcmp(kind, "ptx") == 0 ? 1 : 8;
		member.major = 7;
		member.options = 64;
		member.header_size += sizeof(no_options);
	}
	put(buffer, &member, sizeof(member));
	if (member.kind != 2) {
		put(buffer, no_options, sizeof(no_options));
	}
	put(buffer, data.bytes, data.size);
	free(data.bytes);
}

/* fatbin NAME KIND ARCHITECTURE INPUT ... */
static void make_fatbin(const char *name, int count, char **rest)
{
	struct buffer members = {0}, all = {0};
	struct fat_head head = {0xba55ed50, 1, 16, 0};

	for (int i = 0; i + 2 < count; i += 3) {
		struct input *input = known(rest[i + 2]);

		if (input) {
			put_member(&members, rest[i], atoi(rest[i + 1]), input);
		}
	}
	head.size = members.size;
	put(&all, &head, sizeof(head));
	put(&all, members.bytes, members.size);
	free(members.bytes);
	inputs_keep(name, all.bytes, all.size);
}

/* An object of the host's with the fat binary where nvcc -rdc=true puts it. */
static void make_object(const char *name, const struct input *fatbin)
{
	static const char names[] = "\0__nv_relfatbin\0.nvFatBinSegment\0.shstrtab";
	static const struct {
		uint32_t magic, version;
		uint64_t data, unused;
	} segment = {0x466243b1, 1, 0, 0};
	struct section {
		uint32_t name, type;
		uint64_t flags, address, offset, size;
		uint32_t link, info;
		uint64_t align, entry_size;
	} sections[4] = {{0},
	                 {1, 1, 2, 0, 64, 0, 0, 0, 8, 0},
	                 {16, 1, 3, 0, 0, 24, 0, 0, 8, 0},
	                 {33, 3, 0, 0, 0, sizeof(names), 0, 0, 1, 0}};
	struct {
		unsigned char ident[16];
		uint16_t type, machine;
		uint32_t version;
		uint64_t entry, programs, sections;
		uint32_t flags;
		uint16_t size, program_size, program_count, section_size, section_count, names;
	} head = {{0x7f, 'E', 'L', 'F', 2, 1, 1}, 1, 62, 1, 0, 0, 0, 0, 64, 0, 0, 64, 4, 3};
	struct buffer all = {0};

	if (!fatbin) {
		return;
	}
	put(&all, &head, sizeof(head));
	put(&all, fatbin->bytes, fatbin->size);
	sections[1].size = fatbin->size;
	align(&all, 8);
	sections[2].offset = all.size;
	put(&all, &segment, sizeof(segment));
	sections[3].offset = all.size;
	put(&all, names, sizeof(names));
	align(&all, 8);
	head.sections = all.size;
	put(&all, sections, sizeof(sections));
	memcpy(all.bytes, &head, sizeof(head));
	inputs_keep(name, all.bytes, all.size);
}

static void put_archive_head(struct buffer *buffer, const char *name, size_t size)
{
	char head[64];

	snprintf(head, sizeof(head), "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "644", size);
	put(buffer, head, 60);
}

/* archive NAME INPUT ...: the inputs are its members, m0.o, m1.o, ... */
static void make_archive(const char *name, int count, char **rest)
{
	struct buffer all = {0};

	put(&all, "!<arch>\n", 8);
	for (int i = 0; i < count; i++) {
		struct input *input = known(rest[i]);
		char member[16];

		if (input) {
			snprintf(member, sizeof(member), "m%d.o/", i);
			put_archive_head(&all, member, input->size);
			put(&all, input->bytes, input->size);
			put(&all, "\n", all.size % 2);
		}
	}
	inputs_keep(name, all.bytes, all.size);
}

/* thin NAME PATH ...: an archive that only names its members, which are files */
static void make_thin(const char *name, int count, char **rest)
{
	struct buffer all = {0}, paths = {0};
	size_t at = 0;

	for (int i = 0; i < count; i++) {
		put(&paths, rest[i], strlen(rest[i]));
		put(&paths, "/\n", 2);
	}
	put(&all, "!<thin>\n", 8);
	put_archive_head(&all, "//", paths.size);
	put(&all, paths.bytes, paths.size);
	put(&all, "\n", all.size % 2);
	for (int i = 0; i < count; i++) {
		struct stat status;
		char place[24];

		snprintf(place, sizeof(place), "/%zu", at);
		put_archive_head(&all, place, stat(rest[i], &status) == 0 ? (size_t)status.st_size : 0);
		at += strlen(rest[i]) + 2;
	}
	free(paths.bytes);
	inputs_keep(name, all.bytes, all.size);
}

/* ---- files ---- */

static void load(const char *name, const char *path)
{
	size_t size;
	char *bytes = file_read(path, &size);

	if (bytes) {
		inputs_keep(name, bytes, size);
	} else {
		printf("  FAILED %s: %s\n", path, strerror(errno));
	}
}

static void save(const struct input *input, const char *path)
{
	if (input && !file_put(path, input->bytes, input->size, O_TRUNC, 0644)) {
		printf("  FAILED %s: %s\n", path, strerror(errno));
	}
}

/* A file of the toolkit that `library` belongs to. */
static void load_beside(const char *name, const char *library, const char *file)
{
	static const char *const places[] = {"", "../libdevice/", "../nvvm/libdevice/", "../../nvvm/libdevice/"};
	const char *end = library ? strrchr(library, '/') : NULL;
	char path[4096];

	for (size_t i = 0; end && i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s%s", (int)(end - library + 1), library, places[i], file);
		if (access(path, R_OK) == 0) {
			load(name, path);
			return;
		}
	}
	printf("  no %s\n", file);
}

/* What all PTX (ptx NAME <<) and all modules of NVVM IR (ir NAME <<) say alike. !9 is the number of the IR's version. */
static const char ptx_head[] = ".version 7.0\n.target sm_80\n.address_size 64\n";
static const char ir_head[] =
    "target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-"
    "i128:128:128-f32:32:32-f64:64:64-v16:16:16-v32:32:32-v64:64:64-v128:128:128-n16:32:64\"\n"
    "target triple = \"nvptx64-nvidia-cuda\"\n";
static const char ir_end[] = "!nvvmir.version = !{!9}\n!9 = !{i32 2, i32 0}\n";

static void keep_between(const char *name, const char *head, const char *text, const char *end)
{
	struct buffer all = {0};

	put(&all, head, strlen(head));
	put(&all, text, strlen(text));
	put(&all, end, strlen(end));
	inputs_keep(name, all.bytes, all.size);
}

/* ---- commands ---- */

static void keep_product(const char *name, const char *what)
{
	size_t size;
	char *bytes = call_product(what, &size);

	if (bytes) {
		inputs_keep(name, bytes, size);
	}
}

static int change(const char *verb, const char *name, const char *number)
{
	struct input *input = known(name);
	size_t value = strtoull(number, NULL, 10);

	if (input && value < input->size) {
		if (strcmp(verb, "cut") == 0) {
			input->size = value;
			input->bytes[value] = '\0';
		} else {
			input->bytes[value] ^= 1;
		}
	}
	return 1;
}

int call_of_inputs(const char *verb, int count, char **rest)
{
	if (strcmp(verb, "input") != 0 || count < 2) {
		return 0;
	}
	verb = *rest++;
	count -= 2;
	if (strcmp(verb, "text") == 0) {
		keep_between(rest[0], "", rest[1], "");
	} else if (strcmp(verb, "ir") == 0) {
		keep_between(rest[0], ir_head, rest[1], ir_end);
	} else if (strcmp(verb, "ptx") == 0) {
		keep_between(rest[0], ptx_head, rest[1], "");
	} else if (strcmp(verb, "made") == 0) {
		keep_product(rest[0], rest[1]);
	} else if (strcmp(verb, "fatbin") == 0) {
		make_fatbin(rest[0], count, rest + 1);
	} else if (strcmp(verb, "object") == 0) {
		make_object(rest[0], known(rest[1]));
	} else if (strcmp(verb, "archive") == 0) {
		make_archive(rest[0], count, rest + 1);
	} else if (strcmp(verb, "thin") == 0) {
		make_thin(rest[0], count, rest + 1);
	} else if (strcmp(verb, "load") == 0) {
		load(rest[0], rest[1]);
	} else if (strcmp(verb, "save") == 0) {
		save(known(rest[0]), rest[1]);
	} else if (strcmp(verb, "cut") == 0 || strcmp(verb, "flip") == 0) {
		change(verb, rest[0], rest[1]);
	} else if (strcmp(verb, "libdevice") == 0) {
		load_beside(rest[0], getenv("NVVM_LIB"), "libdevice.10.bc");
	} else if (strcmp(verb, "devrt") == 0) {
		load_beside(rest[0], getenv("NVJITLINK_LIB"), "libcudadevrt.a");
	} else {
		return 0;
	}
	return 1;
}
