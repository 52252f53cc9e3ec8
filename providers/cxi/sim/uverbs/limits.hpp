// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What the modelled device has of everything, and the sizes that the driver insists on.
#pragma once

#include <rdma/cxiverbs-abi.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace sim::uverbs {

inline constexpr size_t page_size = 4096;
inline constexpr size_t slot_size = 64;  // of command and event queues

// Usable numbers of each resource; identifier 0 of most means "none" (behaviour 13).
inline constexpr std::array<uint32_t, CXI_ABI_RSRC_COUNT> device_totals = {
    2047,   // portal entries
    1024,   // transmit queues
    512,    // target queues
    2047,   // event queues
    2047,   // counting events
    16384,  // list entries, per processing element
    2048,   // triggered entries
    1022,   // address contexts
};
inline constexpr unsigned processing_elements = 4;
inline constexpr unsigned lcids_per_rgid = 16;
inline constexpr unsigned lacs_per_rgid = 8;

inline constexpr uint32_t max_cqe = 65536;
inline constexpr uint32_t max_eq_reserve = 16383;
inline constexpr uint32_t max_qp_wr = 4096;
inline constexpr uint32_t max_sge = 16;
inline constexpr uint32_t max_inline = 192;  // of a small message (behaviour 2.9)
inline constexpr uint32_t min_cmdq_slots = 64;
inline constexpr uint32_t max_cmdq_slots = 65536;
inline constexpr uint32_t max_slot_bytes = 65536;
inline constexpr uint64_t max_slot_memory = 64u << 20;
inline constexpr uint32_t max_pd = 1024;
inline constexpr uint32_t max_mr = 1u << 18;
inline constexpr uint32_t max_ah = 1u << 16;
inline constexpr uint32_t max_job_ids = 65535;  // a job id is a VNI
inline constexpr uint32_t max_job_keys = 256;
inline constexpr uint32_t max_addr_entries = 1u << 16;
inline constexpr uint32_t max_qps = 511;  // one target queue is the driver's own

inline constexpr uint32_t num_comp_vectors = 1;
inline constexpr uint8_t port = 1;
inline constexpr uint32_t gid_table_length = 2;
inline constexpr uint32_t gid_slingshot = 0, gid_address = 1;  // indices
inline constexpr uint32_t link_mbps = 400000;
inline constexpr uint32_t path_mtu_2048 = 4;  // enum ib_mtu
inline constexpr uint32_t max_pdu = 2048;
inline constexpr uint32_t pci_vendor_id = 0x1590, pci_device_id = 0x0371;
inline constexpr uint32_t nid_limit = 1u << 20;
inline constexpr uint32_t nid_any = nid_limit - 1;

}  // namespace sim::uverbs
