// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// SHA-256, computed piece by piece.
#pragma once

#include <openssl/evp.h>

#include <array>
#include <cstddef>
#include <memory>

namespace uscope::symbolizer {

using Digest = std::array<unsigned char, 32>;

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new()) {
    if (context_) EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* bytes, std::size_t count) {
    if (context_) EVP_DigestUpdate(context_.get(), bytes, count);
  }
  Digest finish() {
    Digest digest{};
    if (context_) EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  struct Deleter {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Deleter> context_;
};

}  // namespace uscope::symbolizer
