// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Jobs, their address tables, and job keys.
#include "command.hpp"
#include "internal.hpp"
#include "mapping.hpp"
#include "rdma/cxiverbs-abi.h"

namespace cxi {
namespace {

int command_dealloc(Job& job) noexcept {
  Command<1> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_DEALLOC);
  command.object_in(UVERBS_ATTR_DEALLOC_JOB_HANDLE, job.ibv.handle);
  return command.execute(*job.ibv.context);
}

/// Maps the address table of a job that the kernel has made; without success the job goes again.
int finish(Job& job, const cxi_abi_job_resp& answer) noexcept {
  job.entries = answer.entries;
  if (answer.entries == 0 || answer.table_bytes == 0) return 0;
  const std::byte* table = nullptr;
  if (const int err =
          map_cookie_readable(*job.ibv.context, answer.table_cookie, answer.table_bytes, table)) {
    command_dealloc(job);
    return err;
  }
  job.table = reinterpret_cast<const std::uint64_t*>(table);
  job.table_bytes = answer.table_bytes;
  return 0;
}

}  // namespace

ibv_job* alloc_job(ibv_context* context, ibv_job_attr* attr, void*) noexcept {
  constexpr std::uint32_t known = IBV_JOB_ATTR_FLAGS | IBV_JOB_ATTR_ID |
                                  IBV_JOB_ATTR_MAX_ADDR_ENTRIES | IBV_JOB_ATTR_PORT_NUM |
                                  IBV_JOB_ATTR_SGID_INDEX;
  if (!attr || (attr->comp_mask & ~known) || !(attr->comp_mask & IBV_JOB_ATTR_ID))
    return null_with_errno(EINVAL);
  if ((attr->comp_mask & IBV_JOB_ATTR_FLAGS) && attr->flags) return null_with_errno(EINVAL);
  Owned<Job> job = allocate<Job>();
  if (!job) return null_with_errno(ENOMEM);
  cxi_abi_job_resp answer = {};
  Command<6> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ALLOC);
  const unsigned handle = command.object_out(UVERBS_ATTR_ALLOC_JOB_HANDLE);
  command.in(UVERBS_ATTR_ALLOC_JOB_ID, attr->id);
  if (attr->comp_mask & IBV_JOB_ATTR_MAX_ADDR_ENTRIES)
    command.in(UVERBS_ATTR_ALLOC_JOB_MAX_ADDR_ENTRIES, attr->max_addr_entries);
  if (attr->comp_mask & IBV_JOB_ATTR_PORT_NUM)
    command.in(UVERBS_ATTR_ALLOC_JOB_PORT_NUM, attr->port_num);
  if (attr->comp_mask & IBV_JOB_ATTR_SGID_INDEX)
    command.in(UVERBS_ATTR_ALLOC_JOB_SGID_INDEX, attr->sgid_index);
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  if (const int err = command.execute(*context)) return null_with_errno(err);
  job->ibv.context = context;
  job->ibv.handle = command.handle(handle);
  if (const int err = finish(*job, answer)) return null_with_errno(err);
  return &job.release()->ibv;
}

int import_job(ibv_context* context, int fd, ibv_job** result) noexcept {
  Owned<Job> job = allocate<Job>();
  if (!job) return ENOMEM;
  cxi_abi_job_resp answer = {};
  Command<3> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_IMPORT);
  const unsigned handle = command.object_out(UVERBS_ATTR_IMPORT_JOB_HANDLE);
  command.in(UVERBS_ATTR_IMPORT_JOB_FD, std::int32_t{fd});
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  if (const int err = command.execute(*context)) return err;
  job->ibv.context = context;
  job->ibv.handle = command.handle(handle);
  if (const int err = finish(*job, answer)) return err;
  *result = &job.release()->ibv;
  return 0;
}

int dealloc_job(ibv_job* ibv) noexcept {
  Job& job = job_of(ibv);
  if (job.keys) return EBUSY;
  const int err = command_dealloc(job);
  if (err && err != EIO) return err;
  unmap_cookie(reinterpret_cast<const std::byte*>(job.table), job.table_bytes);
  std::free(&job);
  return 0;
}

int query_job(ibv_job* job, ibv_job_attr* attr) noexcept {
  constexpr std::uint32_t known = IBV_JOB_ATTR_FLAGS | IBV_JOB_ATTR_ID |
                                  IBV_JOB_ATTR_MAX_ADDR_ENTRIES | IBV_JOB_ATTR_PORT_NUM |
                                  IBV_JOB_ATTR_SGID_INDEX;
  if (!attr) return EINVAL;
  ibv_job_attr answer = {};
  std::uint32_t flags = 0;
  Command<6> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_QUERY);
  command.object_in(UVERBS_ATTR_QUERY_JOB_HANDLE, job->handle);
  command.out(UVERBS_ATTR_QUERY_JOB_ID, answer.id);
  command.out(UVERBS_ATTR_QUERY_JOB_MAX_ADDR_ENTRIES, answer.max_addr_entries);
  command.out(UVERBS_ATTR_QUERY_JOB_FLAGS, flags);
  command.out(UVERBS_ATTR_QUERY_JOB_PORT_NUM, answer.port_num);
  command.out(UVERBS_ATTR_QUERY_JOB_SGID_INDEX, answer.sgid_index);
  if (const int err = command.execute(*job->context)) return err;
  const std::uint32_t wanted = attr->comp_mask & known;
  if (wanted & IBV_JOB_ATTR_FLAGS) attr->flags = flags;
  if (wanted & IBV_JOB_ATTR_ID) attr->id = answer.id;
  if (wanted & IBV_JOB_ATTR_MAX_ADDR_ENTRIES) attr->max_addr_entries = answer.max_addr_entries;
  if (wanted & IBV_JOB_ATTR_PORT_NUM) attr->port_num = answer.port_num;
  if (wanted & IBV_JOB_ATTR_SGID_INDEX) attr->sgid_index = answer.sgid_index;
  attr->comp_mask = wanted;
  return 0;
}

