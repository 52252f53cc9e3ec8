// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The calls of verbs that make something, ask the kernel, or change what it knows.
#include "faults_on_model.hpp"

namespace on_model {
namespace {

Call pd(const char* name, std::function<ibv_pd*(World&)> create) {
  return creates<ibv_pd, ibv_dealloc_pd>(name, std::move(create));
}
Call mr(const char* name, std::function<ibv_mr*(World&)> create) {
  return creates<ibv_mr, ibv_dereg_mr>(name, std::move(create));
}
Call cq(const char* name, std::function<ibv_cq*(World&)> create) {
  return creates<ibv_cq, ibv_destroy_cq>(name, std::move(create));
}
Call qp(const char* name, std::function<ibv_qp*(World&)> create) {
  return creates<ibv_qp, ibv_destroy_qp>(name, std::move(create));
}

ibv_mr* region(World& world, std::uint64_t mask,
               const std::function<void(ibv_mr_init_attr&)>& change) {
  ibv_mr_init_attr attr = {};
  attr.length = Pages::bytes;
  attr.access = all_rights;
  attr.comp_mask = mask;
  attr.addr = world.memory.at;
  change(attr);
  return ibv_reg_mr_ex(world.pd.get(), &attr);
}

ibv_cq* extended_cq(World& world, ibv_comp_channel* channel, std::uint64_t fields) {
  ibv_cq_init_attr_ex attr = {};
  attr.cqe = 32;
  attr.channel = channel;
  attr.wc_flags = IBV_WC_STANDARD_FLAGS | fields;
  ibv_cq_ex* made = ibv_create_cq_ex(world.context.get(), &attr);
  return made ? ibv_cq_ex_to_cq(made) : nullptr;
}

ibv_qp* queue_pair(World& world, const QpOptions& options) {
  return try_create_qp(world.pd.get(), world.cq.get(), world.cq.get(), world.key.get(), options);
}

/// What was made by several calls, of which the last may have failed.
template <class T>
T* kept(T* made, int err, int (*destroy)(T*)) {
  if (!err) return made;
  if (err != EIO) faults::Fault::stop();
  EXPECT_EQ(destroy(made), 0);
  errno = err;
  return nullptr;
}

int set_state(World& world, ibv_qp_state state) {
  ibv_qp_attr attr = {};
  attr.qp_state = state;
  return ibv_modify_qp(world.qp.get(), &attr, IBV_QP_STATE);
}

ibv_ah_attr_ex address(World& world) {
  ibv_ah_attr_ex attr = {};
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid.raw[0] = 0xfe;
  attr.ah_attr.grh.dgid.raw[1] = 0x80;
  attr.ah_attr.grh.dgid.global.interface_id = htobe64(1);
  attr.ah_attr.port_num = 1;
  attr.remote_qpn = world.qp->qp_num;
  return attr;
}

void add_domains(std::vector<Call>& calls) {
  calls.push_back(creates<ibv_context, ibv_close_device>(
      "open_device", [](World& world) { return ibv_open_device(world.context->device); }));
  calls.push_back(pd("alloc_pd", [](World& world) { return ibv_alloc_pd(world.context.get()); }));
  // A domain that has served a queue pair with lists keeps memory for the next one.
  calls.push_back(pd("alloc_pd_and_use", [](World& world) {
    ibv_pd* made = ibv_alloc_pd(world.context.get());
    if (!made) return made;
    ibv_job_key* key = ibv_create_jkey(made, world.job.get(), 0);
    int err = error_of(key);
    if (key) {
      ibv_qp* used = try_create_qp(made, world.cq.get(), world.cq.get(), key, {.sges = 4});
      err = error_of(used);
      if (err != EIO) faults::Fault::stop();
      if (used) {
        EXPECT_EQ(ibv_destroy_qp(used), 0);
      }
      EXPECT_EQ(ibv_destroy_jkey(key), 0);
    }
    return kept(made, err, ibv_dealloc_pd);
  }));
  calls.push_back({"alloc_td_and_parent_domain",
                   [](World& world) {
                     ibv_td_init_attr td_attr = {};
                     ibv_td* td = ibv_alloc_td(world.context.get(), &td_attr);
                     if (!td) return errno;
                     ibv_parent_domain_init_attr attr = {};
                     attr.pd = world.pd.get();
                     attr.td = td;
                     ibv_pd* parent = ibv_alloc_parent_domain(world.context.get(), &attr);
                     const int err = error_of(parent);
                     // What kept it would be busy.
                     EXPECT_EQ(ibv_dealloc_td(td), parent ? EBUSY : 0);
                     if (!parent) return err;
                     EXPECT_EQ(ibv_dealloc_pd(parent), 0);
                     EXPECT_EQ(ibv_dealloc_td(td), 0);
                     return 0;
                   },
                   nullptr, Effect::none, true, false});
  calls.push_back(creates<ibv_comp_channel, ibv_destroy_comp_channel>(
      "create_comp_channel",
      [](World& world) { return ibv_create_comp_channel(world.context.get()); }));
  calls.push_back(creates<ibv_comp_cntr, ibv_destroy_comp_cntr>(
      "create_comp_cntr", [](World& world) { return try_counter(world.context.get()); }));
  calls.push_back(creates<ibv_counters, ibv_destroy_counters>(
      "create_counters", [](World& world) { return try_counters(world.context.get()); }));
  calls.push_back(creates<ibv_ah, ibv_destroy_ah>("create_ah_ex", [](World& world) {
    ibv_ah_attr_ex attr = address(world);
    return ibv_create_ah_ex(world.pd.get(), &attr);
  }));
}

void add_regions(std::vector<Call>& calls) {
  calls.push_back(mr("reg_mr", [](World& world) {
    return ibv_reg_mr(world.pd.get(), world.memory.at, Pages::bytes, all_rights);
  }));
  calls.push_back(mr("reg_mr_indexed", [](World& world) {
    return ibv_reg_mr(world.pd.get(), world.memory.at, Pages::bytes,
                      all_rights | CXIDV_ACCESS_INDEXED);
  }));
  calls.push_back(mr("reg_mr_iova", [](World& world) {
    return ibv_reg_mr_iova(world.pd.get(), world.memory.at, Pages::bytes, 0, all_rights);
  }));
  calls.push_back(mr("reg_dmabuf_mr", [](World& world) {
    return ibv_reg_dmabuf_mr(world.pd.get(), 0, Pages::bytes, 0, world.file.fd, all_rights);
  }));
  calls.push_back(mr("reg_mr_ex_with_keys", [](World& world) {
    return region(world, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_RKEY | IBV_REG_MR_MASK_JKEY,
                  [&](ibv_mr_init_attr& attr) {
                    attr.rkey = 0x1234;
                    attr.job_key = world.key.get();
                  });
  }));
  calls.push_back(mr("reg_mr_ex_of_a_file", [](World& world) {
    return region(world, IBV_REG_MR_MASK_FD | IBV_REG_MR_MASK_FD_OFFSET | IBV_REG_MR_MASK_IOVA,
                  [&](ibv_mr_init_attr& attr) { attr.fd = world.file.fd; });
  }));
  calls.push_back({"reg_mr_ex_derived",
                   [](World& world) {
                     ibv_mr* first =
                         region(world, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_DERIVE_CNT,
                                [](ibv_mr_init_attr& attr) { attr.derive_cnt = 1; });
                     if (!first) return errno;
                     ibv_mr* second = region(world, IBV_REG_MR_MASK_ADDR | IBV_REG_MR_MASK_CUR_MR,
                                             [&](ibv_mr_init_attr& attr) { attr.cur_mr = first; });
                     const int err = error_of(second);
                     if (err != EIO) faults::Fault::stop();
                     if (second) {
                       EXPECT_EQ(ibv_dereg_mr(first), EBUSY);
                       EXPECT_EQ(ibv_dereg_mr(second), 0);
                     }
                     EXPECT_EQ(ibv_dereg_mr(first), 0);
                     return err;
                   },
                   nullptr, Effect::none, true});
  // Back and forth between two ranges of the same memory.
  const auto change = [](World& world, std::size_t length) {
    errno = 0;
    if (!ibv_rereg_mr(world.mr.get(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, world.memory.at,
                      length, 0))
      return 0;
    EXPECT_NE(world.mr->length, length);
    return errno;
  };
  calls.push_back({"rereg_mr", [change](World& world) { return change(world, 4096); },
                   [change](World& world) { return change(world, Pages::bytes); }, Effect::change,
                   false});
  const auto attach = [](const char* name, Mr World::*which) {
    return Call{
        name,
        [which](World& world) { return ibv_attach_mr(world.qp.get(), (world.*which).get()); },
        [which](World& world) { return ibv_detach_mr(world.qp.get(), (world.*which).get()); },
        Effect::change,
        true,
        true,
        true};
  };
  calls.push_back(attach("attach_mr", &World::mr));
  calls.push_back(attach("attach_mr_indexed", &World::indexed_mr));
  calls.push_back({"dereg_mr_attached",
                   [](World& world) {
                     ibv_mr* made =
                         ibv_reg_mr(world.pd.get(), world.memory.at, 4096, rights_and_atomics);
                     if (!made) return errno;
                     const int err = ibv_attach_mr(world.qp.get(), made);
                     world.made_one = made;
                     if (err != EIO) faults::Fault::stop();
                     if (err) {
                       EXPECT_EQ(ibv_dereg_mr(made), 0);
                     }
                     return err;
                   },
                   [](World& world) { return ibv_dereg_mr(static_cast<ibv_mr*>(world.made_one)); },
                   Effect::object, true, true, true});
}

void add_jobs(std::vector<Call>& calls) {
  calls.push_back(creates<ibv_job, ibv_dealloc_job>(
      "alloc_job", [](World& world) { return try_job(world.context.get(), second_vni, 0); }));
  calls.push_back(creates<ibv_job, ibv_dealloc_job>("alloc_job_with_table", [](World& world) {
    return try_job(world.context.get(), second_vni, 1000);
  }));
  calls.push_back(
      {"import_job",
       [](World& world) {
         ibv_job* job = nullptr;
         const int err = ibv_import_job(world.context.get(), world.exported.fd, &job);
         EXPECT_EQ(job != nullptr, err == 0);
         world.made_one = job;
         return err;
       },
       [](World& world) { return ibv_dealloc_job(static_cast<ibv_job*>(world.made_one)); },
       Effect::object, true});
  calls.push_back({"export_job",
                   [](World& world) {
                     int fd = -1;
                     if (const int err = ibv_export_job(world.job.get(), &fd)) {
                       EXPECT_EQ(fd, -1);
                       return err;
                     }
                     return close(fd);
                   },
                   nullptr, Effect::none, false});
  calls.push_back({"insert_addr",
                   [](World& world) {
                     ibv_ah_attr_ex attr = address(world);
                     return ibv_insert_addr(world.job.get(), &attr, 3, 0);
                   },
                   [](World& world) { return ibv_remove_addr(world.job.get(), 3, 0); },
                   Effect::change, false});
  calls.push_back(asks("query_job", [](World& world) {
    ibv_job_attr attr = {};
    attr.comp_mask = IBV_JOB_ATTR_ID;
    const int err = ibv_query_job(world.job.get(), &attr);
    EXPECT_EQ(attr.id, err ? 0u : first_vni);
    return err;
  }));
  calls.push_back(creates<ibv_job_key, ibv_destroy_jkey>("create_jkey", [](World& world) {
    return ibv_create_jkey(world.pd.get(), world.job.get(), 0);
  }));
}

void add_queues(std::vector<Call>& calls) {
  calls.push_back(cq("create_cq", [](World& world) {
    return ibv_create_cq(world.context.get(), 100, nullptr, nullptr, 0);
  }));
  calls.push_back(cq("create_cq_with_channel", [](World& world) {
    return ibv_create_cq(world.context.get(), 100, nullptr, world.channel.get(), 0);
  }));
  calls.push_back(cq("create_cq_ex", [](World& world) {
    return extended_cq(world, world.channel.get(), IBV_WC_EX_WITH_COMPLETION_TIMESTAMP);
  }));
  Call resize = asks("resize_cq", [](World& world) {
    const int cqe = world.fresh_cq->cqe;
    const int err = ibv_resize_cq(world.fresh_cq.get(), cqe == 500 ? 50 : 500);
    EXPECT_EQ(world.fresh_cq->cqe == cqe, err != 0);
    return err;
  });
  resize.allocates = true;
  resize.insists = true;
  calls.push_back(resize);
  calls.push_back(asks("modify_cq", [](World& world) {
    ibv_modify_cq_attr attr = {};
    attr.attr_mask = IBV_CQ_ATTR_MODERATE;
    attr.moderate = {1, 0};
    return ibv_modify_cq(world.cq.get(), &attr);
  }));

  calls.push_back(qp("create_qp_ex", [](World& world) { return queue_pair(world, {.sges = 1}); }));
  calls.push_back(qp("create_qp_ex_on_two_queues", [](World& world) {
    return try_create_qp(world.pd.get(), world.cq.get(), world.fresh_cq.get(), world.key.get(),
                         {.send_wr = 0, .sges = 1});
  }));
  Call large = qp("create_qp_ex_that_needs_room", [](World& world) {
    return try_create_qp(world.pd.get(), world.fresh_cq.get(), world.fresh_cq.get(),
                         world.key.get(), {.send_wr = 1000, .sges = 1});
  });
  large.insists = true;
  calls.push_back(large);
  calls.push_back(qp("create_qp_ex_with_lists", [](World& world) {
    return try_create_qp(world.fresh_pd.get(), world.cq.get(), world.cq.get(),
                         world.fresh_key.get(), {.sges = 8});
  }));
  calls.push_back(qp("create_qp_ex_of_a_number", [](World& world) {
    ibv_qp_attr known = {};
    ibv_qp_init_attr_ex attr = {};
    ibv_qp_semantics semantics = {};
    {
      faults::Pause pause;
      EXPECT_EQ(ibv_query_qp_semantics(world.context.get(), IBV_QPT_RU, 1, 0, &semantics,
                                       sizeof semantics),
                0);
    }
    attr.send_cq = attr.recv_cq = world.cq.get();
    attr.cap = {4, 4, 1, 1, 64};
    attr.qp_type = IBV_QPT_RU;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_JKEY |
                     IBV_QP_INIT_ATTR_SRC_ID | IBV_QP_INIT_ATTR_QP_ATTR |
                     IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_QP_SEMANTICS;
    attr.pd = world.pd.get();
    attr.job_key = world.key.get();
    attr.create_flags = IBV_QP_CREATE_SOURCE_QPN;
    attr.source_qpn = 7 << 12 | (world.qp->qp_num & 0xfff);
    attr.src_id = 9;
    attr.qp_attr = &known;
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
    attr.qp_semantics = &semantics;
    const ibv_qp_cap asked = attr.cap;
    ibv_qp* made = ibv_create_qp_ex(world.context.get(), &attr);
    if (!made) {
      EXPECT_EQ(std::memcmp(&attr.cap, &asked, sizeof asked), 0);
    }
    return made;
  }));
  Call attached = qp("create_qp_ex_and_attach", [](World& world) {
    ibv_qp* made = queue_pair(world, {.sges = 1});
    if (!made) return made;
    ibv_qp_attach_comp_cntr_attr attr = {};
    attr.op_mask = IBV_QP_ATTACH_COMP_CNTR_OP_SEND | IBV_QP_ATTACH_COMP_CNTR_OP_RECV;
    int err = ibv_attach_mr(made, world.mr.get());
    if (!err) err = ibv_attach_mr(made, world.indexed_mr.get());
    if (!err) err = ibv_qp_attach_comp_cntr(made, world.counter.get(), &attr);
    return kept(made, err, ibv_destroy_qp);
  });
  attached.insists = true;
  calls.push_back(attached);
  calls.push_back({"modify_qp", [](World& world) { return set_state(world, IBV_QPS_ERR); },
                   [](World& world) {
                     if (const int err = set_state(world, IBV_QPS_RESET)) return err;
                     return set_state(world, IBV_QPS_RTS);
                   },
                   Effect::change, false});
}

void add_questions(std::vector<Call>& calls) {
  calls.push_back(asks("query_device", [](World& world) {
    ibv_device_attr attr = {};
    return ibv_query_device(world.context.get(), &attr);
  }));
  calls.push_back(asks("query_port", [](World& world) {
    ibv_port_attr attr = {};
    return ibv_query_port(world.context.get(), 1, &attr);
  }));
  calls.push_back(asks("query_port_speed", [](World& world) {
    std::uint64_t speed = 0;
    return ibv_query_port_speed(world.context.get(), 1, &speed);
  }));
  calls.push_back(asks("query_qp", [](World& world) {
    ibv_qp_attr attr = {};
    ibv_qp_init_attr init = {};
    return ibv_query_qp(world.qp.get(), &attr, IBV_QP_STATE, &init);
  }));
  calls.push_back(asks("query_qp_semantics", [](World& world) {
    ibv_qp_semantics semantics = {};
    return ibv_query_qp_semantics(world.context.get(), IBV_QPT_RU, 1, 0, &semantics,
                                  sizeof semantics);
  }));
  calls.push_back(asks("query_comp_cntr_caps", [](World& world) {
    ibv_comp_cntr_caps caps = {};
    return ibv_query_comp_cntr_caps(world.context.get(), &caps);
  }));
  calls.push_back(asks("read_comp_cntr", [](World& world) {
    std::uint64_t value = 77;
    const int err = ibv_read_comp_cntr(world.counter.get(), &value);
    EXPECT_TRUE(!err || value == 77);
    return err;
  }));
  calls.push_back(asks("set_comp_cntr",
                       [](World& world) { return ibv_set_comp_cntr(world.counter.get(), 5); }));
  calls.push_back(asks("inc_comp_cntr",
                       [](World& world) { return ibv_inc_comp_cntr(world.counter.get(), 1); }));
  Call read = asks("read_counters_ex", [](World& world) {
    const std::uint32_t item = 1;
    ibv_counter_result result = {};
    ibv_read_counters_attr attr = {};
    attr.num_items = 1;
    attr.result_size = sizeof result;
    attr.items = &item;
    attr.results = &result;
    return ibv_read_counters_ex(world.counters.get(), &attr);
  });
  read.allocates = true;
  calls.push_back(read);
}

}  // namespace

std::vector<Call> verbs_calls() {
  std::vector<Call> calls;
  add_domains(calls);
  add_regions(calls);
  add_jobs(calls);
  add_queues(calls);
  add_questions(calls);
  return calls;
}

}  // namespace on_model
