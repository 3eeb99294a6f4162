// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/session/installation.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "cli/session/stap_script.h"
#include "support/text.h"
#include "tracer/host/host.h"
#include "tracer/host/kernel_module.h"

namespace uscope::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The lines that a command prints; none if it is not there or fails.
std::vector<std::string> lines_printed_by(const std::string& command) {
  constexpr std::size_t kMost = 1U << 16U;
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen((command + " 2>/dev/null").c_str(), "re"), pclose);
  if (!pipe) return {};
  std::string text(kMost, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), pipe.get()));
  return split(text, '\n');
}

// Packages of uscope's that are installed, and the one that a file is from.
void ask_dpkg(Installation& found) {
  for (const std::string& line :
       lines_printed_by("dpkg-query -W -f '${db:Status-Status} ${Package} ${Version}\\n' 'uscope*'"))
    if (constexpr std::string_view kInstalled = "installed "; line.starts_with(kInstalled))
      found.packages.push_back(line.substr(kInstalled.size()));
  if (found.packages.empty()) return;
  for (const std::string& line : lines_printed_by("dpkg-query -S " + shell_quoted(found.program.path))) {
    const std::string owner = line.substr(0, line.find(':'));
    for (const std::string& package : found.packages)
      if (package.starts_with(owner + " ")) {
        found.origin = Origin::kPackage;
        found.program.note = package;
      }
  }
}

std::vector<std::string> others_in_path(const fs::path& program) {
  std::vector<std::string> others;
  const char* path = std::getenv("PATH");
  for (const std::string& folder : split(path ? path : "", ':')) {
    const fs::path other = fs::path(folder) / "uscope";
    std::error_code error;
    if (!fs::is_regular_file(other, error) || fs::equivalent(other, program, error)) continue;
    bool known = false;
    for (const std::string& one : others) known = known || fs::equivalent(one, other, error);
    if (!known) others.push_back(other.string());
  }
  return others;
}

Part module_part() {
  const tracer::Host host = tracer::this_host();
  const std::string loaded = tracer::first_line(host, "/sys/module/uscope/version");
  Part part{tracer::installed_module(host), ""};
  if (tracer::exists(host, "/sys/module/uscope")) part.note = "a module is loaded, version " + loaded;
  if (part.path.empty() && part.note.empty()) part.note = "none for this kernel, " + host.release;
  return part;
}

Part sources_part(const fs::path& prefix) {
  std::error_code error;
  const std::string name = std::string("uscope-") + USCOPE_VERSION;
  for (const fs::path& folder : {prefix / "src" / name, fs::path("/usr/src") / name})
    if (fs::exists(folder / "dkms.conf", error)) return {folder.string(), ""};
  return {"", std::string("none for version ") + USCOPE_VERSION + "; the package uscope-dkms has them"};
}

}  // namespace

Installation examine_installation() {
  Installation found;
  found.version = USCOPE_VERSION;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path prefix = program.parent_path().parent_path();
  found.program.path = program.string();
  ask_dpkg(found);
  if (found.origin != Origin::kPackage && fs::exists(program.parent_path() / "CMakeCache.txt", error))
    found.origin = Origin::kBuildTree;
  if (found.origin == Origin::kFiles && fs::exists(prefix / "INSTALL", error)) found.origin = Origin::kTarball;
  found.others = others_in_path(program);
  const auto stap = stap_folder();
  found.tapset = stap ? Part{*stap + "/tapset", std::getenv("USCOPE_STAP") ? "by USCOPE_STAP" : ""}
                      : Part{"", stap.error().what + ": " + stap.error().remedy};
  found.module = module_part();
  found.module_sources = sources_part(prefix);
  return found;
}

}  // namespace uscope::cli
