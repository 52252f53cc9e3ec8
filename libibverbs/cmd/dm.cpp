// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Commands of device memory, DMA handles and dma-bufs.
#include "../error.hpp"
#include "../export.hpp"
#include "cmd.hpp"

using namespace verbs;

VERBS_EXPORT int ibv_cmd_alloc_dm(ibv_context* context, const ibv_alloc_dm_attr* attr, verbs_dm* dm,
                                  ibv_command_buffer* link) {
  Command<UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC, 3> command(link);
  const auto* handle = command.new_object(UVERBS_ATTR_ALLOC_DM_HANDLE);
  command.in(UVERBS_ATTR_ALLOC_DM_LENGTH, uint64_t{attr->length});
  command.in(UVERBS_ATTR_ALLOC_DM_ALIGNMENT, uint32_t{attr->log_align_req});
  if (int error = command.execute(*context)) return error;
  dm->handle = handle_of(handle);
  dm->dm.context = context;
  dm->dm.comp_mask |= IBV_DM_MASK_HANDLE;
  dm->dm.handle = dm->handle;
  return 0;
}

VERBS_EXPORT int ibv_cmd_free_dm(verbs_dm* dm) {
  Command<UVERBS_OBJECT_DM, UVERBS_METHOD_DM_FREE, 1> command;
  command.object(UVERBS_ATTR_FREE_DM_HANDLE, dm->handle);
  int error = command.execute(*dm->dm.context);
  destroyed(error);
  return error;
}

VERBS_EXPORT int ibv_cmd_alloc_dmah(ibv_context* context, verbs_dmah* dmah,
                                    ibv_dmah_init_attr* attr) {
  Command<UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_ALLOC, 4> command;
  const auto* handle = command.new_object(UVERBS_ATTR_ALLOC_DMAH_HANDLE);
  if (attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_CPU_ID)
    command.in(UVERBS_ATTR_ALLOC_DMAH_CPU_ID, uint32_t{attr->cpu_id});
  if (attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_TPH_MEM_TYPE)
    command.alternative(UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE, attr->tph_mem_type, nullptr, 0);
  if (attr->comp_mask & IBV_DMAH_INIT_ATTR_MASK_PH)
    command.in(UVERBS_ATTR_ALLOC_DMAH_PH, uint8_t{attr->ph});
  if (int error = command.execute(*context)) return error;
  dmah->handle = handle_of(handle);
  dmah->dmah.context = context;
  return 0;
}

VERBS_EXPORT int ibv_cmd_free_dmah(verbs_dmah* dmah) {
  Command<UVERBS_OBJECT_DMAH, UVERBS_METHOD_DMAH_FREE, 1> command;
  command.object(UVERBS_ATTR_FREE_DMA_HANDLE, dmah->handle);
  int error = command.execute(*dmah->dmah.context);
  destroyed(error);
  return error;
}

// A dma-buf of what the device maps at an offset. The descriptor, or -1 with errno.
VERBS_EXPORT int ibv_cmd_export_dmabuf_fd(ibv_context* context, off_t page_offset) {
  Command<UVERBS_OBJECT_DMABUF, UVERBS_METHOD_DMABUF_ALLOC, 2> command;
  const auto* fd = command.new_fd(UVERBS_ATTR_ALLOC_DMABUF_HANDLE);
  command.in(UVERBS_ATTR_ALLOC_DMABUF_PGOFF, static_cast<uint64_t>(page_offset));
  int error = command.execute(*context);
  return error ? minus_one(error) : fd_of(fd);
}
