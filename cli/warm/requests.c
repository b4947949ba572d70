/* SPDX-License-Identifier: MIT */
#include "cli/warm/requests.h"

#include "cache/calls.h"
#include "cache/recency.h"
#include "cache/tools/inventory.h"

#include <errno.h>
#include <fcntl.h>
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

/* Requests of one kin stand together, the most expensive of them first. */
static int compare_kin(const void *one, const void *other)
{
	const struct warm_request *a = one, *b = other;
	int order = memcmp(a->kin.bytes, b->kin.bytes, sizeof(a->kin.bytes));

	return order ? order : compare_costs(one, other);
}

/* "sm_90a" with "sm_100" gives "sm_100a", with "sm_100f" gives "sm_100f". What is no architecture stays as it is. */
char *requests_replace_arch(struct about_arch *seen, const char *option, const char *arch)
{
	const char *before = seen->text, *under = NULL, *end, *digits = strchr(arch, '_');
	char *copy = NULL;
	int suffix = 0;

	about_see_arch(seen, option, strlen(option));
	if (seen->text && seen->text != before) {
		under = memchr(seen->text, '_', seen->size);
	}
	if (!under || !digits) {
		return strdup(option);
	}
	digits++;
	end = seen->text + seen->size;
	/* the recorded suffix stays unless `arch` has one */
	while (digits[strspn(digits, "0123456789")] == '\0' && suffix < end - under - 1 &&
	       (end[-1 - suffix] < '0' || end[-1 - suffix] > '9')) {
		suffix++;
	}
	return asprintf(&copy, "%.*s%s%.*s%s", (int)(under + 1 - option), option, digits, suffix, end - suffix, end) < 0
	           ? NULL
	           : copy;
}

/* Digests what a worker uses of a request. */
static void digest_kin(const struct recording *recording, const char *arch, struct key *ret_kin)
{
	const struct cursor variables = recording->variables;
	struct cursor cursor = recording->calls;
	struct stream stream = STREAM_EMPTY;
	struct about_arch seen = {0};
	struct span field;
	char *option;
	uint8_t tag;

	stream_number(&stream, RECORDING_FLOATING_POINT, recording->numbers[RECORDING_FLOATING_POINT]);
	stream_string(&stream, RECORDING_LOCALE, recording->texts[RECORDING_LOCALE]);
	stream_string(&stream, RECORDING_DIRECTORY, recording->texts[RECORDING_DIRECTORY]);
	stream_string(&stream, RECORDING_COMPILER, recording->texts[RECORDING_COMPILER]);
	while (cursor_next(&cursor, &tag, &field)) {
		if (tag == RECORDING_OPTION) {
			option = requests_replace_arch(&seen, field.bytes, arch);
			stream_string(&stream, tag, option);
			free(option);
		} else {
			stream_field(&stream, tag, field.bytes, field.size);
		}
	}
	stream_bytes(&stream, variables.at, variables.at ? (size_t)(variables.end - variables.at) : 0);
	digest_key(&(struct span){stream.bytes, stream.size}, 1, ret_kin);
	stream_free(&stream);
}

int requests_load(int file, void **ret_bytes, size_t *ret_size, struct recording *ret_recording)
{
	struct stat found;
	size_t size;
	char *bytes;
	int error;

	/* reading is not use, as in cache/tools/inventory.c */
	(void)fcntl(file, F_SETFL, O_NONBLOCK | O_NOATIME);
	if (fstat(file, &found) < 0) {
		return -errno;
	}
	if (!S_ISREG(found.st_mode) || found.st_size <= 0 || (uint64_t)found.st_size > RECORDING_MAX) {
		return -EBADMSG;
	}
	size = (size_t)found.st_size;
	bytes = malloc(size);
	if (!bytes) {
		return -ENOMEM;
	}
	error =
	    call_pread(file, bytes, size, 0) == (ssize_t)size ? recording_open(bytes, size, ret_recording) : -EBADMSG;
	if (error != 0) {
		free(bytes);
		return error;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

static int take_request(const struct directory *directory, const struct inventory_record *record, const char *arch,
                        struct warm_request *ret_request)
{
	struct recording recording;
	void *bytes;
	size_t size;
	int error = requests_read(directory, record->key, &bytes, &size, &recording);

	if (error < 0) {
		return error;
	}
	*ret_request = (struct warm_request){.cost_ns = recording.numbers[RECORDING_COST],
	                                     .is_link = strcmp(recording.texts[RECORDING_COMPILER], "nvjitlink") == 0};
	memcpy(ret_request->key, record->key, sizeof(ret_request->key));
	(void)snprintf(ret_request->compiler, sizeof(ret_request->compiler), "%s", recording.texts[RECORDING_COMPILER]);
	digest_kin(&recording, arch, &ret_request->kin);
	free(bytes);
	return 0;
}

int requests_take(const struct directory *directory, const char *arch, int64_t within_ns,
                  struct warm_requests *ret_requests)
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
		if (!recency_within(inventory.records[i].used, within_ns, now)) {
			continue;
		}
		if (take_request(directory, &inventory.records[i], arch, &requests.list[requests.count]) == 0) {
			requests.count++;
		} else {
			requests.damaged++;
		}
	}
	inventory_free(&inventory);
	*ret_requests = requests;
	return requests.list ? 0 : -ENOMEM;
}

/*
 * Two requests are kin if a worker would make the same calls for them: one recorded with two compilers, or, if the
 * architecture is replaced, one recorded for two architectures. One of them suffices.
 */
void requests_unify(struct warm_requests *requests)
{
	struct warm_request *list = requests->list;
	size_t kept = 0;

	if (requests->count == 0) {
		return;
	}
	qsort(list, requests->count, sizeof(*list), compare_kin);
	for (size_t i = 0; i < requests->count; i++) {
		if (i == 0 || memcmp(list[i].kin.bytes, list[kept - 1].kin.bytes, sizeof(list[i].kin.bytes)) != 0) {
			list[kept++] = list[i];
		}
	}
	requests->count = kept;
	qsort(list, kept, sizeof(*list), compare_costs);
}

void requests_free(struct warm_requests *requests)
{
	free(requests->list);
	*requests = (struct warm_requests){0};
}

/* Opens it as an entry is opened: a file that another user may write is refused. */
int requests_open(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], int *ret_file)
{
	char name[DIRECTORY_NAME_BYTES];
	int home = -1, shard = -1;
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
	error = directory_open_file(directory, shard, name, O_RDONLY, ret_file);
	close(shard);
	return error;
}

int requests_read(const struct directory *directory, const uint8_t key[ENTRY_KEY_BYTES], void **ret_bytes,
                  size_t *ret_size, struct recording *ret_recording)
{
	int file;
	int error = requests_open(directory, key, &file);

	if (error == 0) {
		error = requests_load(file, ret_bytes, ret_size, ret_recording);
		close(file);
	}
	return error;
}
