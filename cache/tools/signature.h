/* SPDX-License-Identifier: MIT */
/*
 * signature: the signature at the end of a file, for `nvrtccache export --key-file` (docs/DESIGN.md G6)
 *
 * A signed file ends with SIGNATURE_BYTES: 8 bytes of magic, 8 zeros, the id of the key, and the keyed BLAKE2b-256 of
 * all
 * bytes before these. So a bundle can be carried by any tool, and checked by those who import it.
 *
 * Calling sequence: signature_begin(), signature_add() for all bytes, signature_end(), whose bytes follow. Or
 * signature_verify() for a file. Errors: negative errno values. signature_verify(): -ESPIPE: not a regular file;
 * -ENOMSG: not signed; -ENOKEY: signed with a key that is not in the ring; -EKEYREJECTED: the signature is wrong.
 * Threads: one per struct. Ownership: the key must outlive the struct.
 */
#ifndef CACHE_TOOLS_SIGNATURE_H
#define CACHE_TOOLS_SIGNATURE_H

#include "cache/tools/keyring.h"

#include <blake2.h>

#define SIGNATURE_BYTES 64

struct signature {
	const struct keyring_key *key;
	blake2b_state state;
};

void signature_begin(struct signature *ret_signature, const struct keyring_key *key);
void signature_add(struct signature *signature, const void *bytes, size_t size);
void signature_end(struct signature *signature, uint8_t ret_bytes[SIGNATURE_BYTES]);

/*
 * Verifies the signature of a regular file. `ret_size` is the size of what is signed, also without a ring (NULL), where
 * nothing is verified; of a file without a signature it is the whole size.
 */
int signature_verify(int file, const struct keyring *keyring, uint64_t *ret_size);

#endif
