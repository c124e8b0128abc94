"""The package on this machine: an older one installed, its servers at work as their units run them, upgraded to the one that was built,
removed, purged. No systemd has to run: dpkg sees one whose `systemctl` notes what it is asked."""

import json
import os
import pathlib
import pwd
import re
import shutil
import subprocess

from kit import asked, called, environment, is_ready, need, stopped, until
from rigs.servers import free_port

DATA, SETTINGS, PROGRAM = pathlib.Path("/var/lib/tillkeep"), pathlib.Path("/etc/tillkeep"), pathlib.Path("/usr/bin/tillkeep")
UNITS = pathlib.Path("/usr/lib/systemd/system")
NAMES = ("tillkeep-hq.service", "tillkeep-store@.service", "tillkeep-certificate@.service")
# What systemd-analyze calls 10 is a service without any bounds.
MOST_EXPOSED = {"tillkeep-hq.service": 1.1, "tillkeep-store@.service": 1.1, "tillkeep-certificate@.service": 1.2}
PIN = "739154"
# What the older package has alone, and the version that is lower than any that is built.
OLDER, MARK = "0.1.0-0", pathlib.Path("/usr/share/doc/tillkeep/older")
WANTED = pathlib.Path("/etc/systemd/system/multi-user.target.wants")
RUNNING = ("tillkeep-store@s01.service", "tillkeep-store@bad.service", "tillkeep-hq.service")
SYSTEMCTL = """#!/bin/sh
# Notes its words, and whether the older package is there still; one unit does not start.
there=new
[ ! -e {mark} ] || there=older
echo "$there: $*" >>{calls}
case $1 in
    list-units) for unit in {units}; do echo "$unit loaded active running Tillkeep"; done ;;
    restart) case $2 in *@bad.service) exit 1 ;; esac ;;
esac
"""


def dpkg(run, *words, **more):
    """With a systemd that seems to run, for dpkg and the scripts of packages alone."""
    folder, calls = run.directory / "systemd", run.directory / "systemctl.calls"
    if not folder.exists():
        folder.mkdir()
        (folder / "systemctl").write_text(SYSTEMCTL.format(mark=MARK, calls=calls, units=" ".join(RUNNING)))
        (folder / "systemctl").chmod(0o755)
    calls.write_text("")
    seen = 'mkdir -p /run/systemd && mount -t tmpfs tmpfs /run/systemd && mkdir /run/systemd/system && exec dpkg --force-confold "$@"'
    more = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PATH": f"{folder}:{os.environ['PATH']}"} | more
    said = called(["unshare", "--mount", "--propagation", "private", "sh", "-c", seen, "dpkg", *words], env=more)
    run.asked = calls.read_text().splitlines()
    return said


def older(run):
    """The package once more under a lower version, with a file that the new one lacks and other settings than that has."""
    folder = run.directory / "older"
    called(["dpkg-deb", "--raw-extract", run.deb, folder])
    control = folder / "DEBIAN/control"
    text = control.read_text()
    new = re.search(r"^Version: (.*)$", text, re.MULTILINE).group(1)
    called(["dpkg", "--compare-versions", OLDER, "lt", new])
    control.write_text(text.replace(f"Version: {new}", f"Version: {OLDER}"))
    (folder / str(MARK).lstrip("/")).write_text("Of the release before.\n")
    with (folder / "etc/tillkeep/tillkeep.toml").open("a") as settings:
        settings.write("# A default of the release before.\n")
    deb = run.directory / "older.deb"
    called(["dpkg-deb", "--root-owner-group", "-Znone", "--build", folder, deb])
    return deb, new


