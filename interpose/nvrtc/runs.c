/* SPDX-License-Identifier: MIT */
/*
 * The two runs, field by field ("?": optional, "*": any number; keygen/surroundings.h describes the shared fields):
 *
 *     creation  CREATION format, SOURCE, (HEADER_NAME, HEADER_TEXT)*, BASE_NAME; if the texts are large, HEADERS_DIGEST
 *               comes before the names in place of the texts: one digest of all sizes and texts
 *     call      surroundings_begin(), MEMORY_HEADERS, surroundings_compute(), option*, EXPRESSION*, surroundings_end()
 *     identity  kind, length, bytes of each: 'n' soname and release, 'b' build-id, 'c' digest (compile/library_steps.c)
 *     history   for each earlier compile one digest of its key and the state that it left (seal_history() in
 *               compile/request.c)
 *     option    OPTION; or OPTION_HEAD + ROOT + REST, if a root replaces text; or NO_OPTION for NULL
 */
#include "interpose/nvrtc/runs.h"
#include "interpose/nvrtc/program.h"
#include "interpose/nvrtc/scan.h"
#include "keygen/about.h"
#include "keygen/stream.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

enum own_tag {
	TAG_CREATION = 1,
	TAG_SOURCE = 2,
	TAG_HEADER_NAME = 3,
	TAG_HEADER_TEXT = 4,
	TAG_BASE_NAME = 5,
	TAG_HEADERS_DIGEST = 6,
	TAG_DECODED = 7,
	TAG_MEMORY_HEADERS = 24,
	TAG_OPTION = 25,
	TAG_NO_OPTION = 26,
	TAG_OPTION_HEAD = 27,
	TAG_EXPRESSION = 30
};

/* The request's form: path-neutral or path-dependent. */
struct plan {
	bool neutral;
	struct request_name name;
	struct directories directories; /* that of the name if it is absolute, then each absolute -I */
};

/*
 * Returns the name that NVRTC uses. With 11.8 to 13.5, NULL, "" and "default_program" gave the same artifacts and logs
 * in every form.
 */
static const char *effective_name(const char *name)
{
	return name && *name ? name : "default_program";
}

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

void runs_creation(const char *source, const char *program_name, const struct memory_header *headers, size_t count,
                   const struct key *headers_digest, struct stream *stream)
{
	stream_number(stream, TAG_CREATION, REQUEST_FORMAT);
	stream_string(stream, TAG_SOURCE, source);
	if (headers_digest) {
		stream_field(stream, TAG_HEADERS_DIGEST, headers_digest->bytes, sizeof(headers_digest->bytes));
	}
	for (size_t i = 0; i < count; i++) {
		stream_string(stream, TAG_HEADER_NAME, headers[i].name);
		if (!headers_digest) {
			stream_field(stream, TAG_HEADER_TEXT, headers[i].text, headers[i].size);
		}
	}
	stream_string(stream, TAG_BASE_NAME, base_name(effective_name(program_name)));
}

static void put_except(struct stream *stream, const struct stream *run, uint8_t without)
{
	struct cursor cursor = cursor_over(run->bytes, run->size);
	struct span field;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field)) {
		if (tag != without) {
			stream_field(stream, tag, field.bytes, field.size);
		}
	}
}

int runs_digest_of_input(const struct stream *run, const struct stream *creation, struct key *ret_digest)
{
	struct stream stream = STREAM_EMPTY;
	int error;

	put_except(&stream, run, TAG_EXPRESSION);
	put_except(&stream, creation, TAG_SOURCE);
	digest_key(&(struct span){stream.bytes, stream.size}, 1, ret_digest);
	error = stream.failed ? -ENOMEM : 0;
	stream_free(&stream);
	return error;
}

void runs_mark_decoded(struct stream *creation)
{
	stream_number(creation, TAG_DECODED, 1);
}

const struct shown_field runs_shown[OWN_TAGS] = {
    [TAG_SOURCE] = {ABOUT_PART, "source"},       [TAG_HEADER_NAME] = {ABOUT_PART, NULL},
    [TAG_HEADER_TEXT] = {ABOUT_PART, "header"},  [TAG_HEADERS_DIGEST] = {ABOUT_PART, "headers in memory"},
    [TAG_EXPRESSION] = {ABOUT_EXPRESSION, NULL},
};

