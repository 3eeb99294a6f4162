// What the examinations of both backends look at. Files are looked up below a root, so that tests can show other
// machines.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/result.h"
#include "tracer/backend/backend.h"
#include "tracer/preflight/preflight.h"

namespace uscope::tracer {

// A machine as the examinations see it.
struct Host {
  std::string root;                // before every path: "" = this machine's own
  std::string release;             // uname -r
  std::uint64_t capabilities = 0;  // effective ones, bits by capability number; 0 where they cannot be asked
};

[[nodiscard]] Host this_host();
[[nodiscard]] bool exists(const Host& host, const std::string& path);
// "" where there is no such file.
[[nodiscard]] std::string first_line(const Host& host, const std::string& path);
// Linux 6.1 or later.
[[nodiscard]] Check check_kernel(const Host& host);
// "none", "integrity" or "confidentiality"; "" where the kernel has no lockdown.
[[nodiscard]] std::string lockdown_level(const Host& host);

using OpenBackend = Result<std::unique_ptr<Backend>> (*)(const usc_config& config, const BackendSizes& sizes);
// Processes of others are known by the initial namespace's numbers: /proc must show the same ones.
[[nodiscard]] bool in_initial_pid_namespace(const Host& host);
// The check that decides: a small session is opened on this machine, attached, and closed again.
[[nodiscard]] Check check_by_use(const char* name, OpenBackend open);

// A failure, and the first check that is not passed: what is missing most likely explains it.
[[nodiscard]] Error explained_by(Error failure, const std::vector<Check>& checks);

// All checks but that one.
[[nodiscard]] std::vector<Check> bpf_checks(const Host& host);
// Ends with the first check by which the others are pointless; the last one says whether the module is loaded.
[[nodiscard]] std::vector<Check> kmod_checks(const Host& host);

}  // namespace uscope::tracer
