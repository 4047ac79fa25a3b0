"""gql's client over plain HTTP: client_gql_http.py URL SCRIPT. Subscriptions are multipart answers, queries and mutations
single ones. Starts the script's operations, stage after stage, those of a stage at once, and prints what the application
observes, one JSON object a line. The script is that of client_graphql.js."""

import asyncio
import json
import sys

import aiohttp
from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.exceptions import TransportError, TransportQueryError, TransportServerError


def observe(chain, event, **detail):
    print(json.dumps({"chain": chain, "event": event, **detail}, ensure_ascii=False), flush=True)


def request(operation):
    made = gql(operation["query"])
    made.variable_values = operation.get("variables")
    made.operation_name = operation.get("operationName")
    return made


async def play(session, operation):
    """Whether the operation came to its end; not when the connection was lost."""
    chain, count = operation["chain"], 0
    try:
        if not operation["query"].lstrip().startswith("subscription"):
            observe(chain, "next", data=await session.execute(request(operation)), errors=[])
            observe(chain, "complete")
            return True
        results = session.subscribe(request(operation))
        async for data in results:
            observe(chain, "next", data=data, errors=[])
            count += 1
            if count == operation.get("stop"):
                observe(chain, "stopped")
                await results.aclose()
                return True
        observe(chain, "complete")
    except TransportQueryError as error:
        observe(chain, "error", errors=[e["message"] for e in error.errors or []], data=error.data)
    except TransportServerError as error:
        observe(chain, "refused", status=error.code)
    except (aiohttp.ClientError, TransportError):
        return False
    return True


async def main(url, script):
    """gql asks for nothing again: an application does."""
    for stage in script["stages"]:
        left, attempt = stage, 0
        while left:
            if attempt:
                if not script.get("reconnect") or attempt > 5:
                    sys.exit("the connection is lost")
                observe("connection", "reconnected")
            async with Client(transport=AIOHTTPTransport(url=url, headers=script.get("headers"))) as session:
                done = await asyncio.gather(*(play(session, operation) for operation in left))
            left = [operation for operation, is_over in zip(left, done, strict=False) if not is_over]
            attempt += 1


with open(sys.argv[2], encoding="utf-8") as file:
    asyncio.run(main(sys.argv[1], json.load(file)))
