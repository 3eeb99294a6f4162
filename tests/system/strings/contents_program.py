# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Calls with contents of every kind, the same at every run: contents_against_strace.py compares what strace and uscope say of them."""
import ctypes
import os
import select
import signal
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)


def transfers(folder):
    number = os.open(os.path.join(folder, "file"), os.O_RDWR | os.O_CREAT, 0o640)
    os.write(number, b"text\n\t\"quoted\" \\ \0\x007 \xc3\xa4\xff \x1b[31m")
    os.write(number, b"")
    os.write(number, bytes(range(256)))
    os.pwrite(number, b"at an offset", 7)
    os.writev(number, [b"one", b"", b"two\n"])
    os.writev(number, [bytes([65 + i]) for i in range(8)])
    os.pwritev(number, [b"x" * 50, b"y" * 14], 0)
    os.pread(number, 100, 0)
    os.preadv(number, [bytearray(3), bytearray(5)], 2)
    os.preadv(number, [bytearray(3)], 2, os.RWF_HIPRI)
    os.pwritev(number, [b"flags"], 5, os.RWF_DSYNC)
    os.lseek(number, 0, os.SEEK_SET)
    os.read(number, 10)
    os.readv(number, [bytearray(4), bytearray(4)])
    os.read(number, 10000)
    os.read(number, 10)  # the file's end
    os.fstat(number)
    os.stat("/dev/null")
    os.utime(number, ns=(1_000_000_007, 2_000_000_009))
    os.close(number)


def sockets():
    left, right = socket.socketpair()
    left.send(b"sent")
    right.recv(100)
    left.sendmsg([b"first ", b"second"])
    right.recvmsg_into([bytearray(4), bytearray(100)])
    right.setblocking(False)
    try:
        right.recv(10)
    except BlockingIOError:
        pass
    asked = select.poll()
    asked.register(left, select.POLLIN | select.POLLPRI)
    asked.register(right, select.POLLOUT)
    asked.poll(0)
    events = select.epoll(5)
    events.register(left, select.EPOLLIN | select.EPOLLET)
    events.poll(0)
    right.send(b"!")
    events.poll(1)
    asked.poll(0)
    for one in (events, left, right):
        one.close()


def children():
    for end in (lambda: os._exit(3), lambda: os.kill(os.getpid(), signal.SIGKILL)):
        child = os.fork()
        if not child:
            end()
        os.waitpid(child, 0)
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED)


def times():
    libc.nanosleep((ctypes.c_long * 2)(0, 1000), None)
    libc.ppoll(None, 0, (ctypes.c_long * 2)(0, 2000), None)
    libc.poll(ctypes.create_string_buffer(8), 0, 0)
    timer = libc.timerfd_create(1, 0)
    libc.timerfd_settime(timer, 0, (ctypes.c_long * 4)(1, 2, 3, 4), None)
    os.close(timer)


def main():
    read, write = os.pipe()
    os.write(write, b"through a pipe")
    os.read(read, 100)
    transfers(sys.argv[1])
    sockets()
    times()
    children()


main()
