// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands to a running instance, over a socket in its private folder. A request is one packet of
// words; the answer is "ok", optionally with text on the lines below, or "error" and an errno
// value.
#pragma once

#include <list>
#include <string>

#include "host/fd.hpp"
#include "host/instance.hpp"

namespace sim::host {

class ControlServer {
 public:
  // Throws std::system_error.
  ControlServer(const std::string& path, Instance& instance);

  int fd() const { return socket_.get(); }
  // Takes one request and answers it. Never waits long for a silent client.
  void serve_one();
  bool asked_to_end() const { return asked_to_end_; }

 private:
  std::string act(const std::string& request, Fd* descriptor, bool* keep);

  Instance& instance_;
  Fd socket_;
  std::list<Fd> kept_;  // open as long as this instance lives: the other side waits for the end
  bool asked_to_end_ = false;
};

// Sends a request to the instance of that name. Returns 0 and the text of the answer, or an errno:
// ENOENT, ECONNREFUSED: no such instance.
int ask(int socket, const std::string& request, int descriptor, std::string* answer);

}  // namespace sim::host
