# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs in good health whose waits are for locks of run-time systems, for healthy.py: Python's GIL and its locks, libc's own locks, Rust's,
OpenMP's, Java's, std::atomic's, Ruby's; many threads that contend for one of them, pools at rest, handlers that interrupt a thread in libc
and go away again. Each function starts one, as those of healthy_programs.py do."""
import os
import subprocess

from server_setup import free_port, started as started_by, wait_for

PYTHON = "/usr/bin/python3"

# Each is a program of C or C++: (compiler and options, text).
C_PROGRAMS = {
    "malloc, one arena": (["gcc", "-O1", "-pthread"], """
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
static void* work(void* unused) { for (;;) { void* p = malloc(64); __asm__ volatile("" : : "r"(p) : "memory"); free(p); malloc_trim(0); } return unused; }
int main(void) { mallopt(M_ARENA_MAX, 1); pthread_t t; for (int i = 0; i < 6; i++) pthread_create(&t, 0, work, 0); work(0); }
"""),
    "a handler interrupts malloc": (["gcc", "-O1", "-pthread"], """
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
static void nap(int unused) { struct timespec t = {0, 30000000}; nanosleep(&t, 0); (void)unused; }
static void* work(void* unused) { for (;;) { void* p = malloc(64); __asm__ volatile("" : : "r"(p) : "memory"); free(p); malloc_trim(0); } return unused; }
static void* others(void* unused) { sigset_t all; sigfillset(&all); pthread_sigmask(SIG_BLOCK, &all, 0); return work(unused); }
int main(void) {
  mallopt(M_ARENA_MAX, 1); signal(SIGALRM, nap); pthread_t t;
  for (int i = 0; i < 4; i++) pthread_create(&t, 0, others, 0);
  struct itimerval every = {{0, 50000}, {0, 50000}}; setitimer(ITIMER_REAL, &every, 0); work(0);
}
"""),
    "localtime in all threads, a handler": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
static volatile int seen;
static void note(int unused) { seen++; struct timespec t = {0, 20000000}; nanosleep(&t, 0); (void)unused; }
static void* work(void* unused) { for (;;) { time_t now = time(0); struct tm made; localtime_r(&now, &made); } return unused; }
int main(void) {
  signal(SIGALRM, note); pthread_t t; for (int i = 0; i < 5; i++) pthread_create(&t, 0, work, 0);
  struct itimerval every = {{0, 50000}, {0, 50000}}; setitimer(ITIMER_REAL, &every, 0); work(0);
}
"""),
    "one stream, many threads": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <stdio.h>
static FILE* out;
static void* work(void* unused) { for (;;) fprintf(out, "line %p\\n", unused); return unused; }
int main(void) { out = fopen("/dev/null", "w"); pthread_t t; for (int i = 0; i < 6; i++) pthread_create(&t, 0, work, 0); work(0); }
"""),
    "a reader at the terminal's stream, a writer beside it": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void* work(void* unused) { for (;;) { flockfile(stdin); usleep(1000); funlockfile(stdin); usleep(100); } return unused; }
int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, 0, work, 0); work(0); }
"""),
    "names looked up in all threads": (["gcc", "-O1", "-pthread"], """
#include <netdb.h>
#include <pthread.h>
static void* work(void* unused) { for (;;) { struct addrinfo* found; if (!getaddrinfo("localhost", "80", 0, &found)) freeaddrinfo(found); } return unused; }
int main(void) { pthread_t t; for (int i = 0; i < 4; i++) pthread_create(&t, 0, work, 0); work(0); }
"""),
    "OpenMP, busy and at rest in turn": (["gcc", "-O1", "-fopenmp"], """
#include <unistd.h>
int main(void) { static double sums[64]; for (;;) {
#pragma omp parallel for
  for (int i = 0; i < 64; i++) for (int j = 0; j < 200000; j++) sums[i] += j;
  usleep(300000); } }
"""),
    "OpenMP at rest, with a child": (["gcc", "-O1", "-fopenmp"], """
#include <sys/wait.h>
#include <unistd.h>
int main(void) { static int seen[8];
#pragma omp parallel for
  for (int i = 0; i < 8; i++) seen[i] = i;
  if (fork() == 0) for (;;) usleep(200000);
  wait(0); }
"""),
    "std::atomic::wait": (["g++", "-O1", "-std=c++20", "-pthread"], """
#include <atomic>
#include <chrono>
#include <thread>
std::atomic<int> turn{0};
void play(int mine) { for (;;) { for (int now; (now = turn.load()) % 2 != mine;) turn.wait(now); std::this_thread::sleep_for(std::chrono::milliseconds(3)); turn++; turn.notify_all(); } }
int main() { std::thread other(play, 1); play(0); }
"""),
    "std::condition_variable, made and destroyed": (["g++", "-O1", "-std=c++20", "-pthread"], """
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
int main() { for (;;) {
  auto lock = std::make_unique<std::mutex>(); auto ready = std::make_unique<std::condition_variable>(); bool done = false;
  std::thread other([&] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); std::lock_guard hold(*lock); done = true; ready->notify_all(); });
  { std::unique_lock hold(*lock); ready->wait(hold, [&] { return done; }); }
  other.join(); } }
"""),
    "a spinning lock that sleeps": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
