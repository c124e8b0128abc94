"""The package on this machine: installed, its servers at work as their units run them, upgraded, removed, purged."""

import json
import os
import pathlib
import pwd
import re
import shutil
import socket
import subprocess

from kit import asked, called, environment, is_ready, need, stopped, until

DATA, SETTINGS, PROGRAM = pathlib.Path("/var/lib/tillkeep"), pathlib.Path("/etc/tillkeep"), pathlib.Path("/usr/bin/tillkeep")
UNITS = pathlib.Path("/usr/lib/systemd/system")
NAMES = ("tillkeep-hq.service", "tillkeep-store@.service", "tillkeep-certificate@.service")
# What systemd-analyze calls 10 is a service without any bounds.
MOST_EXPOSED = {"tillkeep-hq.service": 1.1, "tillkeep-store@.service": 1.1, "tillkeep-certificate@.service": 1.2}
PIN = "739154"


def port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def dpkg(*words, **more):
    return called(["dpkg", "--force-confold", *words], env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"} | more)


def installed(run):
    need(os.geteuid() == 0, "only root installs packages")
    there = [str(path) for path in (PROGRAM, DATA, SETTINGS) if path.exists()]
    need(not there, f"Tillkeep is on this machine already: {there}; nothing is tried on it")
    need(run.deb, "there is no package; see the part package")
    run.at_end(lambda: cleared())
    said = dpkg("--install", run.deb)
    need("systemctl enable --now tillkeep-hq" in said, f"it does not say how to begin: {said}")
    user = pwd.getpwnam("tillkeep")
    need(user.pw_shell.endswith("nologin") and user.pw_dir == str(DATA), f"the user is {user}")
    for path, mode in ((DATA, 0o750), (SETTINGS, 0o750), (SETTINGS / "tillkeep.toml", 0o640)):
        about = path.stat()
        found = (about.st_mode & 0o777, about.st_uid, about.st_gid)
        need(found == (mode, 0, user.pw_gid), f"{path} is {oct(found[0])} of {found[1:]}")
    need(not list(DATA.iterdir()), "something was started")
    return f"user {user.pw_name}, settings for root and it; nothing is started"


def cleared():
    """Leaves nothing behind, wherever a step broke off."""
    subprocess.run(["dpkg", "--purge", "tillkeep"], capture_output=True, env=os.environ | {"TILLKEEP_PURGE": "data"})
    subprocess.run(["userdel", "tillkeep"], capture_output=True)


def units(run):
    timers = [UNITS / "tillkeep-certificate@.timer"]
    copies = run.directory / "units"
    copies.mkdir()
    # A template is looked at as one of its stores.
    for path in [*(UNITS / name for name in NAMES), *timers]:
        shutil.copy(path, copies / path.name.replace("@.", "@s01."))
    called(["systemd-analyze", "verify", "--man=no", *sorted(copies.iterdir())])
    found = []
    for name in NAMES:
        said = called(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNITS / name])
        level = float(re.search(r"Overall exposure level for .*: ([0-9.]+)", said).group(1))
        need(level <= MOST_EXPOSED[name], f"{name} is more exposed than it was: {level}")
        found.append(f"{name} {level}")
    return "sound by systemd-analyze verify; exposure of 10: " + ", ".join(found)


def started(run, unit, state, settings, words):
    """As systemd would: user, file system that is read only but for its directory, filter of system calls."""
    state.mkdir(mode=0o700)
    shutil.chown(state, "tillkeep", "tillkeep")
    shutil.copy(run.root / "scripts/ops/sandbox.py", run.directory / "sandbox.py")
    inside = (
        f"mount --bind {state} {state} && mount -o remount,bind,ro / && exec setpriv --reuid=tillkeep --regid=tillkeep --clear-groups "
        f"--bounding-set=-all --inh-caps=-all --no-new-privs /usr/bin/python3 {run.directory}/sandbox.py {UNITS / unit} {' '.join(words)}"
    )
    with (run.directory / f"{state.name}.log").open("ab") as log:
        command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside]
        process = subprocess.Popen(command, env=environment(**settings), stdout=log, stderr=log, cwd="/")
    run.at_end(lambda: process.poll() is None and process.kill())
    return process


def words_of(unit, store=""):
    """What the unit runs."""
    line = re.search(r"^ExecStart=(.*)$", (UNITS / unit).read_text(), re.MULTILINE).group(1)
    return line.replace("%i", store).split()


def log_of(run, name):
    return (run.directory / f"{name}.log").read_text(errors="replace")[-700:]


