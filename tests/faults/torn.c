/* SPDX-License-Identifier: MIT */
#include "tests/faults/states.h"

#include "tests/faults/scenarios.h"
#include "tests/faults/stage.h"
#include "tests/faults/sweep.h"
#include "tests/faults/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK         512
#define FILES         8
#define STATES_PAIRED 5

enum tear { EMPTY, CUT, ZERO_TAIL, ZERO_BLOCK, OLD_TAIL, ALIEN_BLOCK, TEARS };

struct file {
	char name[200];
	char *bytes;
	size_t size;
	char *old; /* as it was one store earlier */
	size_t old_size;
};

static const struct job jobs[] = {{PROGRAM_BLOCKS, WORLD_A, LIBRARY_13},
                                  {PROGRAM_BLOCKS, WORLD_B, LIBRARY_13},
                                  {PROGRAM_BLOCKS, WORLD_C, LIBRARY_13},
                                  {PROGRAM_BLOCKS, WORLD_A, LIBRARY_13B}};
static const struct process all = {.jobs = jobs, .count = 4};

static struct file files[FILES];
static size_t file_count;

static void take_file(void *context, const char *path, const char *name, const struct stat *found)
{
	bool old = context != NULL;
	struct file *file = files;
	char *bytes;
	size_t size;

	(void)found;
	while (file < files + file_count && strcmp(file->name, name) != 0) {
		file++;
	}
	if (file == files + FILES || !tree_read(path, &bytes, &size)) {
		return;
	}
	if (file == files + file_count) {
		snprintf(file->name, sizeof(file->name), "%s", name);
		file_count++;
	}
	if (old) {
		file->old = bytes;
		file->old_size = size;
	} else {
		file->bytes = bytes;
		file->size = size;
	}
}

/* One key, whose file held the result of one header and now holds that of another before it. */
static bool begin(void)
{
	static const struct job before[] = {{PROGRAM_BLOCKS, WORLD_B, LIBRARY_13}};
	static const struct job now[] = {{PROGRAM_BLOCKS, WORLD_A, LIBRARY_13}};
	const struct process first = {.jobs = before, .count = 1};
	const struct process second = {.jobs = now, .count = 1};
	struct seen *seen = stage_seen(0);

	file_count = 0;
	if (!tree_remove(stage_path("cache")) || !tree_remove(stage_path("template")) ||
	    stage_judge(stage_run(&first, seen), &first, seen)) {
		return false;
	}
	tree_walk(stage_path("cache"), take_file, "old");
	if (stage_judge(stage_run(&second, seen), &second, seen)) {
		return false;
	}
	tree_walk(stage_path("cache"), take_file, NULL);
	return file_count >= 5 && rename(stage_path("cache"), stage_path("template")) == 0;
}

static bool renew(void)
{
	stage_clear_counts();
	return tree_remove(stage_path("cache")) && tree_copy(stage_path("template"), stage_path("cache"));
}

/* The file as it may lie there after the power came back; NULL: not a state of its own. */
static char *torn(const struct file *file, enum tear tear, size_t block, size_t *ret_size)
{
	size_t at = block * BLOCK < file->size ? block * BLOCK : file->size;
	size_t length = file->size - at < BLOCK ? file->size - at : BLOCK;
	char *bytes = malloc(file->size + file->old_size + 1);

	memcpy(bytes, file->bytes, file->size);
	*ret_size = file->size;
	switch (tear) {
	case EMPTY:
		*ret_size = 0;
		break;
	case CUT:
		*ret_size = at;
		break;
	case ZERO_TAIL:
		memset(bytes + at, 0, file->size - at);
		break;
	case ZERO_BLOCK:
		memset(bytes + at, 0, length);
		break;
	case OLD_TAIL:
		if (!file->old || at >= file->old_size) {
			free(bytes);
			return NULL;
		}
		memcpy(bytes + at, file->old + at, file->old_size - at);
		*ret_size = file->old_size > at ? file->old_size : file->size;
		break;
	case ALIEN_BLOCK:
		memset(bytes + at, 'x', length);
		break;
	case TEARS:
		break;
	}
	return bytes;
}

static char *path_of(const char *name)
{
	static char path[4][220];
	static unsigned next;
	char *text = path[next++ % 4];

	snprintf(text, sizeof(path[0]), "cache/%s", name);
	return text;
}

/* What begins with other bytes than an entry's is not known for ours, and stays. */
static unsigned what_holds(enum tear tear, size_t block, bool temporary)
{
	return temporary && tear == ALIEN_BLOCK && block == 0 ? EXAMINE_HITS : EXAMINE_ALL;
}

static const char *try_tear(const struct file *file, enum tear tear, size_t block, const char *name, unsigned what)
{
	size_t size;
	char *bytes = torn(file, tear, block, &size);
	bool made;

	if (!bytes) {
		return NULL;
	}
	made = renew() && tree_write(stage_path(path_of(name)), bytes, size);
	free(bytes);
	return made ? stage_examine(&all, what) : "the state cannot be made";
}

