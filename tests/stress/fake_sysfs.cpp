// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake_sysfs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace stress {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, std::string_view content) {
  std::ofstream stream(file, std::ios::binary);
  stream << content;
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

}  // namespace

FakeSysfs& FakeSysfs::instance() {
  static FakeSysfs sysfs;
  return sysfs;
}

FakeSysfs::FakeSysfs() {
  std::string path = fs::temp_directory_path() / "fake-sysfs-XXXXXX";
  if (!mkdtemp(path.data())) throw std::runtime_error("cannot make " + path);
  root_ = path;
  setenv("SYSFS_PATH", path.c_str(), 1);
  clear();
}

FakeSysfs::~FakeSysfs() {
  fs::remove_all(root_);
}

void FakeSysfs::clear() {
  fs::remove_all(root_ / "class");
  fs::create_directories(root_ / "class/infiniband_verbs");
  fs::create_directories(root_ / "class/infiniband");
  set_version("6\n");
}

fs::path FakeSysfs::uverbs(int number) const {
  return root_ / "class/infiniband_verbs" / fmt::format("uverbs{}", number);
}

fs::path FakeSysfs::device(const std::string& name) const {
  return root_ / "class/infiniband" / name;
}

void FakeSysfs::add(int number, const std::string& name) {
  fs::create_directories(device(name));
  set_device(name, "node_type", "1: CA\n");
  set_device(name, "node_guid", fmt::format("0200:0000:0000:{:04x}\n", number));
  fs::create_directories(uverbs(number));
  set_uverbs(number, "dev", "1:3\n");  // of /dev/null
  set_uverbs(number, "abi_version", "1\n");
  set_uverbs(number, "ibdev", name + "\n");
}

void FakeSysfs::remove(int number, const std::string& name) {
  fs::remove_all(uverbs(number));
  fs::remove_all(device(name));
}

void FakeSysfs::set_uverbs(int number, const char* file, std::string_view content) {
  write(uverbs(number) / file, content);
}

void FakeSysfs::set_device(const std::string& name, const char* file, std::string_view content) {
  write(device(name) / file, content);
}

void FakeSysfs::set_version(std::string_view content) {
  write(root_ / "class/infiniband_verbs/abi_version", content);
}

void end_with(int status) {
  std::error_code ignored;
  fs::remove_all(FakeSysfs::instance().root_, ignored);
  _exit(status);
}

}  // namespace stress
