// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What stands around the data of a page: the policy allows its script and styles alone, and no name ends an element.
#include "cli/pages/html_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace uscope::cli {
namespace {

constexpr const char* kHostile = "\xe2\x80\xae</script><!--<img src=x onerror=alert(1)>\x01";

std::string page_between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin);
  if (from == std::string::npos) return "no " + begin;
  const std::size_t start = from + begin.size();
  return text.substr(start, text.find(end, start) - start);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) found++;
  return found;
}

TEST(HtmlPage, PolicyNamesTheDigestsOfScriptAndStyles) {
  const std::string page = html_page({"alert(1)", "a{}"}, "title", {{"a", 1}});
  // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
  EXPECT_EQ(page_between(page, "Content-Security-Policy\" content=\"", "\""),
            "default-src 'none'; script-src 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI='; "
            "style-src 'sha256-X1RutGBrXCt9KkSaXMK7tHftWiRscFHOhxsS8tv8hBk='; img-src data:; base-uri 'none'; "
            "form-action 'none'");
  EXPECT_EQ(page_between(page, "<style>", "</style>"), "a{}");
  EXPECT_EQ(page_between(page, "<script>", "</script>"), "alert(1)");
}

TEST(HtmlPage, NamesAreShownAsTextAndEndNoElement) {
  const std::string page = html_page({"s", "c"}, kHostile, {{"name", kHostile}, {"list", {{{"of", kHostile}}}}});
  EXPECT_EQ(count(page, "</script>"), 2U);  // of the data and of the script
  EXPECT_EQ(count(page, "<img"), 0U);
  EXPECT_EQ(count(page, "<!--"), 0U);
  EXPECT_EQ(count(page, "\xe2\x80\xae"), 0U);
  EXPECT_EQ(count(page, "\x01"), 0U);
  const std::string data = page_between(page, "id=\"data\">", "</script>");
  const auto read = nlohmann::json::parse(data);
  const std::string shown = "\\xe2\\x80\\xae</script><!--<img src=x onerror=alert(1)>\\x01";
  EXPECT_EQ(read["name"], shown);
  EXPECT_EQ(read["list"][0]["of"], shown);
  EXPECT_EQ(page_between(page, "<title>", "</title>"),
            "\\xe2\\x80\\xae&lt;/script>&lt;!--&lt;img src=x onerror=alert(1)>\\x01");
}

}  // namespace
}  // namespace uscope::cli
