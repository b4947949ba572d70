/* SPDX-License-Identifier: MIT */
/* The part of the fake compiler that looks at files, in the order and with the calls of the real one. */
#include "tests/fake/fake.h"

#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 16
#define PATH_SIZE 4096

#ifdef FAKE_OLD_STAT
/* Libraries built against glibc before 2.33 import the wrapper, which is hidden in newer ones: 13.0 does so too. */
int __xstat(int version, const char *path, struct stat *buffer);
__asm__(".symver __xstat,__xstat@GLIBC_2.2.5");
#endif

int front_end_stat(const char *path, void *stat_buffer)
{
	struct stat unused;
	struct stat *buffer = stat_buffer != NULL ? stat_buffer : &unused;
#ifdef FAKE_OLD_STAT
	return __xstat(1, path, buffer);
#else
	return stat(path, buffer);
#endif
}

uint64_t front_end_mix(uint64_t digest, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < size; i++) {
		digest = (digest ^ byte[i]) * UINT64_C(0x100000001b3);
	}
	return (digest ^ size) * UINT64_C(0x100000001b3);
}

static char *file_text(const char *path)
{
	struct text text = {0};

	return text_read(&text, path) ? text.bytes : NULL;
}

bool front_end_mix_file(uint64_t *digest, const char *path)
{
	char *text = file_text(path);

	if (text == NULL) {
		*digest = front_end_mix(*digest, "absent", 6);
		return false;
	}
	*digest = front_end_mix(*digest, text, strlen(text));
	free(text);
	return true;
}

static const char *memory_header(const struct _nvrtcProgram *program, const char *name)
{
	for (int i = 0; i < program->header_count; i++) {
		if (strcmp(program->headers[i].name, name) == 0) {
			return program->headers[i].text;
		}
	}
	return NULL;
}

/* One candidate place: stat, and fopen in either case; where it is there, two more stats. */
static char *candidate(const char *directory, size_t directory_size, const char *name, char *ret_path)
{
	char path[PATH_SIZE], shown[PATH_SIZE];
	char *text;

	snprintf(shown, sizeof(shown), "%.*s%s%s", (int)directory_size, directory, directory_size > 0 ? "/" : "", name);
	strcpy(path, shown);
	if (FAKE_MAJOR == 13 && FAKE_MINOR >= 3 && shown[0] != '/' && getcwd(path, sizeof(path)) != NULL) {
		snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s", shown);
	}
	if (front_end_stat(path, NULL) != 0) {
		return file_text(path);
	}
	text = file_text(path);
	if (text != NULL) {
		front_end_stat(path, NULL);
		front_end_stat(path, NULL);
		memcpy(ret_path, shown, sizeof(shown));
	}
	return text;
}

static size_t directory_size(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash == NULL) {
		return 0;
	}
	return slash == path ? 1 : (size_t)(slash - path);
}

static bool read_text(struct front_end *front_end, const char *text, const char *path, int depth);

static bool include(struct front_end *front_end, const char *name, bool quoted, const char *includer, int depth)
{
	const char *memory = memory_header(front_end->program, name);
	char path[PATH_SIZE] = "";
	char *text = NULL;
	bool good;

	if (memory != NULL) {
		front_end_stat(name, NULL);
		front_end->digest = front_end_mix(front_end->digest, name, strlen(name));
		return read_text(front_end, memory, name, depth + 1);
	}
	if (quoted) {
		text = candidate(includer, directory_size(includer), name, path);
	}
	for (int i = 0; text == NULL && i < front_end->directory_count; i++) {
		text = candidate(front_end->directories[i], strlen(front_end->directories[i]), name, path);
	}
	if (text == NULL) {
		snprintf(front_end->error, sizeof(front_end->error),
		         "%s: catastrophic error: could not open source file \"%s\"\n\n"
		         "1 catastrophic error detected in the compilation of \"%s\".\nCompilation terminated.\n",
		         includer, name, front_end->program->name);
		return false;
	}
	good = read_text(front_end, text, path, depth + 1);
	free(text);
	return good;
}

/* `#include "name"` and `#include <name>` at the start of a line. */
static bool include_line(const char *line, size_t size, char *ret_name, size_t name_size, bool *ret_quoted)
{
	static const char directive[] = "#include";
	const char *end = line + size;
	const char *name, *close;

	if (size < sizeof(directive) || strncmp(line, directive, sizeof(directive) - 1) != 0) {
		return false;
	}
	name = line + sizeof(directive) - 1;
	name += strspn(name, " \t");
	if (name >= end || (*name != '"' && *name != '<')) {
		return false;
	}
	close = memchr(name + 1, *name == '"' ? '"' : '>', (size_t)(end - name - 1));
	if (close == NULL || (size_t)(close - name) > name_size) {
		return false;
	}
	memcpy(ret_name, name + 1, (size_t)(close - name - 1));
	ret_name[close - name - 1] = '\0';
	*ret_quoted = *name == '"';
	return true;
}

static bool read_text(struct front_end *front_end, const char *text, const char *path, int depth)
{
	if (depth > DEPTH_MAX) {
		snprintf(front_end->error, sizeof(front_end->error), "%s: error: includes nest too deep\n", path);
		return false;
	}
	front_end->digest = front_end_mix(front_end->digest, text, strlen(text));
	front_end->back_end_error |= strstr(text, "ptxas_fails") != NULL;
	front_end->warnings += strstr(text, "warning") != NULL;
	front_end->errors += strstr(text, "error") != NULL;
	front_end->wants_time |= strstr(text, "__TIME__") != NULL || strstr(text, "__DATE__") != NULL;
	front_end->wants_file_name |= strstr(text, "__FILE__") != NULL;
	for (const char *line = text; *line != '\0';) {
		size_t size = strcspn(line, "\n");
		char name[PATH_SIZE];
		bool quoted;

		if (include_line(line, size, name, sizeof(name), &quoted) &&
		    !include(front_end, name, quoted, path, depth)) {
			return false;
		}
		line += size + (line[size] == '\n');
	}
	return true;
}

bool front_end_run(struct front_end *front_end)
{
	return read_text(front_end, front_end->program->source, front_end->program->name, 0);
}