def installed(run):
    need(os.geteuid() == 0, "only root installs packages")
    there = [str(path) for path in (PROGRAM, DATA, SETTINGS) if path.exists()]
    need(not there, f"Tillkeep is on this machine already: {there}; nothing is tried on it")
    need(run.deb, "there is no package; see the part package")
    run.at_end(cleared)
    run.older, run.version = older(run)
    said = dpkg(run, "--install", run.older)
    for words in ("systemctl enable --now tillkeep-hq", "tillkeep store install --hq-url"):
        need(words in said, f"it does not say how to begin, {words}: {said}")
    need(not [call for call in run.asked if "enable" in call], f"something was set to start: {run.asked}")
    user = pwd.getpwnam("tillkeep")
    need(user.pw_shell.endswith("nologin") and user.pw_dir == str(DATA), f"the user is {user}")
    for path, mode in ((DATA, 0o750), (SETTINGS, 0o750), (SETTINGS / "tillkeep.toml", 0o640)):
        about = path.stat()
        found = (about.st_mode & 0o777, about.st_uid, about.st_gid)
        need(found == (mode, 0, user.pw_gid), f"{path} is {oct(found[0])} of {found[1:]}")
    need(not list(DATA.iterdir()), "something was started")
    return f"{OLDER}, the same under a lower version: user {user.pw_name}, settings for root and it; nothing is started"


def cleared():
    """Leaves nothing behind, wherever a step broke off."""
    subprocess.run(["dpkg", "--purge", "tillkeep"], capture_output=True, env=os.environ | {"TILLKEEP_PURGE": "data"})
    subprocess.run(["userdel", "tillkeep"], capture_output=True)
    for link in WANTED.glob("tillkeep-store@s01.service"):
        link.unlink()


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


def bounded(run, unit, state, words):
    """A command as systemd would run it: user, file system that is read only but for its directory, filter of system calls."""
    shutil.copy(run.root / "scripts/ops/sandbox.py", run.directory / "sandbox.py")
    inside = (
        f"mount --bind {state} {state} && mount -o remount,bind,ro / && exec setpriv --reuid=tillkeep --regid=tillkeep --clear-groups "
        f"--bounding-set=-all --inh-caps=-all --no-new-privs /usr/bin/python3 {run.directory}/sandbox.py {UNITS / unit} {' '.join(words)}"
    )
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", inside]


def started(run, unit, state, settings, words):
    state.mkdir(mode=0o700, exist_ok=True)
    shutil.chown(state, "tillkeep", "tillkeep")
    with (run.directory / f"{state.name}.log").open("ab") as log:
        process = subprocess.Popen(bounded(run, unit, state, words), env=environment(**settings), stdout=log, stderr=log, cwd="/")
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
    hq, shop = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
    run.settings = {"hq.env": {"TILLKEEP_LISTEN": hq, "ADMIN_USERNAME": "root", "ADMIN_PIN": PIN}}
    written(run, "hq.env")
    server = started(run, NAMES[0], DATA / "hq", run.settings["hq.env"], words_of(NAMES[0]))
    run.servers, run.hq = [server], hq
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


def diagnosed(run):
    """`tillkeep doctor` by the settings of the units: it finds the installation by itself, and what a command as root leaves."""
    found = []
    for words, settings, data in ((["hq"], "hq.env", "hq"), (["store", "--name", "s01"], "store-s01.env", "store-s01")):
        ended, report = doctor("tillkeep", words)
        wrong = [finding for finding in report["findings"] if finding["level"] == "fault"]
        need(ended in (0, 1) and not wrong, f"doctor {words[0]} ends with {ended}: {wrong}")
        place = (report["settings"], report["dataDir"])
        need(place == (str(SETTINGS / settings), str(DATA / data)), f"doctor {words[0]} looks at {place}")
        need(has(report, "server", "ok", "it runs and is ready"), f"doctor {words[0]} does not find the server: {report['findings']}")
        found.append(f"{words[0]} {ended}")
    # A variable does not lead away from what the flag of the unit says.
    kept = run.settings["hq.env"]
    run.settings["hq.env"] = kept | {"DATA_DIR": "/srv/elsewhere"}
    written(run, "hq.env")
    need(doctor("tillkeep", ["hq"])[1]["dataDir"] == str(DATA / "hq"), "doctor goes by DATA_DIR, and the server by the flag of its unit")
    run.settings["hq.env"] = kept
    written(run, "hq.env")
    # Nobody's settings are not the defaults.
    ended, report = doctor("nobody", ["hq"])
    need(ended == 2 and has(report, "configuration", "fault", "hq.env cannot be read"), f"doctor as nobody ends with {ended}: {report}")
    key = DATA / "hq/pin.key"
    shutil.chown(key, "root", "root")
    try:
        ended, report = doctor("root", ["hq"])
    finally:
        shutil.chown(key, "tillkeep", "tillkeep")
    need(ended == 2 and has(report, "modes", "fault", f"{key} is root's alone"), f"doctor as root ends with {ended}: {report['findings']}")
    return f"as their user by their units, ending with {', '.join(found)}; a key that root alone reads is a fault, also to root"


