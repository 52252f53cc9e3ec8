// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Opening and closing devices.
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

#include "cdev.hpp"
#include "cmd/cmd.hpp"
#include "discovery/device_list.hpp"
#include "error.hpp"
#include "export.hpp"
#include "ops.hpp"
#include "private_context.hpp"

#undef ibv_query_port

namespace verbs {
namespace {

// The part of the construction that both ways of opening share.
int finish_context(verbs_context& context, bool imported) {
  set_library_entry_points(context);
  private_context(context.context).imported = imported;
  if (context.context.async_fd != -1) return 0;
  return cmd_alloc_async_fd(context.context);
}

verbs_sysfs_dev* record_of(ibv_device& device) {
  return verbs_get_device(&device)->sysfs;
}

ibv_device* find_by_number(ibv_device** list, dev_t number) {
  for (; *list; list++) {
    const verbs_sysfs_dev* record = record_of(**list);
    if (record && record->sysfs_cdev == number) return *list;
  }
  return nullptr;
}

ibv_context* import_fd(int fd, int& error) {
  struct stat status;
  if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode)) {
    error = EINVAL;
    return nullptr;
  }
  ibv_device** list = nullptr;
  if (int count = list_devices(list); count < 0) {
    error = is_shortage(-count) ? -count : ENODEV;
    return nullptr;
  }
  verbs_context* context = nullptr;
  ibv_device* device = find_by_number(list, status.st_rdev);
  if (!device) {
    error = ENODEV;
  } else if (!verbs_get_device(device)->ops->import_context) {
    error = EOPNOTSUPP;
  } else {
    context = verbs_get_device(device)->ops->import_context(device, fd);
    if (!context) error = errno;
  }
  for (size_t i = 0; list[i]; i++)
    release_device(*list[i]);
  free(list);
  if (!context) return nullptr;
  error = finish_context(*context, true);
  if (!error) return &context->context;
  ops_of(&context->context).free_context(&context->context);
  return nullptr;
}

}  // namespace
}  // namespace verbs

// Initialises the context inside a provider's own structure. 0 or an errno value.
static int init_context(verbs_context* context, ibv_device* device, int cmd_fd,
                        uint32_t driver_id) {
  auto shadow = verbs::allocate<verbs_ex_private>();
  if (!shadow) {
    close(cmd_fd);
    return ENOMEM;
  }
  verbs::hold_device(*device);
  context->context.device = device;
  context->context.cmd_fd = cmd_fd;
  context->context.async_fd = -1;
  pthread_mutex_init(&context->context.mutex, nullptr);
  context->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
  context->sz = sizeof(*context);
  context->priv = shadow.release();
  context->priv->driver_id = driver_id;
  verbs::set_default_ops(*context);
  return 0;
}

// Allocates a provider's context with the verbs context at the given offset in it. Takes the
// descriptor over, on failure too. NULL with errno.
VERBS_EXPORT void* _verbs_init_and_alloc_context(ibv_device* device, int cmd_fd, size_t size,
                                                 verbs_context* offset, uint32_t driver_id) {
  void* memory = calloc(1, size);
  if (!memory) {
    close(cmd_fd);
    return verbs::null_with_errno(ENOMEM);
  }
  auto* context = reinterpret_cast<verbs_context*>(static_cast<char*>(memory) +
                                                   reinterpret_cast<uintptr_t>(offset));
  if (int error = init_context(context, device, cmd_fd, driver_id)) {
    free(memory);
    return verbs::null_with_errno(error);
  }
  return memory;
}

// The last thing a provider does with a context before it frees its memory.
VERBS_EXPORT void verbs_uninit_context(verbs_context* context) {
  ibv_context& base = context->context;
  free(context->priv);
  if (base.cmd_fd != -1) close(base.cmd_fd);
  if (base.async_fd != -1) close(base.async_fd);
  pthread_mutex_destroy(&base.mutex);
  verbs::release_device(*base.device);
}

// Opens a device, with something for the provider to know. NULL with errno.
VERBS_EXPORT ibv_context* verbs_open_device(ibv_device* device, void* private_data) {
  const verbs_device* extended = verbs_get_device(device);
  const verbs_sysfs_dev* record = extended->sysfs;
  verbs::Fd fd;
  if (record) {
    fd = verbs::open_character_device(record->sysfs_name, record->sysfs_cdev);
    if (!fd) return nullptr;
  }
  // The provider owns the descriptor from here on, whatever becomes of the context.
  verbs_context* context = extended->ops->alloc_context(device, fd.release(), private_data);
  if (!context) return nullptr;
  if (!record) {  // made by a provider, without a kernel device behind it
    verbs::set_library_entry_points(*context);
    return &context->context;
  }
  if (int error = verbs::finish_context(*context, false)) {
    ibv_close_device(&context->context);
    return verbs::null_with_errno(error);
  }
  return &context->context;
}

VERBS_EXPORT ibv_context* ibv_open_device(ibv_device* device) {
  return verbs_open_device(device, nullptr);
}

VERBS_EXPORT int ibv_close_device(ibv_context* context) {
  verbs::ops_of(context).free_context(context);
  return 0;
}

// Makes a context from the descriptor of an open device, which then belongs to it. NULL with errno.
VERBS_EXPORT ibv_context* ibv_import_device(int cmd_fd) {
  int error = 0;
  ibv_context* context = verbs::import_fd(cmd_fd, error);
  return context ? context : verbs::null_with_errno(error);
}