/* Returns true if paths in this directory have only one spelling, so that a search of a text finds them (scan.h). */
static bool is_plain(const char *path, size_t size)
{
	return directories_plain(path, size) && scan_spells_plainly(path, size);
}

static bool plan_name(struct plan *plan, const char *name)
{
	size_t size = strlen(name);

	plan->name = (struct request_name){name, NAME_WITHOUT_DIRECTORY};
	if (!strchr(name, '/')) {
		return true;
	}
	if (name[0] == '/') {
		size_t directory_size = (size_t)(base_name(name) - name) - 1;

		plan->name.lies = NAME_IN_FIRST_DIRECTORY;
		return is_plain(name, size) && directory_size > 0 &&
		       directories_add(&plan->directories, name, directory_size);
	}
	/* A relative name stays in the key as text, but only if the text has one meaning. */
	plan->name.lies = NAME_IN_RELATIVE_DIRECTORY;
	return name[size - 1] != '/' && !strstr(name, "//") && !strstr(name, "/./") && !strstr(name, "/../");
}

static bool plan_directories(struct plan *plan, const char *name, const struct call *call,
                             const struct options *options)
{
	if (!plan_name(plan, name)) {
		return false;
	}
	for (int i = 0; i < call->option_count; i++) {
		const char *text = options_directory(options, i);
		size_t size = text ? strlen(text) : 0;

		/* NVRTC opens "/d/h.h" both for -I/d and for -I/d/, but "/d//h.h" for -I/d//. */
		if (size > 1 && text[size - 1] == '/') {
			size--;
		}
		if (text && text[0] == '/' &&
		    !(is_plain(text, size) && directories_add(&plan->directories, text, size))) {
			return false;
		}
	}
	return true;
}

/*
 * Returns true if an option other than -I contains a path (-DKERNELS=/d/k, for #include STRING(KERNELS/a.h), as hashcat
 * does). It stays in the key as text, so it would not change with its root.
 */
static bool other_option_has_path(const struct call *call, const struct options *options)
{
	for (int i = 0; i < call->option_count; i++) {
		if (!options_directory(options, i) && strchr(call->options[i], '/')) {
			return true;
		}
	}
	return false;
}

static int make_plan(struct plan *plan, const char *name, const struct call *call, const struct options *options,
                     const char *cwd)
{
	int error;

	plan->neutral = false;
	plan->name = (struct request_name){name, NAME_WITHOUT_DIRECTORY};
	plan->directories.count = 0;
	plan->directories.roots = (struct roots){0};
	if (!cwd || options_bind(options) || !plan_directories(plan, name, call, options) ||
	    (plan->directories.count && other_option_has_path(call, options))) {
		return 0;
	}
	error = directories_number(&plan->directories);
	plan->neutral = error == 0;
	return error;
}

/* Of an -I directory that is a root, the head of the option and the root's number are written in place of its text. */
static void put_options(struct stream *stream, const struct plan *plan, const struct call *call,
                        const struct options *options)
{
	size_t next = plan->name.lies == NAME_IN_FIRST_DIRECTORY ? 1 : 0;

	for (int i = 0; i < call->option_count; i++) {
		const char *text = call->options ? call->options[i] : NULL;
		const char *directory = options_directory(options, i);

		if (!text) {
			stream_number(stream, TAG_NO_OPTION, 0);
		} else if (plan->neutral && directory && directory[0] == '/') {
			stream_field(stream, TAG_OPTION_HEAD, text, (size_t)(directory - text));
			directories_put(stream, &plan->directories, next++);
		} else {
			stream_string(stream, TAG_OPTION, text);
		}
	}
}

int runs_call(const struct program *program, const struct call *call, const struct options *options,
              const struct surroundings *around, struct stream *stream, struct roots *ret_roots)
{
	struct plan plan;
	int error = make_plan(&plan, effective_name(program->handle.name), call, options, around->cwd);

	if (error == 0) {
		surroundings_begin(stream, around, &plan.name, plan.neutral ? &plan.directories : NULL);
		stream_number(stream, TAG_MEMORY_HEADERS, program->has_memory_headers);
		surroundings_compute(stream, around);
		put_options(stream, &plan, call, options);
		for (size_t i = 0; i < program->name_count; i++) {
			stream_string(stream, TAG_EXPRESSION, program->names[i]);
		}
		surroundings_end(stream, around);
		error = stream->failed ? -ENOMEM : 0;
	}
	*ret_roots = plan.directories.roots;
	return error;
}
