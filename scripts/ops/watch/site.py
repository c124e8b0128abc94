"""The chain that is watched: everything that a rule is about is there, and can be broken."""

import os
import shutil
import socket
import sqlite3
import subprocess
import contextlib
import threading
import time

from containers import spawn
from drills.chain import Chain, Drill
from drills.machine import Authority, Clock
from kit import Wrong, asked, called, need, until
from rigs.servers import Postgres, free_port

# Each store has one thing that may go wrong: W02 a clock of its own, W03 its line through the balancer.
CODES = ("W01", "W02", "W03", "W04", "W05")
# Of the store with the small disk.
ROOM = "128m"
PUSHES = "{ path /api/v1/sync/push }"
# What the balancer may do with what stores push.
LETS_THROUGH = ""
SENDS_AWAY = f"    http-request deny deny_status 503 if {PUSHES}\n"
SHOWS_A_PAGE = f'    http-request return status 200 content-type text/html string "<h1>Please sign in</h1>" if {PUSHES}\n'


class Database(Postgres):
    """PostgreSQL with a clock that can be set."""

    def __init__(self, directory, clock):
        self.clock = clock
        super().__init__(directory)

    def start(self):
        self.process = begun(self, self.directory, self.port, "postgres.log")


class Standby:
    """What follows a database."""

    def __init__(self, primary, directory):
        self.clock, self.bin, self.prefix, self.directory, self.port = primary.clock, primary.bin, primary.prefix, directory, free_port()
        directory.mkdir(mode=0o700)
        shutil.chown(directory, "postgres", "postgres")
        words = ["-h", "127.0.0.1", "-p", primary.port, "-U", "postgres", "-w", "-R", "--no-sync", "-c", "fast", "-D", directory]
        called([*self.prefix, self.bin / "pg_basebackup", *words], cwd="/")
        self.url = f"postgres://postgres@127.0.0.1:{self.port}/{primary.NAME}"
        self.start()

    def start(self):
        self.process = begun(self, self.directory, self.port, "standby.log")

    def kill(self):
        self.process.kill()
        self.process.wait()


def begun(server, directory, port, log):
    command = [*server.prefix, server.bin / "postgres", "-D", directory, "-p", str(port), "-k", directory]
    with (directory.parent / log).open("ab") as log:
        return subprocess.Popen(command, env=os.environ | server.clock.environment, stdout=log, stderr=log, cwd="/")


