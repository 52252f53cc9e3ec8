// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A sysfs of our own, which SYSFS_PATH leads to, with devices whose nodes are /dev/null.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace stress {

// Ends the process at once, as _exit() does, and leaves no folder behind.
[[noreturn]] void end_with(int status);

// One per process, since libibverbs looks at SYSFS_PATH once. Empty at first, and after clear().
class FakeSysfs {
 public:
  static FakeSysfs& instance();

  void clear();

  // Device number i is uverbs<i> for the kernel. There are nodes for 0 to 7.
  void add(int number, const std::string& name);
  void remove(int number, const std::string& name);

  // Sets the content of a file below the uverbs device, below the device, or below the class.
  void set_uverbs(int number, const char* file, std::string_view content);
  void set_device(const std::string& name, const char* file, std::string_view content);
  void set_version(std::string_view content);

  std::filesystem::path uverbs(int number) const;
  std::filesystem::path device(const std::string& name) const;

 private:
  friend void end_with(int status);
  FakeSysfs();
  ~FakeSysfs();

  std::filesystem::path root_;
};

}  // namespace stress
