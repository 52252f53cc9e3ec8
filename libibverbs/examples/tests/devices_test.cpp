// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "../common/devices.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/cxiverbs-abi.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

/// A machine made of files, with at most one device.
class Machine : public testing::Test {
 protected:
  Machine() {
    std::string name = (fs::temp_directory_path() / "examples.XXXXXX").string();
    root_ = mkdtemp(name.data());
  }
  ~Machine() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& line) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << line << '\n';
  }

  void add_device(const std::string& name, unsigned abi) {
    write("sys/class/infiniband_verbs/abi_version", "6");
    write("sys/class/infiniband_verbs/uverbs0/ibdev", name);
    write("sys/class/infiniband_verbs/uverbs0/abi_version", std::to_string(abi));
  }

  void add_node() { write("dev/infiniband/uverbs0", ""); }

  std::string why() {
    const std::string text = examples::why_no_device(root_ / "sys", root_ / "dev");
    EXPECT_THAT(text, Not(HasSubstr("\n"))) << "one line";
    return text;
  }

 private:
  fs::path root_;
};

TEST_F(Machine, WithoutADriverIsToldAboutDriversAndTheModel) {
  EXPECT_THAT(why(), HasSubstr("load the driver"));
  EXPECT_THAT(why(), HasSubstr("cxi_sim run"));
}

TEST_F(Machine, WithAnEmptyVerbsClassHasNoDeviceEither) {
  write("sys/class/infiniband_verbs/abi_version", "6");
  EXPECT_THAT(why(), HasSubstr("there is no RDMA device"));
}

TEST_F(Machine, WithoutADeviceNodeIsToldWhichOne) {
  add_device("cxi0", CXI_ABI_VERSION);
  EXPECT_THAT(why(), HasSubstr("cxi0 has no device node"));
  EXPECT_THAT(why(), HasSubstr("dev/infiniband/uverbs0"));
}

TEST_F(Machine, WithAnotherUverbsInterfaceIsToldToUpdate) {
  add_device("cxi0", CXI_ABI_VERSION);
  add_node();
  write("sys/class/infiniband_verbs/abi_version", "7");
  EXPECT_THAT(why(), HasSubstr("uverbs interface 7"));
}

TEST_F(Machine, WithAnotherDriverInterfaceIsToldBothVersions) {
  add_device("cxi0", CXI_ABI_VERSION + 1);
  add_node();
  EXPECT_THAT(why(), HasSubstr("kernel driver of cxi0 has interface version " +
                               std::to_string(CXI_ABI_VERSION + 1)));
}

TEST_F(Machine, WithoutAProviderIsToldWhichLibraryToInstall) {
  add_device("cxi0", CXI_ABI_VERSION);
  add_node();
  EXPECT_THAT(why(), HasSubstr("no provider library for cxi0: install libcxiverbs"));
}

TEST_F(Machine, DoesNotRecommendLibcxiverbsForOtherVendors) {
  add_device("mlx5_0", 1);
  add_node();
  EXPECT_THAT(why(), HasSubstr("no provider library for mlx5_0"));
  EXPECT_THAT(why(), Not(HasSubstr("libcxiverbs")));
}

TEST(WhyNotOpened, NamesTheNodeWhenPermissionIsMissing) {
  EXPECT_THAT(examples::why_not_opened("cxi0", "uverbs0", EACCES),
              HasSubstr("no permission for cxi0 (/dev/infiniband/uverbs0)"));
  EXPECT_THAT(examples::why_not_opened("cxi0", "uverbs0", ENODEV), HasSubstr("gone"));
  EXPECT_THAT(examples::why_not_opened("cxi0", "uverbs0", EMFILE), HasSubstr("ulimit -n"));
}

}  // namespace
