"""gql's client over WebSockets: client_gql.py URL SCRIPT. Starts the script's operations, stage after stage, those of a
stage at once, and prints what the application observes, one JSON object a line. The script is that of client_graphql.js.
gql writes documents in its own spelling and numbers its operations from 1 on each connection."""

import asyncio
import json
import sys

from gql import Client, gql
from gql.transport.appsync_auth import AppSyncApiKeyAuthentication
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import TransportClosed, TransportConnectionFailed, TransportQueryError
from gql.transport.websockets import WebsocketsTransport


def observe(chain, event, **detail):
    print(json.dumps({"chain": chain, "event": event, **detail}, ensure_ascii=False), flush=True)


def request(operation):
    made = gql(operation["query"])
    made.variable_values = operation.get("variables")
    made.operation_name = operation.get("operationName")
    return made


async def play(session, operation):
    """Whether the operation came to its end; not when the connection was lost."""
    chain = operation["chain"]
    results = session.subscribe(request(operation))
    try:
        async for data in results:
            observe(chain, "next", data=data, errors=[])
            operation["seen"] = operation.get("seen", 0) + 1
            if operation["seen"] == operation.get("stop"):
                observe(chain, "stopped")
                await results.aclose()
                return True
        observe(chain, "complete")
    except TransportQueryError as error:
        observe(chain, "error", errors=[e["message"] for e in error.errors or []], data=error.data)
    except (TransportConnectionFailed, TransportClosed):
        return False
    return True


async def main(url, script):
    """gql starts nothing again on a new connection: an application makes one and asks again, with ids from 1."""
    for stage in script["stages"]:
        left, attempt = stage, 0
        while left:
            if attempt:
                if not script.get("reconnect") or attempt > 5:
                    sys.exit("the connection is lost")
                observe("connection", "reconnected")
            if script["protocol"] == "appsync":
                auth = AppSyncApiKeyAuthentication(host="example.appsync-api.eu-west-1.amazonaws.com", api_key="da2-example")
                transport = AppSyncWebsocketsTransport(url=url.replace("http", "ws", 1), auth=auth)
            else:
                how = {"headers": script.get("headers"), "init_payload": script.get("params")}
                transport = WebsocketsTransport(url=url.replace("http", "ws", 1), subprotocols=[script["protocol"]], **how)
            async with Client(transport=transport) as session:
                done = await asyncio.gather(*(play(session, operation) for operation in left))
            left = [operation for operation, is_over in zip(left, done, strict=False) if not is_over]
            attempt += 1


with open(sys.argv[2], encoding="utf-8") as file:
    asyncio.run(main(sys.argv[1], json.load(file)))
