"""A small chain of real programs for one drill: what its tills were told is what every database must have in the end."""

import contextlib
import subprocess
import time
import uuid

from kit import Wrong, called, need, stopped, until
from rigs.servers import ADMIN, Client, File, Refused, Server

PRODUCTS = 3
# Seconds between two cycles of a store: drills wait for several of them.
CYCLE = 1


class Drill:
    """One drill: its directory, its processes, and how long each thing took."""

    def __init__(self, run, name):
        self.run, self.program, self.old, self.seconds, self._ends = run, run.binary, run.old, {}, []
        self.directory = run.directory / "drills" / "".join(letter if letter.isalnum() else "-" for letter in name)
        self.directory.mkdir(parents=True)
        self.directory.chmod(0o755)

    @contextlib.contextmanager
    def timed(self, what):
        begun = time.monotonic()
        yield
        self.seconds[what] = round(time.monotonic() - begun, 2)

    def at_end(self, act):
        self._ends.append(act)

    def end(self):
        while self._ends:
            # What cannot be cleared away hides nothing that a drill found.
            with contextlib.suppress(Exception, SystemExit):
                self._ends.pop()()


class Person(Client):
    """Asks again and again as somebody at a till would, for a minute and a half at most."""

    patience = 90


class Node(Server):
    """A server of a drill."""

    def __init__(self, drill, program, kind, directory, environment, authority=None):
        self.process = None
        drill.at_end(lambda: self.process and self.process.poll() is None and self.kill())
        super().__init__(program, kind, directory, environment, authority)

    def is_ready(self):
        need(self.process.poll() is None, f"{self.directory.name} ended with {self.process.returncode}: {self.said()}")
        with contextlib.suppress(OSError), self.opener.open(f"{self.url}/ready", timeout=5) as answer:
            return answer.status == 200
        return False

    def wait(self, seconds=60):
        until(f"{self.directory.name}, ready ({self.said()})", self.is_ready, seconds)

    def again(self, program=None, seconds=60):
        """Started in the same place, perhaps as another release."""
        self.command[0] = program or self.command[0]
        self.start()
        self.wait(seconds)

    def end(self):
        need(stopped(self.process) == 0, f"{self.directory.name} ended with {self.process.returncode}: {self.said()}")

    def log(self):
        return (self.directory.parent / f"{self.directory.name}.log").read_text(errors="replace")

    def said(self):
        return self.log()[-600:]

    def start(self):
        # Beside its directory, which a drill loses.
        self.directory.mkdir(exist_ok=True)
        with (self.directory.parent / f"{self.directory.name}.log").open("ab") as log:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=log, stderr=log)

    def refuses(self, program, words):
        """Another release does not start on this directory, and says why; what it says."""
        command = [program, *self.command[1:]]
        try:
            done = subprocess.run(command, env=self.environment, text=True, capture_output=True, timeout=60)
        except subprocess.TimeoutExpired:
            raise Wrong(f"{program} starts on the directory of another release") from None
        said = (done.stdout + done.stderr).strip()
        need(done.returncode and words in said, f"{program} ended with {done.returncode}, which should say {words!r}: {said[-600:]}")
        return said


