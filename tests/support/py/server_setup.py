# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tests and benchmarks need to run a server of their own: on loopback, in a folder of its own."""
import contextlib
import os
import socket
import subprocess
import time

_APACHE = """ServerRoot {folder}
PidFile {folder}/pid
ErrorLog {folder}/error.log
Listen 127.0.0.1:{port}
ServerName localhost
User nobody
Group nogroup
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
"""

_SERVED = """DocumentRoot {pages}
<Directory {pages}>
  Require all granted
</Directory>
"""


class Failed(Exception):
    pass


def run(*command, **options):
    """What the command printed."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False, **options)
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)}: exit status {done.returncode}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failed(what)
        time.sleep(0.05)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def apache_conf(folder, port, lines, pages=None):
    """The path of a configuration for the event MPM with these lines, serving the files of `pages`."""
    text = _APACHE.format(folder=folder, port=port) + lines
    return written(folder, "apache.conf", text + (_SERVED.format(pages=pages) if pages else ""))
