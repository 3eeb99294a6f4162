#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""`uscope time --by peer`: an event loop that talks to servers whose delays are known, a server of its own, and a socketpair. Needs root and a
backend; usage: peer_times.py USCOPE SCHEMA"""
import json
import os
import subprocess
import sys
import unittest

import jsonschema

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import SLOWNESS  # noqa: E402
from traced_command import record  # noqa: E402
from trace_case import TraceCase  # noqa: E402

USCOPE = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "uscope"
SCHEMA = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else "peers.schema.json"
TURNS = 6
# Two servers that answer late, a client that waits for both in one epoll_wait, a pair within the process, and a request that is never answered.
# It prints how long it waited for each, by its own clock: from after the write to after the read.
PROGRAM = f"""
import json, os, selectors, socket, threading, time
def serve(listener, delay):
    connection = listener.accept()[0]
    while connection.recv(100):
        time.sleep(delay)
        connection.send(b"answer")
def listening():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener
waited, ports, loop, since = {{}}, {{}}, selectors.EpollSelector(), {{}}
for delay in (0.02, 0.12):
    listener = listening()
    threading.Thread(target=serve, args=(listener, delay), daemon=True).start()
    client = socket.create_connection(listener.getsockname())
    loop.register(client, selectors.EVENT_READ, listener.getsockname()[1])
    waited[listener.getsockname()[1]] = []
silent = listening()
waiting = socket.create_connection(silent.getsockname())
waiting.send(b"nobody answers")
here, there = socket.socketpair()
def pair():
    with open(f"/proc/self/task/{{threading.get_native_id()}}/comm", "w") as comm:
        comm.write("pair")
    while there.recv(100):
        time.sleep(0.05)
        there.send(b"pair")
threading.Thread(target=pair, daemon=True, name="pair").start()
def connected(delay):
    listener = listening()
    threading.Thread(target=serve, args=(listener, delay), daemon=True).start()
    client = socket.create_connection(listener.getsockname())
    ports[kind] = listener.getsockname()[1]
    return client
# One thread waits in recv all the time, another one sends.
kind = "two threads"
duplex = connected(0.03)
def receive():
    while duplex.recv(100):
        came.set()
came = threading.Event()
threading.Thread(target=receive, daemon=True).start()
for _ in range({TURNS}):
    came.clear()
    time.sleep(0.06)
    duplex.send(b"ask")
    came.wait()
# It writes on one descriptor, and reads on its duplicate.
kind = "duplicate"
writer = connected(0.03)
reader = writer.dup()
for _ in range({TURNS}):
    writer.send(b"ask")
    reader.recv(100)
# What it sends comes from a pipe.
kind = "splice"
spliced = connected(0.03)
out, into = os.pipe()
for _ in range({TURNS}):
    os.write(into, b"ask")
    os.splice(out, spliced.fileno(), 3)
    spliced.recv(100, socket.MSG_PEEK)
    spliced.recv(100)
# Datagrams: a socket without one peer, on both sides.
answering, asking = socket.socket(type=socket.SOCK_DGRAM), socket.socket(type=socket.SOCK_DGRAM)
answering.bind(("127.0.0.1", 0))
def answer():
    while True:
        _, peer = answering.recvfrom(100)
        answering.sendto(b"answer", peer)
threading.Thread(target=answer, daemon=True).start()
for _ in range({TURNS}):
    asking.sendto(b"ask", answering.getsockname())
    asking.recvfrom(100)
for _ in range({TURNS}):
    for key in loop.get_map().values():
        key.fileobj.send(b"ask")
        since[key.data] = time.monotonic_ns()
    left = len(since)
    while left:
        for key, _ in loop.select():
            key.fileobj.recv(100)
            waited[key.data].append(time.monotonic_ns() - since[key.data])
            left -= 1
    here.send(b"ask")
    here.recv(100)
