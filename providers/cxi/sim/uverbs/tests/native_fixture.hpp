// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A context, and the calls that make the driver's own objects in it.
#pragma once

#include <ethernet/cassini_user_defs.h>

#include <optional>
#include <utility>

#include "kernel_fixture.hpp"

namespace sim::uverbs::test {

class NativeTest : public ContextTest {
 protected:
  // One native call: a structure in, room for a structure out, handles as given.
  using Answer = NativeAnswer;
  template <class Req>
  Answer native(uint16_t object, uint16_t method, const Req& req, size_t resp_size,
                std::vector<std::pair<uint16_t, uint64_t>> handles = {{CXI_ATTR_HANDLE, 0}}) {
    auto ioctl = call(object, method);
    for (auto [id, value] : handles)
      ioctl.handle(id, value);
    ioctl.in(CXI_ATTR_REQ, req);
    if (resp_size) ioctl.out(CXI_ATTR_RESP, resp_size);
    int error = issue(*target(), ioctl);
    return {error, ioctl};
  }
  int destroy_native(uint16_t object, uint16_t method, uint32_t handle) {
    auto ioctl = call(object, method);
    ioctl.handle(CXI_ATTR_HANDLE, handle);
    return issue(*target(), ioctl);
  }
  virtual OpenFile* target() { return file.get(); }

  Answer lni(uint32_t service = 0, uint32_t reserved = 0) {
    return native(CXI_OBJECT_LNI, CXI_METHOD_LNI_CREATE, cxi_abi_lni_req{service, reserved},
                  sizeof(cxi_abi_lni_resp));
  }
  Answer cp(cxi_abi_cp_req req, std::optional<uint32_t> on = std::nullopt) {
    std::vector<std::pair<uint16_t, uint64_t>> handles = {{CXI_ATTR_HANDLE, 0}};
    if (on) handles.push_back({CXI_ATTR_LNI_HANDLE, *on});
    return native(CXI_OBJECT_CP, CXI_METHOD_CP_ALLOC, req, sizeof(cxi_abi_cp_resp), handles);
  }
  Answer domain(uint32_t vni, uint32_t pid, std::optional<uint32_t> on = std::nullopt) {
    std::vector<std::pair<uint16_t, uint64_t>> handles = {{CXI_ATTR_HANDLE, 0}};
    if (on) handles.push_back({CXI_ATTR_LNI_HANDLE, *on});
    return native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_CREATE, cxi_abi_domain_req{vni, pid, 0, 0},
                  sizeof(cxi_abi_domain_resp), handles);
  }
  Answer reserve(uint32_t vni, uint32_t pid, uint32_t count) {
    return native(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_RESERVE,
                  cxi_abi_domain_req{vni, pid, count, 0}, sizeof(cxi_abi_domain_resp), {});
  }
  static cxi_abi_eq_req eq_request() {
    cxi_abi_eq_req req{};
    req.slots = 128;
    req.reserve = 10;
    return req;
  }
  Answer eq(const cxi_abi_eq_req& req = eq_request(),
            std::vector<std::pair<uint16_t, uint64_t>> more = {}) {
    more.push_back({CXI_ATTR_HANDLE, 0});
    return native(CXI_OBJECT_EQ, CXI_METHOD_EQ_CREATE, req, sizeof(cxi_abi_eq_info), more);
  }
  Answer cmdq(cxi_abi_cmdq_req req, std::vector<std::pair<uint16_t, uint64_t>> more = {}) {
    more.push_back({CXI_ATTR_HANDLE, 0});
    return native(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_CREATE, req, sizeof(cxi_abi_cmdq_info), more);
  }
  Answer pte(uint32_t flags, uint32_t charge = 0,
             std::vector<std::pair<uint16_t, uint64_t>> more = {}) {
    cxi_abi_pte_req req{};
    req.flags = flags;
    req.le_charge = charge;
    more.push_back({CXI_ATTR_HANDLE, 0});
    return native(CXI_OBJECT_PTE, CXI_METHOD_PTE_CREATE, req, sizeof(cxi_abi_pte_resp), more);
  }
  int pte_work(uint16_t method, uint32_t handle, const cxi_abi_pte_req& req,
               std::optional<uint32_t> domain_handle = std::nullopt) {
    std::vector<std::pair<uint16_t, uint64_t>> handles = {{CXI_ATTR_HANDLE, handle}};
    if (domain_handle) handles.push_back({CXI_ATTR_DOMAIN_HANDLE, *domain_handle});
    return native(CXI_OBJECT_PTE, method, req, 0, handles).error;
  }
};

}  // namespace sim::uverbs::test
