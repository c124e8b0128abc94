"""A client that openapi-python-client made, at work: it signs in, reads a list, makes a customer, and is refused.

  scripts/client.py PACKAGE ADDRESS USERNAME PIN     with the package in this directory; `scripts/clients` runs it

Types come from the signatures of the client, so that this names no class of it.
"""

import importlib
import os
import sys
import typing
import uuid

PACKAGE, ADDRESS, USERNAME, PIN = sys.argv[1:]
sys.path.insert(0, os.getcwd())
made = importlib.import_module(PACKAGE)


def operation(tag, name):
    return importlib.import_module(f"{PACKAGE}.api.{tag}.{name}")


def body(of, keys):
    """A body of an operation, by the class that its signature names."""
    hint = typing.get_type_hints(of.sync_detailed)["body"]
    kinds = [kind for kind in (hint, *typing.get_args(hint)) if hasattr(kind, "from_dict")]
    assert kinds, f"{of.__name__} takes no object: {hint}"
    return kinds[0].from_dict(keys)


def ask(of, client, **arguments):
    """The status, and the answer as the client has read it."""
    answer = of.sync_detailed(client=client, **arguments)
    assert answer.parsed is not None, f"{of.__name__}: the client cannot read {answer.status_code}: {answer.content!r}"
    return int(answer.status_code), answer.parsed


def refused(of, client, status, code, **arguments):
    got, parsed = ask(of, client, **arguments)
    said = parsed.to_dict()
    assert (got, said.get("code")) == (status, code), f"{of.__name__}: {got} {said}"
    return type(parsed).__name__


stranger = made.Client(base_url=ADDRESS)
login = operation("auth", "post_auth_login")
status, answer = ask(login, stranger, body=body(login, {"username": USERNAME, "pin": PIN}))
assert status == 200, status
token = answer.to_dict()["data"]["accessToken"]
client = made.AuthenticatedClient(base_url=ADDRESS, token=token)

status, page = ask(operation("products", "get_products"), client, page_size=5)
assert status == 200 and len(page.data) == 5, page
assert isinstance(page.data[0].name, str) and isinstance(page.data[0].price, int), page.data[0]
assert page.pagination.to_dict()["total"] > 5, page.pagination

customers = operation("customers", "post_customers")
status, answer = ask(customers, client, body=body(customers, {"firstName": "Ann", "lastName": "Made by Python"}))
assert status == 201, status
customer = operation("customers", "get_customers_by_id")
status, again = ask(customer, client, id=answer.data.id)
assert again.to_dict()["data"]["lastName"] == "Made by Python", again

unknown = refused(customer, client, 404, "not_found", id=uuid.uuid4())
wrong = refused(customers, client, 422, "validation", body=body(customers, {}))
assert (unknown, wrong) == ("NotFoundError", "ValidationError"), (unknown, wrong)
refused(customer, made.AuthenticatedClient(base_url=ADDRESS, token="none"), 401, None, id=answer.data.id)
