#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""fixture_arguments under uscope: arguments in the widths that the kernel reads, by name, and only those that it looks at.

    arguments.py USCOPE FIXTURE
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support", "py"))
from backend import OPTIONS as BACKEND_OPTIONS  # noqa: E402

USCOPE, FIXTURE = (os.path.abspath(path) for path in sys.argv[1:3])
del sys.argv[1:3]

# In the order of the calls; `*` stands for an address.
EXPECTED = """
mbind(NULL, 4096, 0x100000002, NULL, 0, 0) = -1 EINVAL
unshare(0x100000000) = -1 EINVAL
mprotect(NULL, 4096, PROT_READ|0x100000000) = -1 EINVAL
perf_event_open(NULL, 0, -1, -1, 0x100000000) = -1 EINVAL
fanotify_mark(-1, FAN_MARK_ADD, 0x100000000, AT_FDCWD, NULL) = -1
mkdir("/", 0755) = -1 EEXIST
umask(042) = 0
umask(077) = 042
socket(AF_UNIX, SOCK_STREAM, 0) =
readlink("/proc/self/exe", *, 0) = -1 EINVAL
truncate("/nonexistent", -1) = -1
mknod("/", S_IFCHR|0, makedev(0x1, 0x3)) = -1
mknod("/", S_IFIFO|0644) = -1
fcntl(-1, F_DUPFD, 0) = -1 EBADF
fcntl(-1, F_SETPIPE_SZ, 4096) = -1 EBADF
fcntl(1*, F_SETFD, FD_CLOEXEC) = 0
fcntl(1*, F_GETFL) = *O_
futex(*, FUTEX_WAKE_BITSET|FUTEX_PRIVATE_FLAG, 1, FUTEX_BITSET_MATCH_ANY) = 0
futex(*, FUTEX_UNLOCK_PI) = -1
prctl(PR_SET_NAME, "a name") = 0
prctl(PR_SET_PDEATHSIG, SIGTERM) = -1 EINVAL
prctl(PR_GET_KEEPCAPS) = 0
prctl(0x3039, 0x1, 0, 0, 0) = -1 EINVAL
keyctl(KEYCTL_DESCRIBE, KEY_SPEC_SESSION_KEYRING, NULL, 0) =
keyctl(KEYCTL_REVOKE, 2147483647) = -1
kcmp(1, 1, KCMP_VM) =
mount("none", "/nonexistent", "tmpfs", MS_MGC_VAL, NULL) = -1
mount("none", "/nonexistent", "tmpfs", MS_MGC_VAL|MS_RDONLY|MS_NOSUID, NULL) = -1
getsockopt(-1, SOL_SOCKET, SO_GET_FILTER, NULL, *) = -1
setsockopt(-1, SOL_SOCKET, SO_ATTACH_FILTER, NULL, 0) = -1
setsockopt(-1, SOL_IP, IP_TOS, NULL, 0) = -1
utimensat(-1, "x", NULL, 0x2000) = -1
waitid(P_ALL, 0, NULL, WNOHANG|WSTOPPED, NULL) = -1
madvise(NULL, 0, MADV_POPULATE_READ) = 0
mmap(NULL, 0, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS|21<<MAP_HUGE_SHIFT, -1, 0) = -1
shmget(IPC_PRIVATE, 0, IPC_CREAT|0660) = -1
ioctl(-1, BLKGETSIZE, 0) = -1
quotactl(QCMD(0x8000, PRJQUOTA), "/dev/x", 0, NULL) = -1
close_range(100, 4294967295, CLOSE_RANGE_CLOEXEC) = 0
file_getattr(-1, "x", NULL, 0, 0) = -1
modify_ldt(99, NULL, 0) = -1 ENOSYS
socket(AF_INET, SOCK_DGRAM, IPPROTO_IP) =
connect(*<socket:*>, {inet:127.0.0.1:12345}, 16) = 0
sendto(*inet:127.0.0.1:12345]>, *, 1, MSG_DONTWAIT, NULL, 0) =
socketcall(0x3, 0xfffff000) = -1 EFAULT
shmget(IPC_PRIVATE, 4096, IPC_CREAT|0600) =
shmat(*, NULL, 0) = 0x*000 <
shmctl(*, IPC_RMID, NULL) = 0
mmap2(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, *) =
_llseek(-1, 4294967298, NULL, SEEK_SET) = -1
truncate64("/nonexistent", 4294967301) = -1
fcntl64(-1, F_SETFD, FD_CLOEXEC) = -1 EBADF
prlimit64(0, RLIMIT_CORE, {rlim_cur=4096, rlim_max=RLIM64_INFINITY}, NULL) = 0
fcntl(-1, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=10, l_len=20, l_pid=0}) = -1 EBADF
rt_sigaction(SIGUSR2, {sa_handler=SIG_IGN, sa_flags=SA_RESTORER|SA_RESTART, sa_restorer=0x*, sa_mask=[]}, NULL, 8) = 0
rt_sigprocmask(SIG_BLOCK, [USR1 RT_5], NULL, 8) = 0
setitimer(ITIMER_REAL, {it_interval={tv_sec=0, tv_usec=0}, it_value={tv_sec=0, tv_usec=0}}, NULL) = 0
setsockopt(*, SOL_SOCKET, SO_LINGER, {l_onoff=1, l_linger=5}, 8) = 0
setsockopt(*, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
getsockopt(*, SOL_SOCKET, SO_ERROR, [0], *) = 0
openat2(-1, "x", {flags=O_RDONLY|O_CLOEXEC, resolve=RESOLVE_BENEATH}, 24) = -1
clone3({flags=CLONE_PARENT, exit_signal=200}, 64) = -1 EINVAL
statfs("/proc", {f_type=0x9fa0, f_bsize=4096, *}) = 0
uname({sysname="Linux", nodename="*"}) = 0
getrlimit(RLIMIT_CORE, {rlim_cur=*}) = 0
fcntl(*, F_GETLK, {l_type=F_UNLCK, l_whence=SEEK_SET, l_start=10, l_len=20, l_pid=0}) = 0
fcntl(*, F_SETOWN_EX, {type=F_OWNER_PID, pid=1}) = 0
fcntl(-1, F_SET_RW_HINT, [RWH_WRITE_LIFE_SHORT]) = -1 EBADF
name_to_handle_at(-1, "x", {handle_bytes=0, handle_type=7}, 0x*, 0) = -1
bpf(BPF_MAP_CREATE, {map_type=BPF_MAP_TYPE_ARRAY, value_size=8, max_entries=1}, 16) = -1
bpf(BPF_MAP_GET_FD_BY_ID, {map_id=4294967280}, 12) = -1
arch_prctl(ARCH_GET_FS, [0x*]) = 0
keyctl(KEYCTL_SEARCH, 2147483647, "user", "a key", 0) = -1
fsconfig(-1, FSCONFIG_SET_STRING, "source", "none", 0) = -1
fsconfig(-1, FSCONFIG_SET_FLAG, "ro", NULL, 0) = -1
ioctl(-1, _IOC(_IOC_READ, 0xfe, 0x77, 0x10), 0) = -1 EBADF
fanotify_mark(-1, FAN_MARK_ADD, FAN_OPEN, FAN_NOFD, NULL) = -1
fsmount(-1, 0, MOUNT_ATTR__ATIME|MOUNT_ATTR_RDONLY) = -1
openat2(-1, "x", {flags=O_RDONLY|O_CLOEXEC, resolve=RESOLVE_BENEATH}, 32) = -1
openat2(-1, "x", {flags=O_RDONLY|O_CLOEXEC, …}, 32) = -1 EFAULT
ptrace(0x3e7, 4660, NULL, NULL) = -1
futex(*, FUTEX_WAKE_OP|FUTEX_PRIVATE_FLAG, 0, 0, *, FUTEX_OP_ADD<<28|0x1<<12|FUTEX_OP_CMP_GT<<24|0) = 0
quotactl(QCMD(Q_QUOTAOFF, GRPQUOTA), "/dev/x") = -1
openat(-1, "x", O_RDONLY|__O_TMPFILE, 0644) = -1
syslog(SYSLOG_ACTION_SIZE_BUFFER) =
tkill(-1, 77) = -1
fsmount(-1, 0, MOUNT_ATTR_RDONLY|MOUNT_ATTR_NOATIME|MOUNT_ATTR_STRICTATIME) = -1
ioctl(-1, EPIOCGPARAMS, 0) = -1 EBADF
perf_event_open({type=PERF_TYPE_SOFTWARE, size=64, disabled=1, exclude_user=1}, -1, -1, -1, 0) = -1
open_by_handle_at(-1, {handle_bytes=3, handle_type=1, f_handle="*"}, O_RDONLY) = -1
landlock_add_rule(-1, LANDLOCK_RULE_PATH_BENEATH, {allowed_access=LANDLOCK_ACCESS_FS_EXECUTE, parent_fd=-2}, LANDLOCK_ADD_RULE_QUIET) = -1
statmount({size=24, mnt_id=0x5, param=0x6}, NULL, 0, STATMOUNT_BY_FD) = -1
timer_create(0x4d, {sigev_value={sival_int=42, sival_ptr=0x2a}, sigev_signo=SIGUSR1, sigev_notify=SIGEV_SIGNAL}, NULL) = -1
mq_open("x", O_RDONLY) = -1
sendmmsg(*, [{msg_hdr={msg_name={inet:127.0.0.1:45301}, msg_iov=[{iov_base=…, iov_len=5}], msg_iovlen=1}}, *{inet:127.0.0.1:45302}*], 2, 0) = 2
execve("/nonexistent", ["name", "", "a b"], *) = -1 ENOENT
"""



