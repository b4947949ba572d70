/* SPDX-License-Identifier: MIT */
#include "keygen/content.h"

#include "keygen/recall.h"

static struct recall remembered = {.count = CONTENT_REMEMBERED};

enum content_form content_digest(const struct secret *secret, const struct span *spans, size_t count,
                                 struct key *ret_digest)
{
	struct fingerprint fingerprint;
	struct recall_key key = {{0}};

	if (!secret) {
		digest_key(spans, count, ret_digest);
		return CONTENT_DIGESTED;
	}
	digest_fingerprint(secret, spans, count, &fingerprint);
	key.words[0] = fingerprint.low;
	key.words[1] = fingerprint.high;
	for (size_t i = 0; i < count; i++) {
		key.words[2] += spans[i].size;
	}
	if (recall_find(&remembered, &key, ret_digest)) {
		return CONTENT_RECALLED;
	}
	digest_key(spans, count, ret_digest);
	recall_keep(&remembered, &key, ret_digest);
	return CONTENT_DIGESTED;
}

enum content_form content_put(struct stream *stream, struct content_tags tags, const struct secret *secret,
                              const void *bytes, size_t size)
{
	/* The size is digested too, so that this digest never equals the key of an entry over the same bytes. */
	const uint64_t head = size;
	const struct span spans[] = {{&head, sizeof(head)}, {bytes, size}};
	enum content_form form;
	struct key digest;

	if (size <= CONTENT_WHOLE_MAX) {
		stream_field(stream, tags.whole, bytes, size);
		return CONTENT_WHOLE;
	}
	form = content_digest(secret, spans, 2, &digest);
	stream_field(stream, tags.digest, digest.bytes, sizeof(digest.bytes));
	return form;
}
