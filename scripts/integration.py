"""What docs/integrate.md tells of, by the client that openapi-python-client makes of the description of headquarters: the
journal of a month as JSON and as a file, a file of products that is only tried, and a receiver of sales that is made, tested
and removed.

  python integration.py ADDRESS USERNAME PIN     with the package `hq_client` in this directory; docs/integrate.md makes it

The receiver listens on this machine, so that this works beside headquarters alone.
"""

import csv
import datetime
import hashlib
import hmac
import http.server
import io
import json
import os
import sys
import threading
import time

import httpx

sys.path.insert(0, os.getcwd())

from hq_client import AuthenticatedClient, Client
from hq_client.api.alert_hooks import delete_alert_hooks_by_id, get_alert_hooks, post_alert_hooks, post_alert_hooks_by_id_test
from hq_client.api.auth import post_auth_login
from hq_client.api.departments import get_departments
from hq_client.api.products import post_products_import
from hq_client.api.reports import get_reports_journal
from hq_client.api.tax_groups import get_tax_groups
from hq_client.models import AlertHookWhat, GetReportsJournalFormat, Login, NewAlertHook
from hq_client.types import File

ADDRESS, USERNAME, PIN = sys.argv[1:]


def done(answer, status=200):
    """What came back, where it is what was hoped for."""
    assert answer.status_code == status, f"{answer.status_code} in place of {status}: {answer.content.decode()}"
    return answer.parsed


def signed_in():
    """A client with the token of a person; a large file may take two minutes."""
    account = Login(username=USERNAME, pin=PIN)
    login = done(post_auth_login.sync_detailed(client=Client(base_url=ADDRESS), body=account))
    token = login.to_dict()["data"]["accessToken"]
    return AuthenticatedClient(base_url=ADDRESS, token=token, timeout=httpx.Timeout(125))


def journal(client):
    """Every line of 31 days, which is as many as one request may ask for."""
    # At some store it may be tomorrow.
    to = datetime.date.today() + datetime.timedelta(days=1)
    days = {"from_": to - datetime.timedelta(days=30), "to": to}
    entries = done(get_reports_journal.sync_detailed(client=client, **days)).data.entries
    for entry in entries:
        sides = [sum(line.debit for line in entry.lines), sum(line.credit for line in entry.lines)]
        assert sides == [entry.total, entry.total], f"{entry.business_date} of {entry.store_code}: {sides}"
    # The generator reads the first form of an answer alone. The request of a file is its own, the answer is read here.
    asked = get_reports_journal._get_kwargs(format_=GetReportsJournalFormat.CSV, **days)
    file = client.get_httpx_client().request(**asked)
    assert file.headers["content-type"].startswith("text/csv"), file.headers
    # It begins with a byte order mark, for spreadsheets.
    rows = list(csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"))))
    of_json = [(entry.business_date, entry.store_code, line.account) for entry in entries for line in entry.lines]
    of_file = [(row["businessDate"], row["storeCode"], row["account"]) for row in rows]
    assert of_file == of_json, (of_file, of_json)
    return len(rows)


def try_import(client):
    """A file with a row that could be stored and one that could not: nothing is written."""
    department = done(get_departments.sync_detailed(client=client)).data[0].code
    tax_group = done(get_tax_groups.sync_detailed(client=client)).data[0].code
    rows = [
        ("sku", "name", "departmentCode", "taxGroupCode", "price"),
        ("PY-TEA", "Tea by Python", department, tax_group, "3.49"),
        ("PY-MUG", "Mug by Python", department, tax_group, "cheap"),
    ]
    table = io.StringIO()
    csv.writer(table).writerows(rows)
    file = File(payload=io.BytesIO(table.getvalue().encode()))
    tried = done(post_products_import.sync_detailed(client=client, body=file, dry_run=True)).data
    assert tried.dry_run and (tried.rows, tried.created, tried.error_count) == (2, 1, 1), tried
    return [f"line {fault.line}, {fault.column}: {fault.message}" for fault in tried.errors]


def is_ours(secret, header, body):
    """Whether headquarters has sent this, and just now."""
    t, v1 = (part.split("=", 1)[1] for part in header.split(",", 1))
    mac = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(mac, v1) and abs(time.time() - int(t)) < 300


class Receiver(http.server.BaseHTTPRequestHandler):
    """Keeps what is posted. One that is in use answers once it has stored the message, and leaves aside what it has."""

    posts = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.posts.append((self.headers["Tillkeep-Event-Id"], self.headers["Tillkeep-Signature"], body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Says nothing."""


def receive_sales(client):
    """A receiver of sales on this machine: made, tested, removed. What the test was."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    wanted = NewAlertHook(url=f"http://127.0.0.1:{server.server_port}/sales", what=AlertHookWhat.SALES)
    hook = done(post_alert_hooks.sync_detailed(client=client, body=wanted), 201).data
    try:
        tested = done(post_alert_hooks_by_id_test.sync_detailed(hook.id, client=client)).data
        assert tested.taken, tested
    finally:
        done(delete_alert_hooks_by_id.sync_detailed(hook.id, client=client), 204)
        server.shutdown()
    event, signature, body = Receiver.posts[0]
    message = json.loads(body)
    assert is_ours(hook.secret, signature, body) and not is_ours("another", signature, body), signature
    assert message["event"] == event, message
    left = done(get_alert_hooks.sync_detailed(client=client)).data
    assert hook.id not in [other.id for other in left], left
    return message["kind"]


client = signed_in()
print(f"journal: {journal(client)} lines")
print(f"import, only tried: {'; '.join(try_import(client))}")
print(f"receiver of sales: took a {receive_sales(client)}")