class Shop:
    """A store with one till, and what that was told."""

    def __init__(self, chain, code, program, more=None, hq_url=None):
        self.chain, self.code, self.sales, self.last = chain, code, {}, None
        self.id = chain.admin.do("POST", "/stores", {"code": code, "name": code, "timezone": "Europe/Berlin"})["id"]
        self.token = chain.admin.do("POST", f"/stores/{self.id}/provision", {})["syncToken"]
        self.environment = {"SYNC_TOKEN": self.token, "HQ_URL": hq_url or chain.url, "SYNC_INTERVAL_MS": str(1000 * CYCLE)} | (more or {})
        self.server = Node(chain.drill, program, "store", chain.drill.directory / code, self.environment)
        self.server.wait()
        self.till = Person(self.server)
        until(f"the goods of {code}", self.knows, 60)
        self.register = self.till.do("POST", "/registers", {"code": "01", "name": "Till", "terminalId": f"{code}-1"})["id"]
        self.till.do("POST", f"/registers/{self.register}/open", {})

    def knows(self):
        try:
            if not self.till.token:
                self.till.sign_in()
            tenders = {row["code"] for row in self.till.once("GET", "/tenders?pageSize=200")["data"]}
            return "CARD" in tenders and self.prices() == self.chain.prices
        except Refused:
            self.till.token = None
            return False

    def prices(self):
        return {row["id"]: row["price"] for row in self.till.once("GET", "/products?pageSize=200")["data"]}

    def cart(self, says_last=False):
        goods = list(self.chain.prices)
        lines = [{"productId": goods[(len(self.sales) + place) % len(goods)], "quantity": 1 + place} for place in range(2)]
        cart = {"id": str(uuid.uuid4()), "terminalId": f"{self.code}-1", "lines": lines, "payments": [{"tenderId": self.chain.card}]}
        # As a till does that prints, so that a store below it sees what it has lost. Release 0.1.0 does not know the field.
        return cart | ({"lastReceipt": self.last} if says_last and self.last else {})

    def sell(self, count=1, says_last=False):
        for _ in range(count):
            self.took(self.cart(says_last))

    def took(self, cart):
        """One sale, sent until it is answered for good."""
        answer, refusal, _ = self.till.until_answered("POST", "/pos/sales", cart)
        need(not refusal, f"{self.code} refuses a sale: {refusal}")
        self.told(cart["id"], answer["data"])

    def told(self, key, data):
        self.sales[key] = (data["receiptNumber"], str(data["totalAmount"]))
        self.last = data["receiptNumber"]

    def status(self):
        return self.till.do("GET", "/sync/status")

    def line(self):
        return self.status()["line"]

    def waiting(self):
        return self.status()["outbox"]["pending"]

    def sent(self, seconds=90):
        until(f"the empty outbox of {self.code} ({self.server.said()})", lambda: self.waiting() == 0, seconds)

    def rows(self, text):
        """Of its own database."""
        return rows(self.server.directory / "tillkeep.db", text)

    def has_all(self):
        """What the till was told is at both, and nothing else, to the cent; otherwise what is missing."""
        for name, found in (("the store", self.at_store()), ("headquarters", self.chain.sales_of(self))):
            lost, more = self.sales.keys() - found.keys(), found.keys() - self.sales.keys()
            need(not lost, f"{len(lost)} of {len(self.sales)} sales of {self.code} are not at {name}: {sorted(lost)[:3]}")
            need(not more, f"{len(more)} sales of {self.code} are at {name}, and no till was told of them: {sorted(more)[:3]}")
            need(found == self.sales, f"sales of {self.code} are others at {name} than its till was told")
        return True

    def lines(self, table, sales):
        """The ids of the lines that these sales have in a table of its own database."""
        wanted = {uuid.UUID(sale) for sale in sales}
        found = self.rows(f"SELECT id, sale_id FROM {table}")
        return {line for line, sale in found if uuid.UUID(sale) in wanted}

    def at_store(self):
        return sales_in(self.rows("SELECT id, receipt_number, total_amount FROM sales"))

    def everywhere(self, seconds=90):
        """Sent, arrived and the same."""
        self.sent(seconds)
        end = time.monotonic() + seconds
        while True:
            try:
                return self.has_all()
            except Wrong:
                if time.monotonic() > end:
                    raise
                time.sleep(0.1)

    def worth(self):
        return sum(int(total) for _, total in self.sales.values())


