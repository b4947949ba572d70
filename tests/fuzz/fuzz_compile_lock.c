/* SPDX-License-Identifier: MIT */
/*
 * Notes of compile locks. The first byte: bit 0: another has the lock of the key; bit 1: patient; bit 2: the key's slot
 * is given the key's own tag; bit 3: the file is as long as the input only; bit 4: the result is not cached; bit 5:
 * there is time to wait; bit 6: the note is of now. The second says which key, the third how long the other's lock is.
 * The rest is notes.
 *
 * Properties: whatever the notes say, the lock is taken only if no other has it, and always if no other has it and no
 * note of its key says otherwise; nobody waits past the deadline; no descriptor is left open.
 */
#include "cache/calls.h"
#include "cache/compile_lock_file.h"

#include "tests/fuzz/fuzz.h"

enum { NOTE = 16, AT_TIME = 8, HEAD = 3 };

static struct directory directory;
static char path[300];

static int next_descriptor(void)
{
	int descriptor = dup(0);

	close(descriptor);
	return descriptor;
}

FUZZ_SET_UP()
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;

	directory.path = fuzz_directory();
	(void)snprintf(path, sizeof(path), "%s/v1/compile-lock", directory.path);
	require(compile_lock_file_acquire(&file, &directory, key, 0) == COMPILE_LOCK_FILE_TAKEN);
	compile_lock_file_release(&file);
}

static int lock_of_other(const uint8_t key[ENTRY_KEY_BYTES], off_t length)
{
	uint32_t range;
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 + length};
	int file = open(path, O_RDWR | O_CLOEXEC);

	memcpy(&range, key, sizeof(range));
	lock.l_start = ((off_t)(range >> 1) + 1) << 31;
	require(file >= 0 && fcntl(file, F_OFD_SETLK, &lock) == 0);
	return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t key[ENTRY_KEY_BYTES] = {0};
	uint8_t bytes[1024] = {0};
	uint8_t *note;
	enum compile_lock_file_state state;
	struct compile_lock_file file = COMPILE_LOCK_FILE_CLOSED;
	int64_t deadline;
	int other = -1;
	int free_before = next_descriptor();
	uint8_t what;

	if (size < HEAD || size - HEAD > sizeof(bytes)) {
		return 0;
	}
	what = data[0];
	key[0] = data[1];
	key[4] = data[1] % 8; /* the tag; the note is in the slot behind */
	note = bytes + (size_t)NOTE * (key[4] + 1);
	memcpy(bytes, data + HEAD, size - HEAD);
	memcpy(bytes, "NVCFLYER", 8);
	if (what & 4) {
		memcpy(note, key + 4, 8);
	}
	if (what & 64) {
		int64_t now = call_clock_straight();

		memcpy(note + AT_TIME, &now, sizeof(now));
	}
	fuzz_write(path, bytes, what & 8 && size > HEAD + 8 ? size - HEAD : sizeof(bytes));
	other = what & 1 ? lock_of_other(key, data[2]) : -1;
	deadline = call_clock_straight() + (what & 32 ? 1000000 : 0);
	state = compile_lock_file_acquire(&file, &directory, key, what & 2 ? deadline : 0);
	require(call_clock_straight() - deadline < INT64_C(5000000000));
	if (state == COMPILE_LOCK_FILE_TAKEN) {
		require(other < 0 && file.fd >= 0);
		if (what & 16) {
			compile_lock_file_note(&file);
		}
		compile_lock_file_release(&file);
	} else {
		require(other >= 0 || state == COMPILE_LOCK_FILE_NOT_KEPT);
	}
	require(file.fd == -1);
	/* nobody hears what is said of another key */
	require(memcmp(note, key + 4, 8) == 0 || state != COMPILE_LOCK_FILE_NOT_KEPT);
	if (other >= 0) {
		close(other);
	}
	require(next_descriptor() == free_before);
	return 0;
}
