// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/instance.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <system_error>

namespace sim::host {

Instance::Instance(const InstanceOptions& options, const InstanceDir& folder)
    : options_(options),
      trace_(options.trace, clock_),
      kernel_(uverbs::Kernel::make(options.kernel, clock_, trace_)),
      mirror_(folder.mirror()),
      files_(*kernel_),
      engine_(*kernel_, clock_),
      dispatcher_(*kernel_, engine_, mirror_, files_),
      stop_(eventfd(0, EFD_CLOEXEC)) {
  if (!stop_) throw std::system_error(errno, std::generic_category(), "eventfd");
  dispatcher_.refresh();
}

Instance::~Instance() {
  stop();
}

void Instance::start() {
  engine_.start();
  files_.start();
}

void Instance::serve(Fd fd) {
  std::lock_guard guard(lock_);
  std::erase_if(servers_, [](Server& server) {
    if (server.ended) server.thread.join();
    return server.ended;
  });
  Server& server = servers_.emplace_back(Server{Listener(std::move(fd)), {}, false});
  server.thread = std::thread([this, &server] { serve_until_hangup(server); });
}

void Instance::serve_until_hangup(Server& server) {
  for (;;) {
    pollfd fds[2] = {{server.listener.fd(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) {
      if (errno == EINTR) continue;
      break;
    }
    if (fds[1].revents != 0) break;
    if ((fds[0].revents & POLLIN) == 0) break;  // the last program under the filter has ended
    Notification call;
    if (server.listener.receive(&call) != 0) continue;  // its caller was killed meanwhile
    try {
      dispatcher_.handle(server.listener, call);
    } catch (const std::exception& error) {  // the call has been refused on the way out
      std::fprintf(stderr, "cxi_sim: a call could not be handled: %s\n", error.what());
    }
  }
  std::lock_guard guard(lock_);
  server.ended = true;
}

bool Instance::serving() {
  std::lock_guard guard(lock_);
  for (const auto& server : servers_)
    if (!server.ended && server.listener.watched()) return true;
  return false;
}

void Instance::stop() {
  eventfd_write(stop_.get(), 1);
  for (auto& server : servers_)
    if (server.thread.joinable()) server.thread.join();
  servers_.clear();
  files_.stop();
  engine_.stop();
  trace_.flush();
}

int Instance::find(const std::string& device, unsigned* nic) {
  auto nics = kernel_->nics();
  for (unsigned i = 0; i < nics.size(); i++) {
    if (nics[i].ibdev != device && nics[i].uverbs != device && nics[i].netdev != device) continue;
    *nic = i;
    return 0;
  }
  return ENODEV;
}

int Instance::set_link(const std::string& device, bool up) {
  unsigned nic = 0;
  int error = find(device, &nic);
  if (error == 0) error = kernel_->set_link(nic, up);
  if (error == 0) {
    dispatcher_.refresh();
    engine_.wake();
  }
  return error;
}

int Instance::fail_device(const std::string& device) {
  unsigned nic = 0;
  int error = find(device, &nic);
  if (error == 0) error = kernel_->fail_device(nic);
  if (error == 0) {
    dispatcher_.refresh();
    engine_.wake();
  }
  return error;
}

std::string Instance::describe() {
  std::string text;
  for (const auto& nic : kernel_->nics())
    text += nic.ibdev + " (" + nic.uverbs + ", " + nic.netdev + ") nid " + std::to_string(nic.nid) +
            "\n";
  text += std::to_string(files_.count()) + " open, " + std::to_string(dispatcher_.calls()) +
          " calls looked at, " + std::to_string(dispatcher_.ioctls()) + " ioctls\n";
  return text;
}

}  // namespace sim::host
