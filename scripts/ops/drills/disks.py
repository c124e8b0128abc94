"""Disks that are lost, and a machine that loses its power while it sells."""

import random
import shutil
import threading
import time

from kit import Wrong, called, need, until

from drills.chain import Chain, Person

SALES, SINCE, UNSENT = 400, 100, 3
KILLS = 8


def lost(node):
    """The machine is gone with its disk."""
    node.kill()
    shutil.rmtree(node.directory)


def headquarters(drill):
    chain = Chain(drill, drill.program)
    shops = [chain.open("S01"), chain.open("S02")]
    chain.edited()
    for shop in shops:
        shop.sell(SALES)
        shop.everywhere()
    backup = drill.directory / "hq.tillkeep"
    with drill.timed("backup"):
        called([drill.program, "backup", backup, "--data-dir", chain.hq.directory])
    with drill.timed("backup checked"):
        called([drill.program, "backup", "check", backup])
    before = dict(chain.prices)
    chain.edited()
    for shop in shops:
        shop.sell(SINCE)
        shop.everywhere()
    lost(chain.hq)
    for shop in shops:
        shop.sell(SINCE)
    # What was entered at headquarters since the backup is what is gone.
    chain.prices = before
    with drill.timed("restored"):
        called([drill.program, "restore", backup, "--data-dir", chain.hq.directory])
    with drill.timed("until headquarters is ready"):
        chain.hq.again()
    with drill.timed("until all sales since are there again"):
        for shop in shops:
            shop.everywhere()
    with drill.timed("until the stores have its prices"):
        for shop in shops:
            until(f"the prices of the backup at {shop.code}", shop.knows, 60)
    chain.edited()
    chain.verified()
    return f"{chain.count()} sales of {chain.worth()} at both to the cent, {4 * SINCE} of them younger than the backup; a price since the backup is gone"


def store_by_backup(drill):
    """Its backup, and what headquarters has; what was nowhere else is named."""
    chain = Chain(drill, drill.program)
    shop = chain.open("S01")
    shop.sell(SALES)
    shop.everywhere()
    backup = drill.directory / "S01.tillkeep"
    called([drill.program, "backup", backup, "--data-dir", shop.server.directory])
    shop.sell(SINCE)
    shop.everywhere()
    chain.hq.end()
    known = dict(shop.sales)
    shop.sell(UNSENT)
    unsent = [receipt for key, (receipt, _) in shop.sales.items() if key not in known]
    lost(shop.server)
    chain.hq.again()
    shop.sales = known
    with drill.timed("restored"):
        called([drill.program, "restore", backup, "--data-dir", shop.server.directory])
    with drill.timed("until the store is ready"):
        shop.server.again()
    with drill.timed("until the sales since the backup are back"):
        until("its sales of headquarters", lambda: shop.at_store() == known, 60)
    # The till says what it printed last, so that no receipt comes twice.
    shop.sell(SALES, says_last=True)
    shop.everywhere()
    numbers = [int(receipt.rsplit("-", 1)[1]) for receipt, _ in shop.sales.values()]
    need(max(numbers) == SALES + SINCE + UNSENT + SALES, f"numbers go on at {max(numbers)}")
    need(not set(unsent) & {receipt for receipt, _ in shop.sales.values()}, "a receipt was given twice")
    with drill.timed("until headquarters names what is lost"):
        until("the lost receipts", lambda: missing(chain, shop) == unsent, 60)
    chain.edited()
    chain.verified()
    return f"{SALES + SINCE} sales are back, {SALES} more are sold; the {UNSENT} that were on that disk alone are named by their receipts, no number came twice"