static atomic_int held;
static void* work(void* unused) { for (;;) { struct timespec t = {0, 1000000}; while (atomic_exchange(&held, 1)) nanosleep(&t, 0);
  t.tv_nsec = 30000000; nanosleep(&t, 0); held = 0; } return unused; }
int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, 0, work, 0); work(0); }
"""),
    "waits by short limits": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static void* work(void* unused) { pthread_mutex_lock(&lock); for (;;) { struct timespec end; clock_gettime(CLOCK_REALTIME, &end);
  end.tv_nsec += 5000000; if (end.tv_nsec > 999999999) { end.tv_sec++; end.tv_nsec -= 1000000000; } pthread_cond_timedwait(&ready, &lock, &end); } return unused; }
int main(void) { pthread_t t; for (int i = 0; i < 3; i++) pthread_create(&t, 0, work, 0); for (;;) { sleep(2); pthread_cond_broadcast(&ready); } }
"""),
    "read-write lock, readers and writers": (["gcc", "-O1", "-pthread"], """
#include <pthread.h>
#include <unistd.h>
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static void* reads(void* unused) { for (;;) { pthread_rwlock_rdlock(&lock); usleep(2000); pthread_rwlock_unlock(&lock); } return unused; }
int main(void) { pthread_t t; for (int i = 0; i < 4; i++) pthread_create(&t, 0, reads, 0); for (;;) { pthread_rwlock_wrlock(&lock); usleep(3000); pthread_rwlock_unlock(&lock); usleep(3000); } }
"""),
}

PYTHON_PROGRAMS = {
    "python, eight threads that compute": """
import threading
def work():
    while True:
        sum(range(10000))
for _ in range(8):
    threading.Thread(target=work).start()
""",
    "python, a queue's workers at rest": """
import queue, threading, time
jobs = queue.Queue()
def work():
    while True:
        jobs.get()
for _ in range(4):
    threading.Thread(target=work).start()
while True:
    time.sleep(2); jobs.put(1)
""",
    "python, a lock of several processes": """
import multiprocessing, time
def work(lock):
    while True:
        with lock:
            time.sleep(0.05)
lock = multiprocessing.Lock()
for _ in range(3):
    multiprocessing.Process(target=work, args=(lock,)).start()
work(lock)
""",
    "python, computes in a long call of C": """
import hashlib, threading
def work():
    while True:
        hashlib.pbkdf2_hmac('sha256', b'x', b'y', 300000)
for _ in range(3):
    threading.Thread(target=work).start()
while True:
    sum(range(1000))
""",
}

