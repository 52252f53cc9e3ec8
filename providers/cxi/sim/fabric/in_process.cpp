// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The fabric inside one process: handing a packet over is a call, and order is the order of calls.
#include <cerrno>
#include <map>

#include "fabric/fabric.hpp"

namespace sim::fabric {
namespace {

class InProcess final : public Fabric {
 public:
  int attach(uint32_t nid, Endpoint& endpoint) override {
    return ports_.try_emplace(nid, Port{&endpoint, true}).second ? 0 : EEXIST;
  }

  void detach(uint32_t nid) override { ports_.erase(nid); }

  bool send(Packet&& packet) override {
    if (!up(packet.source_nid)) return false;
    const auto to = ports_.find(packet.destination_nid);
    if (to == ports_.end() || !to->second.up) return false;
    to->second.endpoint->deliver(std::move(packet));
    return true;
  }

  void multicast(const Packet& packet) override {
    if (!up(packet.source_nid)) return;
    for (auto& [nid, port] : ports_) {
      if (!port.up) continue;
      Packet copy = packet;
      copy.destination_nid = nid;
      port.endpoint->deliver(std::move(copy));
    }
  }

  void set_link(uint32_t nid, bool link) override {
    if (const auto port = ports_.find(nid); port != ports_.end()) port->second.up = link;
  }

  bool reachable(uint32_t nid) const override { return up(nid); }

  size_t backlog(uint32_t nid) const override {
    const auto port = ports_.find(nid);
    return port == ports_.end() ? 0 : port->second.endpoint->backlog();
  }

  bool progress() override {
    bool any = false;
    for (auto& [nid, port] : ports_)
      any |= port.endpoint->progress();
    return any;
  }

 private:
  struct Port {
    Endpoint* endpoint;
    bool up;
  };

  bool up(uint32_t nid) const {
    const auto port = ports_.find(nid);
    return port != ports_.end() && port->second.up;
  }

  std::map<uint32_t, Port> ports_;
};

}  // namespace

std::unique_ptr<Fabric> Fabric::in_process() {
  return std::make_unique<InProcess>();
}

}  // namespace sim::fabric
