"""What schemathesis is told of the control API, beside docs/openapi.json: it loads this file by SCHEMATHESIS_HOOKS.

Requests that would wait wait 20 ms, and recordings are made in the folder of the test.
"""

import schemathesis  # type: ignore[import-not-found]  # it is in its own environment


@schemathesis.hook
def before_call(context, case, kwargs):
    """Keeps what was drawn, but for waits that last and files elsewhere."""
    body = case.body
    if not isinstance(body, dict):
        return
    if case.path.endswith("/v1/wait") and ("timeout" not in body or isinstance(body["timeout"], str)):
        body["timeout"] = "20ms"
    if case.path.endswith("/v1/recordings") and isinstance(body.get("tape"), str):
        body["tape"] = "drawn.tape"
    if case.path.endswith("/v1/replays") and isinstance(body.get("tape"), str) and len(body["tape"]) % 2:
        body["tape"] = "chat.tape.gz"