def doctor(user, words):
    who = [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={pwd.getpwnam(user).pw_gid}", "--clear-groups"]
    command = [str(word) for word in (*who, PROGRAM, "doctor", *words, "--json", "--least-free-mib", "64")]
    done = subprocess.run(command, env=environment(), cwd="/", text=True, capture_output=True, timeout=120)
    need(done.stdout.startswith("{"), f"{' '.join(command)} ended with {done.returncode}: {done.stderr[-700:]}")
    return done.returncode, json.loads(done.stdout)


def has(report, check, level, text):
    return any(finding["check"] == check and finding["level"] == level and text in finding["text"] for finding in report["findings"])


def certificate(run):
    """The unit of the timer: it makes the certificate of a store, and renews it under the authority that tills trust by then."""
    unit, state = NAMES[2], DATA / "store-s01"
    need(f"ConditionPathExists={state}/tls/authority.json" in (UNITS / unit).read_text().replace("%i", "s01"), "its unit has no condition")
    made = []
    for _ in range(2):
        called(bounded(run, unit, state, words_of(unit, "s01")), env=environment(), cwd="/")
        folder = state / "tls"
        called(["openssl", "verify", "-CAfile", folder / "authority.crt", "-verify_hostname", "localhost", folder / "store.pem"])
        made.append(((folder / "authority.crt").read_bytes(), (folder / "store.pem").read_bytes()))
    need(made[0][0] == made[1][0], "a renewal makes another authority")
    need(made[0][1] != made[1][1], "nothing was renewed")
    need((state / "tls/authority.json").stat().st_mode & 0o077 == 0, "others may read the authority")
    return "made and renewed under the filter of its unit, by one authority; systemd's timer itself is linted alone"


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
    need(MARK.exists(), "the older package is not there")
    said = dpkg(run, "--install", run.deb)
    version = called(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Version}", "tillkeep"])
    need(version == f"installed {run.version}" and not MARK.exists(), f"the older package is there still: {version}")
    need(before == {path: path.read_bytes() for path in before}, "an upgrade changes settings or keys")
    need(settings.stat().st_mode & 0o777 == 0o640, "an upgrade opens the settings")
    theirs = settings.with_name("tillkeep.toml.dpkg-dist")
    need(theirs.exists() and "release before" not in theirs.read_text(), "the settings of the new release are not beside those of the old one")
    restarts = [call for call in run.asked if ": restart " in call]
    need(restarts == [f"new: restart {unit}" for unit in sorted(RUNNING)], f"asked of systemd: {run.asked}")
    need(restarts[0].endswith(NAMES[0]) and "new: daemon-reload" in run.asked[: run.asked.index(restarts[0])], f"asked of systemd: {run.asked}")
    need(not [call for call in run.asked if ": stop " in call], f"an upgrade stops servers: {run.asked}")
    need("tillkeep-store@bad.service does not start" in said, f"it does not say which unit does not start: {said}")
    need(all(server.poll() is None for server in run.servers), "servers that nobody told to stop have ended")
    ends = [stopped(server) for server in reversed(run.servers)]
    need(ends == [0, 0], f"the servers ended with {ends}: {log_of(run, 'hq')}")
    server = started(run, NAMES[0], DATA / "hq", run.settings["hq.env"], words_of(NAMES[0]))
    until(f"headquarters ({log_of(run, 'hq')})", lambda: server.poll() is not None or is_ready(f"http://{run.hq}")(), 60)
    need(server.poll() is None and stopped(server) == 0, f"the new program ended with {server.returncode}: {log_of(run, 'hq')}")
    return (
        f"{OLDER} to {run.version}: settings and keys stay as they were, units start anew, headquarters first, one that fails is named; the "
        "servers end with 0 when they are told to, and the new program goes on"
    )


def removed(run):
    dpkg(run, "--remove", "tillkeep")
    stops = [call.split(": ", 1)[1].split() for call in run.asked if ": stop " in call]
    need(len(stops) == 1 and {"tillkeep-store@*.service", NAMES[0], "tillkeep-certificate@*.timer"} <= set(stops[0]), f"asked of systemd: {run.asked}")
    need(not PROGRAM.exists() and not (UNITS / NAMES[0]).exists(), "the program is there still")
    for path in (SETTINGS / "tillkeep.toml", SETTINGS / "store-s01.env", DATA / "hq/tillkeep.db", DATA / "store-s01/tillkeep.db"):
        need(path.exists(), f"a removal took {path}")
    return "servers are told to stop; program and units are gone, settings and databases stay"


def purged(run):
    WANTED.mkdir(parents=True, exist_ok=True)
    (WANTED / "tillkeep-store@s01.service").symlink_to(UNITS / NAMES[1])
    said = dpkg(run, "--purge", "tillkeep")
    need(not (WANTED / "tillkeep-store@s01.service").is_symlink(), "a purge leaves a unit that is to start")
    need(f"{DATA} stays" in said and f"{SETTINGS} stays" in said, f"a purge does not say what it keeps: {said}")
    need((DATA / "hq/tillkeep.db").exists() and (SETTINGS / "hq.env").exists(), "a purge took a database or what opens it")
    need(not (SETTINGS / "tillkeep.toml").exists(), "a purge keeps the settings of the package")
    dpkg(run, "--install", run.deb)
    need((DATA / "hq/tillkeep.db").exists(), "an installation took a database")
    on_a_disk = run.directory / "disk"
    on_a_disk.mkdir()
    (on_a_disk / "hq").mkdir()
    called(["mount", "--bind", on_a_disk, DATA])
    try:
        said = dpkg(run, "--purge", "tillkeep", TILLKEEP_PURGE="data")
    finally:
        called(["umount", DATA])
    need(not list(on_a_disk.iterdir()) and not SETTINGS.exists(), f"a purge of the data left some on a disk of its own: {said}")
    need(f"{DATA} stays" in said, f"a purge does not say that a mounted directory stays: {said}")
    dpkg(run, "--install", run.deb)
    dpkg(run, "--purge", "tillkeep", TILLKEEP_PURGE="data")
    need(not DATA.exists() and not SETTINGS.exists(), "a purge of the data left some")
    (on_a_disk / "hq").mkdir()
    DATA.symlink_to(on_a_disk)
    dpkg(run, "--install", run.deb)
    said = dpkg(run, "--purge", "tillkeep")
    need(f"rm -r {on_a_disk.resolve()}" in said and (on_a_disk / "hq").exists(), f"a purge does not say where a link leads: {said}")
    dpkg(run, "--install", run.deb)
    said = dpkg(run, "--purge", "tillkeep", TILLKEEP_PURGE="data")
    need(not list(on_a_disk.iterdir()) and not DATA.is_symlink(), f"a purge of the data left some where a link leads: {said}")
    need(pwd.getpwnam("tillkeep"), "the user is gone, and what elsewhere belongs to it has a number for an owner")
    return (
        "a purge keeps databases and secrets and says so; TILLKEEP_PURGE=data takes them, also from a disk that is mounted or linked there; the user "
        "stays"
    )


STEPS = [
    ("installed", installed),
    ("units", units),
    ("servers as their units run them", working),
    ("doctor by the units", diagnosed),
    ("the certificate of a store by its unit", certificate),
    ("upgraded, stopped and started", upgraded),
    ("removed", removed),
    ("purged", purged),
]
