"""Two hosts in one process, by aiohttp: forward_server.py [ADDRESS:]PORT [ADDRESS:]PORT [CERTIFICATE KEY]. Both answer every path
with what they were asked, /ws sends texts back in capitals, and /events has three server-sent events. With a certificate the
second one speaks TLS."""

import asyncio
import ssl
import sys

from aiohttp import WSMsgType, web


async def said(request):
    text = await request.text()
    return web.Response(text=f"{request.method} {request.host.split(':')[0]} {request.path_qs} {text}".strip())


async def socket(request):
    answer = web.WebSocketResponse()
    await answer.prepare(request)
    async for message in answer:
        if message.type == WSMsgType.TEXT:
            await answer.send_str(message.data.upper())
    return answer


async def events(request):
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(request)
    for n in range(3):
        await answer.write(f"id: {n}\ndata: {request.path} {n}\n\n".encode())
        await asyncio.sleep(0.02)
    return answer


PAGE = """<!DOCTYPE html><title>page</title><link rel=icon href=data:,><pre></pre><script>
const say = text => document.querySelector("pre").append(text + "\\n");
const get = async path => say(await (await fetch(path)).text());
const listen = path => new Promise(done => {
    const stream = new EventSource(path); let n = 0;
    stream.onmessage = event => { say(event.data); if (++n == 3) { stream.close(); done(); } };
});
const talk = path => new Promise(done => {
    const socket = new WebSocket(location.origin.replace("http", "ws") + path); let n = 0;
    socket.onopen = () => socket.send("one");
    socket.onmessage = event => { say(event.data); if (++n < 3) { socket.send("more " + n); } else { socket.close(1000); } };
    socket.onclose = event => { say("closed " + event.code); done(); };
});
(async () => { await get("/a?x=1"); await get("/b"); await listen("/events"); await talk("/ws"); say("done"); })();
</script>"""


async def page(_):
    return web.Response(text=PAGE, content_type="text/html")


async def main():
    app = web.Application()
    app.router.add_get("/ws", socket)
    app.router.add_get("/events", events)
    app.router.add_get("/page", page)
    app.router.add_route("*", "/{path:.*}", said)
    runner = web.AppRunner(app)
    await runner.setup()
    secure = None
    if len(sys.argv) > 3:
        secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        secure.load_cert_chain(sys.argv[3], sys.argv[4])
    for place, context in [(sys.argv[1], None), (sys.argv[2], secure)]:
        address, _, port = place.rpartition(":")
        await web.TCPSite(runner, address or "127.0.0.1", int(port), ssl_context=context).start()
    await asyncio.Event().wait()


asyncio.run(main())
