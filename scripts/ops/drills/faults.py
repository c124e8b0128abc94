"""What goes wrong at one store: a full disk, a wrong clock, a certificate that ended, a token that was rotated while it was away."""

import datetime
import os
import subprocess

from kit import called, need, until
from rigs.servers import Refused

from drills.chain import Chain
from drills.machine import Authority, Clock

SALES = 20
ROOM = "48m"
HOURS = 2


def full(drill):
    """The store's own file system, without a byte left."""
    need(os.geteuid() == 0, "only root mounts a small disk")
    place = drill.directory / "S01"
    place.mkdir()
    called(["mount", "-t", "tmpfs", "-o", f"size={ROOM},mode=0700", "drill", place])
    drill.at_end(lambda: called(["umount", "--lazy", place]))
    chain = Chain(drill, drill.program)
    shop = chain.open("S01")
    shop.sell(SALES)
    shop.everywhere()
    filler = place / "filler"
    fill(filler)
    refusal, cart, taken = None, None, 0
    # What was room inside of the files that are there is sold on.
    while not refusal:
        need(taken < 20000, "a full disk refuses nothing")
        cart = shop.cart()
        try:
            shop.told(cart["id"], shop.till.once("POST", "/pos/sales", cart)["data"])
            taken += 1
        except Refused as refused:
            refusal = refused
    need(refusal.status == 503 and refusal.body.get("error"), f"a full disk is answered {refusal}")
    # What only reads goes on.
    need(shop.till.once("GET", "/pos/lookup/P1")["data"], "nothing is looked up beside a full disk")
    filler.unlink()
    with drill.timed("until the refused sale is taken, once there is room"):
        shop.took(cart)
    shop.sell(SALES)
    with drill.timed("until everything is at headquarters"):
        shop.everywhere()
    numbers = sorted(int(receipt.rsplit("-", 1)[1]) for receipt, _ in shop.sales.values())
    need(numbers == list(range(1, len(numbers) + 1)), "what was refused took a number")
    chain.edited()
    chain.verified()
    return f"refused with {refusal.status}: {refusal.body['error']!r}; {chain.count()} sales, none lost, no number left out"


