// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_kernel.hpp"

#include <gtest/gtest.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdarg>
#include <cstdlib>

namespace fake {
namespace {

Kernel* installed;

}  // namespace

const Attribute* Call::find(uint16_t id) const {
  for (const Attribute& attribute : attributes)
    if (attribute.id == id) return &attribute;
  return nullptr;
}

const Attribute& Call::at(uint16_t id) const {
  static const Attribute none{};
  const Attribute* attribute = find(id);
  EXPECT_NE(attribute, nullptr) << "no attribute " << id;
  return attribute ? *attribute : none;
}

Kernel::Kernel() {
  installed = this;
}
Kernel::~Kernel() {
  installed = nullptr;
}

void Kernel::on(uint16_t object, uint16_t method, Handler handler) {
  handlers_[{object, method}] = std::move(handler);
}

void Kernel::on_write(uint64_t command, Handler handler) {
  write_handlers_[command] = std::move(handler);
}

int Kernel::answer(int fd, unsigned long request, ib_uverbs_ioctl_hdr& header) {
  Call call{fd, request, {}, {}};
  memcpy(&call.header, &header, sizeof(call.header));
  EXPECT_EQ(header.length, sizeof(header) + header.num_attrs * sizeof(ib_uverbs_attr));
  for (size_t i = 0; i < header.num_attrs; i++) {
    ib_uverbs_attr& raw = header.attrs[i];
    call.attributes.push_back(
        {raw.attr_id, raw.len, raw.flags, raw.attr_data.enum_data.elem_id, raw.data, &raw});
  }
  calls_.push_back(call);
  Handler handler;
  if (header.object_id == UVERBS_OBJECT_DEVICE && header.method_id == UVERBS_METHOD_INVOKE_WRITE) {
    auto found = write_handlers_.find(call.at(UVERBS_ATTR_WRITE_CMD).value<uint64_t>());
    if (found == write_handlers_.end()) return EOPNOTSUPP;
    handler = found->second;
  } else {
    auto found = handlers_.find({header.object_id, header.method_id});
    if (found == handlers_.end()) return EPROTONOSUPPORT;
    handler = found->second;
  }
  return handler(call);
}

Device::Device(uint32_t driver_id) {
  device_.ops = &device_ops_;
  device_.refcount = 1;
  strcpy(device_.device.name, "fake0");
  void* memory =
      _verbs_init_and_alloc_context(&device_.device, -1, sizeof(verbs_context), nullptr, driver_id);
  context_ = static_cast<verbs_context*>(memory);
}

Device::~Device() {
  verbs_uninit_context(context_);
  free(context_);
}

}  // namespace fake

// Linked into the program in front of libc's.
extern "C" int ioctl(int fd, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  auto* header = va_arg(arguments, ib_uverbs_ioctl_hdr*);
  va_end(arguments);
  if (!fake::installed || request != RDMA_VERBS_IOCTL) {
    errno = ENOTTY;
    return -1;
  }
  int error = fake::installed->answer(fd, request, *header);
  if (!error) return 0;
  errno = error;
  return -1;
}
