/* SPDX-License-Identifier: MIT */
#include "cli/warm/requests.h"

#include "cache/calls.h"
#include "cache/recency.h"
#include "cache/tools/inventory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Links last, most expensive first. The key decides between equal costs, so that two runs have the same order. */
static int compare_costs(const void *one, const void *other)
{
	const struct warm_request *a = one, *b = other;

	if (a->is_link != b->is_link) {
		return a->is_link - b->is_link;
	}
	if (a->cost_ns != b->cost_ns) {
		return a->cost_ns < b->cost_ns ? 1 : -1;
	}
	return memcmp(a->key, b->key, sizeof(a->key));
}

int requests_load(int file, void **ret_bytes, struct recording *ret_recording)
{
	struct stat found;
	size_t size;
	int error;

	/* reading is not use */
	call_keep_atime(file);
	if (fstat(file, &found) < 0) {
		return -errno;
	}
	if (!S_ISREG(found.st_mode) || found.st_size <= 0 || (uint64_t)found.st_size > RECORDING_MAX) {
		return -EBADMSG;
	}
	size = (size_t)found.st_size;
	*ret_bytes = malloc(size);
	if (!*ret_bytes) {
		return -ENOMEM;
	}
	error = call_pread(file, *ret_bytes, size, 0) == (ssize_t)size ? recording_open(*ret_bytes, size, ret_recording)
	                                                               : -EBADMSG;
	if (error != 0) {
		free(*ret_bytes);
	}
	return error;
}

static int take_request(const struct directory *directory, const struct inventory_record *record,
                        struct warm_request *ret_request)
{
	struct recording recording;
	const char *compiler;
	void *bytes;
	int error = requests_read(directory, record->key, &bytes, &recording);

	if (error < 0) {
		return error;
	}
	compiler = recording.texts[RECORDING_COMPILER];
	*ret_request = (struct warm_request){.cost_ns = recording.numbers[RECORDING_COST],
	                                     .is_link = strcmp(compiler, "nvjitlink") == 0};
	memcpy(ret_request->key, record->key, sizeof(ret_request->key));
	(void)snprintf(ret_request->compiler, sizeof(ret_request->compiler), "%s", compiler);
	free(bytes);
	return 0;
}

int requests_take(const struct directory *directory, int64_t within_ns, struct warm_requests *ret_requests)
{
	const int64_t now = recency_now();
	struct warm_requests requests = {.count = 0};
	struct inventory inventory;
	int error = inventory_take(directory, DIRECTORY_BESIDE, "", NULL, &inventory);

	if (error < 0) {
		return error;
	}
	requests.damaged = inventory.failures;
	requests.list = calloc(inventory.count + 1, sizeof(*requests.list));
	for (size_t i = 0; i < inventory.count && requests.list; i++) {
		if (inventory.records[i].used < now - within_ns) {
			continue;
		}
		if (take_request(directory, &inventory.records[i], &requests.list[requests.count]) == 0) {
			requests.count++;
		} else {
			requests.damaged++;
		}
	}
	inventory_free(&inventory);
	if (!requests.list) {
		return -ENOMEM;
	}
	qsort(requests.list, requests.count, sizeof(*requests.list), compare_costs);
	*ret_requests = requests;
	return 0;
}

/* Opens it as an entry is opened: a file that another user may write is refused. */
int requests_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], void **ret_bytes,
                  struct recording *ret_recording)
{
	char name[DIRECTORY_NAME_BYTES];
	int home = -1, shard = -1, file;
	int error = directory_open(directory, DIRECTORY_REACH, &home);

	if (error < 0) {
		return error;
	}
	error = directory_open_shard(directory, home, key[0], DIRECTORY_REACH, &shard);
	close(home);
	if (error < 0) {
		return error;
	}
	directory_name(key, DIRECTORY_BESIDE, name);
	error = directory_open_file(directory, shard, name, O_RDONLY, &file, NULL);
	close(shard);
	if (error == 0) {
		error = requests_load(file, ret_bytes, ret_recording);
		close(file);
	}
	return error;
}
