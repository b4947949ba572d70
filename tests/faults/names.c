/* SPDX-License-Identifier: MIT */
#include "tests/faults/states.h"

#include "tests/faults/stage.h"
#include "tests/faults/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(list)   (sizeof(list) / sizeof((list)[0]))
#define VARIABLES_MAX 4

static const struct job plain[] = {{PROGRAM_PLAIN, WORLD_A, LIBRARY_13}};

/* '@' stands for the stage's directory. `hits`: a second process finds what the first one stored. */
static const struct setting {
	const char *variables[VARIABLES_MAX];
	bool hits;
} settings[] = {
    {{"NVRTCCACHE_DIR=@/cache"}, true},
    {{"NVRTCCACHE_DIR=@/cache/new\nline \xff\xfe\t%s%n"}, true},
    {{"NVRTCCACHE_DIR=@/cache/../cache/./deep//er/"}, true},
    {{"NVRTCCACHE_DIR=relative"}, false},
    {{"NVRTCCACHE_DIR=../cache"}, false},
    {{"NVRTCCACHE_DIR=~/cache"}, false},
    {{"NVRTCCACHE_DIR=/dev/null"}, false},
    {{"NVRTCCACHE_DIR=/dev/null/under"}, false},
    {{"NVRTCCACHE_DIR=/proc/self/fd"}, false},
    {{"NVRTCCACHE_DIR=/proc/self/under"}, false},
    {{"NVRTCCACHE_DIR=@/fifo"}, false},
    {{"NVRTCCACHE_DIR=@/fifo/under"}, false},
    {{"NVRTCCACHE_DIR=@/file"}, false},
    {{"NVRTCCACHE_DIR", "HOME", "XDG_CACHE_HOME"}, false},
    {{"NVRTCCACHE_DIR=", "HOME=", "XDG_CACHE_HOME="}, false},
    {{"NVRTCCACHE_DIR", "HOME=relative", "XDG_CACHE_HOME=relative"}, false},
    {{"NVRTCCACHE_DIR", "HOME=@/cache/h\n\xff", "XDG_CACHE_HOME"}, false}, /* a home that is missing */
    {{"NVRTCCACHE_DIR", "HOME=@/cache", "XDG_CACHE_HOME"}, true},
    {{"NVRTCCACHE_DIR", "HOME=@/cache", "XDG_CACHE_HOME=@/cache/\xc3("}, true},
    {{"NVRTCCACHE_LOWER="}, true},
    {{"NVRTCCACHE_LOWER=:::"}, true},
    {{"NVRTCCACHE_LOWER=relative:..:~"}, true},
    {{"NVRTCCACHE_LOWER=@/fifo:/dev/zero:/dev/null:@/file:/proc/self/fd:@/none"}, true},
    {{"NVRTCCACHE_LOWER=@/new\nline\xff:\xff\xfe:%s%n"}, true},
    {{"NVRTCCACHE_LOWER=@/a:@/b:@/c:@/d:@/e:@/f:@/g:@/h:@/i:@/j:@/k"}, true},
    {{"NVRTCCACHE_LOWER=@/cache"}, true},
    {{"NVRTCCACHE_LOG=@/fifo", "NVRTCCACHE_LOG_LEVEL=debug"}, true},
    {{"NVRTCCACHE_LOG=/dev/full", "NVRTCCACHE_LOG_LEVEL=debug"}, true},
    {{"NVRTCCACHE_LOG=@/none/log", "NVRTCCACHE_LOG_LEVEL=debug"}, true},
    {{"NVRTCCACHE_LOG=@/cache/log\n\xff", "NVRTCCACHE_LOG_LEVEL=debug"}, true},
    {{"NVRTCCACHE_LOG=@", "NVRTCCACHE_LOG_LEVEL=\xff"}, true},
    {{"NVRTCCACHE_TRACE=@/fifo"}, true},
    {{"NVRTCCACHE_TRACE=/dev/full"}, true},
    {{"NVRTCCACHE_TRACE=@/none/trace"}, true},
    {{"NVRTCCACHE_TRACE=@"}, true},
    {{"NVRTCCACHE_MAX_SIZE=\xff", "NVRTCCACHE_MEM_SIZE=-1", "NVRTCCACHE_WAIT=-5"}, true},
    {{"NVRTCCACHE_MAX_SIZE=99999999999999999999T", "NVRTCCACHE_MEM_SIZE=1", "NVRTCCACHE_WAIT=1e9"}, true},
    {{"NVRTCCACHE_MAX_SIZE=1", "NVRTCCACHE_MEM_SIZE=0"}, false},
    {{"NVRTCCACHE_NAMESPACE=\n\xff\xfe%s%n"}, true},
    {{"NVRTCCACHE_SLOPPINESS=\xff,,time_macros,\n"}, true},
};