int export_job(ibv_job* job, int* fd) noexcept {
  std::int32_t exported = -1;
  Command<2> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_EXPORT);
  command.object_in(UVERBS_ATTR_EXPORT_JOB_HANDLE, job->handle);
  command.out(UVERBS_ATTR_EXPORT_JOB_FD, exported);
  if (const int err = command.execute(*job->context)) return err;
  *fd = exported;
  return 0;
}

int insert_addr(ibv_job* job, ibv_ah_attr_ex* attr, unsigned index, unsigned flags) noexcept {
  if (flags || !qpn::valid(attr->remote_qpn, context_of(job->context).geometry)) return EINVAL;
  ib_uverbs_ah_attr_ex kernel_attr;
  to_kernel(*attr, kernel_attr);
  Command<3> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_INSERT);
  command.object_in(UVERBS_ATTR_JOB_ADDR_INSERT_HANDLE, job->handle);
  command.in(UVERBS_ATTR_JOB_ADDR_INSERT_INDEX, std::uint32_t{index});
  command.in(UVERBS_ATTR_JOB_ADDR_INSERT_AH_ATTR_EX, kernel_attr);
  return command.execute(*job->context);
}

int remove_addr(ibv_job* job, unsigned index, unsigned flags) noexcept {
  if (flags) return EINVAL;
  Command<2> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_REMOVE);
  command.object_in(UVERBS_ATTR_JOB_ADDR_REMOVE_HANDLE, job->handle);
  command.in(UVERBS_ATTR_JOB_ADDR_REMOVE_INDEX, std::uint32_t{index});
  return command.execute(*job->context);
}

int query_addr(ibv_job* job, unsigned index, ibv_ah_attr_ex* attr, unsigned flags) noexcept {
  if (flags) return EINVAL;
  ib_uverbs_ah_attr_ex kernel_attr = {};
  Command<3> command(UVERBS_OBJECT_JOB, UVERBS_METHOD_JOB_ADDR_QUERY);
  command.object_in(UVERBS_ATTR_JOB_ADDR_QUERY_HANDLE, job->handle);
  command.in(UVERBS_ATTR_JOB_ADDR_QUERY_INDEX, std::uint32_t{index});
  command.out(UVERBS_ATTR_JOB_ADDR_QUERY_AH_ATTR_EX, kernel_attr);
  if (const int err = command.execute(*job->context)) return err;
  from_kernel(kernel_attr, *attr);
  return 0;
}

int find_in_table(const Context& context, const Job* job, std::uint32_t index,
                  Peer& peer) noexcept {
  if (!job || index >= job->entries) return EINVAL;
  const std::uint64_t entry = __atomic_load_n(&job->table[index], __ATOMIC_RELAXED);
  const auto number = static_cast<std::uint32_t>(table_entry::number::decode(entry));
  if (!table_entry::valid::decode(entry) || !qpn::valid(number, context.geometry)) return EINVAL;
  peer = {.nid = static_cast<std::uint32_t>(table_entry::nid::decode(entry)),
          .pid = static_cast<std::uint32_t>(qpn::pid::decode(number)),
          .ri = static_cast<std::uint32_t>(qpn::ri::decode(number))};
  return 0;
}

ibv_job_key* create_jkey(ibv_pd* pd, ibv_job* job, unsigned flags) noexcept {
  if (flags) return null_with_errno(EINVAL);
  Context& context = context_of(pd->context);
  if (job->context != pd->context) return null_with_errno(EINVAL);
  Owned<JobKey> key = allocate<JobKey>();
  if (!key) return null_with_errno(ENOMEM);
  cxi_abi_create_jkey_resp answer = {};
  Command<5> command(UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_CREATE);
  const unsigned handle = command.object_out(UVERBS_ATTR_CREATE_JKEY_HANDLE);
  command.object_in(UVERBS_ATTR_CREATE_JKEY_JOB_HANDLE, job->handle);
  command.object_in(UVERBS_ATTR_CREATE_JKEY_PD_HANDLE, pd->handle);
  command.out(UVERBS_ATTR_CREATE_JKEY_JKEY, key->ibv.jkey);
  command.out(UVERBS_ATTR_UHW_OUT, answer);
  // The number of a key that is being destroyed comes back at once: both under one lock.
  MutexGuard guard(context.keys_mutex);
  if (const int err = command.execute(*pd->context)) return null_with_errno(err);
  key->ibv.handle = command.handle(handle);
  context.job_keys.insert(key->ibv.jkey, pd_of(pd).base, &job_of(job),
                          static_cast<std::uint16_t>(answer.vni),
                          static_cast<std::uint8_t>(answer.lcid));
  pd_of(pd).references++;
  key->job = &job_of(job);
  key->job->keys++;
  return &key.release()->ibv;
}

int destroy_jkey(ibv_job_key* ibv) noexcept {
  Context& context = context_of(ibv->pd->context);
  Command<1> command(UVERBS_OBJECT_JKEY, UVERBS_METHOD_JKEY_DESTROY);
  command.object_in(UVERBS_ATTR_DESTROY_JKEY_HANDLE, ibv->handle);
  MutexGuard guard(context.keys_mutex);
  const int err = command.execute(*ibv->pd->context);
  if (err && err != EIO) return err;
  context.job_keys.remove(ibv->jkey);
  auto* key = reinterpret_cast<JobKey*>(ibv);
  key->job->keys--;
  pd_of(ibv->pd).references--;
  std::free(key);
  return 0;
}

}  // namespace cxi
