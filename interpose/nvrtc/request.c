/* SPDX-License-Identifier: MIT */
/*
 * The two runs, field by field ("?" where there is one, "*" any number):
 *
 *     creation  CREATION format, SOURCE, (HEADER_NAME, HEADER_TEXT)*, BASE_NAME
 *     call      CALL format, IDENTITY, NAMESPACE?, PLACE, the place, MEMORY_HEADERS, option*, EXPRESSION*,
 *               (VARIABLE, VALUE?)*, HISTORY*
 *     place     neutral: ROOTS count, then NAME where it is relative and has a directory, or ROOT + REST where absolute
 *               bound: NAME, PWD?, CWD     bound without a cwd: NAME, PWD?
 *     option    OPTION, or OPTION_HEAD + ROOT + REST where a root stands in the place of text, or NO_OPTION for NULL
 *
 * CREATION or CALL come first and once each, so a call run alone (its creation run dropped) is no other's pair.
 */
#include "interpose/nvrtc/request.h"
#include "interpose/nvrtc/scan.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_FORMAT 1
/* Finding out which directory lies in which is quadratic; more directories than this are bound instead. */
#define ROOT_CANDIDATES_MAX 128

enum request_tag {
	TAG_CREATION = 1,
	TAG_SOURCE = 2,
	TAG_HEADER_NAME = 3,
	TAG_HEADER_TEXT = 4,
	TAG_BASE_NAME = 5,
	TAG_CALL = 16,
	TAG_IDENTITY = 17,
	TAG_NAMESPACE = 18,
	TAG_PLACE = 19,
	TAG_ROOTS = 20,
	TAG_NAME = 21,
	TAG_PWD = 22,
	TAG_CWD = 23,
	TAG_MEMORY_HEADERS = 24,
	TAG_OPTION = 25,
	TAG_NO_OPTION = 26,
	TAG_OPTION_HEAD = 27,
	TAG_ROOT = 28,
	TAG_REST = 29,
	TAG_EXPRESSION = 30,
	TAG_VARIABLE = 31,
	TAG_VALUE = 32,
	TAG_HISTORY = 33,
	TAG_FLOATING_POINT = 34,
	TAG_DECIMALS = 35
};

enum place { PLACE_NEUTRAL = 1, PLACE_BOUND = 2, PLACE_NOWHERE = 3 };

/* A directory as it was spelled, and which root it lies in: `root` bytes of it are that root's text. */
struct place_directory {
	const char *text;
	size_t size; /* without one trailing slash */
	size_t root;
};

struct plan {
	enum place place;
	bool name_has_directory;
	size_t first_include; /* 1 where directories[0] is the program's */
	size_t directory_count;
	struct place_directory directories[ROOT_CANDIDATES_MAX];
	size_t include_directory[ROOT_CANDIDATES_MAX]; /* options->include[i] -> directories, or NOT_A_ROOT */
	struct roots roots;
};

#define NOT_A_ROOT SIZE_MAX

/* NULL, "" and "default_program" gave the same artifacts and logs in every form, 11.8 to 13.5. */
static const char *effective_name(const char *name)
{
	return name && *name ? name : "default_program";
}

static const char *base_name(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 : name;
}

int request_creation(const char *source, const char *program_name, const struct request_header *headers, size_t count,
                     struct stream *ret_stream)
{
	struct stream stream = STREAM_EMPTY;

	stream_number(&stream, TAG_CREATION, REQUEST_FORMAT);
	stream_string(&stream, TAG_SOURCE, source);
	for (size_t i = 0; i < count; i++) {
		stream_string(&stream, TAG_HEADER_NAME, headers[i].name);
		stream_string(&stream, TAG_HEADER_TEXT, headers[i].text);
	}
	stream_string(&stream, TAG_BASE_NAME, base_name(effective_name(program_name)));
	if (stream.failed) {
		stream_free(&stream);
		return -ENOMEM;
	}
	*ret_stream = stream;
	return 0;
}

/* Ends the text before the field whose bytes these are: its head, which has been read, makes room. */
static void end_before(uint8_t *run, const char *bytes)
{
	run[(const uint8_t *)bytes - run - 1 - (ptrdiff_t)sizeof(uint64_t)] = '\0';
}