def fill(path):
    with path.open("wb", buffering=0) as file:
        for size in (2**20, 2**12, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def clock(drill):
    time = Clock(drill.directory)
    chain = Chain(drill, drill.program)
    shop = chain.open("S01", more=time.environment)

    def alarms():
        return {alarm["code"] for alarm in shop.status()["alarms"]}

    def shown():
        return chain.admin.do("GET", f"/sync/dashboard?storeId={shop.id}")["stores"][0]

    shop.sell(SALES)
    shop.everywhere()
    time.set(HOURS * 3600)
    shop.till.do("POST", "/sync/now", {})
    # A running line is asked each hour; whoever looks for a wrong clock starts the store again.
    shop.server.end()
    shop.server.again()
    with drill.timed("until store and headquarters say that it is two hours ahead"):
        until("the alarm of a clock ahead", lambda: "clock_off" in alarms() and shown()["state"] == "clock", 60)
    shop.sell(SALES)
    shop.everywhere()
    time.set(-HOURS * 3600)
    with drill.timed("until the store says that it is two hours behind"):
        until("the alarm of a clock behind", lambda: sold(shop) and "clock_behind_register" in alarms(), 60)
    begun = datetime.datetime.now(datetime.UTC)
    shop.sell(SALES)
    shop.everywhere()
    confirmed = in_order(shop, begun)
    time.set(0)
    with drill.timed("until no alarm is left, once it is right"):
        until("the end of the alarms", lambda: sold(shop) and not alarms(), 60)
    shop.everywhere()
    in_order(shop, begun)
    chain.edited()
    chain.verified()
    return f"two hours ahead, two behind, right again: {chain.count()} sales, all at headquarters; {confirmed} by a clock that was behind have the time of headquarters and its flag"


def in_order(shop, begun):
    """A later receipt has a later time, or says by its flag that the clock was behind, and then has the time of headquarters."""
    last, confirmed, was_flagged = None, 0, False
    for receipt, at, flags in shop.rows("SELECT receipt_number, completed_at, flags FROM sales ORDER BY receipt_number"):
        at = datetime.datetime.fromisoformat(at)
        is_flagged = "clock_behind_register" in flags
        if is_flagged:
            confirmed += 1
            off = abs((at - begun).total_seconds())
            need(off < 120, f"{receipt} has the time {at}, which is {off:.0f} s from the time that it was")
        else:
            # The one before may have the time of headquarters, which is another clock.
            need(not last or last <= at or was_flagged, f"{receipt} has an earlier time than the one before, and no flag")
        last, was_flagged = at, is_flagged
    need(confirmed >= SALES, f"{confirmed} sales by a clock that was behind have the flag")
    return confirmed


def sold(shop):
    shop.sell()
    return True


def certificate(drill):
    authority = Authority(drill)
    authority.issue(-1, 30)
    cert, key = authority.pair
    chain = Chain(drill, drill.program, {"TLS_CERT": str(cert), "TLS_KEY": str(key)}, authority.file)
    shop = chain.open("S01", more={"HQ_CA_FILE": str(authority.file)})
    shop.sell(SALES)
    shop.everywhere()
    authority.issue(-40, 30)
    # Lines that stand are not judged again: the next start of either side is what notices.
    chain.hq.end()
    chain.hq.start()
    with drill.timed("until the store says why there is no line"):
        until("a word of the certificate", lambda: "expired" in (shop.line()["lastError"] or "").lower(), 60)
    why = shop.line()["lastError"]
    doctor = [drill.program, "doctor", "store", "--data-dir", shop.server.directory, "--json"]
    told = subprocess.run(doctor, env=shop.server.environment, text=True, capture_output=True, timeout=60)
    need(told.returncode == 2 and "expired" in told.stdout, f"tillkeep doctor ends with {told.returncode} and says {told.stdout[-600:]}")
    shop.sell(SALES)
    need(shop.waiting(), "nothing waits for a headquarters that nobody may trust")
    authority.issue(-1, 30)
    with drill.timed("until everything is at headquarters after the renewal in place"):
        shop.everywhere()
    chain.hq.wait()
    chain.edited()
    chain.verified()
    return f"{why!r}; {chain.count()} sales, all at headquarters"


def token(drill):
    chain = Chain(drill, drill.program)
    shop = chain.open("S01")
    shop.sell(SALES)
    shop.everywhere()
    shop.server.end()
    rotated(chain, shop, 60)
    shop.server.again()
    kept = shop.server.directory / "sync.token"
    with drill.timed("until the store has taken over the new token"):
        until("the new token", kept.exists, 60)
    shop.sell(SALES)
    shop.everywhere()
    shop.server.end()
    # Without a grace the one that it has ends at once.
    new = rotated(chain, shop, 0)
    shop.server.again()
    with drill.timed("until the store says that its token is refused"):
        until("a word of the token", lambda: "token" in (shop.line()["lastError"] or "").lower(), 60)
    why = shop.line()["lastError"]
    shop.sell(SALES)
    need(shop.waiting(), "a store whose token ended sends on")
    shop.server.end()
    shop.server.environment["SYNC_TOKEN"] = new
    with drill.timed("until everything is at headquarters by the token that a person brought"):
        shop.server.again()
        shop.everywhere()
    chain.edited()
    chain.verified()
    return f"taken over within the grace; without one {why!r}, sold on, and sent by the token of a person: {chain.count()} sales, all at headquarters"


def rotated(chain, shop, minutes):
    return chain.admin.do("POST", f"/stores/{shop.id}/provision", {"rotate": True, "graceMinutes": minutes})["syncToken"]


DRILLS = [
    ("the disk of a store is full", full, "The disk of a store is full"),
    ("the clock of a store is wrong", clock, "The clock of a store is two hours off"),
    ("the certificate of headquarters ends", certificate, "The certificate of headquarters has ended"),
    ("the token is rotated while the store is away", token, "A token is rotated while its store is away"),
]
