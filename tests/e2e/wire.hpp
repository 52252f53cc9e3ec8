// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What two processes of a test tell each other outside of the NIC: values and descriptors.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "endpoint.hpp"

namespace e2e {

class Wire {
 public:
  explicit Wire(int fd) : fd_(fd) {}
  template <class T>
  void put(const T& value) {
    if (send(fd_, &value, sizeof value, MSG_NOSIGNAL) != sizeof value)
      fail("the other side is gone");
  }
  template <class T>
  T take() {
    T value;
    if (recv(fd_, &value, sizeof value, MSG_WAITALL) != sizeof value)
      fail("the other side is gone");
    return value;
  }

  void put_descriptor(int descriptor) {
    Message message;
    cmsghdr* header = CMSG_FIRSTHDR(&message.header);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (sendmsg(fd_, &message.header, MSG_NOSIGNAL) != 1)
      fail("a descriptor could not be sent", errno);
  }
  int take_descriptor() {
    Message message;
    if (recvmsg(fd_, &message.header, MSG_CMSG_CLOEXEC) != 1) fail("the other side is gone");
    const cmsghdr* header = CMSG_FIRSTHDR(&message.header);
    if (!header || header->cmsg_type != SCM_RIGHTS) fail("no descriptor came");
    int descriptor;
    memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    return descriptor;
  }

  bool alive() const {
    pollfd descriptor{fd_, POLLIN, 0};
    char byte;
    return poll(&descriptor, 1, 0) == 0 || recv(fd_, &byte, 1, MSG_PEEK) > 0;
  }

 private:
  struct Message {
    Message() {
      header.msg_iov = &part;
      header.msg_iovlen = 1;
      header.msg_control = control;
      header.msg_controllen = sizeof control;
    }
    char byte = 0;
    iovec part{&byte, 1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr header{};
  };

  int fd_;
};

}  // namespace e2e
