"""The Debian package: built, and what is in it."""

import os
import pathlib
import re

from kit import anchors, called, need

BELOW = {
    "./usr/bin/tillkeep": "-rwxr-xr-x",
    "./etc/tillkeep/tillkeep.toml": "-rw-r-----",
    "./usr/lib/systemd/system/tillkeep-hq.service": "-rw-r--r--",
    "./usr/lib/systemd/system/tillkeep-store@.service": "-rw-r--r--",
    "./usr/lib/systemd/system/tillkeep-certificate@.service": "-rw-r--r--",
    "./usr/lib/systemd/system/tillkeep-certificate@.timer": "-rw-r--r--",
    "./usr/lib/sysusers.d/tillkeep.conf": "-rw-r--r--",
    "./usr/lib/tmpfiles.d/tillkeep.conf": "-rw-r--r--",
    "./usr/share/doc/tillkeep/examples/store.env.example": "-rw-r--r--",
}


def built(run):
    more = {} if run.is_own else {"BINARY": str(run.binary)}
    said = called([run.root / "scripts/package", "deb"], env=os.environ | more)
    run.deb = pathlib.Path(said.strip().splitlines()[-1])
    need(run.deb.is_file(), f"no package: {said}")
    return f"{run.deb.name}, {run.deb.stat().st_size / 2**20:.1f} MiB" + ("" if run.is_own else ", of a binary that was given")


def contents(run):
    listed = [line.split() for line in called(["dpkg-deb", "--contents", run.deb]).splitlines()]
    modes = {line[5]: line[0] for line in listed}
    for path, mode in BELOW.items():
        need(modes.get(path) == mode, f"{path} is {modes.get(path)} in the package")
    need(all(line[1] in ("root/root", "0/0") for line in listed), "not everything belongs to root")
    need(not [path for path, mode in modes.items() if "w" in mode[4:]], "others may write into it")
    # Packed in a package that is handed out, not in one that is made in a hurry of a binary that was given.
    pages = [path for path in modes if "/man1/" in path and path.endswith((".1", ".1.gz"))]
    need(pages or not run.is_own, "no manual page is in it")
    about = called(["dpkg-deb", "--field", run.deb, "Package", "Version", "Architecture", "Depends", "Installed-Size"])
    need(re.search(r"^Depends: .*libc6", about, re.MULTILINE), f"it does not say what it stands on: {about}")
    need("/etc/tillkeep/tillkeep.toml" in called(["dpkg-deb", "--info", run.deb, "conffiles"]), "its settings are no conffile")
    return f"{len(listed)} entries, {len(pages)} manual pages; " + "; ".join(about.split("\n")[:3])


def pages(run):
    """What its pages link to is in it, or is an address."""
    folder = run.directory / "package"
    called(["dpkg-deb", "--extract", run.deb, folder])
    docs = folder / "usr/share/doc/tillkeep"
    found, links = sorted(docs.glob("*.md")), 0
    need({"install.md", "operations.md", "integrate.md", "chain.md"} <= {page.name for page in found}, f"it has {found}")
    for page in found:
        # The changelog is that of the checkout, whose links are of the checkout.
        for link in re.findall(r"\]\(([^)]+)\)", page.read_text()) if page.name != "CHANGELOG.md" else ():
            if link.startswith(("https://", "http://")):
                continue
            name, _, place = link.partition("#")
            target = docs / name if name else page
            need(target.is_file(), f"{page.name} links to {link}, which is not in the package")
            need(not place or place in set(anchors(target)), f"{page.name} links to {link}, and there is no such place")
            links += 1
    need(links > 20, f"only {links} links were found")
    return f"{len(found)} pages, {links} links within them that lead somewhere"


STEPS = [("built", built), ("what is in it", contents), ("its pages", pages)]