def missing(chain, shop):
    """Receipts that headquarters has not, by the days of its sales, of which a drill may see two."""
    first, last = chain.sql("SELECT min(business_date), max(business_date) FROM sales")[0]
    days = chain.admin.do("GET", f"/sync/completeness?storeId={shop.id}&from={first}&to={last}")["days"]
    dates = [day["businessDate"] for day in days if "receipts_missing" in day["reasons"]]
    told = [chain.admin.do("GET", f"/sync/completeness?storeId={shop.id}&date={date}")["days"][0] for date in dates]
    ranges = [gap for day in told for register in day["registers"] for gap in register["missingReceipts"]]
    found = []
    for gap in ranges:
        series, first = gap["from"].rsplit("-", 1)
        found += [f"{series}-{number:0{len(first)}}" for number in range(int(first), int(first) + gap["count"])]
    return found


def store_anew(drill):
    """Without any backup: a new token, `tillkeep store install`, and what headquarters has."""
    chain = Chain(drill, drill.program)
    shop = chain.open("S01")
    shop.sell(SALES)
    shop.everywhere()
    lost(shop.server)
    token = drill.directory / "token"
    token.write_text(chain.admin.do("POST", f"/stores/{shop.id}/provision", {"rotate": True})["syncToken"])
    token.chmod(0o600)
    settings = drill.directory / "etc"
    settings.mkdir()
    places = ["--config-dir", settings, "--unit-dir", settings, "--data-dir", shop.server.directory]
    listen = f"127.0.0.1:{shop.server.port}"
    with drill.timed("installed"):
        called([drill.program, "store", "install", "--no-start", "--hq-url", chain.url, "--token-file", token, "--name", "s01", "--listen", listen, *places])
    lines = (settings / "store-s01.env").read_text().splitlines()
    shop.server.environment |= dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))
    shop.till = Person(shop.server)
    with drill.timed("until the store is ready"):
        shop.server.again()
    with drill.timed("until its people sign in and its goods are there"):
        until("people and goods", shop.knows, 60)
    with drill.timed("until its sales are back"):
        until("its sales of headquarters", lambda: shop.at_store() == shop.sales, 60)
    shop.till.do("PATCH", f"/registers/{shop.register}", {"terminalId": f"{shop.code}-1"})
    shop.sell(SINCE)
    shop.everywhere()
    numbers = [int(receipt.rsplit("-", 1)[1]) for receipt, _ in shop.sales.values()]
    need(sorted(numbers) == list(range(1, SALES + SINCE + 1)), "receipts have a gap or come twice")
    chain.edited()
    chain.verified()
    return f"from nothing but a new token: {SALES} sales are back, {SINCE} more are sold without a gap"


def power(drill):
    """The store is killed again and again while its till sells."""
    chain = Chain(drill, drill.program)
    shop, dice, worst = chain.open("S01"), random.Random(1), 0
    over, failed = threading.Event(), []

    def till():
        try:
            while not over.is_set():
                shop.sell()
        except (Wrong, OSError) as error:
            failed.append(error)

    selling = threading.Thread(target=till)
    selling.start()
    try:
        for _ in range(KILLS):
            time.sleep(dice.uniform(0.2, 1))
            shop.server.kill()
            begun, sold = time.monotonic(), len(shop.sales)
            shop.server.start()
            until("a sale after the kill", lambda sold=sold: failed or len(shop.sales) > sold, 60, 0.01)
            worst = max(worst, time.monotonic() - begun)
    finally:
        over.set()
        selling.join()
    need(not failed, f"the till gave up: {failed}")
    drill.seconds["sells again after a kill, at worst"] = round(worst, 2)
    shop.everywhere()
    numbers = sorted(int(receipt.rsplit("-", 1)[1]) for receipt, _ in shop.sales.values())
    need(numbers == list(range(1, len(numbers) + 1)), "receipts have a gap or come twice")
    chain.verified()
    return f"{KILLS} kills in {chain.count()} sales: none lost, none twice, no number left out"


DRILLS = [
    ("the disk of headquarters is lost", headquarters, "The disk of headquarters is lost"),
    ("the disk of a store is lost, restored", store_by_backup, "The disk of a store is lost, there is a backup"),
    ("the disk of a store is lost, installed anew", store_anew, "The same without a backup"),
    ("a store is killed while it sells", power, "A store loses its power while it sells"),
]
