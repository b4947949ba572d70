# SPDX-License-Identifier: MIT
# Pretended network file systems for tests/integration/80-network.sh, in $(BUILD)/tests/network: a layer before libc's
# calls, and a file system where libfuse 3 is installed.
NETWORK := $(BUILD)/tests/network
NETWORK_CC = $(call quiet,NET,$@)mkdir -p $(@D) && $(CC) -I. -D_GNU_SOURCE -std=gnu11 $(TEST_WARNINGS) \
	-O1 -g -U_FORTIFY_SOURCE -Wno-unknown-warning-option -Wno-format-truncation -o $@ $<
TEST_TARGETS += $(NETWORK)/layer.so

$(NETWORK)/layer.so: tests/network/layer.c tests/network/rules.h tests/network/network.mk
	$(NETWORK_CC) -fPIC -shared

ifneq ($(shell pkg-config --exists fuse3 2>/dev/null && echo yes),)
TEST_TARGETS += $(NETWORK)/nodefs
$(NETWORK)/nodefs: tests/network/nodefs.c tests/network/rules.h tests/network/network.mk
	$(NETWORK_CC) -D_FILE_OFFSET_BITS=64 $$(pkg-config --cflags --libs fuse3) -pthread
endif