RUST = """
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::thread; use std::time::Duration;
fn main() {
  let lock = Arc::new(Mutex::new(0)); let table = Arc::new(RwLock::new(0)); let bell = Arc::new((Mutex::new(0), Condvar::new()));
  for i in 0..4 { let (lock, table, bell) = (lock.clone(), table.clone(), bell.clone()); thread::spawn(move || loop {
    { let mut held = lock.lock().unwrap(); *held += 1; thread::sleep(Duration::from_millis(5)); }
    if i == 0 { *table.write().unwrap() += 1; } else { thread::sleep(Duration::from_millis(*table.read().unwrap() % 3)); }
    if i == 3 { let held = bell.0.lock().unwrap(); drop(bell.1.wait_timeout(held, Duration::from_millis(50))); } }); }
  let sleeper = thread::spawn(|| loop { thread::park(); }); loop { thread::sleep(Duration::from_millis(500)); sleeper.thread().unpark(); }
}
"""

JAVA = """
import java.util.concurrent.*; import java.util.concurrent.locks.*;
public class Locks { public static void main(String[] unused) throws Exception {
  ReentrantLock lock = new ReentrantLock(); ReentrantReadWriteLock table = new ReentrantReadWriteLock(); ExecutorService idle = Executors.newFixedThreadPool(4);
  for (int i = 0; i < 4; i++) { idle.submit(() -> 1); Thread worker = new Thread(() -> { while (true) { lock.lock(); try { Thread.sleep(5); } catch (InterruptedException e) { }
    finally { lock.unlock(); } table.readLock().lock(); table.readLock().unlock(); } }); worker.start(); }
  while (true) { table.writeLock().lock(); Thread.sleep(3); table.writeLock().unlock(); Thread.sleep(10); } } }
"""

NODE = """
const {Worker, isMainThread, workerData} = require('worker_threads');
if (isMainThread) { const shared = new SharedArrayBuffer(8), words = new Int32Array(shared); for (let i = 0; i < 2; i++) new Worker(__filename, {workerData: shared});
  setInterval(() => { Atomics.add(words, 0, 1); Atomics.notify(words, 0); }, 300); }
else { const words = new Int32Array(workerData); for (;;) Atomics.wait(words, 0, Atomics.load(words, 0)); }
"""

RUBY = "queue = Queue.new; 4.times { Thread.new { loop { queue.pop; 20000.times { |i| i * i } } } }; loop { 5.times { queue << 1 }; sleep 0.05 }"


def started(*command, **options):
    return started_by(command, start_new_session=True, **options)


def written(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def compiled(compiler, text):
    def start(folder, _):
        source = written(folder, "program.cpp" if compiler[0] == "g++" else "program.c", text)
        program = os.path.join(folder, "program")
        subprocess.run([*compiler, "-w", "-o", program, source], check=True)
        reading, writing = os.pipe()  # a standard input that stays open
        try:
            return started(program, stdin=reading, pass_fds=[writing])
        finally:
            os.close(reading)
            os.close(writing)
    return start


def python(text):
    return lambda folder, _: started(PYTHON, written(folder, "program.py", text))


def rust(folder, _):
    program = os.path.join(folder, "program")
    subprocess.run(["rustc", "-O", "-g", "-o", program, written(folder, "program.rs", RUST)], check=True)
    return started(program)


def java(folder, _):
    subprocess.run(["javac", "-d", folder, written(folder, "Locks.java", JAVA)], check=True)
    return started("java", "-cp", folder, "Locks")


def node(folder, _):
    return started("node", written(folder, "program.js", NODE))


def ruby(_, __):
    return started("ruby", "-e", RUBY)


def memcached(folder, _):
    path = os.path.join(folder, "socket")
    process = started("memcached", "-u", "nobody", "-s", path, "-t", "8")
    wait_for(lambda: os.path.exists(path), "memcached does not serve")
    return process


def gunicorn_like(folder, _):
    """A thread for each request, in a server of Python's own."""
    return started(PYTHON, "-c", f"import http.server as h; h.ThreadingHTTPServer(('127.0.0.1', {free_port()}), h.SimpleHTTPRequestHandler).serve_forever()",
                   cwd=folder)


PROGRAMS = {**{name: compiled(*made) for name, made in C_PROGRAMS.items()}, **{name: python(text) for name, text in PYTHON_PROGRAMS.items()},
            "rust, locks of all kinds": rust, "java, locks of java.util.concurrent": java, "node, workers at Atomics.wait": node,
            "ruby, a queue's workers": ruby, "memcached": memcached, "python, a server with threads": gunicorn_like}
