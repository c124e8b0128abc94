"""What goes wrong at a store."""

import os
import shutil

from kit import need

from watch.plant import Plant
from watch.site import LETS_THROUGH, SENDS_AWAY, moment

HOUR = 3600


class Stores:
    """Faults of one store each."""

    def __init__(self, site):
        self.site, self.kept = site, {}

    def all(self):
        at = self.site.instance
        return [
            Plant(
                "a store is killed",
                {"TillkeepServerDown": {"instance": at("W04")}, "TillkeepStoreSilent": {"store": "W04"}, "TillkeepStoreLost": {"store": "W04"}},
                lambda: self.shop("W04").server.kill(),
                lambda: self.shop("W04").server.again(),
            ),
            Plant("a small disk is filled", {"TillkeepDiskNearlyFull": {"instance": at("W01")}}, self.fill, lambda: self.filler().unlink()),
            Plant(
                "an entry that headquarters refuses",
                {"TillkeepFailedEntries": {"store": "W01"}, "TillkeepDeadLetters": {"store": "W01"}},
                self.spoil_an_entry,
                self.settle,
            ),
            Plant(
                "a till that printed a number far above",
                {"TillkeepDocumentsInDoubt": {"store": "W01", "alarm": "till_ahead"}},
                self.print_ahead,
                self.print_right,
            ),
            Plant(
                "an entry of the chain whose signature failed, written into the database",
                {"TillkeepNotSigned": {"instance": at("W01")}},
                lambda: self.site.change("W01", SIGN_FAILED),
                lambda: self.site.change("W01", "DELETE FROM chain_signatures WHERE error = 'planted'"),
            ),
            Plant(
                "the clock of a store is 36 hours behind, and with it its last backup",
                {"TillkeepStoreClockOff": {"store": "W02"}, "TillkeepBackupOld": {"instance": at("W02")}},
                self.set_back,
                self.set_right,
            ),
            Plant(
                "the balancer lets pulls through and no pushes",
                {"TillkeepStoreBacklogGrows": {"store": "W03"}},
                lambda: (self.site.balancer(SENDS_AWAY), self.shop("W03").sell(110)),
                lambda: self.site.balancer(LETS_THROUGH),
                lambda: self.shop("W03").sell(2),
            ),
            Plant(
                "a store loses its PIN key and its backups, and another chain of documents is in its database",
                {"TillkeepPinKeyAsked": {"store": "W05"}, "TillkeepBackupMissing": {"instance": at("W05")}, "TillkeepChainBroken": {"store": "W05"}},
                self.lose,
                self.find,
            ),
            Plant(
                "the database of a store refuses products",
                {"TillkeepTypeNotStored": {"store": "W03"}},
                lambda: (self.site.change("W03", REFUSE), self.site.chain.edit()),
                lambda: (self.site.change("W03", "DROP TRIGGER refused"), self.site.chain.edit()),
            ),
        ]

    def shop(self, code):
        return self.site.shops[code]

    def filler(self):
        return self.shop("W01").server.directory / "filler"

    def fill(self):
        disk = os.statvfs(self.filler().parent)
        room = disk.f_bavail * disk.f_frsize - disk.f_blocks * disk.f_frsize // 16
        with self.filler().open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, room)

    def spoil_an_entry(self):
        """On its way into the outbox a customer gets the number of another one."""
        till = self.shop("W01").till
        self.site.change("W01", SPOIL.format(till.do("POST", "/customers", {"lastName": "First"})["customerNumber"]))
        till.do("POST", "/customers", {"lastName": "Second"})
        self.site.change("W01", "DROP TRIGGER spoilt")

    def settle(self):
        for entry in self.site.admin.do("GET", f"/sync/errors?storeId={self.shop('W01').id}"):
            self.site.admin.do("POST", f"/sync/resolve/{entry['id']}", {"note": "planted"})

    def print_ahead(self):
        shop = self.shop("W01")
        shop.took(shop.cart() | {"lastReceipt": f"{shop.last.rsplit('-', 1)[0]}-009999"})

    def print_right(self):
        self.shop("W01").sell(says_last=True)

    def set_back(self):
        server = self.shop("W02").server
        server.end()
        self.site.own_clock.set(self.site.ahead - 36 * HOUR)
        backups = list((server.directory / "backups").iterdir())
        need(len(backups) == 1, f"backups of W02: {backups}")
        backups[0].rename(backups[0].parent / f"store-W02-{moment(self.site.ahead - 40 * HOUR)}.tillkeep")
        server.again()

    def set_right(self):
        self.shop("W02").server.end()
        self.site.own_clock.set(self.site.ahead)
        self.shop("W02").server.again()

    def lose(self):
        shop = self.shop("W05")
        self.kept = {"hash": shop.rows(f"SELECT hash FROM chain_entries WHERE {NEWEST}")[0][0]}
        shop.server.end()
        (shop.server.directory / "pin.key").unlink()
        shutil.rmtree(shop.server.directory / "backups")
        self.site.change("W05", f"UPDATE chain_entries SET hash = '{'0' * 64}' WHERE {NEWEST}")
        shop.server.environment["BACKUP_EVERY"] = "off"
        shop.server.again()

    def find(self):
        shop = self.shop("W05")
        self.site.admin.do("POST", f"/stores/{shop.id}/allow-pin-key", {})
        shop.server.end()
        self.site.change("W05", f"UPDATE chain_entries SET hash = '{self.kept['hash']}' WHERE {NEWEST}")
        del shop.server.environment["BACKUP_EVERY"]
        self.site.back_up(shop)


NEWEST = "number = (SELECT max(number) FROM chain_entries)"
REFUSE = "CREATE TRIGGER refused BEFORE INSERT ON products BEGIN SELECT RAISE(ABORT, 'planted'); END"
SIGN_FAILED = (
    "INSERT INTO chain_signatures (entry_id, created_at, state, error, attempts) "
    f"SELECT id, at, 'could_not_sign', 'planted', 1 FROM chain_entries WHERE {NEWEST}"
)
SPOIL = (
    "CREATE TRIGGER spoilt AFTER INSERT ON sync_outbox WHEN NEW.entity_type = 'customers' BEGIN "
    "UPDATE sync_outbox SET payload = json_set(payload, '$.customerNumber', '{}') WHERE seq = NEW.seq; END"
)
