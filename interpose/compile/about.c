/* SPDX-License-Identifier: MIT */
#include "interpose/compile/about.h"

#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/*
 * In an installed toolkit libnvrtc.so.13 is a link to libnvrtc.so.13.0.88, whose name has the full release, of three
 * numbers or more.
 */
static void put_build(struct stream *about, const char *path)
{
	char target[256];
	ssize_t size = readlink(path, target, sizeof(target) - 1);
	const char *name, *number, *dot;

	target[size > 0 ? size : 0] = '\0';
	name = strrchr(target, '/');
	number = strstr(name ? name : target, ".so.");
	dot = number ? strchr(number + 4, '.') : NULL;
	if (dot && strchr(dot + 1, '.') && number[4 + strspn(number + 4, "0123456789.")] == '\0') {
		about_text(about, ABOUT_BUILD, number + 4);
	}
}

static void put_compiler(struct stream *about, const struct event *event)
{
	const struct library *library = event->library;
	char release[32];

	about_text(about, ABOUT_COMPILER, event->compiler->name);
	about_text(about, ABOUT_TITLE, event->compiler->title);
	if (library && library->major > 0) { /* the release is known */
		(void)snprintf(release, sizeof(release), "%d.%d", library->major, library->minor);
		about_text(about, ABOUT_RELEASE, release);
	}
	if (library) {
		put_build(about, library->path);
	}
}

/* The fields that all compilers' call runs have (keygen/surroundings.h), by tag. */
static const struct shown_field shared_fields[] = {
    [REQUEST_TAG_IDENTITY] = {ABOUT_PART, "compiler"},
    [REQUEST_TAG_NAMESPACE] = {ABOUT_PART, "namespace"},
    [REQUEST_TAG_NAME] = {ABOUT_PART, "program name"},
    [REQUEST_TAG_PWD] = {ABOUT_PART, "PWD"},
    [REQUEST_TAG_CWD] = {ABOUT_PART, "working directory"},
    [REQUEST_TAG_VARIABLE] = {ABOUT_PART, NULL},
    [REQUEST_TAG_VALUE] = {ABOUT_PART, "variable"},
    [REQUEST_TAG_DECIMALS] = {ABOUT_PART, "decimals"},
    [REQUEST_TAG_FLOATING_POINT] = {ABOUT_PART, "rounding mode"},
};

/* Parts whose names end with a blank are numbered. */
static void put_part(struct stream *about, const char *part, unsigned *number, const struct span *name,
                     const struct span *content)
{
	char numbered[32];

	if (strchr(part, '\0')[-1] == ' ') {
		(void)snprintf(numbered, sizeof(numbered), "%s%u", part, ++*number);
		part = numbered;
	}
	about_part_of(about, part, name, content);
}

/* Every call run has all parts except the namespace; that of a path-dependent request also has its paths. */
static void put_run(struct stream *about, const struct compiler *compiler, const struct stream *run)
{
	struct cursor cursor = cursor_over(run->bytes, run->size);
	struct span name = {0}, latest = {0}, field;
	unsigned number = 0;
	uint8_t tag;

	while (cursor_next(&cursor, &tag, &field)) {
		/* no tag is both a compiler's own and shared, and all are in one of the tables */
		const struct shown_field *shown =
		    tag < OWN_TAGS && compiler->fields[tag].kind ? &compiler->fields[tag] : &shared_fields[tag];

		if (tag == REQUEST_TAG_HISTORY) {
			latest = field; /* the last key covers all earlier ones */
		} else if (shown->part) {
			put_part(about, shown->part, &number, &name, &field);
			name = (struct span){0};
		} else if (shown->kind == ABOUT_PART) {
			name = field;
		} else if (shown->kind) {
			about_sized(about, (enum about_kind)shown->kind, field.bytes, field.size);
		}
	}
	if (latest.bytes) {
		about_part(about, "earlier compiles", &latest);
	}
}

/* Begins with the compiler, the program, and the name of the host's executable, whose path the kernel provides. */
static void begin_about(struct stream *ret_about, const struct event *event)
{
	const char *path = (const char *)getauxval(AT_EXECFN);
	const char *slash = path ? strrchr(path, '/') : NULL;

	*ret_about = STREAM_EMPTY;
	about_begin(ret_about);
	put_compiler(ret_about, event);
	about_text(ret_about, ABOUT_PROGRAM, event->program ? event->program : event->compiler->unnamed);
	if (path) {
		about_text(ret_about, ABOUT_COMMAND, slash ? slash + 1 : path);
	}
}

/* Called last, because options may be long, and a record leaves out the end of a long description. */
static void put_options(struct stream *about, const struct call *call)
{
	for (int i = 0; i < call->option_count; i++) {
		about_text(about, ABOUT_OPTION, call->options[i]);
	}
}

/* Encoded options (cuDNN's) are not shown. */
void about_request(struct event *event, const struct handle *handle, const struct call *call,
                   const struct attempt *attempt)
{
	const struct call unreadable = {.kind = call ? call->kind : 0};
	const struct compiler *compiler = event->compiler;
	struct stream *about = &event->about;

	if (!call || !handle_call_sound(call)) {
		call = &unreadable;
	}
	begin_about(about, event);
	if (attempt) {
		const struct roots *roots = &attempt->request.roots;

		put_run(about, compiler, &attempt->request.run);
		for (size_t i = 0; i < roots->count; i++) {
			about_sized(about, ABOUT_ROOT, roots->root[i].text, roots->root[i].size);
		}
	}
	if (attempt && (attempt->request.traits & REQUEST_BOUND)) {
		about_text(about, ABOUT_BOUND, attempt->observed.places.cwd ? attempt->observed.places.cwd : "");
	}
	if (handle) {
		const char *step = compiler->steps[call->kind < STEPS_MAX ? call->kind : STEPS_MAX - 1];

		if (step) {
			about_text(about, ABOUT_STEP, step);
		}
		put_run(about, compiler, &handle->creation);
	}
	if (handle && handle->hides_options) {
		about_text(about, ABOUT_OPTION, "(encoded)");
	} else {
		put_options(about, call);
	}
}

/* Adds the artifacts with the size of their head, so that `nvrtccache extract` needs no knowledge of compilers. */
void about_result(const struct attempt *attempt, const struct binding *binding, const struct result *result,
                  struct stream *about)
{
	const struct request *request = &attempt->request;
	const struct compiler *compiler = request->library->compiler;
	const char *cwd = attempt->observed.places.cwd;

	if (!(request->traits & REQUEST_BOUND) && cwd && binding->binds_cwd) {
		about_text(about, ABOUT_BOUND, cwd);
	}
	for (size_t i = 0; i < request->roots.count; i++) {
		if (binding->literal[i]) {
			about_sized(about, ABOUT_BOUND, request->roots.root[i].text, request->roots.root[i].size);
		}
	}
	for (size_t i = 0; i < result->count; i++) {
		const struct section *section = &result->sections[i];

		if (section->tag >= RESULT_TAG_OWN && section->size > 0) {
			about_artifact(about, result_section_name(compiler, section->tag), section->tag, 0);
		}
	}
}