class Chain:
    """Headquarters with goods, and one store after another."""

    def __init__(self, drill, program, more=None, authority=None):
        self.drill = drill
        environment = {"ADMIN_USERNAME": ADMIN[0], "ADMIN_PIN": ADMIN[1]} | (more or {})
        self.hq = Node(drill, program, "hq", drill.directory / "hq", environment, authority)
        self.hq.wait()
        self.admin, self.url, self.shops, self.postgres = Person(self.hq), self.hq.url, [], None
        rate = self.admin.do("POST", "/tax-rates", {"code": "VAT", "name": "VAT", "ratePpm": 190000})["id"]
        rates = [{"taxRateId": rate, "storeId": None, "sequence": 1, "isCompound": False}]
        group = self.admin.do("POST", "/tax-groups", {"code": "STD", "name": "Standard", "priceMode": "inclusive", "rates": rates})["id"]
        department = self.admin.do("POST", "/departments", {"code": "ALL", "name": "All"})["id"]
        self.card = self.admin.do("POST", "/tenders", {"code": "CARD", "name": "Card", "kind": "card"})["id"]
        self.prices = {}
        for number in range(PRODUCTS):
            body = {"sku": f"P{number}", "name": f"Product {number}", "price": 199 + 100 * number, "departmentId": department, "taxGroupId": group}
            self.prices[self.admin.do("POST", "/products", body)["id"]] = body["price"]

    def open(self, code, program=None, **more):
        shop = Shop(self, code, program or self.drill.program, **more)
        self.shops.append(shop)
        return shop

    def edit(self):
        """A new price at headquarters, of the first product."""
        product = next(iter(self.prices))
        self.prices[product] += 1
        self.admin.do("PATCH", f"/products/{product}", {"price": self.prices[product]})

    def edited(self, *shops, seconds=60):
        """An edit of now is what the stores have."""
        self.edit()
        for shop in shops or self.shops:
            until(f"the edit at {shop.code} ({shop.server.said()})", shop.knows, seconds)

    def sql(self, text):
        return self.postgres.sql(text) if self.postgres else rows(self.hq.directory / "tillkeep.db", text)

    def sales_of(self, shop):
        store = f"'{shop.id}'" if self.postgres else f"x'{uuid.UUID(shop.id).hex}'"
        return sales_in(self.sql(f"SELECT id, receipt_number, total_amount FROM sales WHERE store_id = {store}"))

    def settled(self):
        """Every store has what headquarters has: an entry that was pushed comes back with its stock."""

        def behind():
            rows = [row for store in self.admin.do("GET", "/sync/dashboard")["stores"] for row in store["sync"] if row["direction"] == "pull"]
            return [row["entityType"] for row in rows if row["version"] != row["headVersion"]]

        for shop in self.shops:
            shop.till.do("POST", "/sync/now", {})
        until("all that headquarters has at every store", lambda: not behind(), 60)

    def verified(self, left_out=None):
        """Nothing is under way, everything is stopped, the checker finds nothing in all databases but `left_out`, which is all of it;
        and nothing panicked."""
        self.settled()
        for node in [*(shop.server for shop in self.shops), self.hq]:
            if node.process.poll() is None:
                node.end()
        stores = [word for shop in self.shops for word in ("--store", shop.server.directory)]
        base = ["--database-url", self.postgres.url, "--pin-key", self.hq.directory / "pin.key"] if self.postgres else ["--hq", self.hq.directory]
        command = [str(word) for word in (self.drill.program, "verify", *base, *stores, "--settled")]
        if left_out:
            found = subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120).stdout.splitlines()
            # Which databases it reads stands before what it finds.
            *found, last = [line for line in found if not line.startswith(("Headquarters: ", "Store: "))] or [""]
            other, missed = sorted(set(found) - left_out), sorted(left_out - set(found))
            need(not other, f"the checker finds {len(other)} others than the {len(left_out)} that were left out: {other[:3]}")
            need(not missed, f"the checker does not name {len(missed)} of {len(left_out)} that were left out: {missed[:3]}")
            need(last == f"tillkeep: {len(left_out)} findings", f"the checker ends with {last!r} of {len(left_out)} findings")
        else:
            called(command, timeout=120)
        for node in [self.hq, *(shop.server for shop in self.shops)]:
            need("panicked" not in node.log(), f"{node.directory.name} panicked: {node.said()}")

    def count(self):
        return sum(len(shop.sales) for shop in self.shops)

    def worth(self):
        return sum(shop.worth() for shop in self.shops)


def rows(path, text):
    """Of a database whose server may be running."""
    file = File(path)
    with contextlib.closing(file.conn):
        return file.sql(text)


def sales_in(found):
    return {key: (receipt, total) for key, receipt, total in found}