int request_texts(const struct stream *creation, struct request_texts *ret_texts)
{
	const size_t most = creation->size / (2 * (1 + sizeof(uint64_t))) + 1; /* a header is two fields */
	const size_t arrays = 2 * most * sizeof(char *);
	const char **block = malloc(arrays + creation->size);
	struct request_texts texts = {.block = block, .names = block, .headers = block + most};
	uint8_t *run = (uint8_t *)block + arrays;
	struct cursor cursor;
	const char *base;
	size_t size;

	if (!block)
		return -ENOMEM;
	memcpy(run, creation->bytes, creation->size);
	cursor = cursor_over(run, creation->size);
	(void)cursor_field(&cursor, TAG_CREATION, &size);
	texts.source = cursor_field(&cursor, TAG_SOURCE, &size);
	while (!cursor.failed && cursor.at < cursor.end && *cursor.at == TAG_HEADER_NAME) {
		texts.names[texts.count] = cursor_field(&cursor, TAG_HEADER_NAME, &size);
		texts.headers[texts.count++] = cursor_field(&cursor, TAG_HEADER_TEXT, &size);
	}
	base = cursor_field(&cursor, TAG_BASE_NAME, &size);
	if (cursor.failed || !cursor_at_end(&cursor)) {
		free(block);
		return -EINVAL;
	}
	for (size_t i = 0; i < texts.count; i++) {
		end_before(run, texts.names[i]);
		end_before(run, texts.headers[i]);
	}
	end_before(run, base);
	*ret_texts = texts;
	return 0;
}

void request_texts_free(struct request_texts *texts)
{
	free(texts->block);
	*texts = (struct request_texts){0};
}

/*
 * Every component is a name: none is empty, "." or "..". Such a directory's text and "/" start every path in it. And no
 * byte of it has another spelling in a text: where a text spells a path in it, scan_text() sees that.
 */
static bool is_plain_path(const char *text, size_t size)
{
	const char *end = text + size;

	if (size < 2 || text[0] != '/' || !scan_spells_plainly(text, size))
		return false;
	while (text < end) {
		const char *name = text + 1;
		const char *slash = memchr(name, '/', (size_t)(end - name));
		size_t length = (size_t)((slash ? slash : end) - name);

		if (length == 0 || (name[0] == '.' && (length == 1 || (length == 2 && name[1] == '.'))))
			return false;
		text = name + length;
	}
	return true;
}

static bool lies_in(const struct place_directory *inner, const char *text, size_t size)
{
	return inner->size >= size && (inner->size == size || inner->text[size] == '/') &&
	       memcmp(inner->text, text, size) == 0;
}

static bool plan_directories(struct plan *plan, const struct request *request, const struct options *options)
{
	const char *name = effective_name(request->program_name);
	size_t name_size;

	if (options->include_count >= ROOT_CANDIDATES_MAX)
		return false;
	plan->directory_count = 0;
	if (strchr(name, '/')) {
		name_size = strlen(name);
		plan->name_has_directory = true;
		if (name[0] == '/') {
			size_t directory_size = (size_t)(base_name(name) - name) - 1;

			if (!is_plain_path(name, name_size) || directory_size == 0)
				return false;
			plan->directories[plan->directory_count++] =
			    (struct place_directory){.text = name, .size = directory_size};
		} else {
			/* Relative: stays as text, but only where the text has one meaning. */
			if (name[name_size - 1] == '/' || strstr(name, "//") || strstr(name, "/./") ||
			    strstr(name, "/../"))
				return false;
		}
	}
	plan->first_include = plan->directory_count;
	for (size_t i = 0; i < options->include_count; i++) {
		const char *text = options->include[i].directory;
		size_t size = strlen(text);

		plan->include_directory[i] = NOT_A_ROOT;
		if (text[0] != '/')
			continue;
		/* NVRTC opens "/d/h.h" for -I/d and for -I/d/ alike, but "/d//h.h" for -I/d//. */
		if (size > 1 && text[size - 1] == '/')
			size--;
		if (!is_plain_path(text, size))
			return false;
		plan->include_directory[i] = plan->directory_count;
		plan->directories[plan->directory_count++] = (struct place_directory){.text = text, .size = size};
	}
	return true;
}

/* Roots are the outermost directories, numbered by their first use; one that lies in another is that root and a rest.
 */
static int plan_roots(struct plan *plan)
{
	struct roots *roots = &plan->roots;

	if (plan->directory_count == 0)
		return 0;
	roots->root = calloc(plan->directory_count, sizeof(*roots->root));
	if (!roots->root)
		return -ENOMEM;
	roots->count = 0;
	for (size_t i = 0; i < plan->directory_count; i++) {
		struct place_directory *directory = &plan->directories[i];
		const struct place_directory *outermost = directory;
		char *text;

		for (directory->root = 0; directory->root < roots->count; directory->root++) {
			if (lies_in(directory, roots->root[directory->root].text, roots->root[directory->root].size))
				break;
		}
		if (directory->root < roots->count)
			continue;
		for (size_t j = 0; j < plan->directory_count; j++) {
			if (plan->directories[j].size < outermost->size &&
			    lies_in(directory, plan->directories[j].text, plan->directories[j].size))
				outermost = &plan->directories[j];
		}
		text = strndup(outermost->text, outermost->size);
		if (!text)
			return -ENOMEM;
		roots->root[roots->count++] = (struct root){.text = text, .size = outermost->size};
	}
	return 0;
}