print(json.dumps({{"waited": waited, "silent": silent.getsockname()[1], "others": ports}}))
"""


class PeerTimes(TraceCase):
    def said(self, *options):
        done = subprocess.run([USCOPE, "time", "--by", "peer", "--format", "json", self.db, *options], capture_output=True, text=True,
                              timeout=60 * SLOWNESS, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        found = json.loads(done.stdout)
        with open(SCHEMA, encoding="utf-8") as file:
            jsonschema.validate(found, json.load(file))
        return found

    def test_each_peer_has_its_own_delay(self):
        done = record(USCOPE, (), ["/usr/bin/python3", "-c", PROGRAM], self.db)
        self.assertEqual(done.returncode, 0, done.stderr)
        own = json.loads(done.stdout.splitlines()[-1])
        found = self.said()
        waits = {line["peer"]: line for line in found["waits"]["lines"]}
        self.assertEqual(len(own["waited"]), 2)
        for port, times in own["waited"].items():
            line = waits[f"socket:[to inet:127.0.0.1:{port}]"]
            self.assertEqual(line["times"], TURNS, line)
            # The program's clock is read after the call has returned: a thread of it may wait for the interpreter then.
            apart = abs(line["total_ns"] - sum(times))
            self.assertLess(apart, sum(times) // 5 + 5_000_000 * TURNS, (line, times))
            self.assertEqual(line["unfinished"], 0)
        silent = waits[f"socket:[to inet:127.0.0.1:{own['silent']}]"]
        self.assertEqual((silent["times"], silent["unfinished"]), (0, 1))
        self.assertGreater(silent["unfinished_ns"], TURNS * 170_000_000)
        for kind, port in own["others"].items():
            line = waits[f"socket:[to inet:127.0.0.1:{port}]"]
            self.assertEqual((kind, line["times"], line["unfinished"]), (kind, TURNS, 0), line)
            self.assertGreaterEqual(line["median_ns"], 30_000_000, (kind, line))
            self.assertLess(line["median_ns"], 55_000_000 * SLOWNESS, (kind, line))
        self.assertEqual(len(waits), 2 + 1 + len(own["others"]) + 1, sorted(waits))  # no datagrams
        self.assertEqual(found["unconnected"], 2)
        # The servers' side: each answered after its delay. All are clients of one host.
        [answers] = [line for line in found["answers"]["lines"] if line["peer"].startswith("socket:[from inet:127.0.0.1")]
        self.assertEqual(answers["times"], 5 * TURNS)
        self.assertEqual((answers["peers"], answers["peer"]), (5, "socket:[from inet:127.0.0.1]"))
        self.assertGreaterEqual(answers["total_ns"], TURNS * 230_000_000)
        # The pair: one end asks, the other one answers.
        [asks] = [line for line in found["waits"]["lines"] if "inet" not in line["peer"]]
        [told] = [line for line in found["answers"]["lines"] if "inet" not in line["peer"]]
        for line in (asks, told):
            self.assertEqual(line["times"], TURNS, line)
            self.assertGreaterEqual(line["median_ns"], 50_000_000)
        # By thread and by time.
        [only] = self.said("--thread", "pair")["answers"]["lines"]
        self.assertEqual(only["total_ns"], told["total_ns"])
        self.assertEqual(self.said("--thread", "nobody")["waits"], {"total": 0, "lines": []})
        early, late = self.said("--until", "1500ms"), self.said("--since", "1500ms")
        for half in ("waits", "answers"):
            parts = [sum(line["times"] for line in part[half]["lines"]) for part in (early, late)]
            self.assertEqual(sum(parts), sum(line["times"] for line in found[half]["lines"]))
            self.assertTrue(all(parts), parts)
        text = subprocess.run([USCOPE, "time", "--by", "peer", self.db], capture_output=True, text=True, timeout=60 * SLOWNESS, check=False).stdout
        self.assertRegex(text, r"^WAITS FOR PEERS, from a write to the next read  \d")
        self.assertIn("ANSWERS TO PEERS", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
