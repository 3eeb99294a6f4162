# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What tests and benchmarks need to run a server of their own: on loopback or on a socket, in a folder of its own, and no longer than
the program that starts it.

Each `…_command` makes what its server needs in a folder, and returns the command that runs it there in the foreground.
"""
import contextlib
import os
import pwd
import shutil
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


_NGINX = """daemon off;
user nobody nogroup;
pid {folder}/pid;
error_log {folder}/error.log;
{lines}
http {{
  client_body_temp_path {folder}/body;
  {http}
  server {{
    listen 127.0.0.1:{port};
    root {pages};
    {server}
  }}
}}
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


def apache_command(folder, port, lines, pages=None):
    return ["/usr/sbin/apache2", "-f", apache_conf(folder, port, lines, pages), "-DFOREGROUND"]


def nginx_command(folder, port, pages, lines="events { }", http="access_log off;", server=""):
    """With `lines` on the top level, and more for its `http` and its `server`."""
    text = _NGINX.format(folder=folder, port=port, pages=pages, lines=lines, http=http, server=server)
    return ["/usr/sbin/nginx", "-p", folder, "-c", written(folder, "nginx.conf", text)]


def redis_command(folder, *options):
    """Nothing is saved."""
    shutil.chown(folder, "nobody", "nogroup")
    return [*_as_user("nobody"), "/usr/bin/redis-server", "--dir", folder, "--save", "", *options]


def mariadb_command(folder, *options):
    """Its socket is FOLDER/socket, its data are in FOLDER/data; it does not listen on a network. root has no password."""
    data = os.path.join(folder, "data")
    shutil.chown(folder, "mysql", "mysql")
    run("mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", f"--datadir={data}", f"--tmpdir={folder}",
        "--user=mysql")
    return [*_as_user("mysql"), "/usr/sbin/mariadbd", "--no-defaults", f"--datadir={data}", f"--socket={folder}/socket", "--skip-networking",
            f"--tmpdir={folder}", f"--log-error={folder}/log", *options]


def postgres_programs():
    """The folder of the newest PostgreSQL's programs: few of them are in /usr/bin."""
    versions = "/usr/lib/postgresql"
    return os.path.join(versions, max(os.listdir(versions), key=lambda name: [int(part) for part in name.split(".")]), "bin")


def postgres_command(folder, *options):
    """Its socket is in FOLDER, its data are in FOLDER/data; whether it listens on a network is for the options to say. Users are trusted."""
    data, programs = os.path.join(folder, "data"), postgres_programs()
    shutil.chown(folder, "postgres", "postgres")
    run(*_as_user("postgres"), f"{programs}/initdb", "-D", data, "-A", "trust", "--no-sync", cwd=folder)
    return [*_as_user("postgres"), f"{programs}/postgres", "-D", data, "-k", folder, *options]


_LEASH = ["setpriv", "--pdeathsig", "TERM"]


def _as_user(name):
    account = pwd.getpwnam(name)
    return [*_LEASH, f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]


def started(command, **options):
    """A process of the command, which is terminated when this program ends, however it ends."""
    return subprocess.Popen([*_LEASH, *command], **{"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL,
                                                    **options})
