/* SPDX-License-Identifier: MIT */
#include "keygen/stream.h"
#include "tests/unit/support.h"

enum { WHOLE = 3, DIGEST = 4, LARGE = CONTENT_WHOLE_MAX + 1, THREADS = 8, ROUNDS = 400, CONTENTS = 40 };

static const struct content_tags tags = {WHOLE, DIGEST};
static struct secret secret;

static void set_up(void)
{
	digest_secret("test", 4, &secret);
}

TestSuite(content, .init = set_up);

/* Returns bytes of that size that are different for each number. */
static uint8_t *make(size_t size, uint32_t number)
{
	uint8_t *bytes = calloc(1, size);

	memcpy(bytes + size - sizeof(number), &number, sizeof(number));
	return bytes;
}

static enum content_form put(const struct secret *of_process, size_t size, uint32_t number, struct stream *ret_stream)
{
	uint8_t *bytes = make(size, number);
	enum content_form form;

	*ret_stream = STREAM_EMPTY;
	form = content_put(ret_stream, tags, of_process, bytes, size);
	free(bytes);
	return form;
}

static enum content_form form_of(const struct secret *of_process, size_t size, uint32_t number)
{
	struct stream stream;
	enum content_form form = put(of_process, size, number, &stream);

	stream_free(&stream);
	return form;
}

/* Returns true if the field contains an independently computed digest of the size and the bytes. */
static bool is_digest(const struct stream *stream, size_t size, uint32_t number)
{
	uint8_t *bytes = make(size, number);
	const uint64_t head = size;
	const struct span spans[] = {{&head, sizeof(head)}, {bytes, size}};
	struct stream wanted = STREAM_EMPTY;
	struct key key;
	bool same;

	digest_key(spans, 2, &key);
	stream_field(&wanted, DIGEST, key.bytes, sizeof(key.bytes));
	same = stream->size == wanted.size && memcmp(stream->bytes, wanted.bytes, wanted.size) == 0;
	stream_free(&wanted);
	free(bytes);
	return same;
}

Test(content, a_small_content_is_written_whole)
{
	static const uint8_t bytes[CONTENT_WHOLE_MAX] = {1, 2, 3};
	struct stream stream = STREAM_EMPTY, wanted = STREAM_EMPTY;

	for (size_t size = 0; size <= sizeof(bytes); size += sizeof(bytes) / 4) {
		cr_assert_eq(content_put(&stream, tags, &secret, bytes, size), CONTENT_WHOLE);
		stream_field(&wanted, WHOLE, bytes, size);
	}
	cr_assert_eq(stream.size, wanted.size);
	cr_assert_eq(memcmp(stream.bytes, wanted.bytes, wanted.size), 0);
	stream_free(&stream);
	stream_free(&wanted);
}

Test(content, a_large_content_is_written_as_its_digest)
{
	static const enum content_form forms[] = {CONTENT_DIGESTED, CONTENT_RECALLED, CONTENT_RECALLED};
	struct stream stream;

	for (size_t i = 0; i < 3; i++) {
		cr_assert_eq(put(&secret, LARGE, 7, &stream), forms[i]);
		cr_assert(is_digest(&stream, LARGE, 7));
		stream_free(&stream);
	}
}

Test(content, different_contents_or_sizes_have_different_digests)
{
	struct stream stream;

	cr_assert_eq(form_of(&secret, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(put(&secret, LARGE, 2, &stream), CONTENT_DIGESTED);
	cr_assert(is_digest(&stream, LARGE, 2));
	stream_free(&stream);
	cr_assert_eq(put(&secret, LARGE + 1, 1, &stream), CONTENT_DIGESTED);
	cr_assert(is_digest(&stream, LARGE + 1, 1));
	stream_free(&stream);
}

Test(content, without_a_secret_nothing_is_remembered)
{
	cr_assert_eq(form_of(NULL, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(form_of(NULL, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(form_of(&secret, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(form_of(NULL, LARGE, 1), CONTENT_DIGESTED);
}

/* Both halves of a fingerprint are compared: another secret in one half makes another fingerprint. */
Test(content, a_remembered_digest_depends_on_both_secrets)
{
	struct secret other = secret;

	other.high[0] ^= 1;
	cr_assert_eq(form_of(&secret, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(form_of(&other, LARGE, 1), CONTENT_DIGESTED);
	other = secret;
	other.low[0] ^= 1;
	cr_assert_eq(form_of(&other, LARGE, 1), CONTENT_DIGESTED);
	cr_assert_eq(form_of(&secret, LARGE, 1), CONTENT_RECALLED);
}

Test(content, more_contents_than_slots_replace_one_another)
{
	struct stream stream;
	size_t recalled = 0;

	for (uint32_t number = 0; number < 2 * CONTENT_REMEMBERED; number++) {
		(void)form_of(&secret, LARGE, number);
	}
	for (uint32_t number = 0; number < 2 * CONTENT_REMEMBERED; number++) {
		recalled += put(&secret, LARGE, number, &stream) == CONTENT_RECALLED;
		cr_assert(is_digest(&stream, LARGE, number));
		stream_free(&stream);
	}
	cr_assert_gt(recalled, 0);
	cr_assert_eq(form_of(&secret, LARGE, 2 * CONTENT_REMEMBERED - 1), CONTENT_RECALLED);
}

static atomic_int wrong;

static void *hammer(void *first)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		const uint32_t number = ((uint32_t)(uintptr_t)first + i) % CONTENTS;
		struct stream stream;

		(void)put(&secret, LARGE, number, &stream);
		if (!is_digest(&stream, LARGE, number)) {
			atomic_fetch_add(&wrong, 1);
		}
		stream_free(&stream);
	}
	return NULL;
}

/* A child that is forked while threads use the table neither waits nor confuses contents. */
Test(content, concurrent_threads_and_a_forked_child_get_the_right_digests, .timeout = 300)
{
	pthread_t threads[THREADS];
	pid_t child;

	start_threads(threads, THREADS, hammer);
	child = fork();
	if (child == 0) {
		struct stream stream;

#ifdef __SANITIZE_ADDRESS__
		/* its allocator has no fork handlers: a child may get a heap whose locks another thread held */
		_exit(0);
#endif
		for (uint32_t number = 0; number < CONTENTS; number++) {
			(void)put(&secret, LARGE, number, &stream);
			if (!is_digest(&stream, LARGE, number)) {
				_exit(1);
			}
			stream_free(&stream);
		}
		_exit(0);
	}
	join_threads(threads, THREADS);
	cr_assert_eq(exit_of(child), 0);
	cr_assert_eq(atomic_load(&wrong), 0);
}
