/* SPDX-License-Identifier: MIT */
/*
 * libFuzzer: dependencies_hold(), dependencies_tell() and needles_search() on any bytes.
 *
 * The first byte chooses: raw dependencies; real dependencies with some bytes overwritten (offset, offset, value); or a
 * needle and a text. It only looks at files, below /etc and /usr and wherever the bytes say.
 */
#include "keygen/dependencies.h"
#include "keygen/dependencies_build.h"
#include "keygen/needles.h"

#include "tests/fuzz/fuzz.h"

#include <limits.h>
#include <sys/sysinfo.h>

#define MODES 4

static struct root root[] = {{"/etc", 4}, {"/usr/include", 12}};
static const struct key companion_key;

static const struct key *companion(void *context)
{
	(void)context;
	return &companion_key;
}

static struct roots roots = {.root = root, .count = 2, .companion = companion};
static struct stream real;

static void see(struct trace *trace, const char *path)
{
	struct trace_event event = {.kind = TRACE_PROBE, .path = path};
	struct stat found;

	if (stat(path, &found) == 0) {
		file_stamp_from(&found, &event.stamp);
		trace_add(trace, &event);
		if (S_ISREG(found.st_mode)) {
			char bytes[65536];
			int file = open(path, O_RDONLY | O_CLOEXEC);
			ssize_t got = file >= 0 ? read(file, bytes, sizeof(bytes)) : 0;
			struct span span = {bytes, got > 0 ? (size_t)got : 0};

			digest_key(&span, 1, &event.digest);
			close(file);
			event.kind = TRACE_OPEN;
			trace_add(trace, &event);
		}
	} else {
		event.error = errno;
		trace_add(trace, &event);
	}
}

FUZZ_SET_UP()
{
	static const char *const paths[] = {"/etc",
	                                    "/etc/passwd",
	                                    "/etc/group",
	                                    "/etc/none",
	                                    "/etc/none/a.h",
	                                    "/etc/none/b.h",
	                                    "/etc/hosts",
	                                    "/usr/include/stdio.h",
	                                    "/usr/include/x.h",
	                                    "/usr/include/errno.h",
	                                    "/dev/null",
	                                    "relative.h",
	                                    ".",
	                                    "/usr/include/sys/../math.h"};
	static const uint8_t literal[] = {1, 0};
	struct trace trace;
	struct dependencies_input input = {
	    .trace = &trace,
	    .roots = &roots,
	    .root_is_literal = literal,
	    .companion = &companion_key,
	    .has_memory_headers = true,
	};

	trace_init(&trace, INT64_MAX);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		see(&trace, paths[i]);
	}
	trace_answered(&trace, MACHINE_GET_NPROCS, get_nprocs());
	trace_answered(&trace, MACHINE_QUESTION(MACHINE_SYSCONF, _SC_PAGESIZE), sysconf(_SC_PAGESIZE));
	require(dependencies_build(&input, &real) == 0);
	require(dependencies_hold(real.bytes, real.size, &roots, NULL, NULL, 0));
	trace_free(&trace);
}

struct tally {
	size_t told, unchanged;
};

static int count(const struct dependency *dependency, void *context)
{
	struct tally *tally = context;
	char question[MACHINE_WORDS_MAX];
	bool is_library = dependency->kind == DEPENDENCY_ARITHMETIC || dependency->kind == DEPENDENCY_COMPANION;

	if (dependency->kind == DEPENDENCY_MACHINE) {
		require(*machine_words(dependency->question, question) != '\0');
	} else if (!is_library) {
		require(dependency->path && strlen(dependency->path) < PATH_MAX);
	}
	require(dependency->root == DEPENDENCY_NO_ROOT || dependency->state == DEPENDENCY_NOT_ASKED);
	if (!is_library) {
		tally->told++;
		tally->unchanged += dependency->state == DEPENDENCY_UNCHANGED;
	}
	require(*dependency_state_text(dependency->state) != '\0');
	return 0;
}

/* What holds is told as unchanged to the last path; nobody looks anywhere who knows no place. */
static void tell(const uint8_t *data, size_t size, bool holds)
{
	const struct roots known_roots = {.root = root, .count = 2};
	struct tally known = {0}, unknown = {0};
	int error = dependencies_tell(data, size, &known_roots, true, count, &known);

	require(!holds || (error == 0 && known.told == known.unchanged));
	require(dependencies_tell(data, size, NULL, false, count, &unknown) != 0 || error == 0 ||
	        error == -ENAMETOOLONG || error == -EBADMSG);
	require(unknown.unchanged == 0 && (error != 0 || unknown.told == known.told));
}

/* What one check learned does not change the answer of the next. */
static bool ask(const uint8_t *data, size_t size)
{
	char why[64];
	bool holds = dependencies_hold(data, size, &roots, NULL, why, sizeof(why));

	require(dependencies_hold(data, size, &roots, NULL, why, sizeof(why)) == holds);
	tell(data, size, holds);
	return holds;
}

static void overwritten(const uint8_t *data, size_t size)
{
	uint8_t *bytes = copy_of(real.bytes, real.size);

	for (; size >= 3; data += 3, size -= 3) {
		bytes[(data[0] | (size_t)data[1] << 8) % real.size] = data[2];
	}
	(void)ask(bytes, real.size);
	free(bytes);
}

static void text(const uint8_t *data, size_t size)
{
	size_t needle_size = size > 0 ? data[0] % 16 : 0;
	struct needle list[2];
	struct needles needles = {list, 2};

	if (size < needle_size + 1) {
		return;
	}
	/* Plain bytes must be found, and each needle whatever the others are; the rest is a matter of spelling. */
	list[0] = (struct needle){(const char *)data + 1, needle_size, false};
	list[1] = (struct needle){(const char *)data + 1 + needle_size / 2, needle_size - needle_size / 2, false};
	needles_search(&needles, data + 1 + needle_size, size - 1 - needle_size);
	for (size_t i = 0; i < 2; i++) {
		require(list[i].found || list[i].size == 0 ||
		        !memmem(data + 1 + needle_size, size - 1 - needle_size, list[i].text, list[i].size));
	}
	require(!list[0].found || list[1].found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[64];

	if (size == 0) {
		return 0;
	}
	switch (data[0] % MODES) {
	case 0:
		/* Whatever is shorter than a whole never holds. */
		require(!ask(data + 1, size - 1) || size - 1 == 0 || size - 1 >= 24);
		break;
	case 1:
		overwritten(data + 1, size - 1);
		break;
	case 2:
		require(size - 1 >= real.size || size == 1 ||
		        !dependencies_hold(real.bytes, size - 1, &roots, NULL, why, sizeof(why)));
		break;
	default:
		text(data + 1, size - 1);
		break;
	}
	return 0;
}
