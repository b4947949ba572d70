/* SPDX-License-Identifier: MIT */
/*
 * nvjitlink: the interface of nvJitLink, and what the fake one has beside it
 *
 * Inputs are texts. A line that begins with @ says what comes of it; the others are what is made:
 *
 *     @fail CODE TEXT    the call that works on it ends so, and TEXT is in the error log, with the input's name
 *     @end CODE TEXT     completing ends so
 *     @warn TEXT         in the info log
 *     @stderr TEXT       on stderr
 *     @third             what a third is in this rounding mode
 *     @symbol NAME       where an earlier input has it too, stderr tells, by the name that the host gave that one
 *
 * PTX begins with .version, LTO-IR and the others as in life; a thin archive has a table of names only, one path
 * of PTX per line, and a fatbin holds PTX behind the head of its member. PTX is compiled while it is added, LTO-IR in the end.
 */
#ifndef TESTS_FAKE_LINK_NVJITLINK_H
#define TESTS_FAKE_LINK_NVJITLINK_H

#include <stddef.h>
#include <stdint.h>

typedef struct link_state *nvJitLinkHandle;

enum link_type {
	LINK_CUBIN = 1,
	LINK_PTX = 2,
	LINK_LTOIR = 3,
	LINK_FATBIN = 4,
	LINK_OBJECT = 5,
	LINK_LIBRARY = 6,
	LINK_ANY = 10
};

#define LINK_HEAD_CUBIN      "\x7f\x45LF"
#define LINK_HEAD_LTOIR      "\xed\x43\x4e\x7f" /* and zeros up to LINK_LTOIR_HEAD_SIZE */
#define LINK_LTOIR_HEAD_SIZE 64
#define LINK_HEAD_THIN       "!<thin>\n"
#define LINK_HEAD_PTX        ".version"

/* Of a fatbin: what it says of itself is what is read. */
struct link_fatbin {
	uint32_t magic;
	uint16_t version, head_size;
	uint64_t size;
	uint32_t member_kind, member_head_size;
	uint64_t member_size, unused[6];
};
#define LINK_FATBIN_HEAD(size, member) {0xba55ed50, 1, 16, 64 + (size), 0x1010001, 64, member, {0}}
#define LINK_TABLE_HEAD                "%-48s%-10zu`\n" /* of the names in a thin archive, which are "//" */

/* X(name behind the prefix, parameters): those with a name for each release. */
#define LINK_FUNCTIONS(X)                                                                               \
	X(Create, (nvJitLinkHandle * handle, uint32_t count, const char **options))                     \
	X(Destroy, (nvJitLinkHandle * handle))                                                          \
	X(AddData, (nvJitLinkHandle handle, int type, const void *data, size_t size, const char *name)) \
	X(AddFile, (nvJitLinkHandle handle, int type, const char *path))                                \
	X(Complete, (nvJitLinkHandle handle))                                                           \
	X(GetLinkedCubinSize, (nvJitLinkHandle handle, size_t *size))                                   \
	X(GetLinkedCubin, (nvJitLinkHandle handle, void *bytes))                                        \
	X(GetLinkedPtxSize, (nvJitLinkHandle handle, size_t *size))                                     \
	X(GetLinkedPtx, (nvJitLinkHandle handle, char *bytes))                                          \
	X(GetErrorLogSize, (nvJitLinkHandle handle, size_t *size))                                      \
	X(GetErrorLog, (nvJitLinkHandle handle, char *bytes))                                           \
	X(GetInfoLogSize, (nvJitLinkHandle handle, size_t *size))                                       \
	X(GetInfoLog, (nvJitLinkHandle handle, char *bytes))

/* From 13.2 on; Inspect is of no release, and no table knows it: is there an output? */
#define LINK_LATER(X)                                                 \
	X(GetLinkedLTOIRSize, (nvJitLinkHandle handle, size_t *size)) \
	X(GetLinkedLTOIR, (nvJitLinkHandle handle, void *bytes))      \
	X(Inspect, (nvJitLinkHandle handle, int *ret_output))

#define LINK_EXPORT                    __attribute__((visibility("default")))
#define LINK_DECLARE(name, parameters) LINK_EXPORT int nvJitLink##name parameters;
LINK_FUNCTIONS(LINK_DECLARE)
LINK_LATER(LINK_DECLARE)
#undef LINK_DECLARE
LINK_EXPORT int nvJitLinkVersion(unsigned *major, unsigned *minor);
/* 0xc0fd: int (*)(handle, const void *bitcode, size_t, const char *name). */
LINK_EXPORT void *__nvJitLinkAPI(int which);
#define LINK_API_ADD 0xc0fd

/* The fake's own: how often this library has compiled PTX, and LTO-IR, in this process. */
LINK_EXPORT void fakeLinkWork(int *ret_texts, int *ret_links);
/*
 * What comes out at the end of a link otherwise than by the input; "": nothing; "refuse": inputs are refused. Unseen by
 * whoever watches the library.
 */
extern LINK_EXPORT char fakeLinkWhim[16];

#endif
