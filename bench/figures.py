# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Figures of benchmarks: how they spread over the rounds, and on which machine they were measured."""
import os
import platform
import re
import statistics
import subprocess
import time


def quartiles(values):
    """The lower quartile, the median and the upper one."""
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else list(values) * 3


def spread(values, digits=1):
    """What the JSON of a benchmark says of one figure's runs; bench/compare.py reads it."""
    low, middle, high = (round(value, digits) for value in quartiles(values))
    return {
        "median": middle,
        "quartiles": [low, high],
        "least": round(min(values), digits),
        "most": round(max(values), digits),
        "runs": len(values),
    }


def _version(*command):
    said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True).stdout
    return said.split("\n", 1)[0]


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.MULTILINE)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "kernel": platform.release(),
        "processor": model[1] if model else "unknown",
        "processors": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "bpftrace": _version("bpftrace", "--version"),
        "strace": _version("strace", "-V"),
    }
