// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/container.h"

#include <gtest/gtest.h>

#include <string>

namespace uscope::trace {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kOther = "f123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(Container, OfEachRuntimesPath) {
  EXPECT_EQ(container_of("/system.slice/docker-" + kId + ".scope"), kId);
  EXPECT_EQ(container_of("/docker/" + kId), kId);
  EXPECT_EQ(container_of("/docker/" + kId + "/init.scope"), kId);
  EXPECT_EQ(container_of("/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1f.slice/cri-containerd-" +
                         kId + ".scope"),
            kId);
  EXPECT_EQ(container_of("/kubepods/burstable/pod7d0a1d8c-2d1f-4b52-a3a0-5f3b0a6f2b7e/" + kId), kId);
  EXPECT_EQ(container_of("/kubepods.slice/crio-" + kId + ".scope"), kId);
  EXPECT_EQ(container_of("/machine.slice/libpod-" + kId + ".scope/container"), kId);
}

TEST(Container, IsTheInnermostOne) {
  EXPECT_EQ(container_of("/docker/" + kOther + "/docker/" + kId), kId);
}

TEST(Container, IsNoneWhereNoComponentHasAnId) {
  EXPECT_EQ(container_of(""), "");
  EXPECT_EQ(container_of("/"), "");
  EXPECT_EQ(container_of("/user.slice/user-1000.slice/session-3.scope"), "");
  EXPECT_EQ(container_of("/docker/" + kId.substr(1)), "");
  EXPECT_EQ(container_of("/docker/" + kId + "0"), "");
  EXPECT_EQ(container_of("/machine.slice/libpod-conmon-" + kId + ".scope"), "");
  EXPECT_EQ(container_of("/machine.slice/crio-conmon-" + kId + ".scope"), "");
}

}  // namespace
}  // namespace uscope::trace
