// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What doctor says of machines that lack one thing or another, shown as folders.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tracer/host/host.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};
constexpr int kCapSysModule = 16;
constexpr int kCapSysAdmin = 21;
constexpr int kCapPerfmon = 38;
constexpr const char* kRelease = "6.1.0-56-amd64";
constexpr const char* kSecureBoot = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";

class PreflightTest : public testing::Test {
 protected:
  PreflightTest() {
    std::string name = testing::TempDir() + "preflight-XXXXXX";
    host_ = {mkdtemp(name.data()), kRelease, kAll};
    put("/proc/modules", "");
    put("/proc/sys/kernel/modules_disabled", "0\n");
    put("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  }
  ~PreflightTest() override { std::filesystem::remove_all(host_.root); }

  void put(const std::string& path, const std::string& text) const {
    const std::filesystem::path place = host_.root + path;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place, std::ios::binary) << text;
  }

  static Check named(const std::vector<Check>& checks, const std::string& name) {
    const auto found = std::find_if(checks.begin(), checks.end(), [&](const Check& c) { return c.name == name; });
    if (found != checks.end()) return *found;
    ADD_FAILURE() << "no check " << name;
    return {};
  }
  [[nodiscard]] Check kmod(const std::string& name) const { return named(kmod_checks(host_), name); }
  [[nodiscard]] Check bpf(const std::string& name) const { return named(bpf_checks(host_), name); }

  Host host_;
};

TEST_F(PreflightTest, AFailureIsExplainedByWhatIsMissing) {
  const Error failure{"cannot load: Operation not permitted", "run as root"};
  EXPECT_EQ(explained_by(failure, {{"kernel version", true, "Linux 6.1", ""}}).what, failure.what);
  EXPECT_EQ(explained_by(failure, {}).remedy, "run as root");
  put("/sys/kernel/btf/vmlinux", "BTF");
  put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  const Error explained = explained_by(failure, bpf_checks(host_));
  EXPECT_EQ(explained.what, "cannot load: Operation not permitted: kernel lockdown: confidentiality");
  EXPECT_NE(explained.remedy.find("lockdown=confidentiality"), std::string::npos);
}

TEST_F(PreflightTest, PidNamespace) {
  EXPECT_TRUE(in_initial_pid_namespace(host_));  // /proc is not there: nothing speaks against it
  std::filesystem::create_directories(host_.root + "/proc/self/ns");
  std::filesystem::create_symlink("pid:[4026532345]", host_.root + "/proc/self/ns/pid");
  EXPECT_FALSE(in_initial_pid_namespace(host_));
  std::filesystem::remove(host_.root + "/proc/self/ns/pid");
  std::filesystem::create_symlink("pid:[4026531836]", host_.root + "/proc/self/ns/pid");
  EXPECT_TRUE(in_initial_pid_namespace(host_));
}

TEST_F(PreflightTest, HeadersThatAreMissingAreNamedByPackage) {
  const Check headers = kmod("kernel headers");
  EXPECT_FALSE(headers.ok);
  EXPECT_EQ(headers.found, "/lib/modules/6.1.0-56-amd64/build is not there");
  EXPECT_EQ(headers.remedy, "apt-get install linux-headers-6.1.0-56-amd64");
  const Check module = kmod("module");
  EXPECT_FALSE(module.ok);
  EXPECT_EQ(module.found, "not loaded, and not built for this kernel (6.1.0-56-amd64)");
  EXPECT_EQ(module.remedy, "dkms install uscope, or in the source tree: make -C kmod && insmod kmod/uscope.ko");
}

TEST_F(PreflightTest, HeadersThatAreInstalled) {
  put("/lib/modules/6.1.0-56-amd64/build/Makefile", "");
  EXPECT_TRUE(kmod("kernel headers").ok);
  EXPECT_EQ(kmod("kernel headers").found, "/lib/modules/6.1.0-56-amd64/build");
  EXPECT_FALSE(kmod("module").ok);
}

TEST_F(PreflightTest, AnInstalledModuleIsToBeLoaded) {
  put("/lib/modules/6.1.0-56-amd64/modules.dep", "kernel/fs/fuse/fuse.ko:\nupdates/dkms/uscope.ko.xz:\n");
  EXPECT_TRUE(kmod("kernel headers").ok);
  EXPECT_EQ(kmod("module").found, "not loaded; installed as /lib/modules/6.1.0-56-amd64/updates/dkms/uscope.ko.xz");
  EXPECT_EQ(kmod("module").remedy, "modprobe uscope");
}

TEST_F(PreflightTest, SecureBootAndLockdownAskForASignature) {
  put(kSecureBoot, std::string("\x06\0\0\0\x01", 5));
  put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  const Check signature = kmod("module signature");
  EXPECT_FALSE(signature.ok);
  EXPECT_EQ(signature.found, "Secure Boot is on, lockdown integrity");
  EXPECT_EQ(signature.remedy,
            "sign the module with a key that the machine trusts: mokutil --import /var/lib/dkms/mok.pub, reboot and "
            "confirm, then dkms install uscope");
}

TEST_F(PreflightTest, SecureBootThatIsOff) {
  put(kSecureBoot, std::string("\x06\0\0\0\0", 5));
  EXPECT_TRUE(kmod("module signature").ok);
  EXPECT_EQ(kmod("module signature").found, "Secure Boot is off, lockdown none");
  put(kSecureBoot, "\x06");  // cut off
  EXPECT_EQ(kmod("module signature").found, "Secure Boot is off, lockdown none");
}

TEST_F(PreflightTest, EnforcedSignaturesWithoutLockdown) {
  std::filesystem::remove(host_.root + "/sys/kernel/security/lockdown");
  put("/sys/module/module/parameters/sig_enforce", "Y\n");
  EXPECT_FALSE(kmod("module signature").ok);
  EXPECT_EQ(kmod("module signature").found,
            "Secure Boot is off, lockdown not in use, unsigned modules are refused (module.sig_enforce)");
}

TEST_F(PreflightTest, ALoadedModuleNeedsNothingElse) {
  put(kSecureBoot, std::string("\x06\0\0\0\x01", 5));
  put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  put("/proc/sys/kernel/modules_disabled", "1\n");
  put("/sys/module/uscope/version", "0.1.0\n");
  host_.capabilities = 1ull << kCapSysAdmin;
  for (const Check& check : kmod_checks(host_)) EXPECT_TRUE(check.ok) << check.name << ": " << check.found;
  EXPECT_EQ(kmod("module").found, "loaded, version 0.1.0");
}

TEST_F(PreflightTest, PrivilegesOfLoadingAndOfOpening) {
  host_.capabilities = kAll & ~(1ull << kCapSysModule);
  EXPECT_EQ(kmod("privileges").found, "missing CAP_SYS_MODULE (to load the module)");
  host_.capabilities = 0;
  EXPECT_EQ(kmod("privileges").found, "missing CAP_SYS_ADMIN (to open /dev/uscope)");
  EXPECT_FALSE(kmod("privileges").ok);
}

TEST_F(PreflightTest, WhereNoModuleCanBeLoadedNothingElseIsAsked) {
  put("/proc/sys/kernel/modules_disabled", "1\n");
  EXPECT_EQ(kmod_checks(host_).back().found, "kernel.modules_disabled is 1: none can be loaded until the next boot");
  std::filesystem::remove(host_.root + "/proc/modules");
  EXPECT_EQ(kmod_checks(host_).size(), 2u);
  EXPECT_EQ(kmod_checks(host_).back().found, "this kernel has no module support");
  EXPECT_EQ(kmod_checks(host_).back().remedy, "use --backend bpf, or a kernel with CONFIG_MODULES=y");
}

TEST_F(PreflightTest, KernelVersions) {
  for (const auto& [release, ok] : std::vector<std::pair<std::string, bool>>{
           {"5.10.0-30-amd64", false}, {"6.0.12", false}, {"6.1.0", true}, {"7.2.13+deb14-amd64", true}, {"", false}}) {
    host_.release = release;
    EXPECT_EQ(kmod("kernel version").ok, ok) << release;
    EXPECT_EQ(bpf("kernel version").ok, ok) << release;
  }
}

TEST_F(PreflightTest, BpfAndLockdown) {
  EXPECT_TRUE(bpf("kernel lockdown").ok);
  put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
  EXPECT_TRUE(bpf("kernel lockdown").ok);
  put("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
  EXPECT_FALSE(bpf("kernel lockdown").ok);
  EXPECT_EQ(bpf("kernel lockdown").found, "confidentiality");
  // Without securityfs.
  std::filesystem::remove(host_.root + "/sys/kernel/security/lockdown");
  EXPECT_EQ(bpf("kernel lockdown").found, "not in use");
  put("/proc/cmdline", "quiet lockdown=confidentiality panic=1\n");
  EXPECT_EQ(bpf("kernel lockdown").found, "confidentiality");
}

TEST_F(PreflightTest, BpfNeedsBtfPrivilegesAndTheJit) {
  EXPECT_EQ(bpf("kernel BTF").found, "/sys/kernel/btf/vmlinux is not there");
  put("/sys/kernel/btf/vmlinux", "12345");
  EXPECT_EQ(bpf("kernel BTF").found, "/sys/kernel/btf/vmlinux, 5 bytes");
  host_.capabilities = kAll & ~(1ull << kCapPerfmon);
  EXPECT_EQ(bpf("privileges").found, "missing CAP_PERFMON (to read user memory and kernel types in them)");
  constexpr int kCapSysResource = 24;  // no kernel that uscope runs on counts the memory that programs lock
  host_.capabilities = kAll & ~(1ull << kCapSysResource);
  EXPECT_TRUE(bpf("privileges").ok);
  EXPECT_EQ(bpf("BPF JIT").found, "setting cannot be read");
  put("/proc/sys/net/core/bpf_jit_enable", "0\n");
  EXPECT_FALSE(bpf("BPF JIT").ok);
  EXPECT_EQ(bpf("BPF JIT").remedy, "sysctl net.core.bpf_jit_enable=1");
}

}  // namespace
}  // namespace uscope::tracer
