"""A check of scripts/fuzz: a refusal has one of the codes that the description names for it (`x-codes`). Its schema is that of
all refusals with its status, so that clients have one class for each."""

import json

import schemathesis


def declared(case, status):
    """What the description says of answers with this status."""
    said = case.operation.definition.raw.get("responses", {}).get(str(status), {})
    if "$ref" not in said:
        return said
    found = case.operation.schema.raw_schema
    for part in said["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return found


@schemathesis.check
def code_is_named(ctx, response, case):
    if response.status_code < 400:
        return
    try:
        body = json.loads(response.content)
    except ValueError:
        return
    code = body.get("code") if isinstance(body, dict) else None
    named = declared(case, response.status_code).get("x-codes")
    # A status that is not there at all is another check's.
    if code is not None and named is not None and code not in named:
        raise AssertionError(f"{response.status_code} {code} is none of {', '.join(named)}: name it with .fails(…)")
