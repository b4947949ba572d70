# SPDX-License-Identifier: MIT
# The host of tests/soak/soak.py: the fake compiler inside, out of the cache's reach, and the same one opened.
WORKER := $(BUILD)/tests/soak/worker
TEST_TARGETS += $(WORKER)

$(WORKER): tests/soak/worker.c $(FAKE_SOURCES) $(FAKE_HEADERS) tests/soak/soak.mk
	@mkdir -p $(@D)
	$(call quiet,SOAK,$@)$(FAKE_CC) -DFAKE_MAJOR=13 -DFAKE_MINOR=0 '-DFAKE_FLAVOUR="plain"' -pthread -o $@ \
		tests/soak/worker.c $(FAKE_SOURCES) -Wl,-rpath,$(abspath $(FAKE)/13) -ldl
