"""Release 0.1.0 and this one: beside each other in every pairing, one after the other on the same data directories, and the way back."""

from kit import called, need, until

from drills.chain import Chain

EARLIER = "0.1.0"
SALES = 100
# What an older program says of a database that a newer one has changed.
NEWER = "of a newer release"


def old_program(drill):
    need(drill.old, f"there is no program of {EARLIER}: `make old-release` builds it, --old or TILLKEEP_OLD names one")
    said = called([drill.old, "--version"])
    need(EARLIER in said, f"{drill.old} is {said.strip()}, and not {EARLIER}")
    return drill.old


def works(chain, drill, what):
    """Every store sells, pushes and pulls."""
    with drill.timed(what):
        for shop in chain.shops:
            shop.sell(SALES)
        for shop in chain.shops:
            shop.everywhere()
        chain.edited()


def backed_up(program, node, drill, name):
    file = drill.directory / name
    called([program, "backup", file, "--data-dir", node.directory])
    return file


def replaced(node, program, drill, what):
    """In place, as a package does it: stopped, another program, the same directory."""
    with drill.timed(what):
        node.end()
        node.again(program, 120)


def headquarters_first(drill):
    old = old_program(drill)
    chain = Chain(drill, old)
    shop = chain.open("S01", old)
    works(chain, drill, "a round of both of 0.1.0")
    with drill.timed("backup of headquarters"):
        backed_up(old, chain.hq, drill, "before.tillkeep")
    chain.hq.end()
    shop.sell(SALES)
    with drill.timed("headquarters starts as the new release"):
        chain.hq.again(drill.program, 120)
    works(chain, drill, "a round of headquarters new, store of 0.1.0")
    backed_up(drill.program, chain.hq, drill, "after.tillkeep")
    backed_up(old, shop.server, drill, "store.tillkeep")
    replaced(shop.server, drill.program, drill, "the store is replaced")
    works(chain, drill, "a round of both new")
    return ended(chain, "0.1.0 and 0.1.0, new and 0.1.0, new and new")


def store_first(drill):
    old = old_program(drill)
    chain = Chain(drill, old)
    shop = chain.open("S01", old)
    works(chain, drill, "a round of both of 0.1.0")
    backed_up(old, shop.server, drill, "store.tillkeep")
    replaced(shop.server, drill.program, drill, "the store is replaced")
    before = set(shop.sales)
    works(chain, drill, "a round of headquarters of 0.1.0, store new")
    unknown = shop.sales.keys() - before
    backed_up(old, chain.hq, drill, "before.tillkeep")
    replaced(chain.hq, drill.program, drill, "headquarters is replaced")
    works(chain, drill, "a round of both new")
    return ended(chain, "0.1.0 and 0.1.0, 0.1.0 and new, new and new", left_out(shop, unknown))


def left_out(shop, sales):
    """What the checker says of documents that an upgraded store sent to headquarters of 0.1.0, which did not know all of a document and
    left it out: their store has it alone (docs/operations.md, *Upgrading*). Of every other document it is a fault."""
    entries, items = shop.lines("chain_entries", sales), shop.lines("sale_items", sales)
    need(len(entries) == len(sales) and len(items) == 2 * len(sales), f"{len(sales)} sales have {len(entries)} entries and {len(items)} lines")
    return {f"I2 chain_entries {line} of store {shop.id}: is a line of its store that headquarters does not have" for line in entries} | {
        f"I2 sale_items {line} of store {shop.id}: differs at headquarters in tracked" for line in items
    }


def ended(chain, pairs, left_out=None):
    for shop in chain.shops:
        shop.everywhere()
    chain.verified(left_out)
    finds = f"the {len(left_out)} lines alone that 0.1.0 left out" if left_out else "nothing"
    return f"headquarters and store {pairs}: {chain.count()} sales of {chain.worth()} at both to the cent, verify finds {finds}"


def back(drill):
    """Headquarters returns to the release before by its backup, with one store of each release."""
    old = old_program(drill)
    chain = Chain(drill, old)
    first, second = chain.open("S01", old), chain.open("S02", old)
    works(chain, drill, "a round of 0.1.0")
    file, before = backed_up(old, chain.hq, drill, "before.tillkeep"), dict(chain.prices)
    replaced(chain.hq, drill.program, drill, "headquarters is replaced")
    replaced(second.server, drill.program, drill, "a store is replaced")
    sold = set(second.sales)
    works(chain, drill, "a round after the upgrade, which the backup lacks")
    chain.hq.end()
    chain.hq.refuses(old, NEWER)
    for shop in chain.shops:
        shop.sell(SALES)
    with drill.timed("0.1.0 restores its backup"):
        called([old, "restore", file, "--data-dir", chain.hq.directory, "--replace"])
    # What was entered since the backup is gone, at headquarters and then in the stores.
    need(chain.prices != before, "nothing was entered since the backup")
    chain.prices = before
    with drill.timed("until all sales since are pushed again"):
        chain.hq.again(old, 120)
        for shop in chain.shops:
            shop.everywhere()
    for shop in chain.shops:
        until(f"the prices of the backup at {shop.code}", shop.knows, 60)
    works(chain, drill, "a round of 0.1.0 after the way back")
    # Sold by the new store, and sent to headquarters of 0.1.0, also what the lost headquarters had whole.
    unknown = second.sales.keys() - sold
    # The upgrade once more, for good.
    for node in (chain.hq, first.server):
        replaced(node, drill.program, drill, f"{node.directory.name} is replaced once more")
    works(chain, drill, "a round of the new release")
    said = ended(chain, "back on 0.1.0 and new again", left_out(second, unknown))
    return f"0.1.0 refuses the upgraded database in words and goes on from its backup; prices since the backup are gone; {said}"


DRILLS = [
    ("upgrade, headquarters first", headquarters_first, "A release, and the way back"),
    ("upgrade, store first", store_first, "A release, and the way back"),
    ("back to the release before", back, "A release, and the way back"),
]
