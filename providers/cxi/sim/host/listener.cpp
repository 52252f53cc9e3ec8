// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "host/listener.hpp"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace sim::host {
namespace {

// Linux 6.6: the two sides of a notification wait for each other, so wake the other on this
// processor. Not in the headers of older systems.
constexpr unsigned long set_flags = _IOW('!', 4, uint64_t);
constexpr uint64_t flag_sync_wake_up = 1;

}  // namespace

Listener::Listener(Fd fd) : fd_(std::move(fd)) {
  seccomp_notif_sizes sizes{};
  if (syscall(__NR_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
    throw std::system_error(errno, std::generic_category(), "seccomp notification sizes");
  request_.resize(std::max<size_t>(sizes.seccomp_notif, sizeof(seccomp_notif)));
  response_size_ = std::max<size_t>(sizes.seccomp_notif_resp, sizeof(seccomp_notif_resp));
  ioctl(fd_.get(), set_flags, flag_sync_wake_up);  // only a hint
}

bool Listener::watched() const {
  pollfd fd{fd_.get(), 0, 0};
  return poll(&fd, 1, 0) <= 0 || (fd.revents & POLLHUP) == 0;
}

int Listener::receive(Notification* out) {
  std::ranges::fill(request_, std::byte{0});  // the kernel refuses anything else
  if (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_RECV, request_.data()) != 0) return errno;
  seccomp_notif request;
  std::memcpy(&request, request_.data(), sizeof(request));
  out->id = request.id;
  out->task = static_cast<pid_t>(request.pid);
  out->call = request.data.nr;
  std::copy(std::begin(request.data.args), std::end(request.data.args), out->args.begin());
  return 0;
}

bool Listener::valid(uint64_t id) const {
  return ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

void Listener::send(uint64_t id, int64_t value, int error, uint32_t flags) const {
  std::byte buffer[256] = {};
  if (response_size_ > sizeof(buffer)) return;
  seccomp_notif_resp response{};
  response.id = id;
  response.val = value;
  response.error = -error;
  response.flags = flags;
  std::memcpy(buffer, &response, sizeof(response));
  // ENOENT: the caller was killed in the meantime, and there is nobody to answer.
  while (ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_SEND, buffer) != 0 && errno == EINTR) {
  }
}

void Listener::answer(uint64_t id, int64_t value) const {
  send(id, value, 0, 0);
}
void Listener::refuse(uint64_t id, int error) const {
  send(id, 0, error, 0);
}
void Listener::proceed(uint64_t id) const {
  send(id, 0, 0, SECCOMP_USER_NOTIF_FLAG_CONTINUE);
}

int Listener::add_fd(uint64_t id, int fd, bool close_on_exec, bool finish) const {
  seccomp_notif_addfd request{};
  request.id = id;
  request.srcfd = static_cast<uint32_t>(fd);
  request.flags = finish ? SECCOMP_ADDFD_FLAG_SEND : 0;
  request.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  for (;;) {
    int number = ioctl(fd_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &request);
    if (number >= 0) return number;
    if (errno == EINTR) continue;
    return errno == ENOENT || errno == EINPROGRESS ? -ESRCH : -errno;
  }
}

}  // namespace sim::host
