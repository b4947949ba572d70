/* SPDX-License-Identifier: MIT */
/*
 * Notes of compile locks. The first byte: bit 0: another has the lock of the key; bit 1: patient; bit 2: the key's slot
 * is given the key's own tag; bit 3: the file is as long as the input only; bits 4 and 5: how the lock is released; bit
 * 6: there is time to wait; bit 7: the note is of now. The second says which key. The rest is a note, and what lies
 * behind it.
 *
 * Properties: whatever the notes say, it is taken only if no other has it, and always if no other has it and no note
 * of its key says otherwise; nobody waits past the deadline; no descriptor is left open.
 */
#include "cache/calls.h"
#include "cache/compile_lock_file.h"

#include "tests/fuzz/fuzz.h"

#define AT_ENDED 16 /* in a note */

static struct directory directory;
static char path[300];
static struct compile_lock_file seen;

static void opened(void *context, const struct compile_lock_file *file)
{
	seen = *file;
}

static int next_descriptor(void)
{
	int descriptor = dup(0);

	close(descriptor);
	return descriptor;
}

FUZZ_SET_UP()
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	struct compile_lock_file file;

	directory.path = (char *)fuzz_directory();
	(void)snprintf(path, sizeof(path), "%s/v1/compile-lock", directory.path);
	require(compile_lock_file_acquire(&directory, key, 0, COMPILE_LOCK_FILE_TRY, opened, NULL, &file) ==
	        COMPILE_LOCK_FILE_TAKEN);
	compile_lock_file_release(&file, COMPILE_LOCK_FILE_ENDED_WITHOUT);
}

static int lock_of_other(const uint8_t key[ENTRY_KEY_BYTES])
{
	uint64_t place;
	struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	int file = open(path, O_RDWR | O_CLOEXEC);

	memcpy(&place, key, sizeof(place));
	range.l_start = (off_t)(place >> 2);
	require(file >= 0 && fcntl(file, F_OFD_SETLK, &range) == 0);
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	uint8_t bytes[1024] = {0};
	enum compile_lock_file_state state;
	struct compile_lock_file file;
	int64_t deadline;
	int other = -1;
	int free_before = next_descriptor();
	uint8_t what;
	bool own;

	if (size < 2 || size - 2 > sizeof(bytes)) {
		return 0;
	}
	what = data[0];
	key[8] = data[1] % 8; /* the slot is the one behind */
	key[0] = data[1];
	memcpy(bytes, data + 2, size - 2);
	memcpy(bytes, "NVCFLYER", 8);
	if (what & 4) {
		memcpy(bytes + 64 * (size_t)(key[8] + 1), key + 8, 8);
	}
	if (what & 128) {
		int64_t now = call_clock_straight();

		memcpy(bytes + 64 * (size_t)(key[8] + 1) + AT_ENDED, &now, sizeof(now));
	}
	fuzz_write(path, bytes, what & 8 && size > 10 ? size - 2 : sizeof(bytes));
	other = what & 1 ? lock_of_other(key) : -1;
	deadline = call_clock_straight() + (what & 64 ? 1000000 : 0);
	state = compile_lock_file_acquire(
	    &directory, key, deadline, what & 2 ? COMPILE_LOCK_FILE_WAIT : COMPILE_LOCK_FILE_TRY, opened, NULL, &file);
	require(call_clock_straight() - deadline < INT64_C(5000000000));
	if (state == COMPILE_LOCK_FILE_TAKEN) {
		require(other < 0 && file.fd == seen.fd && file.fd >= 0);
		compile_lock_file_release(&file, (enum compile_lock_file_outcome)((what >> 4 & 3) % 3));
		require(file.fd == -1);
	} else {
		require(seen.fd == -1);
		require(other >= 0 || state == COMPILE_LOCK_FILE_NOT_KEPT);
	}
	/* nobody hears what is said of another key */
	own = memcmp(bytes + 64 * (size_t)(key[8] + 1), key + 8, 8) == 0 || memcmp(bytes + 64, key + 8, 8) == 0;
	require(own || (state != COMPILE_LOCK_FILE_NOT_KEPT && state != COMPILE_LOCK_FILE_KEPT));
	if (other >= 0) {
		close(other);
	}
	require(next_descriptor() == free_before);
	return 0;
}
