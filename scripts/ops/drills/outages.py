"""What headquarters stands on is away: two servers on one PostgreSQL with a broker, behind a balancer."""

import shutil
import socket
import statistics
import time

from containers import spawn
from kit import Wrong, asked, need, until
from rigs.servers import Postgres, free_port

from drills.chain import Chain, Node
from drills.machine import Authority

# Seconds without PostgreSQL, and edits that are timed.
AWAY, EDITS, SALES = 60, 20, 10
# Starts of a store until the balancer gives it the other server.
TRIES = 20
# Stores look by themselves so seldom that it is the notifications that bring an edit.
SELDOM = {"SYNC_INTERVAL_MS": "30000"}


class Pair:
    """Two servers of headquarters behind HAProxy, with PostgreSQL and NATS, and stores."""

    def __init__(self, drill, codes=("S01", "S02")):
        self.drill, self.nats, self.broker = drill, free_port(), None
        self.postgres = Postgres(drill.directory / "postgres")
        drill.at_end(lambda: self.postgres.process.poll() is None and self.postgres.kill())
        self.begin_broker()
        self.front, self.authority = free_port(), Authority(drill)
        self.authority.issue(-1, 30)
        self.url = f"https://localhost:{self.front}"
        given = {"DATABASE_URL": self.postgres.url, "NATS_URL": f"nats://127.0.0.1:{self.nats}", "PUBLIC_URL": self.url, "TRUSTED_PROXIES": "127.0.0.1"}
        self.chain = Chain(drill, drill.program, given | {"HQ_NODE": "hq1"})
        self.chain.postgres, self.chain.url = self.postgres, self.url
        first = self.chain.hq
        directory = drill.directory / "hq2"
        directory.mkdir(mode=0o700)
        for name in ("pin.key", "token.key"):
            shutil.copy(first.directory / name, directory / name)
        self.servers = [first, Node(drill, drill.program, "hq", directory, given | {"HQ_NODE": "hq2"})]
        self.servers[1].wait()
        self.balancer()
        more = SELDOM | {"HQ_CA_FILE": str(self.authority.file)}
        self.shops = [self.chain.open(code, more=more) for code in codes]

    def balancer(self):
        """deploy/haproxy/haproxy.cfg without what a network of containers needs."""
        rules = (self.drill.run.root / "deploy/haproxy/haproxy.cfg").read_text()
        for there, here in (
            ("maxconn 20000", "maxconn 1000"),
            ("bind :443", f"bind 127.0.0.1:{self.front}"),
            ("/run/secrets/hq.pem", str(self.authority.both())),
            ("bind :8404", f"bind 127.0.0.1:{free_port()}"),
            ("/usr/local/etc/haproxy", str(self.drill.run.root / "deploy/haproxy")),
            ("    default-server resolvers docker init-addr last,libc,none\n", ""),
            ("hq1:8080", f"127.0.0.1:{self.servers[0].port}"),
            ("hq2:8080", f"127.0.0.1:{self.servers[1].port}"),
        ):
            need(there in rules, f"{there.strip()} is not in haproxy.cfg")
            rules = rules.replace(there, here)
        file = self.drill.directory / "haproxy.cfg"
        file.write_text(rules)
        spawn(self.drill, [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", file], self.drill.directory / "haproxy.log")
        until("the balancer", lambda: self.asked("/ready")[0] == 200, 30)

    def begin_broker(self):
        place, program = self.drill.directory / "nats", shutil.which("nats-server") or "/usr/sbin/nats-server"
        words = [program, "-js", "-sd", place, "-a", "127.0.0.1", "-p", str(self.nats)]
        self.broker = spawn(self.drill, words, self.drill.directory / "nats.log")
        until("the broker", lambda: socket.create_connection(("127.0.0.1", self.nats), 1).close() is None)

    def end_broker(self):
        """Killed, and its disk wiped."""
        self.broker.kill()
        self.broker.wait()
        shutil.rmtree(self.drill.directory / "nats", ignore_errors=True)

    def broker_is(self, up):
        """As every server sees it."""
        word = f"tillkeep_broker_up {int(up)}"
        until(f"{word} at both servers", lambda: all(word in asked(f"{server.url}/metrics")[1] for server in self.servers), 60)

    def apart(self):
        """The store has its socket at the server where nobody edits."""
        shop = self.shops[0]
        for _ in range(TRIES):
            if until("the socket of the store", lambda: self.holders(shop), 60) == [1]:
                return
            shop.server.end()
            # One more request, so that the balancer is in another place of its round.
            self.asked("/ready")
            shop.server.again()
        raise Wrong(f"the store is at the first server after {TRIES} starts")

    def holders(self, shop):
        """The servers that have the socket of a store, by their logs."""
        found = []
        for place, server in enumerate(self.servers):
            lines = [line for line in server.log().splitlines() if f'"store":"{shop.code}"' in line and "connected" in line]
            found += [place] if lines and "store connected" in lines[-1] else []
        return found

    def asked(self, path):
        return asked(f"{self.url}{path}", trusted=self.authority.file)

    def edits(self, what):
        """How long edits at the first server take to be at the stores."""
        took = []
        for _ in range(EDITS):
            self.chain.edit()
            begun = time.monotonic()
            # A store that misses a notification looks by itself in the end.
            until("the edit at the stores", lambda: all(shop.prices() == self.chain.prices for shop in self.shops), 45, 0.01)
            took.append(time.monotonic() - begun)
        self.drill.seconds[f"{what}, median"] = round(statistics.median(took), 2)
        self.drill.seconds[f"{what}, at worst"] = round(max(took), 2)

    def sold(self):
        for shop in self.shops:
            shop.sell(SALES)

    def arrived(self):
        for shop in self.shops:
            shop.everywhere()

    def ended(self):
        self.servers[1].end()
        self.chain.verified()
        need("panicked" not in self.servers[1].log(), f"hq2 panicked: {self.servers[1].said()}")
        return f"{self.chain.count()} sales of {self.chain.worth()} at both to the cent"


def broker(drill):
    # Alone: a second one at the server of the edits would tell the other server by its own questions.
    pair = Pair(drill, ["S01"])
    pair.broker_is(up=True)
    pair.apart()
    pair.edits("an edit at a store of the other server, with the broker")
    pair.end_broker()
    with drill.timed("until both servers say that the broker is away"):
        pair.broker_is(up=False)
    pair.edits("an edit at a store of the other server, without it")
    pair.sold()
    pair.arrived()
    pair.begin_broker()
    with drill.timed("until both servers have the broker again"):
        pair.broker_is(up=True)
    pair.edits("an edit at a store of the other server, with the broker again")
    return f"killed and wiped: every edit came, {pair.ended()}"


def database(drill):
    pair = Pair(drill)
    pair.sold()
    pair.arrived()
    pair.postgres.kill()
    begun, statuses = time.monotonic(), set()
    with drill.timed("until the balancer says that no server is ready"):
        until("503 of the balancer", lambda: pair.asked("/ready")[0] == 503, 30)
    while time.monotonic() < begun + AWAY:
        pair.sold()
        statuses.add(pair.asked("/api/v1/auth/me")[0])
        time.sleep(2)
    need(statuses == {503}, f"headquarters without its database answers {sorted(statuses)}")
    waiting = sum(shop.waiting() for shop in pair.shops)
    need(waiting, "nothing waits for a headquarters that is away")
    pair.postgres.start()
    with drill.timed("until headquarters is ready again"):
        until("the balancer", lambda: pair.postgres.is_up() and pair.asked("/ready")[0] == 200, 60)
    with drill.timed("until every sale of that minute is there"):
        pair.arrived()
    pair.chain.edited()
    return f"{AWAY} s away: the stores sold on, {waiting} entries waited, people were answered 503; {pair.ended()}"


def server(drill):
    pair = Pair(drill)
    pair.sold()
    pair.arrived()
    first, second = pair.servers
    first.kill()
    pair.sold()
    with drill.timed("until what was sold is there by the other server"):
        pair.arrived()
    need(all(pair.asked("/ready")[0] == 200 for _ in range(6)), "the balancer still asks the server that is gone")
    with drill.timed("until the server is ready again"):
        first.again()
    # Sockets, and the stores that came over, spread again by themselves.
    second.end()
    pair.sold()
    with drill.timed("until what was sold is there by the first one again"):
        pair.arrived()
    second.again()
    pair.chain.edited()
    return f"one killed, then the other one stopped: {pair.ended()}"


DRILLS = [
    ("the broker is dead", broker, "The broker is dead"),
    ("PostgreSQL is away for a minute", database, "PostgreSQL is away for a minute"),
    ("a server of headquarters is killed", server, "A server of headquarters is killed"),
]
