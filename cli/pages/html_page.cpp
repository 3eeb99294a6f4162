// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/pages/html_page.h"

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "cli/render/json.h"
#include "support/text.h"

namespace uscope::cli {
namespace {

using nlohmann::ordered_json;

// 'sha256-…' of what stands between the tags, as the policy names it.
std::string source_of(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) return "'none'";
  std::array<unsigned char, std::size_t{2} * EVP_MAX_MD_SIZE> base64{};
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return "'sha256-" + std::string(base64.begin(), base64.begin() + length) + "'";
}

void make_printable(ordered_json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    if (std::string safe = printable(text); safe != text) text = std::move(safe);
  } else if (value.is_object()) {
    for (auto& [key, member] : value.get_ref<ordered_json::object_t&>()) make_printable(member);
  } else if (value.is_array()) {
    for (ordered_json& member : value) make_printable(member);
  }
}

std::string html_text(std::string_view text) {
  std::string out;
  for (const char letter : printable(text)) {
    if (letter == '<') {
      out += "&lt;";
    } else if (letter == '&') {
      out += "&amp;";
    } else {
      out += letter;
    }
  }
  return out;
}

}  // namespace

std::string html_page(const Bundle& bundle, const std::string& title, ordered_json data) {
  make_printable(data);
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src " +
         source_of(bundle.script) + "; style-src " + source_of(bundle.styles) +
         "; img-src data:; base-uri 'none'; form-action 'none'\">\n";
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += "<meta name=\"referrer\" content=\"no-referrer\">\n";
  out += "<link rel=\"icon\" href=\"data:,\">\n<title>" + html_text(title) + "</title>\n<style>";
  out += bundle.styles;
  // `<` within the JSON is an escape, so that nothing in it can end the element.
  out += "</style>\n</head>\n<body>\n<script type=\"application/json\" id=\"data\">" + dump(data, false);
  out +=
      "</script>\n<noscript>This page shows a recording of uscope by a script, which this browser does not "
      "run.</noscript>\n<script>";
  out += bundle.script;
  out += "</script>\n</body>\n</html>\n";
  return out;
}

}  // namespace uscope::cli
