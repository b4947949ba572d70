/* SPDX-License-Identifier: MIT */
/* A private directory tree and a trace of it, for the tests of dependencies. Tests of Criterion are processes of their
 * own. */
#ifndef TESTS_UNIT_DEPENDENCIES_FIXTURE_H
#define TESTS_UNIT_DEPENDENCIES_FIXTURE_H

#include "keygen/dependencies.h"
#include "keygen/dependencies_build.h"
#include "tests/unit/support.h"

#include <stdarg.h>

#define SECOND_NS  INT64_C(1000000000)
#define TREE_ROOTS 4

static char tree[PATH_MAX];
static struct trace trace;
static struct stream built;
static struct root tree_root[TREE_ROOTS];
static struct roots tree_roots = {.root = tree_root};
static uint8_t tree_literal[TREE_ROOTS];
static struct dependencies_input input = {.trace = &trace, .roots = &tree_roots, .root_is_literal = tree_literal};
static char why[256];

/* A path in the tree; four may be in use at once. */
__attribute__((format(printf, 1, 2))) static inline const char *in_tree(const char *format, ...)
{
	static char paths[4][PATH_MAX * 2];
	static unsigned next;
	char *path = paths[next++ % 4];
	size_t size = (size_t)snprintf(path, PATH_MAX, "%s/", tree);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(path + size, PATH_MAX, format, arguments);
	va_end(arguments);
	return path;
}

static inline void put_bytes(const char *path, const void *bytes, size_t size)
{
	cr_assert(file_put(path, bytes, size, O_TRUNC, 0644), "%s: %s", path, strerror(errno));
}

static inline void put_file(const char *path, const char *text)
{
	put_bytes(path, text, strlen(text));
}

static inline void put_directory(const char *path)
{
	cr_assert_eq(mkdir(path, 0755), 0, "mkdir(%s): %s", path, strerror(errno));
}

/* The compile begins a second from now, so that every file counts as settled. */
static inline void begin_trace(void)
{
	trace_free(&trace);
	trace_init(&trace, now_ns() + SECOND_NS);
}

static inline void see_stat(const char *path)
{
	struct trace_event event = {.kind = TRACE_PROBE, .path = path};
	struct stat found;

	if (stat(path, &found) == 0) {
		file_stamp_from(&found, &event.stamp);
	} else {
		event.error = errno;
	}
	cr_assert_not_null(trace_add(&trace, &event));
}

static inline void digest_of(const char *path, struct key *ret_digest)
{
	static char bytes[1 << 20]; /* a file may be larger: see a_file_larger_than_the_read_limit_is_not_read */
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = read(file, bytes, sizeof(bytes));
	struct span span = {bytes, (size_t)size};

	cr_assert_geq(size, 0);
	close(file);
	digest_key(&span, 1, ret_digest);
}

static inline void see_open(const char *path)
{
	struct trace_event event = {.kind = TRACE_OPEN, .path = path};
	struct stat found;
	int file = open(path, O_RDONLY | O_CLOEXEC);

	if (file >= 0) {
		cr_assert_eq(fstat(file, &found), 0);
		file_stamp_from(&found, &event.stamp);
		digest_of(path, &event.digest);
		close(file);
	} else {
		event.error = errno;
	}
	cr_assert_not_null(trace_add(&trace, &event));
}

/* As NVRTC reads a header. */
static inline void see_header(const char *path)
{
	see_stat(path);
	see_open(path);
	see_stat(path);
}

static inline void put_seen(const char *path, const char *text)
{
	put_file(path, text);
	see_header(path);
}

/* Two prefixes with the same headers. */
static inline void put_twins(void)
{
	for (int i = 1; i <= 2; i++) {
		put_directory(in_tree("p%d", i));
		put_directory(in_tree("p%d/sub", i));
		put_file(in_tree("p%d/a.h", i), "int a;");
		put_file(in_tree("p%d/sub/b.h", i), "int b;");
	}
}

static inline void see_twin(void)
{
	see_header(in_tree("p1/none.h"));
	see_header(in_tree("p1/a.h"));
	see_header(in_tree("p1/sub/b.h"));
	see_stat(in_tree("p1/sub"));
	see_stat(in_tree("p1"));
}

static inline void add_root(const char *text, bool literal)
{
	size_t i = tree_roots.count++;

	cr_assert_lt(i, (size_t)TREE_ROOTS);
	tree_root[i] = (struct root){.text = strdup(text), .size = strlen(text)};
	tree_literal[i] = literal;
}

static inline void set_root(size_t i, const char *text)
{
	free(tree_root[i].text);
	tree_root[i] = (struct root){.text = strdup(text), .size = strlen(text)};
}

static inline void build(void)
{
	stream_free(&built);
	cr_assert_eq(dependencies_build(&input, &built), 0);
}

static inline bool holds(void)
{
	why[0] = '\0';
	return dependencies_hold(built.bytes, built.size, &tree_roots, NULL, why, sizeof(why));
}

/* Builds of one header. */
static inline void build_one(const char *text)
{
	put_seen(in_tree("a.h"), text);
	build();
}

/* Builds of the first twin, below a root. */
static inline void build_twin(void)
{
	put_twins();
	add_root(in_tree("p1"), false);
	see_twin();
	build();
}

static inline struct stream take_built(void)
{
	struct stream taken = built;

	built = STREAM_EMPTY;
	return taken;
}

/* From here on, reading a file shows another content than its digest says. */
static inline void spoil_digests(void)
{
	for (size_t i = 0; i < trace.count; i++) {
		trace.events[i].digest.bytes[0] ^= 1;
	}
}

#define assert_built_holds()    \
	do {                    \
		build();        \
		assert_holds(); \
	} while (0)
#define assert_holds()   cr_assert(holds(), "does not hold: %s", why)
#define assert_not(text) cr_assert(!holds() && strstr(why, (text)), "expected '%s', got '%s'", (text), why)

/* Returns how many bytes of files a check reads, or -1 if the dependencies do not hold. */
static inline int bytes_read(void)
{
	struct dependencies_budget budget;
	bool held;

	budget = DEPENDENCIES_BUDGET;
	held = dependencies_hold(built.bytes, built.size, &tree_roots, &budget, why, sizeof(why));
	return held ? (int)(DEPENDENCIES_BYTES_MAX - budget.bytes) : -1;
}

static inline void tree_begin(void)
{
	char name[PATH_MAX];

	cr_assert(private_directory_make(name, sizeof(name), "dependencies"));
	cr_assert_not_null(realpath(name, tree)); /* the tree has the spelling that getcwd() returns */
	begin_trace();
}

static inline void tree_end(void)
{
	cr_assert_eq(chdir("/"), 0);
	remove_tree(tree);
	trace_free(&trace);
	stream_free(&built);
	while (tree_roots.count > 0) {
		free(tree_root[--tree_roots.count].text);
	}
}

#endif
