// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the methods do, one function per method; the table (schema_table.cpp) says which is which.
// Each returns 0 or the positive errno of its refusal.
#pragma once

#include <rdma/ib_user_verbs.h>

#include "uverbs/call.hpp"
#include "uverbs/file_memory.hpp"
#include "uverbs/objects.hpp"
#include "uverbs/qp.hpp"

namespace sim::uverbs {

// DEVICE
int invoke_write(Call& call);
int get_context(Call& call);
int query_context(Call& call);
int query_port(Call& call);
int query_port_speed(Call& call);
int query_gid_table(Call& call);
int query_gid_entry(Call& call);
int query_qp_semantics(Call& call);
int alloc_async_event(Call& call);

// Destroys what the method's `destroyed` attribute names; EBUSY while something uses it.
int destroy_object(Call& call);

int create_cq(Call& call);
int destroy_cq(Call& call);
int eq_notify_at(Call& call);
int create_qp(Call& call);
int destroy_qp(Call& call);
int attach_mr(Call& call);
int detach_mr(Call& call);
int attach_comp_cntr(Call& call);
int query_comp_cntr_caps(Call& call);
int create_comp_cntr(Call& call);
int modify_comp_cntr(Call& call);
int read_comp_cntr(Call& call);
int reg_mr(Call& call);
int query_mr(Call& call);
int create_ah_ex(Call& call);
int alloc_job(Call& call);
int import_job(Call& call);
int export_job(Call& call);
int query_job(Call& call);
int insert_job_addr(Call& call);
int remove_job_addr(Call& call);
int query_job_addr(Call& call);
int create_jkey(Call& call);

// Parts that ioctl methods and write commands share.
int alloc_pd(Call& call, Pd** out);
struct Registration {
  Pd* pd = nullptr;
  uint64_t addr = 0, length = 0, iova = 0;
  std::optional<int> fd;  // of the caller; addr is an offset in the file then
  std::optional<FileId> from_file;
  uint32_t access = 0;
  std::optional<uint64_t> application_key;
  Jkey* jkey = nullptr;
  Mr* parent = nullptr;
};
int register_memory(Call& call, const Registration& wanted, Mr** out);
int resize_cq(Call& call, Cq& cq, uint32_t cqe);
void answer_registration(Call& call, const Mr& mr);
cxi_abi_reg_mr_resp registration(const Mr& mr);
// Bits of enum ib_mr_rereg_flags.
enum ReregFlags : uint32_t { rereg_translation = 1 << 0, rereg_pd = 1 << 1, rereg_access = 1 << 2 };
int rereg_memory(Call& call, const ib_uverbs_rereg_mr& cmd, Mr& mr, Pd* pd);
int modify_cq(Call& call, Cq& cq, const ib_uverbs_ex_modify_cq& cmd);
nic::Made<std::shared_ptr<FileMemory>> file_memory(Call& call, int fd, uint64_t first,
                                                   uint64_t length, bool writes);
ib_uverbs_query_port_resp port_attributes(NicState& nic);

}  // namespace sim::uverbs
