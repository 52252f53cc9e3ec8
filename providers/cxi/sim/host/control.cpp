// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/control.hpp"

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <system_error>
#include <vector>

#include "host/packet.hpp"

namespace sim::host {
namespace {

bool may_command(int connection) {
  ucred peer{};
  socklen_t length = sizeof(peer);
  return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 &&
         (peer.uid == geteuid() || peer.uid == 0);
}

bool closed_by_peer(const Fd& connection) {
  char byte;
  return recv(connection.get(), &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;)
    words.push_back(word);
  return words;
}

std::string result(int error) {
  return error == 0 ? "ok" : "error " + std::to_string(error);
}

}  // namespace

ControlServer::ControlServer(const std::string& path, Instance& instance) : instance_(instance) {
  if (int error = listen_at(path, &socket_))
    throw std::system_error(error, std::generic_category(), path);
}

void ControlServer::serve_one() {
  std::erase_if(kept_, closed_by_peer);
  Fd connection(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection || !may_command(connection.get())) return;
  timeval patience{.tv_sec = 1, .tv_usec = 0};
  setsockopt(connection.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  auto request = receive_packet(connection.get());
  if (!request || request->text.empty()) return;
  bool keep = false;
  send_packet(connection.get(), act(request->text, &request->descriptor, &keep));
  if (keep) kept_.push_back(std::move(connection));
}

std::string ControlServer::act(const std::string& request, Fd* descriptor, bool* keep) {
  auto words = words_of(request);
  if (words == std::vector<std::string>{"status"}) return "ok\n" + instance_.describe();
  if (words == std::vector<std::string>{"join"}) {
    if (!*descriptor) return result(EBADF);
    instance_.serve(std::move(*descriptor));
    *keep = true;
    return result(0);
  }
  if (words.size() == 1 && (words[0] == "end" || words[0] == "end-now")) {
    if (words[0] == "end" && instance_.serving()) return result(EBUSY);
    asked_to_end_ = true;
    *keep = true;  // closed when all is down
    return result(0);
  }
  if (words.size() == 3 && words[0] == "link" && (words[2] == "up" || words[2] == "down"))
    return result(instance_.set_link(words[1], words[2] == "up"));
  if (words.size() == 3 && words[0] == "device" && words[2] == "failed")
    return result(instance_.fail_device(words[1]));
  return result(EINVAL);
}

int ask(int socket, const std::string& request, int descriptor, std::string* answer) {
  if (int error = send_packet(socket, request, descriptor)) return error;
  auto packet = receive_packet(socket);
  if (!packet) return errno;
  constexpr std::string_view failed = "error ";
  if (packet->text.starts_with(failed)) return std::atoi(packet->text.c_str() + failed.size());
  if (!packet->text.starts_with("ok")) return ECONNRESET;
  auto line = packet->text.find('\n');
  if (answer != nullptr && line != std::string::npos) *answer = packet->text.substr(line + 1);
  return 0;
}

}  // namespace sim::host
