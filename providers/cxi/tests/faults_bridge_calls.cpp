// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The same for verbs objects on native resources.
#include "faults_on_model.hpp"

namespace on_model {
std::vector<Call> bridge_calls() {
  std::vector<Call> calls;
  calls.push_back(creates<ibv_pd, ibv_dealloc_pd>(
      "create_pd", [](World& world) { return cxidv_create_pd(world.lni.get(), nullptr); }));
  calls.push_back(creates<ibv_cq, ibv_destroy_cq>(
      "create_cq_on_lni", [](World& world) { return try_cq_on(world.lni.get()); }));
  calls.push_back(creates<ibv_cq, ibv_destroy_cq>(
      "create_cq_on_eq", [](World& world) { return try_cq_on(world.lent_eq.get()); }));
  calls.push_back(creates<ibv_qp, ibv_destroy_qp>("create_qp", [](World& world) {
    return try_qp(world.pd.get(), world.cq.get(), world.cq.get(), world.key.get());
  }));
  calls.push_back(creates<ibv_qp, ibv_destroy_qp>("create_qp_on_cp", [](World& world) {
    return try_qp(world.pd.get(), world.cq.get(), world.cq.get(), world.key.get(),
                  world.own_cp.get());
  }));
  Call query = asks("query_pd", [](World& world) {
    cxidv_pd_info info = {};
    const int err = cxidv_query_pd(world.other_pd.get(), &info, sizeof info);
    EXPECT_EQ(info.lni == nullptr, err != 0);
    return err;
  });
  query.allocates = true;  // the structure of the context's logical NI, once
  calls.push_back(query);
  return calls;
}

}  // namespace on_model
