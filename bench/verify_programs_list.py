# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The programs that verify_programs.py records: ordinary Debian packages, each with a short piece of its ordinary work.

`setup`, `ready`, `load` and `stop` are bash, run untraced in the program's scratch folder; `command` is what is recorded: a list of
words (`@` stands for the folder's name), or one text for bash. A program with `load` is a server: it is recorded from its start, and `stop` ends it.
"""

from dataclasses import dataclass, field


@dataclass
class Program:
    name: str
    packages: list
    command: object
    version: str = "true"  # its first line of output is kept
    tools: list = field(default_factory=list)  # executables without which it is left out; the command's first word by itself
    setup: str = ""
    ready: str = ""
    load: str = ""
    stop: str = ""
    user: str = ""
    every: int = 7  # --verify N
    statuses: tuple = (0,)

    def __post_init__(self):
        if not self.tools and not isinstance(self.command, str):
            self.tools = [self.command[0]]


APACHE = """head -c 4096 /dev/zero | tr '\\0' x > f.html; cat > h.conf <<C
ServerRoot $PWD
PidFile $PWD/pid
Listen 127.0.0.1:18099
ServerName localhost
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
DocumentRoot $PWD
ErrorLog $PWD/err.log
User nobody
Group nogroup
<Directory $PWD>
Require all granted
</Directory>
C"""

NGINX = """head -c 4096 /dev/zero | tr '\\0' x > f.html; cat > n.conf <<C
pid $PWD/pid;
error_log $PWD/err.log;
daemon off;
worker_processes 2;
events { worker_connections 256; }
http { access_log $PWD/access.log; server { listen 127.0.0.1:18098; root $PWD; } }
C"""

MARIADB = "chown -R mysql . && mariadb-install-db --user=mysql --datadir=$PWD/data --auth-root-authentication-method=normal"
SYSBENCH = """mariadb -S sock -u root -e 'create database sbtest'
S="sysbench oltp_read_write --db-driver=mysql --mysql-socket=$PWD/sock --mysql-user=root --tables=1 --table-size=500 --threads=4"
$S prepare && $S --time=3 run"""

POSTGRES = "chown -R postgres . && su postgres -s /bin/sh -c '/usr/lib/postgresql/*/bin/initdb -D data -A trust'"

JAVA = """mkdir c; cat > H.java <<'J'
import java.io.*; import java.nio.file.*; import java.util.*; import java.util.concurrent.*;
public class H {
  static int depth(int n, Path p) throws IOException { return n == 0 ? Files.readAllBytes(p).length : depth(n - 1, p) + 1; }
  public static void main(String[] a) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(4);
    List<Future<Integer>> all = new ArrayList<>();
    Path p = Paths.get("H.java");
    for (int i = 0; i < 400; i++) { final int n = i % 40; all.add(pool.submit(() -> { int s = 0; for (int k = 0; k < 10; k++) s += depth(n, p); return s; })); }
    long sum = 0; for (Future<Integer> f : all) sum += f.get();
    pool.shutdown(); System.gc(); System.out.println(sum);
    new ProcessBuilder("true").start().waitFor();
  }
}
J
javac -d c H.java"""

NODE = """cat > s.js <<'J'
const fs = require('fs'), http = require('http'), zlib = require('zlib'), { Worker } = require('worker_threads'), cp = require('child_process');
function read(n) { return n ? read(n - 1) + 1 : fs.readFileSync(__filename).length; }
let sum = 0; for (let i = 0; i < 3000; i++) sum += read(i % 30);
const w = new Worker("const fs=require('fs'); for (let i=0;i<200;i++) fs.statSync('/'); require('worker_threads').parentPort.postMessage(1)", { eval: true });
w.on('message', () => console.log(cp.execSync('echo child').toString()));
const s = http.createServer((q, r) => zlib.gzip('x'.repeat(10000), (e, b) => r.end(b)));
s.listen(0, '127.0.0.1', async () => {
  for (let i = 0; i < 100; i++) await new Promise(d => http.get({ port: s.address().port }, r => { r.resume(); r.on('end', d); }));
  for (let i = 0; i < 200; i++) await fs.promises.readFile(__filename);
  s.close();
});
J"""

C = """cat > t.c <<'C'
#include <stdio.h>
#include <pthread.h>
#include <stdlib.h>
static void *run(void *p) { FILE *f = fopen("/proc/self/stat", "r"); char b[512]; while (fgets(b, 512, f)); fclose(f); return p; }
static int by(const void *a, const void *b) { if (*(int *)a == 3) printf("."), fflush(stdout); return *(int *)a - *(int *)b; }
int main(void) { int v[64]; pthread_t t; for (int i = 0; i < 64; i++) v[i] = i * 37 % 64;
  for (int i = 0; i < 50; i++) { qsort(v, 64, sizeof *v, by); pthread_create(&t, 0, run, 0); pthread_join(t, 0); } system("true"); return 0; }
C
cat > t.cc <<'C'
#include <algorithm>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <thread>
#include <vector>
int main() { std::map<std::string, std::vector<int>> m; std::regex r("a+b*"); std::thread t([&] { m["x"].push_back(std::regex_match("aab", r)); }); t.join();
  std::sort(m["x"].begin(), m["x"].end()); for (auto &[k, v] : m) std::cout << k << v.size() << std::endl; }
