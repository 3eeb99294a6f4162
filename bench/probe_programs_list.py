# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Programs and libraries of Debian 12, each with some work whose output is the same from run to run."""
import os
import subprocess

LIBRARIES = "/usr/lib/x86_64-linux-gnu/"
NUMBERS = "seq 1 400"
TEXT = "seq 1 3000 | sed 's/$/ the quick brown fox/'"


class Work:
    def __init__(self, file, work, is_library=False, **environment):
        self.file, self.work, self.is_library, self.environment = file, work, is_library, environment

    def command(self, file):
        """The work as a shell's text; of a program, PROGRAM is its copy."""
        return self.work.replace("PROGRAM", file)


def program(path, work, **environment):
    return Work(path, work, **environment)


def library(name, work, **environment):
    return Work(LIBRARIES + name, work, True, **environment)


def compiler(name):
    try:
        path = subprocess.run(["gcc", f"-print-prog-name={name}"], check=False, capture_output=True, text=True).stdout.strip()
    except OSError:
        path = ""
    return path if os.path.isabs(path) else f"/usr/lib/gcc/x86_64-linux-gnu/12/{name}"


C_FILE = """printf '%s' 'struct s { long a; double b; }; int f(int n) { switch (n) { case 1: return 5; case 2: return 7; case 3: return 1;
case 4: return 9; case 5: return 11; } return n * 3; } double g(struct s *x, int n) { double t = 0; for (int i = 0; i < n; i++)
t += x[i].b * f(x[i].a); return t; }' > f.c; """
PYTHON = """
import hashlib, json, math, re, sqlite3, zlib, decimal, random
random.seed(7)
words = [random.choice("abcdef") * random.randrange(1, 9) for _ in range(300)]
print(hashlib.sha256(json.dumps(sorted(words)).encode()).hexdigest(), len(zlib.compress(b"x y z" * 999)))
print(re.sub("(a+)b", r"<\\1>", "".join(words))[:80], decimal.Decimal(2).sqrt(), math.fsum(math.sin(i) for i in range(50)))
class Shop:
    def __init__(self): self.sold = {}
    def sell(self, what):
        try: self.sold[what] += 1
        except KeyError: self.sold[what] = 1
shop = Shop()
for word in words: shop.sell(word)
print(sorted(shop.sold.items())[:5])
"""
SCRIPT = """
const c = require('crypto'), z = require('zlib');
let seed = 7; const next = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
const words = Array.from({length: 500}, () => 'w' + next() % 97);
const counts = {}; for (const w of words) counts[w] = (counts[w] || 0) + 1;
console.log(JSON.stringify(counts).length, c.createHash('sha1').update('abc').digest('hex'), c.createHash('sha256').update('abc').digest('hex'));
console.log(z.gunzipSync(z.gzipSync(words.join(' '))).toString().slice(0, 60), words.join('').replace(/w(\\d)/g, '<$1>').slice(0, 60));
setTimeout(() => console.log([...words].sort().slice(0, 5).join()), 20);
"""
SQL = """
CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE INDEX tb ON t(b);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
INSERT INTO t SELECT i, 'row' || (i * 7919 % 101), i * 1.5 FROM n;
SELECT b, count(*), sum(c), group_concat(a) FROM t GROUP BY b ORDER BY 2 DESC, 1 LIMIT 5;
UPDATE t SET c = c * 2 WHERE a % 3 = 0; DELETE FROM t WHERE a % 7 = 0; SELECT total(c), max(a) FROM t;
SELECT upper(b), printf('%.3f', c), json_object('a', a) FROM t ORDER BY c DESC LIMIT 3; EXPLAIN QUERY PLAN SELECT * FROM t WHERE b = 'row5';
"""


def quoted(text):
    return "'" + text.replace("'", "'\\''") + "'"


