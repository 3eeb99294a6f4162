// What a user wants kept out of a trace: texts that match one of some patterns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace uscope {

inline constexpr std::string_view kRedacted = "[redacted]";

class Redactor {
 public:
  Redactor() = default;
  // Patterns as fnmatch(3) has them: * ? [set], against the whole text; * and ? match / and a leading dot too.
  explicit Redactor(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  [[nodiscard]] bool empty() const { return patterns_.empty(); }
  [[nodiscard]] const std::vector<std::string>& patterns() const { return patterns_; }

  // `is_cut`: the text's end is missing, so that it cannot be compared: it is hidden where there is any pattern.
  [[nodiscard]] bool hides(std::string_view text, bool is_cut = false) const;

  // A list of texts with a NUL behind each, with those that are hidden replaced.
  [[nodiscard]] std::string redact_list(std::string_view list, bool is_cut) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace uscope
