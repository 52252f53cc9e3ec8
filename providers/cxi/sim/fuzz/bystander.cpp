// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fuzz/bystander.hpp"

#include <algorithm>
#include <cstdio>

namespace sim::fuzz {
namespace {

constexpr uint16_t first_vni = 100;
constexpr unsigned pid = 3;
constexpr uid_t first_user = 2000;
constexpr uint32_t nid = 1;
constexpr uint64_t source = buffer_va + 0x8000;
constexpr uint64_t posted = buffer_va + 0x1000;

uint32_t make_service(Program& administrator, uint16_t vni, uid_t user) {
  cxi_abi_svc_desc desc{};
  desc.flags = CXI_ABI_SVC_ENABLED;
  desc.num_vnis = 1;
  desc.vnis[0] = vni;
  desc.tc_mask = 0xf;
  desc.members[0] = {CXI_ABI_MEMBER_UID, user};
  auto made = administrator.native(CXI_OBJECT_SVC, CXI_METHOD_SVC_ALLOC, desc, sizeof desc);
  must(made.error == 0, "a service is made");
  return made.resp<cxi_abi_svc_desc>().svc_id;
}

template <class T>
void add(std::vector<std::byte>& to, const T& value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

Bystander::Bystander(uverbs::Kernel& kernel, unsigned number)
    : kernel_(kernel), administrator_(std::make_unique<Program>(kernel, 0, 0, 0)) {
  administrator_->caller.who.cap_sys_admin = true;
  const auto vni = static_cast<uint16_t>(first_vni + number);
  const uid_t user = first_user + number;
  const uint32_t service = make_service(*administrator_, vni, user);
  program_ = std::make_unique<Program>(kernel, 0, user, service);
  Program& p = *program_;
  p.set_up(vni, pid);
  p.set_up_verbs(vni);
  for (size_t i = 0; i < 0x8000; ++i)
    p.caller.store(source + i, static_cast<uint8_t>(i * 7 + 1));

  // A message that waits in the overflow buffer, and a put that waits for its counter.
  const uint32_t to = nic::testing::dfa(nid, pid, 0);
  CommandWriter& tx = p.queues[0];
  tx.push(nic::testing::cstate(p.eqn, 0));
  const auto message = nic::testing::small_message(to, "unexpected", 7, 0, 9);
  tx.push_bytes(message.command, message.bytes);
  tx.ring_doorbell();
  c_ct_cmd head{};
  head.command.cmd_type = C_CMD_TYPE_CT;
  head.command.cmd_size = C_CMD_SIZE_128B;
  head.command.opcode = C_CMD_CT_TRIG_DMA;
  head.trig_ct = p.ct_number & 0x7ff;
  head.threshold = 5;
  auto put = nic::testing::dma(C_CMD_PUT, to, 0);
  put.lac = p.lac & 7;
  put.local_addr = p.iova(source) & ((uint64_t{1} << 57) - 1);
  put.request_len = 256;
  put.match_bits = 1;
  put.eq = p.eqn & 0x7ff;
  put.user_ptr = 77;
  std::array<std::byte, 128> triggered{};
  std::memcpy(triggered.data(), &head, sizeof head);
  std::memcpy(triggered.data() + sizeof head, &put, sizeof put);
  p.queues[2].push(triggered);
  p.queues[2].ring_doorbell();
  p.run(kernel_);
  while (p.events.next()) {
  }
  p.events.ack();
  p.run(kernel_);
  before_ = picture();
}

std::vector<std::byte> Bystander::picture() {
  Program& p = *program_;
  std::vector<std::byte> out;
  // Its memory but for where calls are laid out; rings, doorbells, slots.
  const size_t own = buffer_va - FakeCaller::base;
  out.resize(FakeCaller::size - own);
  p.caller.memory()->read(buffer_va, out);
  const auto pages = p.window().all();
  out.insert(out.end(), pages.begin(), pages.end());
  add(out, pages.size());
  for (const auto& [id, object] : p.file().objects.all()) {
    add(out, id);
    add(out, object->type);
    add(out, object->uses);
  }
  add(out, p.query<cxi_abi_ct_resp>(CXI_OBJECT_CT, CXI_METHOD_CT_READ, p.ct));
  add(out, p.query<cxi_abi_lni_resp>(CXI_OBJECT_LNI, CXI_METHOD_LNI_QUERY, p.lni));
  auto entry = p.native(CXI_OBJECT_PTE, CXI_METHOD_PTE_QUERY, cxi_abi_pte_req{},
                        sizeof(cxi_abi_pte_resp), {{CXI_ATTR_HANDLE, p.pte}});
  must(entry.error == 0, "the entry can be asked for");
  auto status = entry.resp<cxi_abi_pte_resp>();
  status.les_allocated = 0;  // of all who share a processing element
  add(out, status);
  auto service = p.native(CXI_OBJECT_SVC, CXI_METHOD_SVC_QUERY,
                          cxi_abi_lni_req{p.file().service_id, 0}, sizeof(cxi_abi_svc_desc), {});
  must(service.error == 0, "the service can be asked for");
  auto desc = service.resp<cxi_abi_svc_desc>();
  for (auto& limit : desc.limits)
    limit.free = 0;  // what is left of the device does depend on others
  add(out, desc);
  return out;
}

void Bystander::expect_untouched() {
  const auto now = picture();
  // Not byte by byte unless something is wrong: under the sanitizers that takes its time.
  if (now.size() == before_.size() && std::memcmp(now.data(), before_.data(), now.size()) == 0)
    return;
  const auto is = std::ranges::mismatch(now, before_).in1;
  fprintf(stderr, "at %td of %zu (memory %zu, then pages)\n", is - now.begin(), now.size(),
          FakeCaller::size - (buffer_va - FakeCaller::base));
  must(false, "the bystander is as it was");
}

void Bystander::put_to_itself() {
  Program& p = *program_;
  auto put = nic::testing::dma(C_CMD_PUT, nic::testing::dfa(nid, pid, 0), 0);
  put.lac = p.lac & 7;
  put.local_addr = p.iova(source + 256) & ((uint64_t{1} << 57) - 1);
  put.request_len = 1024;
  put.remote_offset = 1024;
  put.match_bits = 1;
  put.eq = p.eqn & 0x7ff;
  put.user_ptr = 78;
  p.queues[0].push(put);
  p.queues[0].ring_doorbell();
}

void Bystander::expect_working(uverbs::test::FakeClock& clock) {
  Program& p = *program_;
  put_to_itself();
  must(p.native(CXI_OBJECT_CT, CXI_METHOD_CT_INC, cxi_abi_ct_req{0, 5, 0, 0}, 0,
                {{CXI_ATTR_HANDLE, p.ct}})
               .error == 0,
       "the counter counts");
  auto append = nic::testing::append_cmd(p.pte_number, C_PTL_LIST_PRIORITY, 3);
  append.match_bits = 7;
  append.ignore_bits = 0;
  append.use_once = 1;
  p.queues[1].push(append);
  p.queues[1].ring_doorbell();
  unsigned acknowledged = 0, put = 0, claimed = 0, other = 0;
  const auto finished = [&] { return acknowledged == 2 && put == 2 && claimed == 1; };
  for (int i = 0; i < 200 && !finished(); ++i) {
    p.run(kernel_, 50);
    clock.now += 1'000'000'000;
    while (const auto event = p.events.next()) {
      const bool good = p.events.last_code == C_RC_OK;
      if (good && event->hdr.event_type == C_EVENT_ACK)
        ++acknowledged;
      else if (good && event->hdr.event_type == C_EVENT_PUT)
        ++put;
      else if (good && event->hdr.event_type == C_EVENT_PUT_OVERFLOW)
        ++claimed;
      else
        ++other;
    }
    p.events.ack();
  }
  must(finished() && other == 0, "the bystander's messages and nothing else arrive");
  for (uint64_t i = 0; i < 256; ++i)
    must(p.caller.load<uint8_t>(posted + i) == p.caller.load<uint8_t>(source + i), "data");
  for (uint64_t i = 0; i < 1024; ++i)
    must(p.caller.load<uint8_t>(posted + 1024 + i) == p.caller.load<uint8_t>(source + 256 + i),
         "data");
}

void Bystander::expect_destructible() {
  Program& p = *program_;
  const auto go = [&](uint16_t object, uint16_t method, uint32_t handle) {
    must(p.destroy(object, method, CXI_ATTR_HANDLE, handle) == 0, "destroying");
  };
  const auto busy = [&](uint16_t object, uint16_t method, uint32_t handle) {
    must(p.destroy(object, method, CXI_ATTR_HANDLE, handle) == EBUSY, "busy");
  };
  must(p.destroy(UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY, UVERBS_ATTR_DESTROY_MR_HANDLE, p.mr) ==
           0,
       "destroying a region");
  busy(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, p.lni);
  busy(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, p.eq);
  busy(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, p.domain);
  busy(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, p.cp);
  go(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, p.trigger_queue);
  go(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, p.tgq);
  go(CXI_OBJECT_CMDQ, CXI_METHOD_CMDQ_DESTROY, p.txq);
  go(CXI_OBJECT_CT, CXI_METHOD_CT_DESTROY, p.ct);
  must(p.native(CXI_OBJECT_PTE, CXI_METHOD_PTE_UNMAP, cxi_abi_pte_req{}, 0,
                {{CXI_ATTR_HANDLE, p.pte}, {CXI_ATTR_DOMAIN_HANDLE, p.domain}})
               .error == 0,
       "unmapping");
  go(CXI_OBJECT_PTE, CXI_METHOD_PTE_DESTROY, p.pte);
  go(CXI_OBJECT_EQ, CXI_METHOD_EQ_DESTROY, p.eq);
  go(CXI_OBJECT_MD, CXI_METHOD_MD_UNMAP, p.md);
  go(CXI_OBJECT_DOMAIN, CXI_METHOD_DOMAIN_DESTROY, p.domain);
  go(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, p.cp);
  go(CXI_OBJECT_CP, CXI_METHOD_CP_FREE, p.trigger_cp);
  go(CXI_OBJECT_LNI, CXI_METHOD_LNI_DESTROY, p.lni);
}

}  // namespace sim::fuzz