PROGRAMS = {
    "libc": library("libc.so.6", f"{TEXT} | sort -r | head -5; date -u -d @86400; printf '%.3f %s\\n' 1.5 x; ls /etc/ssl | wc -l; "
                    "awk 'BEGIN { print sin(1), toupper(\"x\") }'; getent passwd root; expr 6 \\* 7; "
                    "perl -e 'print sort { $a <=> $b } map { $_ * 7 % 13 } 1..20; print crypt(\"a\", \"ab\"), \"\\n\"'"),
    "libm": library("libm.so.6", "perl -MPOSIX -e 'for my $x (1..200) { printf \"%.15g\\n\", sin($x)+exp($x/50)+log($x)+atan2($x,3)"
                    "+POSIX::tgamma($x/20)+POSIX::cbrt($x)+POSIX::erf($x/100)+$x**0.3+POSIX::lround($x/3)+fmod($x,7) }'; "
                    "python3 -c 'import math; print([getattr(math, f)(0.3) for f in \"sin cos tan asin acos atan sinh cosh tanh asinh exp expm1 log1p erf erfc gamma lgamma\".split()])'"),
    "libz": library("libz.so.1", "python3 -c 'import zlib; d = b\"abc\" * 5000 + bytes(range(256)) * 30; "
                    "print([zlib.crc32(zlib.compress(d, n)) for n in range(10)], zlib.adler32(d), zlib.decompress(zlib.compress(d)) == d)'"),
    "libcrypto": library("libcrypto.so.3", "for d in md5 sha1 sha256 sha512 sha3-256 blake2b512 sm3; do echo abc | openssl dgst -$d; done; "
                         "for c in aes-128-cbc aes-256-ctr chacha20 camellia-128-cbc; do echo abc | openssl enc -$c -K 00112233445566778899aabbccddeeff "
                         "-iv 0102030405060708 2>&1 | od -x; done; openssl prime 1000003; openssl ciphers -v | wc -l; openssl asn1parse -genstr UTF8:x"),
    "libssl": library("libssl.so.3", "openssl ciphers -v -s -tls1_3; openssl ciphers -V 'ALL:eNULL'; openssl s_client -connect 127.0.0.1:1 2>&1 | grep -c refused"),
    "libsqlite3": library("libsqlite3.so.0", f"printf '%s' {quoted(SQL)} > q; python3 -c 'import sqlite3; d = sqlite3.connect(\":memory:\"); "
                          "print([d.execute(q).fetchall() for q in open(\"q\").read().split(\";\")])'"),
    "libpcre2": library("libpcre2-8.so.0", f"{TEXT} | grep -oP '(?<=9) (the|a) (?:q\\w+)' | sort | uniq -c; {NUMBERS} | grep -P '^(?=.*7)(?!.*3)\\d+$' | tail -5"),
    "libstdc++": library("libstdc++.so.6", C_FILE + f"{compiler('cc1plus')} -quiet -O1 f.c -o - | cksum; apt-cache --version"),
    "libgnutls": library("libgnutls.so.30", "certtool --generate-privkey --seed=00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff --provable --bits 2048 --no-text 2>&1 | cksum; curl --version"),
    "python3": program("/usr/bin/python3", f"PROGRAM -S -c {quoted(PYTHON)}", PYTHONHASHSEED="1", PYTHONDONTWRITEBYTECODE="1", PYTHONHOME="/usr"),
    "perl": program("/usr/bin/perl", "PROGRAM -e 'my %h; for (1..500) { $h{$_ * 7919 % 101} .= chr(65 + $_ % 26) } print map { \"$_ $h{$_}\\n\" } sort keys %h; "
                    "print join(\",\", \"a1b22c333\" =~ /(\\d+)/g), sprintf(\"%.4f %x\", 2 ** 0.5, 255), pack(\"N\", 7); eval { die \"x\\n\" }; print $@'"),
    "bash": program("/usr/bin/bash", "PROGRAM -c 'declare -A a; for i in {1..300}; do a[$((i * 7 % 31))]+=$i; done; echo ${a[@]}; f() { local x=$1; "
                    "((x > 1)) && f $((x - 1)); echo -n $x,; }; f 30; x=abcdef; echo ${x/c/Z} ${x^^} ${#x} $(echo sub); trap \"echo bye\" EXIT; case $x in a*) echo yes;; esac; printf \"%05d\\n\" 42'"),
    "dash": program("/usr/bin/dash", "PROGRAM -c 'i=0; while [ $i -lt 200 ]; do i=$((i + 1)); set -- \"$@\" $i; done; echo \"$@\" | cksum; f() { echo ${1#a}; }; f abc; trap \"echo bye\" 0'"),
    "node": program("/usr/bin/node", f"PROGRAM -e {quoted(SCRIPT)}"),
    "openssl": program("/usr/bin/openssl", "for d in md5 sha1 sha256 sha512; do echo abc | PROGRAM dgst -$d; done; echo abc | PROGRAM enc -base64; PROGRAM version; PROGRAM list -digest-commands; PROGRAM prime 97"),
    "sqlite3": program("/usr/bin/sqlite3", f"printf '%s' {quoted(SQL)} | PROGRAM :memory:"),
    "gzip": program("/usr/bin/gzip", f"{TEXT} | PROGRAM -n9 | tee x.gz | cksum; PROGRAM -dc x.gz | cksum; PROGRAM -t x.gz"),
    "bzip2": program("/usr/bin/bzip2", f"{TEXT} | PROGRAM -9 | tee x.bz2 | cksum; PROGRAM -dc x.bz2 | cksum"),
    "xz": program("/usr/bin/xz", f"{TEXT} | PROGRAM -T1 -6 | tee x.xz | cksum; PROGRAM -dc x.xz | cksum"),
    "zstd": program("/usr/bin/zstd", f"{TEXT} | PROGRAM --single-thread -q -7 | tee x.zst | cksum; PROGRAM -q -dc x.zst | cksum"),
    "mawk": program("/usr/bin/mawk", f"{TEXT} | PROGRAM '{{ s += $1; w[$1 % 7] = w[$1 % 7] $3 }} END {{ print s, length(w[3]), sin(1), substr(w[2], 3, 9); for (i = 0; i < 7; i++) print i, length(w[i]) }}'"),
    "gawk": program("/usr/bin/gawk", f"{TEXT} | PROGRAM '{{ s += $1; w[$1 % 7] = w[$1 % 7] $3 }} END {{ print s, length(w[3]), gensub(/a/, \"b\", \"g\", \"banana\"), strftime(\"%Y\", 0); n = asort(w); print n }}'"),
    "sed": program("/usr/bin/sed", f"{TEXT} | PROGRAM -E 's/(quick) (brown)/\\2 \\1/; y/abc/xyz/; 5,9d; /7$/!s/fox/cat/g; $!N; P; D' | cksum"),
    "grep": program("/usr/bin/grep", f"{TEXT} | PROGRAM -c 7; {TEXT} | PROGRAM -E '^(1|2)[0-9]*5 .*x$' | cksum; {TEXT} | PROGRAM -on 'q[a-z]*k' | tail -3"),
    "jq": program("/usr/bin/jq", "PROGRAM -nc '[range(300)] | map({a: ., b: (. * 7 % 13 | tostring)}) | group_by(.b) | map({k: .[0].b, n: length, s: (map(.a) | add)}) | sort_by(.n), (\"a,b\" | split(\",\")), (now | type)'"),
    "redis": program("/usr/bin/redis-server", "PROGRAM --port 0 --unixsocket ./s --save '' --daemonize no --logfile log & n=0; until [ -S s ] || [ $n = 300 ]; do sleep 0.1; n=$((n+1)); done; "
                     "(for i in $(seq 200); do echo SET k$i v$i; echo INCRBY c $i; echo RPUSH l $i; echo ZADD z $i m$i; echo HSET h f$i $i; done; echo LRANGE l 0 5; echo ZRANGE z 3 7; "
                     "echo HGETALL h; echo GET c; echo 'EVAL \"return redis.call(\\\"GET\\\", \\\"k7\\\")\" 0'; echo SHUTDOWN NOSAVE) | redis-cli -s ./s; wait"),
    "nginx": program("/usr/sbin/nginx", "mkdir -p w; seq 1 2000 > w/page; printf 'daemon off; master_process off; pid nginx.pid; error_log err.log; events {} http { access_log off; client_body_temp_path b; proxy_temp_path p; "
                     "fastcgi_temp_path f; uwsgi_temp_path u; scgi_temp_path s; gzip on; gzip_types *; server { listen unix:%s/sock; root %s/w; location /r { rewrite ^/r(.*)$ /page break; } } }' $PWD $PWD > c; "
                     "PROGRAM -p . -c $PWD/c 2>/dev/null & n=0; until [ -S sock ] || [ $n = 300 ]; do sleep 0.1; n=$((n+1)); done; for i in 1 2 3 4 5; do curl -s --unix-socket sock http://x/page | cksum; curl -s --compressed --unix-socket sock http://x/rx | cksum; "
                     "curl -s -o /dev/null -w '%{http_code}\\n' --unix-socket sock http://x/none; done; kill -QUIT $!; wait"),
    "apache2": program("/usr/sbin/apache2", "mkdir -p w; seq 1 2000 > w/index.html; M=/usr/lib/apache2/modules; printf 'ServerName x\\nPidFile %s/pid\\nErrorLog %s/log\\nListen 127.0.0.1:18763\\n"
                       "LoadModule mpm_prefork_module '$M'/mod_mpm_prefork.so\\nLoadModule authz_core_module '$M'/mod_authz_core.so\\nLoadModule dir_module '$M'/mod_dir.so\\nLoadModule rewrite_module '$M'/mod_rewrite.so\\nDocumentRoot %s/w\\nStartServers 1\\nMinSpareServers 1\\n"
                       "User www-data\\nGroup www-data\\nRewriteEngine on\\nRewriteRule ^/r /index.html\\nMutex pthread\\n' $PWD $PWD $PWD > c; chmod -R a+rX .. .; setsid PROGRAM -d $PWD -f $PWD/c -DFOREGROUND 2>/dev/null & n=0; until [ -s pid ] || [ $n = 300 ]; do sleep 0.1; n=$((n+1)); done; sleep 1; "
                       "for i in 1 2 3; do curl -s http://127.0.0.1:18763/ | cksum; curl -s http://127.0.0.1:18763/r7 | cksum; curl -s -o /dev/null -w '%{http_code}\\n' http://127.0.0.1:18763/none; done; kill $!; wait"),
    "git": program("/usr/bin/git", "G='PROGRAM'; $G init -q -b m .; for i in 1 2 3 4 5 6; do seq 1 $((i * 20)) > f$((i % 3)); $G add .; $G commit -q -m c$i; done; $G log --stat --format='%H %s'; $G diff HEAD~3 | cksum; "
                   "$G fsck --no-progress; $G repack -adq; $G cat-file -p HEAD; $G rev-list --objects --all | sort | cksum; $G blame f1 | tail -2; $G grep -c 7",
                   GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@b",
                   GIT_AUTHOR_DATE="2020-01-01T00:00:00Z", GIT_COMMITTER_DATE="2020-01-01T00:00:00Z", GIT_CONFIG_NOSYSTEM="1"),
    "cc1": program(compiler("cc1"), C_FILE + "PROGRAM -quiet -O2 f.c -o - | cksum; PROGRAM -quiet -O0 f.c -o - | cksum; echo 'int f( {' > b.c; PROGRAM -quiet b.c -o /dev/null"),
    "as": program("/usr/bin/x86_64-linux-gnu-as", "printf 'f:\\n.cfi_startproc\\nmov $1,%%eax\\njmp g\\nret\\n.cfi_endproc\\ng: .long 1,2,f-g\\n' > f.s; PROGRAM --64 -o f.o f.s; cksum f.o; echo '  mov bad,' | PROGRAM -o /dev/null"),
    "ld": program("/usr/bin/x86_64-linux-gnu-ld.bfd", "echo 'int f(void){return 1;} int _start(void){return f();}' > f.c; gcc -c -O1 -fno-pic f.c; PROGRAM -o a f.o && cksum a; PROGRAM -shared -o b.so f.o; PROGRAM -r -o c f.o; cksum c; PROGRAM -o d nothing.o"),
    "objdump": program("/usr/bin/x86_64-linux-gnu-objdump", "PROGRAM -d --start-address=0x4000 --stop-address=0x4400 /usr/bin/gzip | tail -n +4 | cksum; PROGRAM -h -p -T /usr/bin/gzip | tail -n +4 | cksum"),
    "tar": program("/usr/bin/tar", f"mkdir d; for i in $(seq 40); do seq 1 $i > d/f$i; done; PROGRAM --sort=name --mtime=@0 --owner=0 --group=0 --mode=a=rX -cf x.tar d; cksum x.tar; PROGRAM -tf x.tar | cksum; mkdir e; PROGRAM -C e -xf x.tar; diff -r d e/d && echo same"),
    "bc": program("/usr/bin/bc", "printf 'scale=40\\n4*a(1)\\ne(1)\\ndefine f(n) { if (n<2) return 1; return n*f(n-1) }\\nf(60)\\nfor(i=0;i<20;i++) i^i%%97\\nobase=16\\n12345678\\n' | PROGRAM -l"),
    "php": program("/usr/bin/php8.2", "PROGRAM -n -r '$a = []; for ($i = 0; $i < 300; $i++) $a[\"k\" . ($i * 7919 % 101)][] = $i; ksort($a); echo md5(serialize($a)), preg_replace(\"/a+/\", \"b\", \"caat\"), json_encode(array_slice($a, 0, 3)), \"\\n\"; try { throw new Exception(\"x\"); } catch (Exception $e) { echo $e->getMessage(), \"\\n\"; }'"),
    "lua": program("/usr/bin/lua5.4", "PROGRAM -e 'local t = {}; for i = 1, 500 do t[#t + 1] = (i * 7919) % 101 end table.sort(t); print(table.concat(t, \",\"):sub(1, 90), string.format(\"%5.2f\", math.pi), (\"hello\"):gsub(\"l\", \"L\")); print(pcall(error, \"x\")); local c = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end); print(c(), c(), c())'"),
    "make": program("/usr/bin/make", "printf 'V := $(shell echo 7)\\nall: a b\\n\\t@echo $^ $(words $(sort x y x)) $(V)\\na: ; @echo making $@\\nb: a ; @echo $(patsubst %%.c,%%.o,q.c r.c)\\n' > Makefile; PROGRAM; PROGRAM -n all; PROGRAM nothing"),
    "find": program("/usr/bin/find", "mkdir -p d/e/f; for i in $(seq 30); do touch d/f$i d/e/g$i; done; PROGRAM d -name '*1*' -newermt 2001-01-01 | sort; PROGRAM d -type d -printf '%p %y\\n' | sort; PROGRAM d -regex '.*g[0-9]' | wc -l"),
    "sort": program("/usr/bin/sort", f"{TEXT} | PROGRAM -k1,1nr -k2 | cksum; {NUMBERS} | PROGRAM -R --random-source=/etc/passwd | cksum; {NUMBERS} | PROGRAM -u -V | tail -2; printf '1K\\n2M\\n3\\n' | PROGRAM -h"),
    "diff": program("/usr/bin/diff", "seq 1 500 > a; seq 1 3 600 > b; PROGRAM a b | cksum; PROGRAM -u a b | tail -n +3 | cksum; PROGRAM -y a b | cksum"),
    "curl": program("/usr/bin/curl", "seq 1 500 > a; PROGRAM -s file://$PWD/a | cksum; PROGRAM -s http://127.0.0.1:1/; echo $?; PROGRAM --version; PROGRAM -G -s -w '%{url_effective}' -d a=1 file://$PWD/none"),
    "rsync": program("/usr/bin/rsync", "mkdir d; for i in $(seq 30); do seq 1 $i > d/f$i; done; PROGRAM -a --out-format='%n' d/ e/ | sort | cksum; diff -r d e && echo same; PROGRAM -anc --itemize-changes d/ e/"),
}
