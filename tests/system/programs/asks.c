// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// asks PORT: asks a peer at this port of 127.0.0.1 six times for a byte. For each time that it waits for an answer, it
// polls a hundred times without waiting, so that the median of polls tells nothing. It has next to nothing to do
// itself: where CPUs are busy, too, only the peer makes it slow.
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int count, char** argument) {
  struct sockaddr_in peer = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  struct pollfd poller = {.fd = socket(AF_INET, SOCK_STREAM, 0), .events = POLLIN};
  char byte = '?';

  if (count != 2) return 2;
  peer.sin_port = htons((unsigned short)atoi(argument[1]));
  if (connect(poller.fd, (struct sockaddr*)&peer, sizeof(peer))) return 1;
  for (int question = 0; question < 6; question++) {
    for (int i = 0; i < 100; i++) poll(&poller, 1, 0);
    if (write(poller.fd, &byte, 1) != 1 || poll(&poller, 1, -1) != 1 || read(poller.fd, &byte, 1) != 1) return 1;
  }
  return 0;
}