/*
 * A path in another option (-DKERNELS=/d/k, for #include STRING(KERNELS/a.h), as hashcat does) stays as text, so it
 * would not move with a root that it lies in.
 */
static bool other_option_has_path(const struct request *request, const struct options *options)
{
	size_t include = 0;

	for (int i = 0; i < request->option_count; i++) {
		if (include < options->include_count && options->include[include].index == i)
			include++;
		else if (strchr(request->options[i], '/'))
			return true;
	}
	return false;
}

static int make_plan(struct plan *plan, const struct request *request, const struct options *options)
{
	int rc;

	plan->roots = (struct roots){0};
	plan->name_has_directory = false;
	plan->place = request->cwd ? PLACE_BOUND : PLACE_NOWHERE;
	if (!request->cwd || options_bind(options) || !plan_directories(plan, request, options))
		return 0;
	if (plan->directory_count && other_option_has_path(request, options))
		return 0;
	rc = plan_roots(plan);
	if (rc) {
		roots_free(&plan->roots);
		return rc;
	}
	plan->place = PLACE_NEUTRAL;
	return 0;
}

static void put_directory(struct stream *stream, const struct plan *plan, const struct place_directory *directory)
{
	stream_number(stream, TAG_ROOT, directory->root);
	stream_string(stream, TAG_REST, directory->text + plan->roots.root[directory->root].size);
}

static void put_place(struct stream *stream, const struct plan *plan, const struct request *request)
{
	const char *name = effective_name(request->program_name);

	stream_number(stream, TAG_PLACE, plan->place);
	if (plan->place != PLACE_NEUTRAL) {
		stream_string(stream, TAG_NAME, name);
		if (request->pwd)
			stream_string(stream, TAG_PWD, request->pwd);
		if (request->cwd)
			stream_string(stream, TAG_CWD, request->cwd);
		return;
	}
	stream_number(stream, TAG_ROOTS, plan->roots.count);
	if (plan->first_include)
		put_directory(stream, plan, &plan->directories[0]);
	else if (plan->name_has_directory)
		stream_string(stream, TAG_NAME, name);
}

static void put_options(struct stream *stream, const struct plan *plan, const struct request *request,
                        const struct options *options)
{
	size_t include = 0;

	for (int i = 0; i < request->option_count; i++) {
		const char *text = request->options ? request->options[i] : NULL;
		size_t directory = NOT_A_ROOT;

		if (!text) {
			stream_number(stream, TAG_NO_OPTION, 0);
			continue;
		}
		if (include < options->include_count && options->include[include].index == i) {
			if (plan->place == PLACE_NEUTRAL)
				directory = plan->include_directory[include];
			include++;
		}
		if (directory == NOT_A_ROOT) {
			stream_string(stream, TAG_OPTION, text);
		} else {
			const struct place_directory *found = &plan->directories[directory];

			stream_field(stream, TAG_OPTION_HEAD, text, (size_t)(found->text - text));
			put_directory(stream, plan, found);
		}
	}
}

int request_call(const struct request *request, struct stream *ret_stream, struct roots *ret_roots,
                 struct options *ret_options)
{
	struct stream stream = STREAM_EMPTY;
	struct options options;
	struct plan plan;
	int rc;

	rc = options_read(request->options, request->option_count, &options);
	if (rc)
		return rc;
	rc = make_plan(&plan, request, &options);
	if (rc)
		goto failed;

	stream_number(&stream, TAG_CALL, REQUEST_FORMAT);
	stream_field(&stream, TAG_IDENTITY, request->identity, request->identity_size);
	if (request->namespace_name)
		stream_string(&stream, TAG_NAMESPACE, request->namespace_name);
	put_place(&stream, &plan, request);
	stream_number(&stream, TAG_MEMORY_HEADERS, request->has_memory_headers);
	stream_number(&stream, TAG_FLOATING_POINT, request->floating_point);
	if (request->decimals)
		stream_string(&stream, TAG_DECIMALS, request->decimals);
	put_options(&stream, &plan, request, &options);
	for (size_t i = 0; i < request->name_count; i++)
		stream_string(&stream, TAG_EXPRESSION, request->name_expressions[i]);
	for (size_t i = 0; i < request->environment_count; i++) {
		stream_string(&stream, TAG_VARIABLE, request->environment[i].name);
		if (request->environment[i].value)
			stream_string(&stream, TAG_VALUE, request->environment[i].value);
	}
	for (size_t i = 0; i < request->history_count; i++)
		stream_field(&stream, TAG_HISTORY, request->history[i].bytes, KEY_BYTES);
	if (stream.failed) {
		rc = -ENOMEM;
		goto failed;
	}
	*ret_stream = stream;
	*ret_roots = plan.roots;
	*ret_options = options;
	return 0;
failed:
	stream_free(&stream);
	roots_free(&plan.roots);
	options_free(&options);
	return rc;
}
