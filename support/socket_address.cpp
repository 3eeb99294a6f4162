// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/socket_address.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "support/text.h"

namespace uscope {
namespace {

template <typename Address>
std::optional<Address> as(std::string_view bytes, std::size_t least = sizeof(Address)) {
  if (bytes.size() < least) return std::nullopt;
  Address address{};
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof(address)));
  return address;
}

std::optional<std::string> inet_text(std::string_view bytes) {
  const auto address = as<sockaddr_in>(bytes);
  if (!address) return std::nullopt;
  std::array<char, INET_ADDRSTRLEN> text{};
  inet_ntop(AF_INET, &address->sin_addr, text.data(), text.size());
  return fmt::format("inet:{}:{}", text.data(), ntohs(address->sin_port));
}

std::optional<std::string> inet6_text(std::string_view bytes) {
  constexpr std::size_t kLeast = 24;  // SIN6_LEN_RFC2133: an address without scope
  const auto address = as<sockaddr_in6>(bytes, kLeast);
  if (!address) return std::nullopt;
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(AF_INET6, &address->sin6_addr, text.data(), text.size());
  std::string host = text.data();
  if (address->sin6_scope_id != 0) host += fmt::format("%{}", address->sin6_scope_id);
  return fmt::format("inet6:[{}]:{}", host, ntohs(address->sin6_port));
}

std::string unix_text(std::string_view bytes) {
  std::string_view name = bytes.substr(sizeof(sa_family_t));
  if (name.empty()) return "unix:";
  if (name.front() == '\0') {
    // Who passes the whole structure pads the name with zeros.
    const bool is_padded = bytes.size() >= sizeof(sockaddr_un);
    const std::size_t last = is_padded ? name.find_last_not_of('\0') : name.size() - 1;
    return "unix:@" + (last == std::string_view::npos ? "" : std::string(name.substr(1, last)));
  }
  return "unix:" + std::string(name.substr(0, name.find('\0')));
}

std::optional<std::string> netlink_text(std::string_view bytes) {
  const auto address = as<sockaddr_nl>(bytes);
  if (!address) return std::nullopt;
  return fmt::format("netlink:pid={} groups={}", address->nl_pid, hex_or_zero(address->nl_groups));
}

std::optional<std::string> packet_text(std::string_view bytes) {
  const auto address = as<sockaddr_ll>(bytes, 12);  // the hardware address may be missing
  if (!address) return std::nullopt;
  return fmt::format("packet:protocol={} ifindex={}", hex_or_zero(ntohs(address->sll_protocol)), address->sll_ifindex);
}

std::optional<std::string> vsock_text(std::string_view bytes) {
  const auto address = as<sockaddr_vm>(bytes);
  if (!address) return std::nullopt;
  const auto number = [](std::uint32_t value) { return value == VMADDR_CID_ANY ? "any" : std::to_string(value); };
  return fmt::format("vsock:{}:{}", number(address->svm_cid), number(address->svm_port));
}

}  // namespace

std::string socket_address_text(std::string_view bytes) {
  const auto family = as<sa_family_t>(bytes);
  if (!family) return "address:" + hex_of(bytes);
  std::optional<std::string> text;
  if (*family == AF_INET) text = inet_text(bytes);
  if (*family == AF_INET6) text = inet6_text(bytes);
  if (*family == AF_UNIX) text = unix_text(bytes);
  if (*family == AF_NETLINK) text = netlink_text(bytes);
  if (*family == AF_PACKET) text = packet_text(bytes);
  if (*family == AF_VSOCK) text = vsock_text(bytes);
  if (text) return *text;
  return fmt::format("family {}:{}", *family, hex_of(bytes.substr(sizeof(sa_family_t))));
}

bool is_unspecified_address(std::string_view text) {
  static const std::string kStart = fmt::format("family {}:", AF_UNSPEC);
  return text.starts_with(kStart);
}

std::string socket_family_name(int family) {
  static constexpr std::pair<int, std::string_view> kNames[] = {{AF_UNIX, "unix"},
                                                                {AF_INET, "inet"},
                                                                {AF_INET6, "inet6"},
                                                                {AF_NETLINK, "netlink"},
                                                                {AF_PACKET, "packet"},
                                                                {AF_VSOCK, "vsock"},
                                                                {AF_BLUETOOTH, "bluetooth"},
                                                                {AF_ALG, "alg"},
                                                                {AF_CAN, "can"},
                                                                {AF_XDP, "xdp"},
                                                                {AF_TIPC, "tipc"},
                                                                {AF_KEY, "key"},
                                                                {AF_RDS, "rds"},
                                                                {AF_SMC, "smc"},
                                                                {AF_KCM, "kcm"},
                                                                {AF_QIPCRTR, "qipcrtr"},
                                                                {AF_NFC, "nfc"},
                                                                {AF_PPPOX, "pppox"},
                                                                {AF_RXRPC, "rxrpc"},
                                                                {AF_PHONET, "phonet"}};
  for (const auto& [number, name] : kNames)
    if (number == family) return std::string(name);
  return fmt::format("family {}", family);
}

bool is_no_address(std::string_view text) {
  if (text.starts_with("inet")) return text.ends_with(":0");
  const bool has_family = !text.empty() && !text.starts_with("address:") && !text.starts_with("family ");
  return !has_family || text == "unix:" || text.starts_with("netlink:pid=0 ");
}

}  // namespace uscope
