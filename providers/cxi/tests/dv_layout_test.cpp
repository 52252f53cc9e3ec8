// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Where the members of the public structures lie. Programs are built with these numbers, the inline
// functions above all: a structure grows at its end only.
#include <infiniband/cxidv.h>

#include <cstddef>

#if __SIZEOF_POINTER__ == 8

#define SIZE(type, bytes) static_assert(sizeof(type) == (bytes), #type)
#define AT(type, member, offset) \
  static_assert(offsetof(type, member) == (offset), #type "::" #member)

SIZE(cxidv_device_attr, 104);
AT(cxidv_device_attr, comp_mask, 0);
AT(cxidv_device_attr, nid, 8);
AT(cxidv_device_attr, svc_id, 12);
AT(cxidv_device_attr, pid_bits, 16);
AT(cxidv_device_attr, pid_granule, 20);
AT(cxidv_device_attr, rdzv_get_index, 24);
AT(cxidv_device_attr, cassini_version, 28);
AT(cxidv_device_attr, window_flags, 32);
AT(cxidv_device_attr, max_inline, 36);
AT(cxidv_device_attr, max_eq_reserve, 40);
AT(cxidv_device_attr, num_ptes, 44);
AT(cxidv_device_attr, num_txqs, 48);
AT(cxidv_device_attr, num_tgqs, 52);
AT(cxidv_device_attr, num_eqs, 56);
AT(cxidv_device_attr, num_cts, 60);
AT(cxidv_device_attr, num_acs, 64);
AT(cxidv_device_attr, num_les, 68);
AT(cxidv_device_attr, num_tles, 72);
AT(cxidv_device_attr, min_free_shift, 76);
AT(cxidv_device_attr, pci_vendor_id, 80);
AT(cxidv_device_attr, pci_device_id, 84);
AT(cxidv_device_attr, link_mbps, 88);
AT(cxidv_device_attr, link_state, 92);
AT(cxidv_device_attr, clock_hz, 96);

SIZE(cxidv_open_attr, 16);
AT(cxidv_open_attr, comp_mask, 0);
AT(cxidv_open_attr, svc_id, 8);
AT(cxidv_open_attr, flags, 12);

SIZE(cxidv_svc_member, 8);
AT(cxidv_svc_member, type, 0);
AT(cxidv_svc_member, id, 4);

SIZE(cxidv_svc_limit, 16);
AT(cxidv_svc_limit, max, 0);
AT(cxidv_svc_limit, reserved, 4);
AT(cxidv_svc_limit, in_use, 8);
AT(cxidv_svc_limit, free, 12);

SIZE(cxidv_svc_attr, 176);
AT(cxidv_svc_attr, comp_mask, 0);
AT(cxidv_svc_attr, svc_id, 8);
AT(cxidv_svc_attr, flags, 12);
AT(cxidv_svc_attr, num_vnis, 16);
AT(cxidv_svc_attr, tc_mask, 20);
AT(cxidv_svc_attr, vnis, 24);
AT(cxidv_svc_attr, members, 32);
AT(cxidv_svc_attr, limits, 48);

SIZE(cxidv_svc, 16);
AT(cxidv_svc, context, 0);
AT(cxidv_svc, svc_id, 8);

SIZE(cxidv_lni, 16);
AT(cxidv_lni, context, 0);
AT(cxidv_lni, svc_id, 8);
AT(cxidv_lni, rgid, 12);

SIZE(cxidv_lni_attr, 16);
AT(cxidv_lni_attr, comp_mask, 0);
AT(cxidv_lni_attr, svc_id, 8);
AT(cxidv_lni_attr, flags, 12);

SIZE(cxidv_lni_info, 24);
AT(cxidv_lni_info, comp_mask, 0);
AT(cxidv_lni_info, svc_id, 8);
AT(cxidv_lni_info, rgid, 12);
AT(cxidv_lni_info, num_cps, 16);
AT(cxidv_lni_info, num_acs, 20);

SIZE(cxidv_cp_attr, 24);
AT(cxidv_cp_attr, comp_mask, 0);
AT(cxidv_cp_attr, vni, 8);
AT(cxidv_cp_attr, traffic_class, 12);
AT(cxidv_cp_attr, traffic_class_type, 16);
AT(cxidv_cp_attr, flags, 20);

SIZE(cxidv_cp, 24);
AT(cxidv_cp, lni, 0);
AT(cxidv_cp, vni, 8);
AT(cxidv_cp, traffic_class, 12);
AT(cxidv_cp, traffic_class_type, 16);
AT(cxidv_cp, lcid, 20);

SIZE(cxidv_domain, 16);
AT(cxidv_domain, lni, 0);
AT(cxidv_domain, vni, 8);
AT(cxidv_domain, pid, 12);

SIZE(cxidv_md_attr, 40);
AT(cxidv_md_attr, comp_mask, 0);
AT(cxidv_md_attr, addr, 8);
AT(cxidv_md_attr, length, 16);
AT(cxidv_md_attr, flags, 24);
AT(cxidv_md_attr, dmabuf_fd, 28);
AT(cxidv_md_attr, offset, 32);

SIZE(cxidv_md, 40);
AT(cxidv_md, lni, 0);
AT(cxidv_md, addr, 8);
AT(cxidv_md, length, 16);
AT(cxidv_md, iova, 24);
AT(cxidv_md, lac, 32);

SIZE(cxidv_eq_attr, 48);
AT(cxidv_eq_attr, comp_mask, 0);
AT(cxidv_eq_attr, flags, 8);
AT(cxidv_eq_attr, slots, 12);
AT(cxidv_eq_attr, reserve, 16);
AT(cxidv_eq_attr, status_base, 20);
AT(cxidv_eq_attr, status_delta, 22);
AT(cxidv_eq_attr, status_count, 24);
AT(cxidv_eq_attr, reserved, 26);
AT(cxidv_eq_attr, channel, 32);
AT(cxidv_eq_attr, eq_context, 40);

SIZE(cxidv_eq, 72);
AT(cxidv_eq, lni, 0);
AT(cxidv_eq, eq_context, 8);
AT(cxidv_eq, channel, 16);
AT(cxidv_eq, eqn, 24);
AT(cxidv_eq, byte_size, 28);
AT(cxidv_eq, ring, 32);
AT(cxidv_eq, rd_offset, 40);
AT(cxidv_eq, cleared_offset, 44);
AT(cxidv_eq, sw_state, 48);
AT(cxidv_eq, sw_value, 56);
AT(cxidv_eq, notified, 64);
AT(cxidv_eq, reserved, 68);

SIZE(cxidv_cmdq_attr, 40);
AT(cxidv_cmdq_attr, comp_mask, 0);
AT(cxidv_cmdq_attr, flags, 8);
AT(cxidv_cmdq_attr, slots, 12);
AT(cxidv_cmdq_attr, policy, 16);
AT(cxidv_cmdq_attr, stat_pool, 20);
AT(cxidv_cmdq_attr, cp, 24);
AT(cxidv_cmdq_attr, eq, 32);

SIZE(cxidv_cmdq, 56);
AT(cxidv_cmdq, lni, 0);
AT(cxidv_cmdq, index, 8);
AT(cxidv_cmdq, flags, 12);
AT(cxidv_cmdq, window_flags, 16);
AT(cxidv_cmdq, size32, 20);
AT(cxidv_cmdq, wp32, 24);
AT(cxidv_cmdq, hw_wp32, 28);
AT(cxidv_cmdq, rp32, 32);
AT(cxidv_cmdq, reserved, 36);
AT(cxidv_cmdq, ring, 40);
AT(cxidv_cmdq, launch, 48);

SIZE(cxidv_pte_attr, 24);
AT(cxidv_pte_attr, comp_mask, 0);
AT(cxidv_pte_attr, flags, 8);
AT(cxidv_pte_attr, le_charge, 12);
AT(cxidv_pte_attr, eq, 16);

SIZE(cxidv_pte, 24);
AT(cxidv_pte, lni, 0);
AT(cxidv_pte, eq, 8);
AT(cxidv_pte, ptn, 16);
AT(cxidv_pte, flags, 20);

SIZE(cxidv_pte_status, 48);
AT(cxidv_pte_status, comp_mask, 0);
AT(cxidv_pte_status, state, 8);
AT(cxidv_pte_status, drop_count, 12);
AT(cxidv_pte_status, les_reserved, 16);
AT(cxidv_pte_status, les_allocated, 20);
AT(cxidv_pte_status, les_max, 24);
AT(cxidv_pte_status, ule_count, 28);
AT(cxidv_pte_status, max_offsets, 32);
AT(cxidv_pte_status, reserved, 36);
AT(cxidv_pte_status, ule_offsets, 40);

SIZE(cxidv_ct, 32);
AT(cxidv_ct, lni, 0);
AT(cxidv_ct, ct, 8);
AT(cxidv_ct, window_flags, 12);
AT(cxidv_ct, writeback, 16);
AT(cxidv_ct, doorbell, 24);

SIZE(cxidv_csr_info, 32);
AT(cxidv_csr_info, name, 0);
AT(cxidv_csr_info, offset, 8);
AT(cxidv_csr_info, size, 12);
AT(cxidv_csr_info, entries, 16);
AT(cxidv_csr_info, public_read, 20);
AT(cxidv_csr_info, generations, 24);
AT(cxidv_csr_info, reserved, 28);

SIZE(cxidv_pd_attr, 8);
AT(cxidv_pd_attr, comp_mask, 0);

SIZE(cxidv_cq_attr, 24);
AT(cxidv_cq_attr, comp_mask, 0);
AT(cxidv_cq_attr, lni, 8);
AT(cxidv_cq_attr, eq, 16);

SIZE(cxidv_qp_attr, 16);
AT(cxidv_qp_attr, comp_mask, 0);
AT(cxidv_qp_attr, cp, 8);

SIZE(cxidv_pd_info, 24);
AT(cxidv_pd_info, comp_mask, 0);
AT(cxidv_pd_info, lni, 8);
AT(cxidv_pd_info, pid, 16);
AT(cxidv_pd_info, reserved, 20);

SIZE(cxidv_cq_info, 40);
AT(cxidv_cq_info, comp_mask, 0);
AT(cxidv_cq_info, lni, 8);
AT(cxidv_cq_info, eq, 16);
AT(cxidv_cq_info, eqn, 24);
AT(cxidv_cq_info, slots, 28);
AT(cxidv_cq_info, reserve, 32);
AT(cxidv_cq_info, flags, 36);

SIZE(cxidv_qp_info, 56);
AT(cxidv_qp_info, comp_mask, 0);
AT(cxidv_qp_info, lni, 8);
AT(cxidv_qp_info, vni, 16);
AT(cxidv_qp_info, pid, 20);
AT(cxidv_qp_info, ri, 24);
AT(cxidv_qp_info, lcid, 28);
AT(cxidv_qp_info, txq, 32);
AT(cxidv_qp_info, tgq, 36);
AT(cxidv_qp_info, recv_ptn, 40);
AT(cxidv_qp_info, memory_ptn, 44);
AT(cxidv_qp_info, send_eqn, 48);
AT(cxidv_qp_info, recv_eqn, 52);

SIZE(cxidv_mr_info, 40);
AT(cxidv_mr_info, comp_mask, 0);
AT(cxidv_mr_info, lni, 8);
AT(cxidv_mr_info, iova, 16);
AT(cxidv_mr_info, length, 24);
AT(cxidv_mr_info, lac, 32);
AT(cxidv_mr_info, index, 36);

SIZE(cxidv_rkey, 24);
AT(cxidv_rkey, value, 0);
AT(cxidv_rkey, flags, 8);
AT(cxidv_rkey, index, 12);
AT(cxidv_rkey, ri, 16);
AT(cxidv_rkey, reserved, 20);

SIZE(cxidv_le_attr, 64);
AT(cxidv_le_attr, ptn, 0);
AT(cxidv_le_attr, list, 4);
AT(cxidv_le_attr, flags, 8);
AT(cxidv_le_attr, buffer_id, 12);
AT(cxidv_le_attr, start, 16);
AT(cxidv_le_attr, length, 24);
AT(cxidv_le_attr, match_bits, 32);
AT(cxidv_le_attr, ignore_bits, 40);
AT(cxidv_le_attr, match_id, 48);
AT(cxidv_le_attr, min_free, 52);
AT(cxidv_le_attr, lac, 56);
AT(cxidv_le_attr, ct, 60);

SIZE(cxidv_rdzv, 20);
AT(cxidv_rdzv, src_nid, 0);
AT(cxidv_rdzv, src_pid, 4);
AT(cxidv_rdzv, ptn, 8);
AT(cxidv_rdzv, rendezvous_id, 12);
AT(cxidv_rdzv, buffer_id, 16);

#endif
