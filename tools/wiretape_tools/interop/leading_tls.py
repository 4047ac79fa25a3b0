"""TLS in front of a plain server: leading_tls.py [ADDRESS:]PORT SERVER-PORT CERTIFICATE KEY. A stand-in for what a cloud has there."""

import asyncio
import contextlib
import ssl
import sys

(address, _, port), target = sys.argv[1].rpartition(":"), int(sys.argv[2])


async def pump(reader, writer):
    with contextlib.suppress(OSError, asyncio.IncompleteReadError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    with contextlib.suppress(OSError, RuntimeError):
        writer.close()


async def serve(reader, writer):
    try:
        other, back = await asyncio.open_connection("127.0.0.1", target)
    except OSError:
        writer.close()
        return
    await asyncio.gather(pump(reader, back), pump(other, writer))


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[3], sys.argv[4])
    server = await asyncio.start_server(serve, address or "127.0.0.1", int(port), ssl=context)
    async with server:
        await server.serve_forever()


asyncio.run(main())
