// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The driver's own objects and their methods (see the second half of rdma/cxiverbs-abi.h).
#pragma once

#include <cerrno>
#include <memory>
#include <vector>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {

class LniObject final : public Object {
 public:
  LniObject(File& f, std::shared_ptr<Lni> l) : Object(f, CXI_OBJECT_LNI), lni(std::move(l)) {}
  // Everything that lives on it holds it.
  int may_go() const override { return lni.use_count() == 1 ? Object::may_go() : EBUSY; }

  const std::shared_ptr<Lni> lni;
};

class CpObject final : public Object {
 public:
  CpObject(File& f, std::shared_ptr<Lni> l, uint16_t v, unsigned n)
      : Object(f, CXI_OBJECT_CP), lni(std::move(l)), vni(v), lcid(n) {}
  ~CpObject() override { lni->drop_profile(lcid); }

  const std::shared_ptr<Lni> lni;
  const uint16_t vni;
  const unsigned lcid;
};

class DomainObject final : public Object {
 public:
  DomainObject(File& f, std::shared_ptr<Lni> l, uint16_t v, unsigned p);
  ~DomainObject() override;

  const std::shared_ptr<Lni> lni;
  const uint16_t vni;
  const unsigned pid;
};

class NativeCmdq final : public CmdqObject {
 public:
  using CmdqObject::CmdqObject;
  Use<CpObject> cp;
  Use<EqObject> eq;
};

class PteObject final : public Native<PortalEntry, CXI_OBJECT_PTE> {
 public:
  using Native::Native;
  int may_go() const override { return resource->mapped() ? EBUSY : Object::may_go(); }

  std::shared_ptr<Lni> lni;
  Use<EqObject> eq;
  struct Portal {
    Use<DomainObject> domain;
    unsigned index;
    bool multicast;
  };
  std::vector<Portal> portals;
};

using CtObject = Native<CountingEvent, CXI_OBJECT_CT>;

// The standard counters object: through it, too, a program reads telemetry items.
class Counters final : public Object {
 public:
  explicit Counters(File& f) : Object(f, UVERBS_OBJECT_COUNTERS) {}
};

class SvcObject final : public Object {
 public:
  SvcObject(File& f, uint32_t service) : Object(f, CXI_OBJECT_SVC), service_id(service) {}
  // The service goes, at the latest with the last logical NI on it.
  ~SvcObject() override;
  int may_go() const override;

  const uint32_t service_id;
};

// The logical NI that a call names by an attribute, or the context's own.
nic::Made<std::shared_ptr<Lni>> named_lni(Call& call);
// The same for a handle in driver data, where CXI_ABI_HANDLE_NONE is the context's own.
nic::Made<std::shared_ptr<Lni>> named_lni(Call& call, uint32_t handle);
// The object of a type that a handle in driver data names, or null.
template <class T>
T* find_object(const File& file, uint32_t handle, uint16_t type) {
  Object* object = file.objects.find(handle);
  return object && object->type == type ? static_cast<T*>(object) : nullptr;
}
// EINVAL VNI 0, ENOENT the service does not have it, EPERM the caller is not admitted.
int check_vni(Call& call, Lni& lni, uint32_t vni);

int svc_alloc(Call& call);
int svc_destroy(Call& call);
int svc_modify(Call& call);
int svc_query(Call& call);
int svc_list(Call& call);
int lni_create(Call& call);
int lni_query(Call& call);
int cp_alloc(Call& call);
int domain_create(Call& call);
int domain_reserve(Call& call);
int md_map(Call& call);
int eq_create(Call& call);
int eq_destroy(Call& call);
int eq_resize(Call& call);
int cmdq_create(Call& call);
int pte_create(Call& call);
int pte_map(Call& call);
int pte_unmap(Call& call);
int pte_query(Call& call);
int pte_invalidate_le(Call& call);
int pte_transition(Call& call);
int ct_create(Call& call);
int ct_set(Call& call);
int ct_inc(Call& call);
int ct_read(Call& call);
int ct_wait(Call& call);
int csr_read(Call& call);
int csr_write(Call& call);
int csr_map(Call& call);
int telem_read(Call& call);
int create_counters(Call& call);
int read_counters(Call& call);

// The value of a telemetry item now, or the status that says why there is none.
cxi_abi_telem_result read_telemetry(NicState& nic, uint32_t number);

}  // namespace sim::uverbs
