# SPDX-License-Identifier: MIT
# Hosts of tests/integration/42-hosts.sh, 44-threads.sh, 46-fork.sh and 50-loader-locks.sh, in $(BUILD)/tests/hosts. What a compiler here
# cannot build is left out, and the test that wants it skips.
HOSTS := $(BUILD)/tests/hosts
HOST_SANITIZED := $(addprefix $(HOSTS)/storm-,asan-gcc asan-clang ubsan-gcc ubsan-clang tsan-gcc tsan-clang)
HOST_FLAGS = -I. -D_GNU_SOURCE -std=gnu11 $(TEST_WARNINGS) -O1 -g -U_FORTIFY_SOURCE -pthread
HOST_CC = $(call quiet,HOST,$@)mkdir -p $(@D) && $(CC) $(HOST_FLAGS) -o $@
TEST_TARGETS += $(addprefix $(HOSTS)/,storm forks pair reopen jumper collide odd stepper setter fsuid pauser.so forker forker-nvrtc forker-link loaded.so)
TEST_TARGETS += $(HOST_SANITIZED)

$(addprefix $(HOSTS)/,storm pair reopen jumper collide odd stepper setter fsuid): $(HOSTS)/%: tests/hosts/%.c
	$(HOST_CC) $< -ldl
$(HOSTS)/forks $(HOSTS)/forker: $(HOSTS)/%: tests/hosts/%.c
	$(HOST_CC) $< -rdynamic -ldl
$(HOSTS)/forker-nvrtc: tests/hosts/forker.c $(FAKE)/13/libnvrtc.so.13
	$(HOST_CC) -DLINKED_NVRTC $(filter-out %.h,$^) -rdynamic -ldl
$(HOSTS)/forker-link: tests/hosts/forker.c $(FAKE)/link/13.2/libnvJitLink.so.13
	$(HOST_CC) -DLINKED_LINK $(filter-out %.h,$^) -rdynamic -ldl -Wl,-z,lazy
$(addprefix $(HOSTS)/,forker forker-nvrtc forker-link): tests/hosts/work.h tests/fake/link/nvjitlink.h tests/fake/nvvm/nvvm.h
$(HOSTS)/pauser.so $(HOSTS)/loaded.so: $(HOSTS)/%.so: tests/hosts/%.c
	$(HOST_CC) $< -shared -fPIC -ldl
$(addprefix $(HOSTS)/,storm forks forker pair reopen jumper collide odd stepper setter fsuid) $(HOST_SANITIZED): tests/hosts/host.h tests/files.h tests/fake/nvrtc.h tests/hosts/hosts.mk

$(HOSTS)/storm-asan-%: HOST_SANITIZER := address
$(HOSTS)/storm-ubsan-%: HOST_SANITIZER := undefined -fno-sanitize-recover=all
$(HOSTS)/storm-tsan-%: HOST_SANITIZER := thread
$(HOST_SANITIZED): tests/hosts/storm.c
	@mkdir -p $(@D)
	$(call quiet,HOST,$@)$(lastword $(subst -, ,$@)) $(HOST_FLAGS) -fsanitize=$(HOST_SANITIZER) -o $@ $< -ldl \
		2>/dev/null || rm -f $@

# The library once more, for ThreadSanitizer and for helgrind (see tests/hosts/helgrind.h)
$(HOSTS)/tsan/libnvrtccache.so: FORCE
	@$(MAKE) --no-print-directory BUILD=$(HOSTS)/tsan SAN=thread CFLAGS='-O1 -g' $@
$(HOSTS)/helgrind/libnvrtccache.so: FORCE
	@$(MAKE) --no-print-directory BUILD=$(HOSTS)/helgrind SAN= CFLAGS='-O1 -g -include tests/hosts/helgrind.h' $@
FORCE:
.PHONY: FORCE

# Not in a build that plays with sanitizers itself: its integration tests do not run.
ifeq ($(SAN),)
TEST_TARGETS += $(HOSTS)/tsan/libnvrtccache.so
ifneq ($(and $(shell command -v valgrind),$(wildcard /usr/include/valgrind/helgrind.h)),)
TEST_TARGETS += $(HOSTS)/helgrind/libnvrtccache.so
endif
endif

# Many random hosts: make odd ROUNDS=2000 SEED=1
odd: all $(HOSTS)/odd $(FAKE)/13/libnvrtc.so.13 $(FAKE)/13/libnvrtc-builtins.so.13.0
	python3 tests/hosts/odd.py $(BUILD) --rounds $(or $(ROUNDS),2000) --seed $(or $(SEED),1)
.PHONY: odd
