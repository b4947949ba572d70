# SPDX-License-Identifier: MIT
# Two builds of the fake libNVVM (tests/fake/nvvm), whose symbols have no version, as the real ones' have none; and a host
# of it, linked and not.
NVVM_FAKE = $(call quiet,FAKE,$@)$(FAKE_CC) -shared -o $@ $< -Wl,-soname,libnvvm.so.4 -Wl,--build-id -Wl,-Bsymbolic \
	-Wl,-z,lazy
$(FAKE)/nvvm/libnvvm.so.4 $(FAKE)/nvvm-b/libnvvm.so: tests/fake/nvvm/nvvm.c tests/fake/nvvm/nvvm.h tests/fake/text.h tests/nvvm/nvvm.mk
$(FAKE)/nvvm/libnvvm.so.4:
	@mkdir -p $(@D)
	$(NVVM_FAKE) '-DNVVM_FLAVOUR="first"'
$(FAKE)/nvvm-b/libnvvm.so:
	@mkdir -p $(@D)
	$(NVVM_FAKE) '-DNVVM_FLAVOUR="other"'

NVVM_HOSTS := $(BUILD)/tests/nvvm
NVVM_HOST   = $(call quiet,HOST,$@)$(CC) -I. -D_GNU_SOURCE -std=gnu11 $(TEST_WARNINGS) -O1 -g -U_FORTIFY_SOURCE -o $@ $(filter %.c,$^)
$(NVVM_HOSTS)/linked $(NVVM_HOSTS)/lookup: tests/nvvm/host.c tests/fake/nvvm/nvvm.h tests/hosts/host.h tests/fake/nvrtc.h
$(NVVM_HOSTS)/linked: $(FAKE)/nvvm/libnvvm.so.4
	@mkdir -p $(@D)
	$(NVVM_HOST) -DLINKED -Wl,-z,lazy -Wl,--no-as-needed -L$(FAKE)/nvvm -l:libnvvm.so.4 \
		-Wl,-rpath,$(abspath $(FAKE)/nvvm) -ldl -lpthread -lm
$(NVVM_HOSTS)/lookup:
	@mkdir -p $(@D)
	$(NVVM_HOST) -ldl -lpthread -lm

$(NVVM_HOSTS)/linked_library.so: tests/nvvm/linked_library.c tests/fake/nvvm/nvvm.h $(FAKE)/nvvm/libnvvm.so.4
	@mkdir -p $(@D)
	$(NVVM_HOST) -fPIC -shared -Wl,--no-as-needed -L$(FAKE)/nvvm -l:libnvvm.so.4 -Wl,-rpath,$(abspath $(FAKE)/nvvm)

TEST_TARGETS += $(NVVM_HOSTS)/linked_library.so $(FAKE)/nvvm/libnvvm.so.4 $(FAKE)/nvvm-b/libnvvm.so $(NVVM_HOSTS)/linked $(NVVM_HOSTS)/lookup
