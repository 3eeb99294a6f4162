// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The data in a page that --html wrote, and what holds of every page.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/unit/cli/run_command.h"

namespace uscope::test {

inline nlohmann::json page_data(const std::string& page) {
  const std::string before = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.find(before);
  const std::size_t end = page.find("</script>", start);
  if (start == std::string::npos || end == std::string::npos) {
    ADD_FAILURE() << "no data in a page of " << page.size() << " bytes";
    return {};
  }
  return nlohmann::json::parse(page.substr(start + before.size(), end - start - before.size()));
}

// That it forbids everything but itself, what it adds to its data, and that no name of a traced program is markup or
// reaches a terminal.
inline void expect_page(const std::string& page) {
  EXPECT_NE(page.find("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-"),
            std::string::npos);
  std::size_t ends = 0;
  for (std::size_t at = 0; (at = page.find("</script>", at)) != std::string::npos; at++) ends++;
  EXPECT_EQ(ends, 2U);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(page.find('\xff'), std::string::npos);
  EXPECT_LT(page.size() - page_data(page).dump().size(), 3'000'000U);
}

}  // namespace uscope::test