def moment(seconds):
    """So many seconds from now, as names of backups say it."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(time.time() + seconds))


class Site:
    def __init__(self, run):
        need(os.geteuid() == 0, "only root mounts a small disk")
        self.run, self.drill = run, Drill(run, "watch")
        run.at_end(self.drill.end)
        # One clock of the chain; those of headquarters and of W02 may differ from it.
        self.clock, self.hq_clock, self.own_clock = (self.made_clock(name) for name in ("chain", "hq", "W02"))
        self.ahead = 0
        self.postgres = Database(self.drill.directory / "postgres", self.clock)
        self.drill.at_end(lambda: self.postgres.process.poll() is None and self.postgres.kill())
        self.standby = Standby(self.postgres, self.drill.directory / "standby")
        self.drill.at_end(lambda: self.standby.process.poll() is None and self.standby.kill())
        self.nats, self.figures, self.front, self.front_figures = (free_port() for _ in range(4))
        self.broker, self.proxy = None, None
        self.begin_broker()
        self.authority = Authority(self.drill)
        self.authority.issue(-5, 30)
        cert, key = self.authority.pair
        given = {
            "DATABASE_URL": self.postgres.url,
            "DATABASE_READ_URL": self.standby.url,
            "NATS_URL": f"nats://127.0.0.1:{self.nats}",
            "METRICS_LISTEN": f"127.0.0.1:{self.figures}",
            "TLS_CERT": str(cert),
            "TLS_KEY": str(key),
            "PUBLIC_URL": f"https://localhost:{self.front}",
            "TRUSTED_PROXIES": "127.0.0.1",
        }
        self.chain = Chain(self.drill, run.binary, given | self.hq_clock.environment, self.authority.file)
        self.chain.postgres, self.hq, self.admin = self.postgres, self.chain.hq, self.chain.admin
        self.shown = self.authority.both()
        self.balancer(LETS_THROUGH)
        small = self.drill.directory / "W01"
        small.mkdir()
        called(["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=0700", "watch", small])
        self.drill.at_end(lambda: called(["umount", "--lazy", small]))
        for code in CODES:
            clock = self.own_clock if code == "W02" else self.clock
            url = f"https://localhost:{self.front}" if code == "W03" else self.hq.url
            self.chain.open(code, more={"HQ_CA_FILE": str(self.authority.file)} | clock.environment, hq_url=url)
        self.shops = {shop.code: shop for shop in self.chain.shops}
        for shop in self.chain.shops:
            self.back_up(shop)
        self.work = None

    def back_up(self, shop):
        """As the store does once a day, which its next start finds."""
        server = shop.server
        if server.process.poll() is None:
            server.end()
        backups = server.directory / "backups"
        backups.mkdir(mode=0o700)
        called([self.run.binary, "backup", backups / f"store-{shop.code}-{moment(0)}.tillkeep", "--data-dir", server.directory])
        server.again()

    def made_clock(self, name):
        directory = self.drill.directory / f"clock-{name}"
        directory.mkdir()
        return Clock(directory)

    def jump(self, seconds):
        """Time goes by, for everybody in the chain."""
        self.ahead += seconds
        for clock in (self.clock, self.hq_clock, self.own_clock):
            clock.set(self.ahead)

    def targets(self):
        """What Prometheus scrapes, by job."""
        stores = [self.instance(code) for code in CODES]
        return {"tillkeep-hq": [self.at_hq()], "tillkeep-store": stores, "haproxy": [f"127.0.0.1:{self.front_figures}"]}

    def instance(self, code):
        return f"127.0.0.1:{self.shops[code].server.port}"

    def at_hq(self):
        return f"127.0.0.1:{self.figures}"

    def begin_broker(self):
        place, program = self.drill.directory / "nats", shutil.which("nats-server") or "/usr/sbin/nats-server"
        words = [program, "-js", "-sd", place, "-a", "127.0.0.1", "-p", str(self.nats)]
        self.broker = spawn(self.drill, words, self.drill.directory / "nats.log")
        until("the broker", lambda: socket.create_connection(("127.0.0.1", self.nats), 1).close() is None)

    def balancer(self, rule):
        """deploy/haproxy/haproxy.cfg with one server and with `rule` before it, without what a network of containers needs."""
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
        text, folder = (self.run.root / "deploy/haproxy/haproxy.cfg").read_text(), self.run.root / "deploy/haproxy"
        for there, here in (
            ("maxconn 20000", "maxconn 1000"),
            ("bind :443", f"bind 127.0.0.1:{self.front}"),
            ("/run/secrets/hq.pem", str(self.shown)),
            ("    default_backend nodes\n", f"{rule}    default_backend nodes\n"),
            ("bind :8404", f"bind 127.0.0.1:{self.front_figures}"),
            ("/usr/local/etc/haproxy", str(folder)),
            ("    default-server resolvers docker init-addr last,libc,none\n", ""),
            ("hq1:8080 check", f"127.0.0.1:{self.hq.port} check ssl verify required ca-file {self.authority.file}"),
            ("    server hq2 hq2:8080 check\n", ""),
        ):
            need(there in text, f"{there.strip()} is not in haproxy.cfg")
            text = text.replace(there, here)
        file = self.drill.directory / "haproxy.cfg"
        file.write_text(text)
        self.proxy = spawn(self.drill, [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", file], self.drill.directory / "haproxy.log")
        url = f"https://localhost:{self.front}/ready"
        until("the balancer", lambda: asked(url, trusted=self.authority.file)[0] == 200, 30)

    def sells(self):
        """Tills sell and headquarters changes prices, until `rests`."""
        over, failed = threading.Event(), []

        def turn():
            try:
                while not over.wait(0.2):
                    for shop in self.shops.values():
                        shop.sell()
                    self.chain.edit()
            except (Wrong, OSError, TimeoutError) as error:
                failed.append(error)

        thread = threading.Thread(target=turn)
        thread.start()
        self.work = (over, failed, thread)
        self.drill.at_end(lambda: self.work and self.rests())

    def rests(self):
        over, failed, thread = self.work
        self.work = None
        over.set()
        thread.join()
        need(not failed, f"the chain did not work on: {failed}")
        for shop in self.shops.values():
            shop.sent()

    def change(self, code, *statements):
        """Writes into the database of a store, beside its server."""
        with contextlib.closing(sqlite3.connect(self.shops[code].server.directory / "tillkeep.db", timeout=20, isolation_level=None)) as conn:
            for statement in statements:
                conn.execute(statement)
