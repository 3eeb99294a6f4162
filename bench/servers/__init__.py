# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The parts of bench/servers.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "support", "py"))
