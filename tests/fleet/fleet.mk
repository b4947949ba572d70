# SPDX-License-Identifier: MIT
# The host of scripts/fleet and of tests/integration/69-fleet.sh.
FLEET_HOST := $(BUILD)/tests/fleet/host
TEST_TARGETS += $(FLEET_HOST)

$(FLEET_HOST): tests/fleet/host.c tests/fleet/fleet.mk
	@mkdir -p $(@D)
	$(call quiet,CC,$@)$(CC) $(TEST_CFLAGS) -o $@ $< -ldl
