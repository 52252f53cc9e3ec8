// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The uverbs ioctl of /dev/null: it gives contexts, which is all that opening takes, and nothing
// else.
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstdarg>

extern "C" int ioctl(int, unsigned long request, ...) noexcept {
  va_list arguments;
  va_start(arguments, request);
  const void* argument = va_arg(arguments, const void*);
  va_end(arguments);
  if (request == RDMA_VERBS_IOCTL) {
    const auto* header = static_cast<const ib_uverbs_ioctl_hdr*>(argument);
    if (header->object_id == UVERBS_OBJECT_DEVICE && header->method_id == UVERBS_METHOD_GET_CONTEXT)
      return 0;
  }
  errno = ENOTTY;
  return -1;
}
