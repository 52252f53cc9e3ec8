// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The provider's library as a program loads and closes it by itself.
#include <dlfcn.h>

#include "on_model.hpp"

namespace on_model {
namespace {

TEST(Loading, WhoClosesTheLibraryLeavesTheDevicesUsable) {
  void* library = dlopen(CXIVERBS, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  { Context first = open_device("cxi0"); }
  EXPECT_EQ(dlclose(library), 0);
  Context second = open_device("cxi0");
  ibv_device_attr attr;
  EXPECT_EQ(ibv_query_device(second.get(), &attr), 0);
}

}  // namespace
}  // namespace on_model
