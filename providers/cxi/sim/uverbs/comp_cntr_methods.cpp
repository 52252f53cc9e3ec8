// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Completion counters. The NIC counts successes; the error value is what the program sets and adds.
#include <cerrno>

#include "uverbs/handlers.hpp"

namespace sim::uverbs {
namespace {

constexpr uint64_t max_success = (1ull << 48) - 1;
constexpr uint64_t max_failure = 127;
constexpr uint32_t countable =
    IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV |
    IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;
constexpr uint32_t known_ops = countable | IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ |
                               IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE;

}  // namespace

int query_comp_cntr_caps(Call& call) {
  call.put(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS, device_totals[CXI_ABI_RSRC_CT]);
  call.put(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE, max_success);
  call.put(UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS, countable);
  return 0;
}

int create_comp_cntr(Call& call) {
  auto lni = call.file.lni(call.caller);
  if (!lni) return lni.error;
  auto counter = CountingEvent::make(lni.value, nullptr, 0);
  if (!counter) return counter.error;
  cxi_abi_create_comp_cntr_resp resp{};
  resp.ct = counter.value->number();
  call.made(UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE,
            std::make_unique<CompCntr>(call.file, std::move(counter.value)));
  call.driver_out(resp);
  return 0;
}

int modify_comp_cntr(Call& call) {
  auto& counter = *call.object<CompCntr>(UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE)->counter;
  auto entry = call.in<uint64_t>(UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY);
  auto op = call.in<uint64_t>(UVERBS_ATTR_MODIFY_COMP_CNTR_OP);
  auto value = call.in<uint64_t>(UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE);
  const bool success = entry == IB_UVERBS_COMP_CNTR_ENTRY_COMP;
  if (!success && entry != IB_UVERBS_COMP_CNTR_ENTRY_ERR) return EINVAL;
  if (value > (success ? max_success : max_failure)) return EINVAL;
  const auto failure = static_cast<unsigned>(value);
  switch (op) {
    case IB_UVERBS_COMP_CNTR_MODIFY_OP_SET:
      return success ? counter.device().set_ct(counter.number(), value, std::nullopt)
                     : counter.device().set_ct(counter.number(), std::nullopt, failure);
    case IB_UVERBS_COMP_CNTR_MODIFY_OP_INC:
      return success ? counter.device().add_ct(counter.number(), value, 0)
                     : counter.device().add_ct(counter.number(), 0, failure);
    default:
      return EINVAL;
  }
}

int read_comp_cntr(Call& call) {
  auto& counter = *call.object<CompCntr>(UVERBS_ATTR_READ_COMP_CNTR_HANDLE)->counter;
  auto entry = call.in<uint64_t>(UVERBS_ATTR_READ_COMP_CNTR_ENTRY);
  if (entry > IB_UVERBS_COMP_CNTR_ENTRY_ERR) return EINVAL;
  auto value = counter.device().read_ct(counter.number());
  if (!value) return value.error;
  call.put(UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE, entry == IB_UVERBS_COMP_CNTR_ENTRY_COMP
                                                      ? value.value.success
                                                      : uint64_t{value.value.failure});
  return 0;
}

int attach_comp_cntr(Call& call) {
  auto* qp = call.object<Qp>(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE);
  auto* counter = call.object<CompCntr>(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE);
  uint64_t ops;
  if (int error = call.flags(UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK, known_ops, ops)) return error;
  if (ops == 0) return EINVAL;
  if (ops & ~countable) return EOPNOTSUPP;
  // Commands can name only counters of their own logical NI.
  if (&counter->counter->lni() != qp->lni.get()) return EINVAL;
  for (uint32_t op = 1; op <= known_ops; op <<= 1) {
    if ((ops & op) && qp->counters.contains(op)) return EBUSY;
  }
  for (uint32_t op = 1; op <= known_ops; op <<= 1) {
    if (ops & op) qp->counters.emplace(op, Use(counter));
  }
  return 0;
}

}  // namespace sim::uverbs