def output(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


class Arguments(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="uscope-arguments-")
        cls.database = os.path.join(cls.folder.name, "trace.db")
        output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-o", cls.database, "--", FIXTURE, stdin=subprocess.DEVNULL, umask=0)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_each_call_in_its_order(self):
        lines = [re.sub(r"^\S+ [0-9.]+ ", "", line).replace("[i386]", "") for line in output(USCOPE, "events", self.database).splitlines()]
        at = 0
        for expected in EXPECTED.strip().splitlines():
            pattern = ".*".join(re.escape(part) for part in expected.split("*"))
            call = expected.split("(")[0]
            found = next((i for i in range(at, len(lines)) if re.match(pattern, lines[i])), None)
            with self.subTest(expected):
                self.assertIsNotNone(found, [line for line in lines[at:] if line.startswith(call + "(")][:3])
            at = at if found is None else found + 1

    def test_structures_on_demand(self):
        calls = "ioctl,semop,process_vm_readv,setgroups,getgroups,set_mempolicy,setxattr,add_key"
        data = os.path.join(self.folder.name, "structures.db")
        output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-e", calls, "--data", "64", "-o", data, "--", FIXTURE, stdin=subprocess.DEVNULL)
        lines = output(USCOPE, "events", data)
        for expected in ("FIONREAD, [4]) = 0", 'SIOCGIFINDEX, {ifr_name="lo", ifr_ifindex=1}) = 0', "ioctl(-1, EPIOCSPARAMS, 0x10) = -1",
                         "semop(-1, [{sem_num=1, sem_op=-1, sem_flg=SEM_UNDO}, {sem_num=2, sem_op=1, sem_flg=0}], 2) = -1",
                         "process_vm_readv(-1, [{iov_base=0x10, iov_len=3}], 1, [], 0, 0) = ", "setgroups(2, [5, 6]) = ", "getgroups(2, [5, 6]) = 2",
                         "set_mempolicy(0x63, [0000000000000001], 64) = -1", 'setxattr("/nonexistent", "user.a", "value", 5, 0) = -1',
                         'add_key("none", "name", "", 0, 0) = -1'):
            self.assertIn(expected, lines)
        without = output(USCOPE, "events", "-e", "ioctl", self.database)
        self.assertIn("FIONREAD, 0x", without)

    def test_data_of_messages_on_demand_and_never_what_is_redacted(self):
        for options, has_data in (((), True), (("--redact", "second*"), False)):
            data = os.path.join(self.folder.name, "data.db")
            output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-e", "sendmmsg,execve,getsockname,select", "--data", "64", *options, "--redact", "a b",
                   "-o", data, "--", FIXTURE, stdin=subprocess.DEVNULL)
            lines = output(USCOPE, "events", data)
            self.assertEqual("second message" in lines, has_data, lines)
            self.assertIn("{inet:0.0.0.0:0}, [128 => 16]) = 0", lines)
            self.assertRegex(lines, r"getsockname\(-1, 0x[0-9a-f]+, \[16\]\) = -1 EBADF")
            self.assertRegex(lines, r"select\(78, NULL, \[\d+ 77\], NULL, \{tv_sec=0, tv_usec=0\}\) = 2 \(out \[\d+ 77\]\)")
            self.assertIn('iov_base="first"', lines)
            self.assertIn('["name", "", "[redacted]"]', lines)

    def test_of_a_long_argument_list_the_beginning_and_the_end(self):
        many = [f"argument{i}" for i in range(5000)]
        long = os.path.join(self.folder.name, "long.db")
        for options, last in (((), '"argument4998", "argument4999"]'), (("--redact", "*4999"), '"argument4998", "[redacted]"]')):
            output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-e", "execve", *options, "-o", long, "--", "true", *many)
            line = output(USCOPE, "events", "-e", "execve", long).splitlines()[-1]
            self.assertIn('["true", "argument0", "argument1", ', line)
            self.assertIn(last, line)
            self.assertRegex(line, r'(…|\[redacted\]), …, "argument49\d\d", ')
        self.assertRegex(output(USCOPE, "tree", long), r"true argument0 .*…'? … argument49\d\d .* argument4998")

    def test_as_much_of_an_argument_list_as_is_asked_for(self):
        long = os.path.join(self.folder.name, "long.db")
        for count, whole in ((2400, True), (5000, False)):  # 31 and 66 KB
            many = [f"argument{i}" for i in range(count)]
            output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-e", "execve", "--argument-bytes", "32768", "-o", long, "--", "true", *many)
            kept = json.loads(output(USCOPE, "sql", "--format", "json", long, "SELECT argv FROM image ORDER BY id DESC LIMIT 1"))
            kept = json.loads(kept["results"][0]["rows"][0][0]) if "results" in kept else json.loads(kept["rows"][0][0])
            if whole:
                self.assertEqual(kept, ["true", *many])
            else:
                gap = kept.index(None)
                self.assertEqual(kept[:gap - 1], ["true", *many][:gap - 1])
                self.assertGreater(gap, 2400)
                self.assertEqual(kept[gap + 1:], many[-len(kept[gap + 1:]):])
        refused = subprocess.run([USCOPE, "record", "--argument-bytes", "40000", "--", "true"], capture_output=True, text=True, check=False)
        self.assertEqual(refused.returncode, 125, refused.stderr)

    def test_an_error_in_the_low_half_of_a_result_is_one(self):
        self.assertIn("modify_ldt", output(USCOPE, "events", "--failed", "-e", "modify_ldt", self.database))

    def test_a_call_inside_socketcall_is_chosen_by_its_name(self):
        only = os.path.join(self.folder.name, "only.db")
        output(USCOPE, "record", "-q", *BACKEND_OPTIONS, "-e", "connect,shmget", "-o", only, "--", FIXTURE, stdin=subprocess.DEVNULL)
        calls = [line.split("(")[0].split()[-1].removesuffix("[i386]") for line in output(USCOPE, "events", only).splitlines()]
        self.assertEqual(calls, ["shmget", "connect", "shmget"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
