/* SPDX-License-Identifier: MIT */
/*
 * doctor: finds compilers among and inside the files that a run loaded
 *
 * Calls of a statically linked compiler cannot be intercepted, so the run's trace does not show them. Every copy of a
 * compiler contains the texts of its messages, also where its symbols are hidden or removed, as in Warp and cuDNN.
 */
#include "cli/doctor/doctor.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The content of a file. Libraries of a gigabyte are common, so it is mapped. NULL: not a file, or not readable. */
struct content {
	const char *bytes;
	size_t size;
};

static struct content map_file(const char *path)
{
	/* open() must neither wait for the writer of a FIFO nor acquire a controlling terminal */
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct content content = {.bytes = NULL};
	struct stat found;

	if (file >= 0 && fstat(file, &found) == 0 && S_ISREG(found.st_mode) && found.st_size > 0) {
		void *bytes = mmap(NULL, (size_t)found.st_size, PROT_READ, MAP_PRIVATE, file, 0);

		content = bytes == MAP_FAILED ? content : (struct content){bytes, (size_t)found.st_size};
	}
	if (file >= 0) {
		close(file);
	}
	return content;
}

/* Searches the whole file: the texts of a stripped library are in no table that names their place. */
static bool has_text(const struct content *content, const char *text)
{
	return content->bytes && memmem(content->bytes, content->size, text, strlen(text)) != NULL;
}

/* Returns what makes cuDNN use the libnvrtc of the system. Its releases know one variable each. */
static const char *way_out(const struct content *content)
{
	return has_text(content, "CUDNN_NVRTC_RUNTIME_LINKING")
	           ? "; CUDNN_NVRTC_RUNTIME_LINKING=1 (nvrtccache run --cudnn) makes it load libnvrtc"
	       : has_text(content, "CUDNN_NVRTC_OVERRIDE_PATH")
	           ? "; CUDNN_NVRTC_OVERRIDE_PATH=/path/of/libnvrtc.so.N makes it load that"
	           : "";
}

/* Returns whether a file is the library of a compiler: "libnvrtc.so.13", or "libnvrtc-672ee683.so.11.2" in a wheel. */
static bool is_library(const char *path, const char *name)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *end = base + strlen(name);

	return strncmp(base, name, strlen(name)) == 0 && (*end == '.' || *end == '-') && !strstr(end, "builtins");
}

void doctor_object(struct findings *findings, const char *path, const struct doctor_calls *calls)
{
	/* `message` NULL: libNVVM is not delivered as a static library */
	const struct {
		const char *title, *name, *message;
		bool is_called;
	} compilers[] = {
	    {"NVRTC", "libnvrtc", "nvrtc: error: invalid value for --gpu-architecture", calls->nvrtc},
	    {"nvJitLink", "libnvJitLink", "bad input: does not match type NVJITLINK_INPUT", calls->nvjitlink},
	    {"libNVVM", "libnvvm", NULL, calls->nvvm},
	};
	/* a program that cannot be read, or has gone, contains nothing */
	struct content content = map_file(path);

	for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++) {
		if (is_library(path, compilers[i].name)) {
			if (!compilers[i].is_called) {
				finding_add(findings, FINDING_WARN,
				            "loaded: %s, and no call reached the cache: none was made, or by private "
				            "functions, as cuTile does",
				            path);
			}
		} else if (compilers[i].message && has_text(&content, compilers[i].message)) {
			finding_add(findings, FINDING_FAIL,
			            "inside: %s is linked statically into %s, where the cache cannot intercept it: not "
			            "cached%s",
			            compilers[i].title, path, way_out(&content));
		}
	}
	if (content.bytes) {
		munmap((void *)content.bytes, content.size);
	}
}
