"""What goes wrong at headquarters and what it stands on, and what takes its time."""

import concurrent.futures
import contextlib
import shutil
import subprocess

from drills.chain import Node, Person
from kit import called, need
from rigs.servers import Refused

from watch.plant import Plant
from watch.site import LETS_THROUGH, SENDS_AWAY, SHOWS_A_PAGE

HOUR = 3600
# Wrong PINs in a row of one person, after which they wait for ten seconds each; and how often they are turned away then.
WRONG, AWAY = 7, 12
NAMES = ("ann", "bob", "cid")
# Seconds that a table is locked, and questions for it meanwhile.
LOCKED, QUESTIONS = 4, 16
KEEP = "SET session_replication_role = replica; CREATE TABLE planted AS SELECT * FROM sales WHERE id = '{0}'; DELETE FROM sales WHERE id = '{0}'"
PUT_BACK = "SET session_replication_role = replica; INSERT INTO sales SELECT * FROM planted; DROP TABLE planted"


class Headquarters:
    def __init__(self, site):
        self.site, self.people, self.copy = site, [], None

    def around(self):
        """What it stands on."""
        site, here = self.site, {"instance": self.site.at_hq()}
        return [
            Plant("NATS is killed", {"TillkeepBrokerLost": here}, lambda: (site.broker.kill(), site.broker.wait()), site.begin_broker),
            Plant("the standby is killed", {"TillkeepReplicaLost": here}, site.standby.kill, site.standby.start),
            Plant(
                "a certificate of nine days is put in place",
                {"TillkeepCertificateEnds": here},
                lambda: site.authority.issue(-5, 14),
                lambda: site.authority.issue(-5, 30),
            ),
            Plant(
                "the clock of its machine is 80 seconds ahead",
                {"TillkeepHeadquartersClockOff": here},
                lambda: site.hq_clock.set(site.ahead + 80),
                lambda: site.hq_clock.set(site.ahead),
            ),
            Plant("a product is written that cannot be read", {"TillkeepUnreadableRows": {}}, self.break_a_row, self.mend_the_row),
            Plant(
                "the balancer answers pushes with the page of a network",
                {"TillkeepStoreNeedsSomebody": {"store": "W03", "alarm": "answered_in_between"}},
                lambda: (site.balancer(SHOWS_A_PAGE), site.shops["W03"].sell()),
                lambda: (site.balancer(LETS_THROUGH), site.shops["W03"].sell()),
            ),
        ]

    def guessing(self):
        site, here = self.site, {"instance": self.site.at_hq()}
        return [
            Plant(
                "three people type wrong PINs until they wait, and go on",
                {"TillkeepPeopleLocked": {"job": "tillkeep-hq"}, "TillkeepSignInsLocked": here},
                self.guess,
                self.unlock,
                self.guess_on,
            ),
            Plant("somebody proposes a PIN that another person has", {"TillkeepPinExposed": here}, self.propose, lambda: None),
        ]

    def faults(self):
        site, here = self.site, {"instance": self.site.at_hq()}
        return [
            Plant(
                "a table that was there is gone",
                {"TillkeepFaults": here, "TillkeepRefusesWork": here},
                lambda: (site.chain.sql("ALTER TABLE tenders RENAME TO tenders_away"), self.ask_for("/tenders")),
                lambda: site.chain.sql("ALTER TABLE tenders_away RENAME TO tenders"),
                lambda: self.ask_for("/tenders"),
            )
        ]

    def slow(self):
        return [Plant("a table is locked for seconds", {"TillkeepSlow": {"instance": self.site.at_hq()}}, self.lock_a_table, lambda: None, self.lock_a_table)]

    def in_time(self):
        """What has to last: time goes by for all of the chain."""
        return [
            Plant("a copy of a store runs beside it; stopped, and 20 minutes later", {"TillkeepStoreRunsTwice": {}}, self.run_a_copy, self.stop_the_copy),
            Plant(
                "a sale of a closed drawer is taken out of the database; two hours later",
                {"TillkeepDocumentsMissing": {"store": "W01"}},
                self.lose_a_sale,
                lambda: self.site.chain.sql(PUT_BACK),
            ),
            Plant("a sale that is not let through; two hours later", {"TillkeepStoreStuck": {}}, self.wait_long, self.let_through),
        ]

    def gone(self):
        site = self.site
        return [
            Plant(
                "headquarters is killed",
                {"TillkeepServerDown": {"instance": site.at_hq()}, "TillkeepNoHeadquarters": {}},
                site.hq.kill,
                site.hq.again,
            )
        ]

    def ask(self, path):
        """Whatever it answers."""
        with contextlib.suppress(Refused, OSError):
            self.site.admin.once("GET", path)

    def ask_for(self, path):
        with concurrent.futures.ThreadPoolExecutor(QUESTIONS) as pool:
            list(pool.map(self.ask, [path] * QUESTIONS))

    def break_a_row(self):
        """As the newest one: the next edit brings it to the stores."""
        self.site.chain.edit()
        sql = "UPDATE products SET barcodes = 'planted', sync_version = (SELECT max(sync_version) + 1 FROM products) WHERE sku = 'P2'"
        self.site.chain.sql(sql)
        self.site.chain.edit()

    def mend_the_row(self):
        self.site.chain.sql("UPDATE products SET barcodes = '[]' WHERE sku = 'P2'")

    def made(self, name, *roles):
        """Somebody new, signed in with the PIN that was made for them."""
        assignments = [{"roleId": role} for role in roles]
        user = self.site.admin.do("POST", "/users", {"username": name, "displayName": name, "assignments": assignments})
        person = Person(self.site.hq, name, user["generatedPin"])
        person.sign_in()
        return person

    def guess(self):
        self.people = [self.made(name) for name in NAMES]
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(self.guesses, self.people))

    def guesses(self, person):
        """What is wrong is 403 or 422, what comes too early 429."""
        wrong = 0
        while wrong < WRONG:
            try:
                person.once("POST", "/auth/confirm", {"pin": "000000"})
            except Refused as refused:
                need(refused.status in (401, 403, 422, 429), f"a wrong PIN is answered {refused}")
                wrong += refused.status != 429

    def guess_on(self):
        for person in self.people:
            for _ in range(AWAY):
                with contextlib.suppress(Refused):
                    person.once("POST", "/auth/confirm", {"pin": "000000"})

    def unlock(self):
        for lock in self.site.admin.do("GET", "/auth/locks"):
            with contextlib.suppress(Refused):
                self.site.admin.do("POST", "/auth/unlock", {"id": lock["id"]})

    def propose(self):
        role = self.site.admin.do("POST", "/roles", {"code": "viewer", "name": "Viewer", "permissions": ["users.view"]})["id"]
        owner, finder = self.made("eve", role), self.made("dan", role)
        try:
            finder.once("POST", "/auth/change-pin", {"currentPin": finder.who[1], "newPin": owner.who[1]})
        except Refused as refused:
            need(refused.status == 422, f"a PIN of somebody else is answered {refused}")

    def lock_a_table(self):
        postgres = self.site.postgres
        sql = f"BEGIN; LOCK TABLE departments IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep({LOCKED}); COMMIT"
        command = ["psql", "-XAtq", "-h", "127.0.0.1", "-p", str(postgres.port), "-U", "postgres", "-d", postgres.NAME]
        locked = subprocess.Popen([*command, *(word for part in sql.split("; ") for word in ("-c", part))], stdout=subprocess.DEVNULL)
        self.ask_for("/departments")
        need(locked.wait(60) == 0, "the table was not locked")

    def run_a_copy(self):
        shop = self.site.shops["W04"]
        shop.server.end()
        directory = self.site.drill.directory / "copy"
        shutil.copytree(shop.server.directory, directory)
        shop.server.again()
        self.copy = Node(self.site.drill, self.site.run.binary, "store", directory, shop.environment)

    def stop_the_copy(self):
        """And the store goes on, whichever of the two did until now."""
        self.copy.kill()
        server = self.site.shops["W04"].server
        server.end()
        called([self.site.run.binary, "store", "take-over", "--data-dir", server.directory])
        server.again()

    def lose_a_sale(self):
        shop = self.site.shops["W01"]
        shop.sell(3)
        session = next(row["openSession"]["id"] for row in shop.till.do("GET", "/registers") if row["id"] == shop.register)
        counts = [{"tenderId": tender["id"], "amount": 0} for tender in shop.till.do("GET", "/tenders") if tender["countsInClose"]]
        shop.till.do("POST", f"/register-sessions/{session}/close", {"counts": counts, "acceptVariance": True})
        shop.sent()
        self.site.chain.sql(KEEP.format(list(shop.sales)[-1]))

    def wait_long(self):
        self.site.balancer(SENDS_AWAY)
        self.site.shops["W03"].sell()
        self.site.jump(2 * HOUR)

    def let_through(self):
        self.site.balancer(LETS_THROUGH)
        self.site.jump(HOUR // 3)
