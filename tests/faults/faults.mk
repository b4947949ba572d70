# SPDX-License-Identifier: MIT
# The program of tests/integration/48-faults.sh, and of `make faults`: every fault at every call, which takes long.
FAULTS         := $(BUILD)/tests/faults/faults
FAULTS_SOURCES := $(wildcard tests/faults/*.c)
TEST_TARGETS   += $(FAULTS)

# -rdynamic: the fake finds the program's gate
$(FAULTS): $(FAULTS_SOURCES) $(wildcard tests/faults/*.h) tests/files.h tests/slots.h tests/fake/nvrtc.h tests/fake/text.h tests/fixtures/loader/table.h tests/faults/faults.mk $(BUILD)/core.a
	$(call quiet,FIX,$@)mkdir -p $(@D) && $(CC) -I. -D_GNU_SOURCE -DXXH_STATIC_LINKING_ONLY -std=gnu11 $(TEST_WARNINGS) -O1 -g \
		-U_FORTIFY_SOURCE -Wno-unknown-warning-option -Wno-format-truncation -Wno-cast-function-type \
		$(if $(SAN),-fsanitize=$(SAN)) -rdynamic -pthread -o $@ $(FAULTS_SOURCES) $(BUILD)/core.a $(B2) -ldl

faults: all $(FAULTS) $(TEST_TARGETS)
	FAULTS_STRIDE=1 bash tests/integration/48-faults.sh $(BUILD)
.PHONY: faults
