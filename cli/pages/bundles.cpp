// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/pages/bundles.h"

#include <cstddef>

// pages/embedded.S
extern "C" {
extern const char uscope_page_report_js[];
extern const char uscope_page_report_js_end[];
extern const char uscope_page_report_css[];
extern const char uscope_page_report_css_end[];
extern const char uscope_page_diff_js[];
extern const char uscope_page_diff_js_end[];
extern const char uscope_page_diff_css[];
extern const char uscope_page_diff_css_end[];
extern const char uscope_page_deadlock_js[];
extern const char uscope_page_deadlock_js_end[];
extern const char uscope_page_deadlock_css[];
extern const char uscope_page_deadlock_css_end[];
}

namespace uscope::cli {
namespace {

std::string_view between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

Bundle embedded(Page page) {
  switch (page) {
    case Page::kDiff:
      return {between(uscope_page_diff_js, uscope_page_diff_js_end),
              between(uscope_page_diff_css, uscope_page_diff_css_end)};
    case Page::kDeadlock:
      return {between(uscope_page_deadlock_js, uscope_page_deadlock_js_end),
              between(uscope_page_deadlock_css, uscope_page_deadlock_css_end)};
    default:
      return {between(uscope_page_report_js, uscope_page_report_js_end),
              between(uscope_page_report_css, uscope_page_report_css_end)};
  }
}

}  // namespace

Result<Bundle> bundle_of(Page page) {
  const Bundle found = embedded(page);
  if (found.script.empty())
    return Error{
        "this uscope was built without the pages that --html writes",
        "in its sources, `scripts/install-deps.sh` installs npm, `scripts/pages.sh` makes the pages (npm takes them "
        "from the network), and the next build has them; released packages have them, too"};
  return found;
}

}  // namespace uscope::cli
