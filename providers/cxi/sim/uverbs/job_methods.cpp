// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Jobs, their address tables and keys, and address handles.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "uverbs/exported_jobs.hpp"
#include "uverbs/native.hpp"

namespace sim::uverbs {
namespace {

constexpr uint32_t serial_mask = (1u << 24) - 1;

// An address as the kernel takes it. EINVAL or ENETUNREACH (see NicState::resolve).
nic::Made<uint32_t> resolve(const NicState& nic, const ib_uverbs_ah_attr_ex& attr) {
  const ib_uverbs_ah_attr& ah = attr.ah_attr;
  if (ah.port_num != port || !ah.is_global || ah.reserved || ah.grh.reserved) return {0, EINVAL};
  if (ah.grh.sgid_index >= gid_table_length) return {0, EINVAL};
  return nic.resolve(ah.grh.sgid_index, ah.grh.dgid);
}

// What a service grants to the caller, who may not be the opener of the context.
bool grants(Call& call, Lni& lni, uint16_t vni) {
  const Service& service = lni.service();
  return service.enabled && service.has_vni(vni) && service.admits(call.caller.credentials());
}

// The grant is that of a service on which the context has a logical NI; its own comes last, because
// asking makes it.
int check_grant(Call& call, uint16_t vni) {
  for (const auto& [handle, object] : call.file.objects.all()) {
    if (object->type != CXI_OBJECT_LNI) continue;
    if (grants(call, *static_cast<const LniObject&>(*object).lni, vni)) return 0;
  }
  auto own = call.file.lni(call.caller);
  if (!own) return own.error;
  return grants(call, *own.value, vni) ? 0 : EPERM;
}

int hold(Call& call, uint16_t handle_attr, std::shared_ptr<JobRecord> record, bool allocated) {
  auto job = std::make_unique<Job>(call.file, std::move(record), allocated);
  const size_t entries = job->record->table.size();
  cxi_abi_job_resp resp{};
  resp.entries = static_cast<uint32_t>(entries);
  resp.vni = job->record->vni;
  if (entries != 0) {
    auto pages = call.file.arena->allocate(entries * sizeof(uint64_t));
    if (!pages) return pages.error;
    job->table = std::move(pages.value);
    for (uint32_t i = 0; i < entries; ++i)
      job->publish(i);
    resp.table_cookie = job->table.offset;
    resp.table_bytes = job->table.length;
  }
  call.made(handle_attr, std::move(job));
  call.driver_out(resp);
  return 0;
}

int no_flags(Call& call, uint16_t id) {
  uint64_t flags;
  return call.flags(id, 0, flags);
}

}  // namespace

int create_ah_ex(Call& call) {
  if (int error = no_flags(call, UVERBS_ATTR_CREATE_AH_EX_FLAGS)) return error;
  auto attr = call.in<ib_uverbs_ah_attr_ex>(UVERBS_ATTR_CREATE_AH_EX_AH_ATTR_EX);
  auto nid = resolve(call.file.nic, attr);
  if (!nid) return nid.error;
  if (call.file.nic.ahs >= max_ah) return ENOSPC;
  auto* pd = call.object<Pd>(UVERBS_ATTR_CREATE_AH_EX_PD_HANDLE);
  call.made(UVERBS_ATTR_CREATE_AH_EX_HANDLE, std::make_unique<Ah>(call.file, *pd, nid.value));
  call.driver_out(cxi_abi_create_ah_resp{nid.value, 0});
  return 0;
}

int alloc_job(Call& call) {
  auto id = call.in<uint32_t>(UVERBS_ATTR_ALLOC_JOB_ID);
  auto entries = call.in<uint32_t>(UVERBS_ATTR_ALLOC_JOB_MAX_ADDR_ENTRIES);
  auto sgid_index = call.in<uint8_t>(UVERBS_ATTR_ALLOC_JOB_SGID_INDEX);
  if (id == 0 || id > max_job_ids || entries > max_addr_entries) return EINVAL;
  if (int error = no_flags(call, UVERBS_ATTR_ALLOC_JOB_FLAGS)) return error;
  if (call.has(UVERBS_ATTR_ALLOC_JOB_PORT_NUM) &&
      call.in<uint8_t>(UVERBS_ATTR_ALLOC_JOB_PORT_NUM) != port) {
    return EINVAL;
  }
  if (sgid_index >= gid_table_length) return EINVAL;
  const auto vni = static_cast<uint16_t>(id);
  if (int error = check_grant(call, vni)) return error;
  for (const auto& [handle, object] : call.file.objects.all()) {
    if (object->type != UVERBS_OBJECT_JOB) continue;
    const auto& job = static_cast<const Job&>(*object);
    if (job.allocated && job.record->vni == vni) return EEXIST;
  }
  auto record = std::make_shared<JobRecord>();
  record->vni = vni;
  record->port_num = port;
  record->sgid_index = sgid_index;
  record->table.resize(entries);
  return hold(call, UVERBS_ATTR_ALLOC_JOB_HANDLE, std::move(record), true);
}

int import_job(Call& call) {
  auto identity = call.caller.identify(call.in<int32_t>(UVERBS_ATTR_IMPORT_JOB_FD));
  if (!identity) return EBADF;
  auto record = call.file.nic.exported_jobs->find(*identity);
  if (!record) return EINVAL;
  if (int error = check_grant(call, record->vni)) return error;
  return hold(call, UVERBS_ATTR_IMPORT_JOB_HANDLE, std::move(record), false);
}

int export_job(Call& call) {
  auto* job = call.object<Job>(UVERBS_ATTR_EXPORT_JOB_HANDLE);
  auto fd = call.file.nic.exported_jobs->add(job->record);
  if (!fd) return fd.error;
  call.put(UVERBS_ATTR_EXPORT_JOB_FD, int32_t{-1});
  call.install_into(UVERBS_ATTR_EXPORT_JOB_FD, fd.value);
  return 0;
}

int query_job(Call& call) {
  const JobRecord& record = *call.object<Job>(UVERBS_ATTR_QUERY_JOB_HANDLE)->record;
  call.put(UVERBS_ATTR_QUERY_JOB_ID, uint32_t{record.vni});
  call.put(UVERBS_ATTR_QUERY_JOB_MAX_ADDR_ENTRIES, static_cast<uint32_t>(record.table.size()));
  call.put(UVERBS_ATTR_QUERY_JOB_FLAGS, uint32_t{0});
  call.put(UVERBS_ATTR_QUERY_JOB_PORT_NUM, record.port_num);
  call.put(UVERBS_ATTR_QUERY_JOB_SGID_INDEX, record.sgid_index);
  return 0;
}

int insert_job_addr(Call& call) {
  if (int error = no_flags(call, UVERBS_ATTR_JOB_ADDR_INSERT_FLAGS)) return error;
  JobRecord& record = *call.object<Job>(UVERBS_ATTR_JOB_ADDR_INSERT_HANDLE)->record;
  auto index = call.in<uint32_t>(UVERBS_ATTR_JOB_ADDR_INSERT_INDEX);
  if (index >= record.table.size()) return ENOENT;
  auto attr = call.in<ib_uverbs_ah_attr_ex>(UVERBS_ATTR_JOB_ADDR_INSERT_AH_ATTR_EX);
  auto nid = resolve(call.file.nic, attr);
  if (!nid) return nid.error;
  record.table[index] = {true, attr, nid.value};
  for (Job* holder : record.holders)
    holder->publish(index);
  return 0;
}

int remove_job_addr(Call& call) {
  if (int error = no_flags(call, UVERBS_ATTR_JOB_ADDR_REMOVE_FLAGS)) return error;
  JobRecord& record = *call.object<Job>(UVERBS_ATTR_JOB_ADDR_REMOVE_HANDLE)->record;
  auto index = call.in<uint32_t>(UVERBS_ATTR_JOB_ADDR_REMOVE_INDEX);
  if (index >= record.table.size() || !record.table[index].valid) return ENOENT;
  record.table[index] = {};
  for (Job* holder : record.holders)
    holder->publish(index);
  return 0;
}

int query_job_addr(Call& call) {
  if (int error = no_flags(call, UVERBS_ATTR_JOB_ADDR_QUERY_FLAGS)) return error;
  const JobRecord& record = *call.object<Job>(UVERBS_ATTR_JOB_ADDR_QUERY_HANDLE)->record;
  auto index = call.in<uint32_t>(UVERBS_ATTR_JOB_ADDR_QUERY_INDEX);
  if (index >= record.table.size() || !record.table[index].valid) return ENOENT;
  ib_uverbs_ah_attr_ex answer = record.table[index].attr;
  answer.ah_attr.dlid = 0;
  answer.ah_attr.src_path_bits = 0;
  answer.ah_attr.static_rate = 0;
  call.put(UVERBS_ATTR_JOB_ADDR_QUERY_AH_ATTR_EX, answer);
  return 0;
}

int create_jkey(Call& call) {
  if (int error = no_flags(call, UVERBS_ATTR_CREATE_JKEY_FLAGS)) return error;
  auto* job = call.object<Job>(UVERBS_ATTR_CREATE_JKEY_JOB_HANDLE);
  auto* pd = call.object<Pd>(UVERBS_ATTR_CREATE_JKEY_PD_HANDLE);
  if (!grants(call, *pd->lni, job->record->vni)) return EPERM;
  File& file = call.file;
  auto free_slot = std::ranges::find(file.job_keys, nullptr);
  if (free_slot == file.job_keys.end()) return ENOSPC;
  const unsigned traffic_class = pd->lni->service().first_traffic_class();
  // Kept until the logical NI goes: commands in flight name it.
  auto lcid = pd->lni->take_profile(job->record->vni, traffic_class, CXI_ABI_TC_TYPE_DEFAULT, true);
  if (!lcid) return lcid.error;
  pd->lni->drop_profile(lcid.value);

  uint32_t serial = (file.job_key_serial + 1) & serial_mask;
  if (serial == 0) serial = 1;
  file.job_key_serial = serial;
  auto slot = static_cast<unsigned>(free_slot - file.job_keys.begin());
  auto key = std::make_unique<Jkey>(file, *pd, *job, slot, serial);
  key->lcid = lcid.value;
  key->traffic_class = traffic_class;
  Jkey& made = call.made(UVERBS_ATTR_CREATE_JKEY_HANDLE, std::move(key));
  call.put(UVERBS_ATTR_CREATE_JKEY_JKEY, made.value());
  call.driver_out(cxi_abi_create_jkey_resp{lcid.value, made.vni(), traffic_class, 0});
  return 0;
}

}  // namespace sim::uverbs