/* The memory is the caller's. */
static char *expand(const char *variable)
{
	const char *at = strchr(variable, '@');
	size_t room = strlen(variable) + 1;
	char *text = NULL;
	FILE *stream;

	for (; at; at = strchr(at + 1, '@')) {
		room += strlen(stage_path(""));
	}
	text = malloc(room);
	stream = text ? fmemopen(text, room, "w") : NULL;
	for (; stream && *variable; variable++) {
		if (*variable == '@') {
			fprintf(stream, "%.*s", (int)strlen(stage_path("")) - 1, stage_path(""));
		} else {
			fputc(*variable, stream);
		}
	}
	if (stream) {
		fputc('\0', stream);
		fclose(stream);
	}
	return text;
}

static void shown(const char *text, char *ret_text, size_t size)
{
	snprintf(ret_text, size, "%s", text);
	for (char *c = ret_text; *c; c++) {
		*c = *c < 0x20 || *c > 0x7e || *c == '#' ? '?' : *c;
	}
}

static void try_setting(const struct setting *setting)
{
	char *expanded[VARIABLES_MAX + 1] = {NULL};
	struct process host = {.environment = (const char *const *)expanded, .jobs = plain, .count = 1};
	struct seen *seen = stage_seen(0);
	const char *wrong = NULL;
	char name[200];
	struct stat found;
	char relative[600];

	for (size_t i = 0; i < VARIABLES_MAX && setting->variables[i]; i++) {
		expanded[i] = expand(setting->variables[i]);
	}
	if (!tree_remove(stage_path("cache")) || mkdir(stage_path("cache"), 0700) != 0) {
		wrong = "the directory cannot be made";
	}
	for (int i = 0; i < 2 && !wrong; i++) {
		wrong = stage_judge(stage_run(&host, seen), &host, seen);
	}
	if (!wrong && (seen->compiles == 0) != setting->hits) {
		wrong = setting->hits ? "what was stored is not found" : "something was stored";
	}
	snprintf(relative, sizeof(relative), "%s/relative", stage_path("world-0"));
	if (!wrong && lstat(relative, &found) == 0) {
		wrong = "a relative directory was made";
	}
	shown(setting->variables[0], name, sizeof(name));
	if (wrong) {
		stage_note("%s", wrong);
	}
	stage_result(!wrong, "%s%s is %s, and harms nobody", name, setting->variables[1] ? " and so on" : "",
	             setting->hits ? "taken or passed over" : "no directory to use");
	for (size_t i = 0; i < VARIABLES_MAX; i++) {
		free(expanded[i]);
	}
}

/* Each odd name by itself in three worlds, twice, and all of them in one process. */
static void try_programs(void)
{
	struct job jobs[HOST_ODDS * 3];
	struct process all = {.jobs = jobs, .count = HOST_ODDS * 3};
	struct seen *seen = stage_seen(0);
	unsigned wrong_count = 0;
	const char *wrong;

	for (int i = 0; i < HOST_ODDS * 3; i++) {
		jobs[i] = (struct job){(enum program)(PROGRAM_ODD + i / 3), (enum world)(i % 3), LIBRARY_13};
	}
	for (int i = 0; i < HOST_ODDS; i++) {
		const struct process one = {.jobs = &jobs[i * 3], .count = 3};

		stage_clear_counts();
		wrong = tree_remove(stage_path("cache"))
		            ? stage_examine(&one, i == HOST_ODDS - 1 ? EXAMINE_FILES : EXAMINE_ALL)
		            : "the directory cannot be removed";
		if (wrong) {
			stage_note("odd names %d: %s", i, wrong);
			wrong_count++;
		}
	}
	stage_result(wrong_count == 0,
	             "names of programs and headers with newlines, \"..\", bytes that are no UTF-8: %d kinds, "
	             "each right, then a hit",
	             HOST_ODDS);
	wrong = tree_remove(stage_path("cache")) ? stage_judge(stage_run(&all, seen), &all, seen) : "not removed";
	if (wrong) {
		stage_note("all odd names: %s", wrong);
	}
	stage_result(!wrong, "odd names in one process are not taken for one another");
}

void odd_names(const struct sweep *sweep)
{
	(void)sweep;
	(void)mkfifo(stage_path("fifo"), 0600);
	(void)tree_write(stage_path("file"), "file", 4);
	try_programs();
	for (size_t i = 0; i < COUNT(settings); i++) {
		try_setting(&settings[i]);
	}
}