def working(run):
    """Headquarters and a store as their units run them, with the settings of their files, to a sale's worth of requests."""
    hq, shop = f"127.0.0.1:{port()}", f"127.0.0.1:{port()}"
    run.settings = {"hq.env": {"TILLKEEP_LISTEN": hq, "ADMIN_USERNAME": "root", "ADMIN_PIN": PIN}}
    written(run, "hq.env")
    server = started(run, NAMES[0], DATA / "hq", run.settings["hq.env"], words_of(NAMES[0]))
    run.servers = [server]
    until(f"headquarters ({log_of(run, 'hq')})", lambda: server.poll() is not None or is_ready(f"http://{hq}")(), 60)
    need(server.poll() is None, f"headquarters ended with {server.returncode} (-31: a system call that its unit refuses): {log_of(run, 'hq')}")
    api = f"http://{hq}/api/v1"
    token = signed_in(api)
    bearer = {"Authorization": f"Bearer {token}"}
    shop_row = done(asked(f"{api}/stores", {"code": "S01", "name": "Shop", "timezone": "Europe/Berlin"}, bearer))
    given = done(asked(f"{api}/stores/{shop_row['id']}/provision", {}, bearer))
    run.settings["store-s01.env"] = {"TILLKEEP_LISTEN": shop, "SYNC_TOKEN": given["syncToken"], "HQ_URL": f"http://{hq}", "SYNC_INTERVAL_MS": "1000"}
    written(run, "store-s01.env")
    store = started(run, NAMES[1], DATA / "store-s01", run.settings["store-s01.env"], words_of(NAMES[1], "s01"))
    run.servers.append(store)
    until("the administrator at the store", lambda: store.poll() is not None or signed_in(f"http://{shop}/api/v1"), 60)
    need(store.poll() is None, f"the store ended with {store.returncode}: {log_of(run, 'store-s01')}")
    backup = run.directory / "backup"
    backup.mkdir(mode=0o700)
    shutil.chown(backup, "tillkeep", "tillkeep")
    called(["setpriv", "--reuid=tillkeep", "--regid=tillkeep", "--clear-groups", PROGRAM, "backup", backup / "hq.tillkeep", "--data-dir", DATA / "hq"], cwd="/")
    for path in DATA.rglob("*"):
        need(path.stat().st_mode & 0o077 == 0, f"others have a part in {path}")
    return "headquarters and a store work under their filters, a call beside them would have ended them; a backup is made"


def written(run, name):
    path = SETTINGS / name
    path.write_text("".join(f"{key}={value}\n" for key, value in run.settings[name].items()))
    path.chmod(0o640)
    shutil.chown(path, "root", "tillkeep")


def signed_in(api):
    status, text = asked(f"{api}/auth/login", {"username": "root", "pin": PIN})
    return json.loads(text)["data"]["accessToken"] if status == 200 else None


def done(answer):
    status, text = answer
    need(status in (200, 201), f"{status}: {text[:300]}")
    return json.loads(text)["data"]


def upgraded(run):
    settings = SETTINGS / "tillkeep.toml"
    settings.write_text(settings.read_text() + "\n# Ours.\n")
    before = {path: path.read_bytes() for path in (settings, SETTINGS / "hq.env", SETTINGS / "store-s01.env", DATA / "hq/pin.key")}
    dpkg("--install", run.deb)
    need(before == {path: path.read_bytes() for path in before}, "an upgrade changes settings or keys")
    need(settings.stat().st_mode & 0o777 == 0o640, "an upgrade opens the settings")
    need(all(server.poll() is None for server in run.servers), "servers that nobody told to stop have ended")
    ends = [stopped(server) for server in reversed(run.servers)]
    need(ends == [0, 0], f"the servers ended with {ends}: {log_of(run, 'hq')}")
    return "settings and keys stay as they were; the servers end with 0 when they are told to"


def removed(run):
    dpkg("--remove", "tillkeep")
    need(not PROGRAM.exists() and not (UNITS / NAMES[0]).exists(), "the program is there still")
    for path in (SETTINGS / "tillkeep.toml", SETTINGS / "store-s01.env", DATA / "hq/tillkeep.db", DATA / "store-s01/tillkeep.db"):
        need(path.exists(), f"a removal took {path}")
    return "program and units are gone, settings and databases stay"


def purged(run):
    said = dpkg("--purge", "tillkeep")
    need(f"{DATA} stays" in said and f"{SETTINGS} stays" in said, f"a purge does not say what it keeps: {said}")
    need((DATA / "hq/tillkeep.db").exists() and (SETTINGS / "hq.env").exists(), "a purge took a database or what opens it")
    need(not (SETTINGS / "tillkeep.toml").exists(), "a purge keeps the settings of the package")
    dpkg("--install", run.deb)
    need((DATA / "hq/tillkeep.db").exists(), "an installation took a database")
    dpkg("--purge", "tillkeep", TILLKEEP_PURGE="data")
    need(not DATA.exists() and not SETTINGS.exists(), "a purge of the data left some")
    return "a purge keeps databases and secrets and says so; TILLKEEP_PURGE=data takes them"


STEPS = [
    ("installed", installed),
    ("units", units),
    ("servers as their units run them", working),
    ("upgraded and stopped", upgraded),
    ("removed", removed),
    ("purged", purged),
]
