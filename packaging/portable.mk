# SPDX-License-Identifier: MIT
# Builds for any machine with glibc 2.17 or later, x86-64 and aarch64, whatever this machine has.
#
# make FLOOR=2.17 [ARCH=aarch64]    build/portable/<arch>/, with zig's compiler; other targets work there too
# make aarch64                      all tests of the aarch64 build (make check runs some of them)
# make portable                     the library and the command for each of ARCHITECTURES, without newer symbols
# make dist                         build/dist/nvrtccache-<version>-<arch>.tar.gz of each
#
# $(PORTABLE) are the files; make wheel FILES_FROM=build/portable/aarch64 ARCH=aarch64 packs them too.
ARCHITECTURES := x86_64 aarch64
OLDEST        := 2.17
PORTABLE_DIRS := $(addprefix build/portable/,$(ARCHITECTURES))
PORTABLE      := $(foreach dir,$(PORTABLE_DIRS),$(dir)/libnvrtccache.so $(dir)/nvrtccache)

ifneq ($(FLOOR),)
TOOLS := $(shell packaging/toolchain)
ifeq ($(TOOLS),)
$(error what builds for glibc $(FLOOR) cannot be had)
endif
# Not the user's cache: zig keeps its C libraries there.
export ZIG_GLOBAL_CACHE_DIR := $(abspath $(TOOLS)/cache)
export ZIG_LOCAL_CACHE_DIR  := $(ZIG_GLOBAL_CACHE_DIR)
CC := $(abspath $(TOOLS))/zig/zig cc -target $(ARCH)-linux-gnu.$(FLOOR)
AR := $(abspath $(TOOLS))/zig/zig ar

# The caller's flags come later. -s: the same bytes in every directory, and a quarter of the size.
CFLAGS  ?= -O2
LDFLAGS ?= -s
TARGET_CFLAGS   := -ffile-prefix-map=$(CURDIR)=. -fno-sanitize=undefined
TARGET_CPPFLAGS := -isystem $(TOOLS)/include -isystem $(BUILD)/include
# zig's linker has neither -Bsymbolic-functions nor --exclude-libs; the version script makes them unnecessary.
SYMBOLIC := -Wl,-Bsymbolic -Wl,--build-id=sha1

# Of libb2 the portable code, which makes keys fastest (keygen/digest.c says why).
B2      := $(BUILD)/libb2.a
B2_MADE := $(B2)
B2_CC = $(call quiet,CC,$@)mkdir -p $(@D) && $(CC) -std=gnu11 -fPIC -fvisibility=hidden $(TARGET_CFLAGS) \
	-ffile-prefix-map=$(abspath $(TOOLS))=. -I$(BUILD)/libb2 $(CFLAGS) -c -o $@

$(BUILD)/libb2/config.h: packaging/portable.mk
	@mkdir -p $(@D)
	@echo '#define NATIVE_LITTLE_ENDIAN 1' >$@
$(BUILD)/libb2/blake2b.o: $(BUILD)/libb2/config.h
	$(B2_CC) -DSUFFIX= $(TOOLS)/libb2/src/blake2b-ref.c
$(B2): $(BUILD)/libb2/blake2b.o
	$(call quiet,AR,$@)rm -f $@ && $(AR) qcs $@ $^

# The unit tests take the headers of this machine's Criterion, and tests/emulated/criterion.c for its library.
# clang's _FORTIFY_SOURCE makes functions overloaded, and their address cannot be taken.
CRITERION := $(BUILD)/tests/emulated/criterion.o
CRITERION_LIBS := -Wl,--no-gc-sections -pthread -ldl
$(BUILD)/tests/unit/%.o: OURS += -U_FORTIFY_SOURCE -Wno-format-insufficient-args -Wno-unterminated-string-initialization
$(BUILD)/include/criterion:
	@mkdir -p $(@D)
	@ln -sfn "$$(printf '#include <criterion/criterion.h>\n' | cc -E -x c - | sed -n 's|^# [0-9]* "\(.*/criterion\)/criterion\.h".*|\1|p' | head -1)" $@
endif

# The default goal is the Makefile's.
.DEFAULT_GOAL := all

portable: $(PORTABLE_DIRS)
	packaging/needs --most $(OLDEST) $(PORTABLE)
# The same commit gives the same bytes, in any directory and at any time.
dist: portable
	@$(foreach arch,$(ARCHITECTURES),SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) packaging/tarball build/portable/$(arch) $(arch) $(PACKAGES) &&) true
# Tests of the aarch64 build, with several releases of NVRTC, under qemu on another machine.
aarch64:
	AARCH64=all bash tests/integration/22-aarch64.sh build
.PHONY: portable dist aarch64 $(PORTABLE_DIRS)

$(PORTABLE_DIRS): build/portable/%:
	@mkdir -p $@
	@flock $@ $(MAKE) FLOOR=$(OLDEST) ARCH=$* SAN= BUILD=$@ $@/libnvrtccache.so $@/nvrtccache