static void tear_file(const struct sweep *sweep, const struct file *file, bool temporary)
{
	unsigned states = 0, wrong = 0;
	char name[220];

	snprintf(name, sizeof(name), "%s", file->name);
	if (temporary) { /* the rename did not reach the disk */
		snprintf(name, sizeof(name), "%.6stmp.1.0123456789abcdef", file->name);
	}
	for (int tear = 0; tear < TEARS; tear++) {
		for (size_t block = 0; block < (tear == EMPTY ? 1 : (file->size + BLOCK - 1) / BLOCK); block++) {
			const char *now;

			/* files of notes are long and alike */
			if (block > 0 && (block + (size_t)tear) % (file->size > 32768 ? sweep->stride : 1) != 0) {
				continue;
			}
			now =
			    try_tear(file, (enum tear)tear, block, name, what_holds((enum tear)tear, block, temporary));
			states++;
			if (now) {
				wrong++;
				stage_note("%s, tear %d at block %zu: %s", name, tear, block, now);
			}
		}
	}
	stage_result(wrong == 0 && states > 0, "a power cut leaves a part of %s%s: %u states, %u wrong",
	             strlen(name) == 68 ? "a result" : name + (temporary ? 6 : 0), temporary ? " and no result" : "",
	             states, wrong);
}

/* All of it, none of it, one block of it, zeros, or what was there before. */
static bool set_state(const struct file *file, int state)
{
	const char *path = stage_path(path_of(file->name));
	char *bytes;
	size_t size;
	bool good;

	switch (state) {
	case 0:
		return true;
	case 1:
		return unlink(path) == 0;
	case 2:
		return file->old ? tree_write(path, file->old, file->old_size) : unlink(path) == 0;
	default:
		bytes = torn(file, state == 3 ? EMPTY : ZERO_TAIL, 0, &size);
		good = tree_write(path, bytes, size);
		free(bytes);
		return good;
	}
}

static void tear_together(void)
{
	unsigned states = 0, wrong = 0;

	for (size_t a = 0; a < file_count; a++) {
		for (size_t b = a + 1; b < file_count; b++) {
			for (int i = 0; i < STATES_PAIRED * STATES_PAIRED; i++) {
				const char *now = "the state cannot be made";

				if (renew() && set_state(&files[a], i / STATES_PAIRED) &&
				    set_state(&files[b], i % STATES_PAIRED)) {
					now = stage_examine(&all, EXAMINE_ALL);
				}
				states++;
				if (now) {
					wrong++;
					stage_note("%s %d, %s %d: %s", files[a].name, i / STATES_PAIRED, files[b].name,
					           i % STATES_PAIRED, now);
				}
			}
		}
	}
	stage_result(wrong == 0 && states > 0,
	             "a power cut leaves two files as they were, empty, zeroed or not there: %u "
	             "states, %u wrong",
	             states, wrong);
}

static void lose_directories(void)
{
	static const char *const names[] = {"v1", "v1/stats", "shard"};
	unsigned wrong = 0;

	for (size_t i = 0; i < 3; i++) {
		char path[40];
		const char *now = "the state cannot be made";

		snprintf(path, sizeof(path), "cache/%s", names[i]);
		for (size_t j = 0; i == 2 && j < file_count; j++) {
			if (strlen(files[j].name) == 68) {
				snprintf(path, sizeof(path), "cache/%.5s", files[j].name);
			}
		}
		if (renew() && tree_remove(stage_path(path))) {
			now = stage_examine(&all, EXAMINE_ALL);
		}
		if (now) {
			wrong++;
			stage_note("%s: %s", path, now);
		}
	}
	stage_result(wrong == 0, "a power cut takes a directory: 3 states, %u wrong", wrong);
}

/* A full directory whose usage index is torn: it is below its cap soon, and not emptied. */
static void tear_index(const struct sweep *sweep)
{
	unsigned states = 0, wrong = 0;
	struct scenario scenario = {.prepare = NULL};
	struct file index = {.bytes = NULL};

	for (size_t i = 0; i < scenario_count; i++) {
		if (strcmp(scenarios[i].name, "store that must evict") == 0 &&
		    !scenario_begin(&scenarios[i], &scenario)) {
			scenario.prepare = NULL;
		}
	}
	if (scenario.prepare && scenario_restore(&scenario)) {
		(void)tree_read(stage_path("cache/v1/usage-index"), &index.bytes, &index.size);
	}
	for (int tear = 0; index.bytes && tear < TEARS; tear++) {
		for (size_t block = 0; block < (tear == EMPTY ? 1 : index.size / BLOCK); block++) {
			size_t size;
			char *bytes = (block + (size_t)tear) % sweep->stride ? NULL : torn(&index, tear, block, &size);
			const char *now;

			if (!bytes) {
				continue;
			}
			states++;
			now = scenario_restore(&scenario) && tree_write(stage_path("cache/v1/usage-index"), bytes, size)
			          ? stage_examine(&scenario.after, EXAMINE_ALL)
			          : "the state cannot be made";
			now = now ? now : sweep_judge_eviction(&scenario, false);
			if (now) {
				wrong++;
				stage_note("usage index, tear %d at block %zu: %s", tear, block, now);
			}
			free(bytes);
		}
	}
	stage_result(wrong == 0 && states > 0,
	             "a power cut leaves a part of the usage index of a full directory: %u states, %u "
	             "wrong",
	             states, wrong);
	free(index.bytes);
}

void torn_files(const struct sweep *sweep)
{
	if (!begin()) {
		stage_result(false, "a directory is made");
		return;
	}
	for (size_t i = 0; i < file_count; i++) {
		if (files[i].size > 0) {
			tear_file(sweep, &files[i], false);
		}
		if (strlen(files[i].name) == 68) {
			tear_file(sweep, &files[i], true);
		}
	}
	tear_together();
	lose_directories();
	tear_index(sweep);
}
