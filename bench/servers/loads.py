# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What clients ask of a server, and how much of it was answered."""
import contextlib
import dataclasses
import re

from server_setup import Failed, run, started


@dataclasses.dataclass
class Answered:
    count: int
    rate: float  # a second


class Load:
    """`run()` is one run, of which `part` tells how long it is beside the usual one; `patient` where the server is very slow."""

    def __init__(self, name, unit, command):
        self.name, self.unit, self.command = name, unit, command

    def prepare(self, seconds):
        """A usual run takes so many seconds."""
        raise NotImplementedError

    def endless(self):
        """A command that loads the server until it is terminated."""
        raise NotImplementedError


@contextlib.contextmanager
def endless(load):
    """The load goes on until what is yielded is called, or `with` ends."""
    client = started(load.endless())

    def end():
        client.terminate()
        client.wait(60)

    try:
        yield end
    finally:
        end()


class Requests(Load):
    """A number of requests is asked for: a limit of time would cut answers off. How many take the wanted time is tried."""

    first, least = 20000, 500

    def prepare(self, seconds):
        self.requests = self.first
        self.requests = int(self.run().rate * seconds)

    def number(self, part):
        return max(self.least, int(self.requests * part))


class Ab(Requests):
    """One page again and again: a hundred connections, which are kept."""

    def __init__(self, name, port):
        super().__init__(name, "requests/s", ["ab", "-q", "-k", "-c", "100"])
        self.page = f"http://127.0.0.1:{port}/page"

    def run(self, part=1, patient=False):
        number = self.number(part)
        return self.answered(run(*self.command, "-n", str(number), self.page), number, patient)

    @staticmethod
    def answered(said, number, patient):
        # A server whose workers are all busy closes connections that are kept, which ab takes for a short answer: often so where
        # it is slow.
        if int(re.search(r"Failed requests: +(\d+)", said)[1]) > number / (2 if patient else 50) or "Non-2xx" in said:
            raise Failed(f"requests failed: {said}")
        return Answered(number, float(re.search(r"Requests per second: +([\d.]+)", said)[1]))

    def endless(self):
        return [*self.command, "-t", "600", "-n", "5000000", self.page]


class RedisBenchmark(Requests):
    """SET and then GET, as many of each, of ten thousand keys; fifty connections."""

    def __init__(self, name, port, *options):
        super().__init__(name, "requests/s", ["redis-benchmark", "-p", str(port), "-t", "set,get", "-r", "10000", *options])

    def run(self, part=1, patient=False):
        number = self.number(part / 2)
        return self.answered(run(*self.command, "--csv", "-n", str(number)), number)

    @staticmethod
    def answered(said, number):
        rates = [float(rate) for rate in re.findall(r'^"(?:SET|GET)","([\d.]+)"', said, re.MULTILINE)]
        if len(rates) != 2:
            raise Failed(f"redis-benchmark told no rates: {said}")
        return Answered(2 * number, 2 / sum(1 / rate for rate in rates))

    def endless(self):
        return [*self.command, "-q", "-l", "-n", "1000000"]


class Timed(Load):
    """A time is asked for, of at least `least` seconds; `pattern` has the number of transactions and how many a second in what the client
    says."""

    def __init__(self, name, command, time_option, pattern, least=1):
        super().__init__(name, "transactions/s", command)
        self.time_option, self.pattern, self.least = time_option, pattern, least

    def prepare(self, seconds):
        self.seconds = seconds

    def timed(self, seconds):
        return [*self.command, *[word.format(seconds) for word in self.time_option]]

    def run(self, part=1, patient=False):
        return self.answered(run(*self.timed(max(self.least, int(self.seconds * part)))))

    def answered(self, said):
        found = re.search(self.pattern, said, re.DOTALL)
        if not found:
            raise Failed(f"{self.command[0]} told no rate: {said}")
        return Answered(int(found["count"]), float(found["rate"]))

    def endless(self):
        return self.timed(600)


def sysbench(name, socket):
    """Read-write transactions over four small tables, eight at a time."""
    return Timed(name, ["sysbench", "oltp_read_write", "--db-driver=mysql", f"--mysql-socket={socket}", "--mysql-user=root", "--tables=4",
                        "--table-size=10000", "--threads=8", "run"], ["--time={}"], r"transactions: +(?P<count>\d+) +\((?P<rate>[\d.]+) per sec")


def pgbench(name, program, folder, *options):
    """Eight sessions, each with a server process of its own: within a second, a loaded machine may have finished no transaction."""
    return Timed(name, [program, "-n", "-h", folder, "-U", "postgres", "-c", "8", "-j", "2", *options], ["-T", "{}", "postgres"],
                 r"actually processed: (?P<count>\d+).*\ntps = (?P<rate>[\d.]+)", least=3)
