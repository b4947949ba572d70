/* SPDX-License-Identifier: MIT */
/* The file begins with SUMS_MAGIC; the sum of each shard has 16 bytes, the first of them at SUMS_AT. */
#include "cache/upkeep/sums.h"

#include "cache/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define SUMS_NAME   "sums"
#define SUMS_MAGIC  "NVCACSUM"
#define SUMS_FORMAT 1
#define SUMS_AT     16
/* A larger sum is not believed, so that adding 256 of them cannot overflow. */
#define BYTES_MAX (UINT64_C(1) << 50)

/* Differs for each shard, so that a sum that was written to the wrong place is unknown. */
static uint32_t check_of(const struct sums_shard *sum, unsigned shard)
{
	return (uint32_t)XXH3_64bits(sum, offsetof(struct sums_shard, known)) ^ (SUMS_FORMAT << 8 | shard);
}

/* A file whose first bytes are not ours is neither used nor removed, because another program has put it there. */
void sums_open(const struct directory *directory, int home, enum sums_access access, struct sums *ret_sums)
{
	const int flags = access == SUMS_WRITE ? O_RDWR | O_CREAT : O_RDONLY;
	struct stat found;
	int file = -1;
	int rc = directory_open_file(directory, home, SUMS_NAME, flags, &file, &found);

	if (access == SUMS_WRITE && (rc == -EACCES || rc == -EPERM || rc == -ELOOP)) {
		/* of another user, or a link: it may be ours to remove */
		(void)unlinkat(home, SUMS_NAME, 0);
		rc = directory_open_file(directory, home, SUMS_NAME, flags, &file, &found);
	}
	if (rc == 0 && !directory_is_ours(file, SUMS_MAGIC)) {
		close(file);
		rc = -EPERM;
	}
	/* a new file gets its first bytes here, because all later writes are at the place of one sum */
	if (rc == 0 && access == SUMS_WRITE && found.st_size == 0) {
		(void)output_at(file, 0, SUMS_MAGIC, sizeof(SUMS_MAGIC) - 1);
	}
	ret_sums->file = rc == 0 ? file : -1;
	memset(ret_sums->noted, 0, sizeof(ret_sums->noted));
	sums_read(ret_sums);
}

void sums_read(struct sums *sums)
{
	memset(sums->shards, 0, sizeof(sums->shards));
	if (sums->file >= 0) {
		(void)!TEMP_FAILURE_RETRY(pread(sums->file, sums->shards, sizeof(sums->shards), SUMS_AT));
	}
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		struct sums_shard *sum = &sums->shards[shard];

		if (sum->known == check_of(sum, shard) && sum->bytes <= BYTES_MAX) {
			sum->known = 1;
		} else {
			*sum = (struct sums_shard){.known = 0};
		}
	}
}

void sums_note(struct sums *sums, unsigned shard)
{
	sums->shards[shard].known = 1;
	sums->noted[shard] = true;
}

void sums_flush(struct sums *sums)
{
	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		struct sums_shard sum = sums->shards[shard];

		if (sums->noted[shard] && sums->file >= 0) {
			sum.known = check_of(&sum, shard);
			(void)output_at(sums->file, (off_t)(SUMS_AT + shard * sizeof(sum)), &sum, sizeof(sum));
		}
		sums->noted[shard] = false;
	}
}

struct sums_shard sums_total(const struct sums *sums)
{
	struct sums_shard total = {.known = 0};

	for (unsigned shard = 0; shard < DIRECTORY_SHARDS; shard++) {
		total.bytes += sums->shards[shard].bytes;
		total.files += sums->shards[shard].files;
		total.known += sums->shards[shard].known;
	}
	return total;
}