C"""

TCL = """cat > t.tcl <<'T'
proc f n { if {$n} {return [f [expr $n - 1]]}; set h [open t.tcl]; set d [read $h]; close $h; string length $d }
for {set i 0} {$i < 500} {incr i} { f [expr $i % 20] }
exec ls /; after 50; puts [glob /etc/*]
T"""

PYTHON = """cat > t.py <<'P'
import json, os, re, sqlite3, ssl, subprocess, threading, zlib, ctypes, hashlib, urllib.request, socket
def deep(n): return deep(n - 1) + 1 if n else len(open(__file__).read())
def work():
    for i in range(100): deep(i % 30); os.listdir('/'); hashlib.sha256(os.urandom(64)).hexdigest()
threads = [threading.Thread(target=work) for _ in range(4)]
[t.start() for t in threads]; [t.join() for t in threads]
for i in range(5): subprocess.run(['sh', '-c', 'echo $$ | cat'], capture_output=True)
d = sqlite3.connect('p.db'); d.execute('create table t(a)'); d.executemany('insert into t values(?)', [(i,) for i in range(1000)]); d.commit()
libc = ctypes.CDLL(None); cb = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: os.getppid() and 0)
libc.qsort(ctypes.create_string_buffer(64), 8, 8, cb)
json.dumps(list(range(9999))); re.sub('a+', 'b', 'aaa' * 999); sorted(range(99), key=lambda x: os.getuid())
P"""

PERL = """cat > t.pl <<'P'
use strict; use IO::Socket; use File::Find; use POSIX; $SIG{ALRM} = sub { open my $f, '<', '/etc/passwd'; my @l = <$f>; };
sub d { my $n = shift; return $n ? d($n - 1) + 1 : -s $0 } d($_ % 30) for 1 .. 1000; kill ALRM => $$; my $n = 0;
find(sub { $n++ if -f }, '/etc'); my @s = sort { getppid(); $a <=> $b } map { $_ * 7 % 100 } 1 .. 100; print `echo child`; my $t = 'abc' x 99; $t =~ s/(\\w)/stat($1)/ge;
my $p = fork // die; if (!$p) { exec 'true' } waitpid $p, 0; print "$n\\n";
P"""

RUBY = """cat > t.rb <<'R'
require 'json'; require 'socket'; require 'open3'; require 'zlib'; require 'digest'
def d(n) n > 0 ? d(n - 1) + 1 : File.size(__FILE__) end
300.times { |i| d(i % 30) }
f = Fiber.new { 20.times { |i| Fiber.yield File.read(__FILE__).size } }; 20.times { f.resume }
4.times.map { Thread.new { 50.times { Dir.entries('/') } } }.each(&:join)
e = [1, 2, 3].each; 3.times { e.next; File.stat('/') }
puts Open3.capture2('cat', stdin_data: 'x')[0], Digest::SHA256.file(__FILE__), Zlib.gzip('x' * 99999).size; GC.start; fork { exit! 0 }; Process.wait
R"""

PHP = """cat > t.php <<'P'
<?php function d($n) { return $n ? d($n - 1) + 1 : strlen(file_get_contents(__FILE__)); } for ($i = 0; $i < 1000; $i++) d($i % 30);
$a = range(1, 99); usort($a, function ($a, $b) { stat('/'); return $a - $b; }); function g() { for ($i = 0; $i < 50; $i++) yield scandir('/'); }
foreach (g() as $x); preg_replace_callback('/a/', fn($m) => getmypid(), str_repeat('a', 99)); echo shell_exec('echo child'), strlen(gzcompress(str_repeat('x', 99999)));
P"""

LUA = """cat > t.lua <<'L'
local function d(n) if n > 0 then return d(n - 1) + 1 end local f = io.open('t.lua') local s = #f:read('*a') f:close() return s end
for i = 1, 3000 do d(i % 20) end
local c = coroutine.wrap(function() for i = 1, 50 do os.time() io.open('/etc/passwd'):close() coroutine.yield(i) end end) for i = 1, 50 do c() end
table.sort({5, 3, 9, 1, 4}, function(a, b) io.stdout:write('.') io.stdout:flush() return a < b end) os.execute('true') for l in io.popen('ls /'):lines() do print(l) end
L"""

GO = """cat > m.go <<'G'
package main
import ("fmt"; "io"; "net/http"; "net/http/httptest"; "os"; "os/exec"; "sync"; "crypto/tls")
func d(n int) int { if n > 0 { return d(n-1) + 1 }; b, _ := os.ReadFile("m.go"); return len(b) }
func main() {
	var w sync.WaitGroup
	for i := 0; i < 50; i++ { w.Add(1); go func(n int) { defer w.Done(); for k := 0; k < 50; k++ { d(n) } }(i) }
	w.Wait()
	s := httptest.NewTLSServer(http.HandlerFunc(func(o http.ResponseWriter, r *http.Request) { fmt.Fprint(o, "x") }))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for i := 0; i < 50; i++ { r, e := c.Get(s.URL); if e == nil { io.Copy(io.Discard, r.Body); r.Body.Close() } }
	o, _ := exec.Command("echo", "child").Output(); fmt.Print(string(o))
}
G
cat > go.mod <<'G'
module m
G"""

GOENV = "export GOCACHE=$PWD/cache GOPATH=$PWD/path GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local HOME=$PWD; "

GCC_COMPILE = "gcc -O2 -pthread -o t t.c && ./t"

PROGRAMS = [
    # Servers
    Program("apache2", ["apache2-bin", "apache2-utils"], ["apache2", "-f", "@/h.conf", "-DFOREGROUND"], "apache2 -v",
            ["apache2", "ab"], setup=APACHE, ready="test -s pid && curl -sf http://127.0.0.1:18099/f.html",
            load="ab -q -k -c 50 -n 10000 http://127.0.0.1:18099/f.html; ab -q -c 10 -n 500 http://127.0.0.1:18099/f.html",
            stop="kill $(cat pid)", every=97),
    Program("nginx", ["nginx-light", "apache2-utils"], ["nginx", "-c", "@/n.conf", "-p", "@"], "nginx -v", ["nginx", "ab"],
            setup=NGINX, ready="curl -sf http://127.0.0.1:18098/f.html", load="ab -q -k -c 50 -n 10000 http://127.0.0.1:18098/f.html;"
            " ab -q -c 10 -n 500 http://127.0.0.1:18098/f.html", stop="kill $(cat pid)", every=97),
    Program("mariadbd", ["mariadb-server", "sysbench"], ["mariadbd", "--no-defaults", "--datadir=@/data", "--socket=@/sock",
            "--skip-networking", "--pid-file=@/pid"], "mariadbd --version", ["mariadbd", "mariadb-install-db", "sysbench"],
            setup=MARIADB, ready="mariadb-admin -S sock -u root ping", load=SYSBENCH,
            stop="mariadb-admin -S sock -u root shutdown", user="mysql", every=97),
    Program("postgres", ["postgresql", "postgresql-contrib"], "exec /usr/lib/postgresql/*/bin/postgres -D data -k $PWD -h ''",
            "/usr/lib/postgresql/*/bin/postgres --version", ["pgbench"], setup=POSTGRES, ready="test -S .s.PGSQL.5432 && pg_isready -h $PWD",
            load="pgbench -h $PWD -U postgres -i -q postgres && pgbench -h $PWD -U postgres -c 4 -j 2 -T 3 postgres;"
            " psql -h $PWD -U postgres -c 'set jit_above_cost=0; select sum(aid*bid), count(distinct abalance) from pgbench_accounts'",
            stop="kill -INT $(head -1 data/postmaster.pid)", user="postgres", every=97),
    Program("redis-server", ["redis-server", "redis-tools"], ["redis-server", "--port", "0", "--unixsocket", "@/sock", "--dir", "@",
            "--appendonly", "yes"], "redis-server --version", ["redis-server", "redis-benchmark"], ready="redis-cli -s sock ping",
            load="redis-benchmark -s $PWD/sock -n 3000 -q; redis-cli -s sock bgsave; redis-cli -s sock eval 'return 1' 0; sleep 1",
            stop="redis-cli -s sock shutdown", every=97),
    Program("memcached", ["memcached"], ["memcached", "-u", "nobody", "-s", "@/sock", "-a", "777", "-P", "@/pid"], "memcached -V", ready="test -S sock",
            load="python3 -c \"import socket\nfor k in range(20):\n s=socket.socket(socket.AF_UNIX); s.connect('sock')\n"
            " for i in range(200): s.send(b'set a 0 0 1\\r\\nx\\r\\nget a\\r\\n'); s.recv(99)\"", stop="kill -INT $(cat pid)", every=17),
    Program("lighttpd", ["lighttpd", "apache2-utils"], "printf 'server.document-root=\"%s\"\\nserver.port=18097\\nserver.bind=\"127.0.0.1\"\\n"
            "server.pid-file=\"%s/pid\"\\n' $PWD $PWD > l.conf; cp l.conf f.html; exec lighttpd -D -f l.conf", "lighttpd -v", ["lighttpd", "ab"],
            ready="curl -sf http://127.0.0.1:18097/f.html", load="ab -q -c 10 -n 2000 http://127.0.0.1:18097/f.html", stop="kill $(cat pid)", every=17),
    Program("haproxy", ["haproxy", "apache2-utils"], "printf 'global\\n pidfile %s/pid\\ndefaults\\n mode http\\n timeout client 5s\\n timeout server 5s\\n timeout connect 5s\\n"
            "frontend f\\n bind 127.0.0.1:18096\\n http-request return status 200 content-type text/plain string x\\n' $PWD > h.cfg; exec haproxy -W -p $PWD/pid -f h.cfg",
            "haproxy -v", ["haproxy", "ab"], ready="curl -sf http://127.0.0.1:18096/", load="ab -q -c 10 -n 2000 http://127.0.0.1:18096/",
            stop="kill $(head -1 pid)", every=17, statuses=(0, 143)),
    Program("named", ["bind9", "bind9-dnsutils"], "printf 'options { directory \"%s\"; pid-file \"%s/pid\"; session-keyfile \"%s/key\"; listen-on port 18053 { 127.0.0.1; }; listen-on-v6 { none; };"
            " recursion no; };\\ncontrols { };\\n' $PWD $PWD $PWD > n.conf; exec named -f -c $PWD/n.conf", "named -v", ["named", "dig"],
            ready="dig -p 18053 @127.0.0.1 localhost +time=1 +tries=1", load="for i in 1 2 3 4 5 6 7 8; do dig -p 18053 @127.0.0.1 localhost A; dig +tcp -p 18053 @127.0.0.1 x.y; done",
            stop="kill $(cat pid)"),
    Program("unbound", ["unbound", "bind9-dnsutils"], "printf 'server:\\n port: 18054\\n interface: 127.0.0.1\\n chroot: \"\"\\n username: \"\"\\n directory: \"%s\"\\n pidfile: \"%s/pid\"\\n do-daemonize: no\\n"
            " local-data: \"a.b A 1.2.3.4\"\\nremote-control:\\n control-enable: no\\n' $PWD $PWD > u.conf; exec unbound -d -c u.conf", "unbound -V", ["unbound", "dig"],
            ready="dig -p 18054 @127.0.0.1 a.b +time=1 +tries=1", load="for i in 1 2 3 4 5 6 7 8; do dig -p 18054 @127.0.0.1 a.b; done", stop="kill $(cat pid)"),
    Program("mosquitto", ["mosquitto", "mosquitto-clients"], ["mosquitto", "-c", "@/m.conf"], "mosquitto -h", ["mosquitto", "mosquitto_pub"], ready="mosquitto_pub -p 18183 -t a -m b",
            load="for i in 1 2 3 4 5 6 7 8 9; do mosquitto_pub -p 18183 -t a -m b; done", stop="kill $(cat pid)",
            setup="printf 'listener 18183 127.0.0.1\\nallow_anonymous true\\npid_file %s/pid\\nuser root\\n' $PWD > m.conf", statuses=(0, 3)),
    Program("sshd", ["openssh-server"], "exec $(command -v sshd) -D -e -p 18022 -h $PWD/key -o PidFile=$PWD/pid -o AuthorizedKeysFile=$PWD/id.pub -o StrictModes=no -o ListenAddress=127.0.0.1 -o UsePAM=no",
            "ssh -V", ["sshd"], setup="mkdir -p /run/sshd; ssh-keygen -q -t ed25519 -N '' -f key; ssh-keygen -q -t ed25519 -N '' -f id; chmod 755 .",
            ready="test -s pid", load="for i in 1 2 3; do ssh -F none -p 18022 -i id -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null 127.0.0.1 'ls /; id'; done", stop="kill $(cat pid)",
            statuses=(0, 255)),
    # Run-time compilers and interpreters
    Program("node", ["nodejs"], ["node", "s.js"], "node --version", setup=NODE),
    Program("node --perf-basic-prof", ["nodejs"], ["node", "--perf-basic-prof", "s.js"], "node --version", setup=NODE),
    Program("node --jitless", ["nodejs"], ["node", "--jitless", "s.js"], "node --version", setup=NODE),
    Program("java", ["openjdk-17-jdk-headless"], ["java", "-cp", "c", "H"], "java --version", ["java", "javac"], setup=JAVA),
    Program("java -XX:+PreserveFramePointer", ["openjdk-17-jdk-headless"], ["java", "-XX:+PreserveFramePointer", "-cp", "c", "H"], "java --version", ["java", "javac"], setup=JAVA),
    Program("java -Xint", ["openjdk-17-jdk-headless"], ["java", "-Xint", "-cp", "c", "H"], "java --version", ["java", "javac"], setup=JAVA),
    Program("javac", ["openjdk-17-jdk-headless"], ["javac", "-d", "c", "H.java"], "javac --version", setup=JAVA),
    Program("mono", ["mono-runtime", "mono-mcs"], ["mono", "t.exe"], "mono --version", ["mono", "mcs"],
            setup="cat > t.cs <<'S'\nusing System; using System.IO; using System.Threading;\nclass T { static int D(int n) { return n > 0 ? D(n - 1) + 1 : File.ReadAllBytes(\"t.cs\").Length; }\n"
            " static void Main() { for (int i = 0; i < 200; i++) D(i % 20); var t = new Thread(() => { for (int i = 0; i < 50; i++) D(3); }); t.Start(); t.Join(); GC.Collect(); Console.WriteLine(D(1)); } }\nS\nmcs t.cs"),
    Program("luajit", ["luajit"], ["luajit", "t.lua"], "luajit -v", setup=LUA),
    Program("lua", ["lua5.4"], ["lua5.4", "t.lua"], "lua5.4 -v", setup=LUA),
    Program("pypy3", ["pypy3"], ["pypy3", "t.py"], "pypy3 --version", setup="cat > t.py <<'P'\nimport os, threading\ndef d(n): return d(n - 1) + 1 if n else len(open('t.py').read())\n"
            "def w():\n    for i in range(2000): d(i % 20); os.getppid()\nt = threading.Thread(target=w); t.start(); w(); t.join()\nP"),
    Program("python3", ["python3"], ["python3", "t.py"], "python3 --version", setup=PYTHON),
    Program("perl", ["perl"], ["perl", "t.pl"], "perl -e 'print $^V'", setup=PERL),
    Program("ruby", ["ruby"], ["ruby", "t.rb"], "ruby --version", setup=RUBY),
    Program("ruby --yjit", ["ruby"], ["ruby", "--yjit", "--yjit-call-threshold=2", "t.rb"], "ruby --version", setup=RUBY),
    Program("php", ["php-cli"], ["php", "t.php"], "php --version", setup=PHP),
    Program("php with its JIT", ["php-cli", "php8.2-opcache"], ["php", "-dopcache.enable_cli=1", "-dopcache.jit=1205", "-dopcache.jit_buffer_size=64M", "t.php"], "php --version", setup=PHP),
    Program("tclsh", ["tcl"], ["tclsh", "t.tcl"], "echo 'puts $tcl_patchLevel' | tclsh", setup=TCL),
    Program("guile", ["guile-3.0"], ["guile", "--no-auto-compile", "-c", "(define (d n) (if (> n 0) (+ 1 (d (- n 1))) (begin (getpid) (stat \"/\") 0))) (do ((i 0 (+ i 1))) ((> i 500)) (d (modulo i 20)))"], "guile --version"),
    Program("sbcl", ["sbcl"], ["sbcl", "--non-interactive", "--eval", "(progn (defun d (n) (if (> n 0) (+ 1 (d (- n 1))) (with-open-file (f \"/etc/passwd\") (file-length f)))) (dotimes (i 500) (d (mod i 20))) (gc :full t))"], "sbcl --version"),
    Program("ecl", ["ecl"], ["ecl", "--eval", "(progn (dotimes (i 200) (with-open-file (f \"/etc/passwd\") (read-line f))) (quit))"], "ecl --version"),
    Program("clisp", ["clisp"], ["clisp", "-q", "-x", "(dotimes (i 200) (with-open-file (f \"/etc/passwd\") (read-line f)))"], "clisp --version"),
    Program("chez", ["chezscheme"], "echo '(do ((i 0 (+ i 1))) ((= i 200)) (call-with-input-file \"/etc/passwd\" read-char))' | chezscheme -q", "chezscheme --version", ["chezscheme"]),
    Program("racket", ["racket"], ["racket", "-e", "(for ([i 200]) (call-with-input-file \"/etc/passwd\" read-char))"], "racket --version"),
    Program("gforth", ["gforth"], ["gforth", "-e", ": x 200 0 do s\" /etc/passwd\" r/o open-file throw close-file throw loop ; x bye"], "gforth --version"),
    Program("swipl", ["swi-prolog-nox"], ["swipl", "-g", "forall(between(1,300,_),(exists_file('/etc/passwd'),open('/etc/passwd',read,S),read_term(user_input,_,[]),close(S))),halt"], "swipl --version"),
    Program("erlang", ["erlang-base"], ["erl", "-noshell", "-eval", "[file:read_file(\"/etc/passwd\") || _ <- lists:seq(1,300)], timer:sleep(100), halt()."], "erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().'"),
    Program("elixir", ["elixir"], ["elixir", "-e", "for _ <- 1..300, do: File.read!(\"/etc/passwd\")"], "elixir --short-version"),
    Program("R", ["r-base-core"], ["Rscript", "-e", "f <- function(n) if (n > 0) f(n - 1) + 1 else file.size('/etc/passwd'); for (i in 1:300) f(i %% 20); summary(lm(dist ~ speed, cars)); pdf('a.pdf'); plot(cars); system('true')"], "Rscript --version"),
    Program("octave", ["octave"], ["octave-cli", "--norc", "--eval", "for i=1:200; f=fopen('/etc/passwd'); fgetl(f); fclose(f); end; x=rand(200); y=x\\x; cellfun(@(a) exist(a), {'a','b'});"], "octave-cli --version"),
    Program("gawk", ["gawk"], ["gawk", "BEGIN { while ((getline l < \"/etc/passwd\") > 0) print l; for (i = 0; i < 20; i++) { \"echo \" i | getline x; close(\"echo \" i); fflush() } }"], "gawk --version"),
    # Compilers and tools of building
    Program("gcc", ["gcc", "libc6-dev"], GCC_COMPILE, "gcc --version", ["gcc"], setup=C),
    Program("g++", ["g++"], "g++ -O2 -flto -o t t.cc && ./t", "g++ --version", ["g++"], setup=C),
    Program("clang", ["clang-14"], "clang-14 -O2 -pthread -o t t.c && ./t && clang++-14 -O1 -o u t.cc && ./u", "clang-14 --version", ["clang-14"], setup=C),
    Program("gfortran", ["gfortran"], "printf 'program t\\ninteger i\\ndo i=1,50\\nopen(10,file=\"f\")\\nwrite(10,*) i\\nclose(10)\\nend do\\nend\\n' > t.f90; gfortran -O2 -o t t.f90 && ./t", "gfortran --version", ["gfortran"]),
    Program("gnat", ["gnat"], "printf 'with Ada.Text_IO; use Ada.Text_IO; procedure T is task type W; task body W is begin for I in 1 .. 20 loop Put_Line (\"x\"); delay 0.001; end loop; end W; A, B : W; begin null; end T;' > t.adb; gnatmake -q t.adb && ./t", "gnatmake --version", ["gnatmake"]),
    Program("gdc", ["gdc"], "printf 'import std.stdio, core.thread, core.memory; void f() { foreach (i; 0 .. 50) { File(\"/etc/passwd\").readln(); } } void main() { auto t = new Thread(&f); t.start(); f(); t.join(); auto b = new Fiber({ f(); Fiber.yield(); f(); }); b.call(); b.call(); GC.collect(); }' > t.d; gdc -o t t.d && ./t", "gdc --version", ["gdc"]),
    Program("ldc2", ["ldc"], "printf 'import std.stdio, core.thread, core.memory; void f() { foreach (i; 0 .. 50) { File(\"/etc/passwd\").readln(); } } void main() { auto t = new Thread(&f); t.start(); f(); t.join(); auto b = new Fiber({ f(); Fiber.yield(); f(); }); b.call(); b.call(); GC.collect(); }' > t.d; ldc2 -O2 t.d && ./t", "ldc2 --version", ["ldc2"]),
    Program("rustc", ["rustc"], "printf 'use std::thread; fn main() { let t: Vec<_> = (0..4).map(|_| thread::spawn(|| { for _ in 0..50 { std::fs::read(\"/etc/passwd\").unwrap(); } })).collect(); for x in t { x.join().unwrap(); }"
            " std::process::Command::new(\"true\").status().unwrap(); let _ = std::panic::catch_unwind(|| panic!(\"x\")); }' > t.rs; rustc -O t.rs && ./t", "rustc --version", ["rustc"]),
    Program("go build", ["golang-go"], GOENV + "go build -o m . ", "go version", ["go"], setup=GO + "\n" + GOENV + "go build -o m .", every=17),
    Program("go program", ["golang-go"], ["./m"], "go version", ["go"], setup=GO + "\n" + GOENV + "go build -o m ."),
    Program("go program, stripped", ["golang-go"], ["./m"], "go version", ["go"], setup=GO + "\n" + GOENV + "go build -ldflags '-s -w' -o m ."),
    Program("ocamlopt", ["ocaml"], "printf 'let rec d n = if n > 0 then 1 + d (n - 1) else (let c = open_in \"/etc/passwd\" in let l = in_channel_length c in close_in c; l)\\nlet () = for i = 1 to 300 do ignore (d (i mod 20)) done;"
            " Gc.full_major (); ignore (Sys.command \"true\"); List.iter print_int (List.sort (fun a b -> print_char (Char.chr 46); flush stdout; compare a b) [3; 1; 2])\\n' > t.ml; ocamlfind ocamlopt t.ml -o t 2>&1 || ocamlopt t.ml -o t; ./t", "ocamlopt -version", ["ocamlopt"]),
    Program("ocaml bytecode", ["ocaml"], "echo 'for i = 1 to 99 do close_in (open_in \"/etc/passwd\") done;;' > t.ml; ocaml t.ml", "ocaml -version", ["ocaml"]),
    Program("ghc", ["ghc"], "printf 'import Control.Concurrent\\nimport Control.Monad\\nmain = do { forM_ [1..50] (\\\\_ -> readFile \"/etc/passwd\" >>= print . length); forkIO (print 1); threadDelay 1000 }\\n' > t.hs; ghc -v0 t.hs && ./t", "ghc --version", ["ghc"], every=17),
    Program("nim", ["nim"], "printf 'import os\\nfor i in 1..50: discard readFile(\"/etc/passwd\").len\\n' > t.nim; nim c --hints:off --nimcache:n t.nim && ./t", "nim --version", ["nim"]),
    Program("fpc", ["fp-compiler-3.2.2"], "printf 'program t; var f: text; s: string; i: integer; begin for i := 1 to 50 do begin assign(f, chr(47)+\"etc/passwd\"); reset(f); readln(f, s); close(f); writeln(s) end end.' | tr '\"' \"'\" > t.pas; fpc t.pas && ./t", "fpc -iV", ["fpc"]),
    Program("crystal", ["crystal"], "printf '50.times { File.read(\"/etc/passwd\") }\\nspawn { 9.times { sleep 0.001; File.read(\"/etc/passwd\") } }\\nsleep 0.1\\n' > t.cr; crystal build t.cr && ./t", "crystal --version", ["crystal"], every=17),
    Program("chicken", ["chicken-bin"], "echo '(do ((i 0 (+ i 1))) ((= i 99)) (call-with-input-file \"/etc/passwd\" read-char))' > t.scm; csc t.scm && ./t", "csc -version", ["csc"]),
    Program("make -j2", ["make", "gcc"], "printf 'all: a b c d\\n%%: t.c\\n\\tgcc -O1 -pthread -o $@ t.c\\n' > Makefile; make -j2", "make --version", ["make", "gcc"], setup=C, every=7),
    Program("cmake", ["cmake", "g++"], "printf 'cmake_minimum_required(VERSION 3.10)\\nproject(t)\\nadd_executable(t t.cc)\\n' > CMakeLists.txt; cmake . && cmake --build .", "cmake --version", ["cmake"], setup=C, every=17),
    Program("static-PIE", ["gcc", "libc6-dev"], ["./t"], "gcc --version", ["gcc"], setup=C + "\ngcc -O2 -static-pie -pthread -o t t.c", every=1),
    Program("static, stripped", ["gcc", "libc6-dev"], ["./t"], "gcc --version", ["gcc"], setup=C + "\ngcc -O2 -static -s -pthread -o t t.c", every=1),
    Program("musl", ["musl-tools"], ["./t"], "dpkg-query -W -f '${Version}' musl", ["musl-gcc"], setup=C + "\nmusl-gcc -O2 -pthread -o t t.c", every=1),
    Program("musl, static", ["musl-tools"], ["./t"], "dpkg-query -W -f '${Version}' musl", ["musl-gcc"], setup=C + "\nmusl-gcc -static -O2 -pthread -o t t.c", every=1),
    # Tools
    Program("git", ["git"], "git init -q r && cd r && for i in 1 2 3; do seq $i 999 > f$i; git add . ; git -c user.name=a -c user.email=b@c commit -qm $i; done; git log -p | tail -1; git gc -q; git clone -q . ../s; git grep -c 7; git status", "git --version", ["git"], every=7),
    Program("gdb", ["gdb", "gcc"], ["gdb", "-batch", "-nx", "-ex", "break by", "-ex", "run", "-ex", "bt", "-ex", "info sharedlibrary", "-ex", "kill", "./t"], "gdb --version", ["gdb", "gcc"], setup=C + "\ngcc -g -pthread -o t t.c", every=7),
    Program("strace", ["strace"], ["strace", "-f", "-k", "-o", "s.txt", "ls", "/"], "strace --version", every=7),
    Program("valgrind", ["valgrind"], ["valgrind", "-q", "ls", "/"], "valgrind --version"),
    Program("perf", ["linux-perf"], ["perf", "stat", "ls", "/"], "perf --version"),
    Program("ffmpeg", ["ffmpeg"], ["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "testsrc=d=2:s=320x240", "-f", "lavfi", "-i", "sine=d=2", "-c:a", "aac", "-y", "o.mkv"], "ffmpeg -version", every=7),
    Program("convert", ["imagemagick"], ["convert", "-size", "300x300", "plasma:", "-blur", "0x2", "-resize", "50%", "o.png"], "convert --version"),
    Program("openssl", ["openssl"], "openssl genrsa -out k 2048; openssl req -x509 -key k -subj /CN=a -out c; openssl s_server -accept 127.0.0.1:18443 -cert c -key k -www -naccept 2 & sleep 1; curl -ksf https://127.0.0.1:18443/ | wc -c;"
            " curl -ksf --tls-max 1.2 https://127.0.0.1:18443/ | wc -c; openssl speed -seconds 1 -bytes 1024 -evp aes-128-gcm; openssl speed -seconds 1 rsa1024", "openssl version", ["openssl", "curl"], every=1),
    Program("ssh-keygen", ["openssh-client"], "ssh-keygen -q -t rsa -b 2048 -N '' -f a; ssh-keygen -q -t ed25519 -N '' -f b", "ssh -V", ["ssh-keygen"]),
    Program("gpg", ["gpg", "gpg-agent"], "export GNUPGHOME=$PWD/g; mkdir -m 700 g; gpg --batch --passphrase '' --quick-gen-key a@b ed25519; echo x | gpg --batch -s -a; gpgconf --kill all", "gpg --version", ["gpg", "gpg-agent"]),
    Program("sqlite3", ["sqlite3"], ["sqlite3", "a.db", "create table t(a,b); with recursive c(x) as (select 1 union all select x+1 from c where x<20000) insert into t select x, x*7%99 from c; create index i on t(b); select count(*) from t where b in (select a from t order by random() limit 9); vacuum;"], "sqlite3 --version"),
    Program("bash", ["bash"], "trap 'echo t' USR1; for i in {1..20}; do echo $i | sed s/1/2/ | sort -r | uniq -c | awk '{print $1}'; done; kill -USR1 $$; x=$(ls / | wc -l); cat <(echo a) <(echo b); f() { [ $1 -gt 0 ] && f $(($1 - 1)); echo $1; }; f 20 | tail -1", "bash --version", ["bash"]),
    Program("zsh", ["zsh"], ["zsh", "-c", "for i in {1..10}; do echo $i | cat; done; ls /*(/); x=$(ls); print -l **/*"], "zsh --version"),
    Program("fish", ["fish"], ["fish", "-c", "for i in (seq 10); echo $i | cat; end; ls /; string match -r a abc"], "fish --version", setup="export HOME=$PWD"),
    Program("ksh", ["ksh93u+m"], ["ksh93", "-c", "for i in 1 2 3 4 5; do echo $i | cat; done; x=$(ls /); print ${#x}"], "ksh93 --version"),
    Program("dash", ["dash"], ["dash", "-c", "for i in 1 2 3 4 5; do echo $i | cat; done; x=$(ls /)"], "dpkg-query -W -f '${Version}' dash"),
    Program("busybox", ["busybox-static"], ["busybox", "sh", "-c", "for i in 1 2 3 4 5; do busybox echo $i | busybox cat; done; busybox find /etc -name 'p*' | busybox sort; busybox awk 'BEGIN { system(\"true\") }'"], "busybox", every=1),
    Program("tar and xz", ["tar", "xz-utils", "zstd", "pigz", "lz4"], "tar cJf a.tar.xz /etc; tar tJf a.tar.xz | wc -l; tar c /etc | zstd -T2 -q | wc -c; tar c /etc | pigz -p 2 | wc -c; tar czf a.tgz /etc; tar c /etc | bzip2 | wc -c", "tar --version", ["tar", "xz", "zstd", "pigz"], every=7),
    Program("7z", ["p7zip-full"], ["7z", "b", "1", "-mmt2", "-md16"], "7z", every=1),
    Program("rsync", ["rsync"], ["rsync", "-a", "/etc/", "e/"], "rsync --version", every=7),
    Program("vim", ["vim"], ["vim", "-u", "NONE", "-es", "-c", "r /etc/passwd", "-c", "%s/root/x/g", "-c", "!true", "-c", "w! o", "-c", "qa!"], "vim --version"),
    Program("emacs", ["emacs-nox"], ["emacs", "-nw", "-Q", "--batch", "--eval", "(progn (dotimes (i 200) (with-temp-buffer (insert-file-contents \"/etc/passwd\") (sort-lines nil (point-min) (point-max)))) (call-process \"true\") (garbage-collect))"], "emacs --version"),
    Program("tmux", ["tmux"], "tmux -S s -f /dev/null new-session -d 'ls /; sleep 1'; tmux -S s list-windows; sleep 1.5", "tmux -V", ["tmux"]),
    Program("ghostscript", ["ghostscript"], ["gs", "-q", "-dBATCH", "-dNOPAUSE", "-sDEVICE=png16m", "-sOutputFile=o.png", "-c", "/Helvetica findfont 20 scalefont setfont 50 50 moveto (x) show showpage"], "gs --version"),
    Program("dot", ["graphviz"], "echo 'digraph { a -> b -> c -> a }' | dot -Tpng -o o.png", "dot -V", ["dot"]),
    Program("gnuplot", ["gnuplot-nox"], ["gnuplot", "-e", "set term png; set out 'o.png'; plot sin(x)"], "gnuplot --version"),
    Program("curl", ["curl"], "curl -s file:///etc/passwd | wc -l; curl -sm 2 http://127.0.0.1:1/; curl -sm 2 http://localhost:1/; true", "curl --version", ["curl"], every=1),
    Program("wget", ["wget"], "wget -q -t 1 -T 2 http://localhost:1/; true", "wget --version", ["wget"], every=1),
    Program("apt", ["apt"], "apt-cache show bash libc6; apt-get -s install hello; dpkg -l; dpkg-query -S /bin/bash", "apt --version", ["apt-cache"], every=17, statuses=(0, 100)),
    Program("systemd tools", ["systemd"], "systemd-analyze calendar daily; systemd-escape a/b; systemd-detect-virt; journalctl -n 5 --no-pager; systemctl --version; udevadm info /sys/class/net/lo; systemd-tmpfiles --cat-config; true", "systemctl --version", ["systemctl"]),
    Program("coreutils", ["coreutils", "findutils", "procps", "util-linux", "iproute2"], "ls -lR /etc; find /usr/share -name '*.h'; ps aux; top -bn1; df; lsblk; ip addr; ss -a; mount; dd if=/dev/zero of=f bs=1k count=100 conv=fsync; sort -R /etc/services; true", "ls --version", ["ps", "ip"], every=17),
    Program("sudo", ["sudo"], ["sudo", "-n", "-u", "nobody", "true"], "sudo --version", statuses=(0, 1), every=1),
    Program("gzip and binutils", ["binutils", "elfutils"], "objdump -d /bin/ls | head -99; readelf -wF /bin/ls | wc -l; eu-readelf -a /bin/ls | wc -l; nm -D /bin/ls; strings /bin/ls | gzip | wc -c", "objdump --version", ["objdump", "eu-readelf"], every=7),
    Program("qemu-system-x86_64", ["qemu-system-x86"], ["timeout", "6", "qemu-system-x86_64", "-accel", "tcg,thread=multi", "-smp", "2", "-m", "128", "-display", "none", "-serial", "file:s", "-net", "none"], "qemu-system-x86_64 --version", ["qemu-system-x86_64"], every=7, statuses=(0, 124)),
    Program("qemu-img", ["qemu-utils"], "qemu-img create -f qcow2 a 64M; qemu-img convert -O raw a b; qemu-img check a; qemu-img bench -c 500 b", "qemu-img --version", ["qemu-img"]),
    Program("ripgrep", ["ripgrep"], ["rg", "-c", "root", "/etc", "--no-ignore"], "rg --version", statuses=(0, 2)),
    Program("jq", ["jq"], "seq 999 | jq -s 'map(. * 2) | add'", "jq --version", ["jq"], every=1),
    Program("pdftotext", ["poppler-utils", "ghostscript"], "gs -q -dBATCH -dNOPAUSE -sDEVICE=pdfwrite -sOutputFile=o.pdf -c '/Helvetica findfont 20 scalefont setfont 50 50 moveto (x) show showpage'; pdftotext o.pdf -; pdftoppm o.pdf p", "gs --version", ["pdftotext", "gs"]),
    Program("Xvfb", ["xvfb"], ["timeout", "3", "Xvfb", ":77", "-screen", "0", "640x480x24", "-nolisten", "tcp"], "dpkg-query -W -f '${Version}' xvfb", ["Xvfb"], statuses=(0, 124)),
]  # fmt: skip
