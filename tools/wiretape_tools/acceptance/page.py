"""The web page behind `GET /` of the control API, and the HTML report, as a person has them: in Chromium without a window.

follow   a replay of a chat and a real client: messages come, a rule that is none gets the API's words, one that is fires, a session
         is held, stepped and let go, a live connection is reset, a policy is judged, a moment marked; selectors and texts filter
hostile  an event stream whose texts are markup, scripts, marks of bidirectional writing and a megabyte: nothing runs, nobody else
         is asked for anything, and what is shown is what is there
many     50,000 messages: how long until the last is shown, the longest time the page does not answer, rows that the document has
token    asked for, refused when wrong, kept for the tab only, never in an address; nothing but the page is open without it
lost     the run ends, and another takes its address: the page says so, and goes on
report   --report FILE.html opens from the disk, without scripts, without asking anybody for anything

The browser is Debian's package chromium, and playwright comes from PyPI into .build/page-venv; without chromium nothing is looked at,
and that is said. Pictures of all of it go to .build/acceptance/page.
"""

import argparse
import contextlib
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import sys
import time
from typing import Any

from wiretape_tools.acceptance.control import read_feed
from wiretape_tools.lib.processes import ROOT, Failed, Program, Wiretape, binary, fail, free_port, run

WORK = ROOT / ".build/acceptance/page"
VENV = ROOT / ".build/page-venv"
PLAYWRIGHT = "playwright"
CHROMIUM = "/usr/bin/chromium"
TAPE = ROOT / "recordings/chat.tape.gz"
TOKEN = "a-token-of-this-test"

HOSTILE = [
    "<script>window.__ran=1;alert(1)</script>",
    "<img src=http://127.0.0.1:9/away.png onerror='window.__ran=1;alert(2)'>",
    "\"><svg onload=\"window.__ran=1;alert(3)\">",
    "</style><style>*{display:none}</style><iframe src=//127.0.0.1:9/></iframe>",
    "<a href='javascript:window.__ran=1'>click</a><base href=http://127.0.0.1:9/>",
    "${window.__ran=1}{{constructor.constructor('window.__ran=1')()}}",
    "photo\u202egnp.exe \u2066turned\u2069 \u200bhidden",
    "\u001b[31mred\u0007",
]


def packages() -> None:
    """Begins again with the interpreter that has playwright, which is installed when it is not there."""
    if importlib.util.find_spec("playwright"):
        return
    python = VENV / "bin/python"
    if pathlib.Path(sys.prefix) == VENV:
        raise Failed("playwright is not in its own environment")
    if not python.exists() or run([python, "-c", "import playwright"])[0]:
        for command in ([sys.executable, "-m", "venv", VENV], [python, "-m", "pip", "install", "--quiet", PLAYWRIGHT]):
            code, out, err = run(command, seconds=600)
            if code:
                raise Failed(f"{PLAYWRIGHT} cannot be installed: {(err or out).strip()[-300:]}")
    os.execv(python, [str(python), "-m", "wiretape_tools.acceptance.page", *sys.argv[1:]])


class Browser:
    """Chromium, and what its pages did that none of them should."""

    def __init__(self, playwright: Any) -> None:
        self.chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        self.strays: list[str] = []

    def close(self) -> None:
        self.chromium.close()

    @contextlib.contextmanager
    def page(self, home: str, dark: bool = False, width: int = 1400, height: int = 880, **options: Any) -> Any:
        """A page of its own; dialogs, errors, and requests to anybody but `home` are strays."""
        context = self.chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", **options)
        page = context.new_page()

        def dialog(one: Any) -> None:
            self.strays.append(f"a dialog: {one.message}")
            one.dismiss()

        def request(one: Any) -> None:
            if not one.url.startswith((home, "blob:" + home)):
                self.strays.append(f"a request to {one.url[:200]}")

        def said(one: Any) -> None:
            if "Content Security Policy" in one.text:
                self.strays.append(one.text[:300])

        page.on("dialog", dialog)
        page.on("request", request)
        page.on("console", said)
        page.on("pageerror", lambda one: self.strays.append(f"an error: {one}"))
        try:
            yield page
        except Exception:
            with contextlib.suppress(Exception):
                page.screenshot(path=WORK / "failed.png")
            raise
        finally:
            context.close()

    def check(self, what: str) -> None:
        if self.strays:
            raise Failed(f"{what}: {'; '.join(self.strays[:5])}")


def wait(page: Any, what: str, condition: str, seconds: float = 10) -> None:
    """Until the page says so. Asked again and again: what waits within a page is code of text, which its policy forbids."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"!!({condition})"):
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what}. The page says: {page.inner_text('body')[:1500]}")
        page.wait_for_timeout(50)


def has(text: str, where: str = "body") -> str:
    return f"document.querySelector({json.dumps(where)})?.innerText.includes({json.dumps(text)})"


def shot(page: Any, name: str) -> None:
    page.screenshot(path=WORK / f"{name}.png")


def fits(page: Any, name: str) -> None:
    wide, view = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    if wide > view:
        raise Failed(f"{name}: the page is {wide} wide on a screen of {view}")


def sample(name: str) -> str:
    path = pathlib.Path(binary()).parent / name
    if not path.is_file():
        raise Failed(f"{path} is not there")
    return str(path)


def chat(url: str, *arguments: str) -> Program:
    lines = [word for line in ("hello bob", "fine, thanks", "bye") for word in ("--say", line)]
    return Program("client", [sample("sample-client"), url + "/hub", *lines, *arguments], WORK / "client.out")


def follow(browser: Browser) -> str:
    arguments = ["replay", TAPE, "--control", "127.0.0.1:0", "--clients", "9", "--when-exhausted", "repeat", "--on-divergence", "warn",
                 "--allow-unplayed"]
    with Wiretape(arguments, WORK / "follow.err") as wiretape:
        home = wiretape.ready["control"] + "/"
        with browser.page(home) as page:
            page.goto(home)
            wait(page, "the page follows the run", has("live", ".head"))
            page.fill("#rule", "resett after ReceiveMessage[3]")
            page.press("#rule", "Enter")
            wait(page, "the API's words for a rule that is none", has("did you mean 'reset'?", ".panel"))
            shot(page, "rule-refused")
            for rule in ("reset after ReceiveMessage[3]", "respond(503) on connect[retry=1]"):
                page.fill("#rule", rule)
                page.press("#rule", "Enter")
                wait(page, f"the rule '{rule}'", has(rule, ".rules"))
            with chat(wiretape.url, "--reconnect", "0s,1s,1s", "--until", "6") as client:
                wait(page, "a message of the client", has('SendMessage("ada", "hello bob")', ".list"))
                wait(page, "the rule fires", "[...document.querySelectorAll('.times')].some(e => e.innerText === '1×')")
                wait(page, "its fault in the list", has("rule 'reset after ReceiveMessage[3]' fired", ".list"))
                wait(page, "three attempts on the time line", "document.querySelectorAll('.lane .n').length >= 3", 20)
                wait(page, "faults where they fell", "document.querySelectorAll('.track .fired').length >= 2")
                client.process.wait(30)
            # What has come is looked at by keys alone.
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("g")
            for _ in range(6):
                page.keyboard.press("j")
            wait(page, "a row is chosen by keys", "!!document.querySelector('.row.selected') && !!document.querySelector('.detail')")
            shot(page, "wide")
            page.keyboard.press("/")
            page.keyboard.type("fine, thanks")
            wait(page, "rows that a text fits", "[...document.querySelectorAll('.summary')].length > 0 &&"
                 " [...document.querySelectorAll('.summary')].every(e => e.innerText.includes('fine, thanks'))")
            page.fill("#find", "ReceiveMessage[2]")
            page.select_option(".find select", "selector")
            wait(page, "the one row that a selector means", "document.querySelectorAll('.row').length === 1 &&"
                 " document.querySelector('.row').innerText.includes('ReceiveMessage')")
            page.fill("#find", "ReceiveMessage[")
            wait(page, "the API's words for a selector that is none", has("'where'", ".messages"))
            page.fill("#find", "")
            judge(page)
            browser.check("the page")
        for name, dark, width, height in (("dark", True, 1400, 880), ("narrow", False, 390, 800), ("narrow-dark", True, 390, 800)):
            with browser.page(home, dark=dark, width=width, height=height) as page:
                page.goto(home)
                wait(page, "what was said before the page was open", has("ReceiveMessage", ".list"))
                shot(page, name)
                fits(page, name)
                names = page.evaluate("[...document.querySelectorAll('[role=tab]')].map(e => e.dataset.name)")
                for one in names:
                    page.click(f"[data-name={one}]")
                    page.wait_for_timeout(250)
                    shot(page, f"{name}-{one}")
                    fits(page, f"{name}, {one}")
        browser.check("the page, narrow and dark")
        wiretape.stop()
    step(browser)
    return "follow: messages, rules, steps, acts, policies, marks, filters and keys against a live client; three sizes and colours"


def step(browser: Browser) -> None:
    """A session that is held from its beginning is stepped and let go; its clock is stopped; its connection is reset."""
    arguments = ["replay", TAPE, "--control", "127.0.0.1:0", "--speed", "step", "--on-divergence", "warn", "--clients", "9"]
    with Wiretape(arguments, WORK / "step.err") as wiretape:
        home = wiretape.ready["control"] + "/"
        with browser.page(home) as page, chat(wiretape.url, "--until", "99", "--reconnect", "200ms,200ms"):
            page.goto(home)
            wait(page, "the page follows the run", has("live", ".head"))
            page.click("[data-name=steps]")
            wait(page, "a session that is held", has("held", ".stepped"))
            page.wait_for_timeout(300)
            if page.evaluate(has("Welcome", ".list")):
                raise Failed("a session that is held has said something of its tape")
            page.get_by_role("button", name="Step", exact=True).click()
            wait(page, "one message leaves", has("Welcome", ".list"))
            page.wait_for_timeout(300)
            if page.evaluate(has('ReceiveMessage("bob"', ".list")):
                raise Failed("more than one message has left")
            page.fill("[id^=until]", "ReceiveMessage[1]")
            page.press("[id^=until]", "Enter")
            wait(page, "all up to a message leave", has('ReceiveMessage("bob", "hi ada")', ".list"))
            page.get_by_role("button", name="Stop it").click()
            wait(page, "the clock stands", has("stands", ".panel"))
            shot(page, "steps")
            page.get_by_role("button", name="Let it run").click()
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("p")
            wait(page, "the session runs", has("Pause", ".stepped"))
            page.fill("#mark", "the user pressed <b>send</b>")
            page.press("#mark", "Enter")
            wait(page, "the mark", has("the user pressed <b>send</b>", ".marks"))
            page.click("[data-name=connections]")
            wait(page, "a live connection", "!!document.querySelector('.acts')")
            shot(page, "connections")
            page.fill("#inject", "{")
            page.press("#inject", "Enter")
            wait(page, "what is no JSON is told", has("is no JSON", ".panel .error"))
            page.fill("#inject", '{"type":1,"target":"ReceiveMessage","arguments":["eve","from the page"]}')
            page.press("#inject", "Enter")
            wait(page, "a message that was injected", has("from the page", ".list"))
            page.get_by_role("button", name="Reset", exact=True).click()
            wait(page, "what the act did", has("rule 'control' fired: reset", ".list"), 15)
        browser.check("steps and acts")
        wiretape.stop()


def judge(page: Any) -> None:
    page.click("[data-name=verdict]")
    page.fill("#policy", "rate(max=50/s)")
    page.press("#policy", "Enter")
    wait(page, "a policy is judged", has("rate(max=50/s)", ".policy"))
    page.fill("#policy", "rate(max=often)")
    page.press("#policy", "Enter")
    wait(page, "the API's words for a policy that is none", has("'policy'", ".panel .error"))
    shot(page, "verdict")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save HTML").click()
    text = pathlib.Path(saved.value.path()).read_text(encoding="utf-8")
    if not text.startswith("<!DOCTYPE html>") or "session 1" not in text:
        raise Failed("the report that was saved is none")


def feed_tape(path: pathlib.Path, texts: list[str], apart: int = 1000) -> None:
    """An event stream of these texts, so many nanoseconds apart, each as an event's name, too, as far as a name can be."""
    head = {"tape": 1, "started": "2026-01-01T00:00:00Z", "tool": "acceptance", "mode": "reverse",
            "upstreams": {"main": "http://127.0.0.1:1"}, "redaction": "none"}
    lines: list[dict[str, Any]] = [
        head, {"e": "open", "c": 1, "t": 0, "from": "127.0.0.1:1", "to": "127.0.0.1:2", "upstream": "main"},
        {"e": "request", "c": 1, "t": 1_000_000, "x": 1, "method": "GET", "target": "/feed",
         "headers": [["Host", "x"], ["Accept", "text/event-stream"]]},
        {"e": "response", "c": 1, "t": 2_000_000, "x": 1, "status": 200, "reason": "OK",
         "headers": [["Content-Type", "text/event-stream"], ["Transfer-Encoding", "chunked"]], "stream": True}]
    for n, text in enumerate(texts):
        name = re.sub(r"[\x00-\x1f]", "", text)[:120]
        data = f"event: {name}\nid: {n}\ndata: {json.dumps({'n': n, 'text': text, '__proto__': {'x': text[:50]}})}\n\n"
        lines.append({"e": "chunk", "c": 1, "t": 3_000_000 + n * apart, "x": 1, "d": "<", "text": data})
    lines.append({"e": "end", "c": 1, "t": 4_000_000 + len(texts) * apart, "x": 1, "d": "<"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def hostile(browser: Browser) -> str:
    texts = [*HOSTILE, "A" * (1 << 20), "the last"]
    feed_tape(WORK / "hostile.tape", texts)
    report = WORK / "hostile.html"
    arguments = ["replay", "hostile.tape", "--speed", "instant", "--control", "127.0.0.1:0", "--report", report]
    with Wiretape(arguments, WORK / "hostile.err", cwd=WORK) as wiretape:
        home = wiretape.ready["control"] + "/"
        with browser.page(home) as page:
            page.goto(home)
            wait(page, "the page follows the run", has("live", ".head"))
            read_feed(wiretape.url, len(texts))
            wait(page, "the last message", has("the last", ".list"), 20)
            page.evaluate("document.activeElement.blur()")
            page.keyboard.press("g")
            for n in range(len(texts) + 3):
                page.keyboard.press("j")
                page.wait_for_timeout(60)
                if n == 4:
                    shot(page, "hostile")
            page.fill("#mark" if page.query_selector("#mark") else "#find", HOSTILE[0])
            page.wait_for_timeout(300)
            page.fill("#rule", f"reset after {HOSTILE[1]}")
            page.press("#rule", "Enter")
            wait(page, "the API's words", "!!document.querySelector('.panel .error')")
            quote = json.dumps(HOSTILE[0] + " [message]")
            page.fill("#rule", f"drop on {quote}")
            page.press("#rule", "Enter")
            page.wait_for_timeout(500)
            seen = page.evaluate("""() => ({ran: window.__ran ?? null, scripts: document.querySelectorAll('body script').length,
              foreign: [...document.querySelectorAll('img,iframe,svg,a,base,style')].filter(e => !e.closest('.head')).length,
              text: document.body.innerText, nodes: document.querySelectorAll('*').length})""")
            if seen["ran"] is not None or seen["scripts"] or seen["foreign"]:
                raise Failed(f"hostile text became more than text: {({k: v for k, v in seen.items() if k != 'text'})}")
            if re.search("[\u202a-\u202e\u2066-\u2069\u200b\u001b\u0007]", seen["text"]):
                raise Failed("a mark that turns or hides text is shown as it is")
            page.fill("#find", "202e")
            page.select_option(".find select", "text")
            wait(page, "the turned name as its numbers", has("\\u{202e}", ".list"))
            longest = page.evaluate("Math.max(...[...document.querySelectorAll('.summary')].map(e => e.innerText.length))")
            if longest > 1000:
                raise Failed(f"a row has {longest} characters")
            browser.check("hostile texts")
        wiretape.stop()
    with browser.page(report.as_uri()) as page:
        page.goto(report.as_uri())
        shot(page, "hostile-report")
        count = page.evaluate("document.querySelectorAll('script,img,iframe,a,base,object,embed').length")
        if count or page.evaluate("window.__ran ?? 0"):
            raise Failed(f"the report has {count} elements that it should not have")
        browser.check("the report of hostile texts")
    size = report.stat().st_size
    if size > 1 << 20:
        raise Failed(f"the report of {len(texts)} messages has {size} bytes")
    return (f"hostile: {len(texts)} texts, one of a megabyte: shown as text, nothing ran, nobody else was asked; their report has"
            f" {size // 1024} KiB")


def many(browser: Browser) -> str:
    count = 50_000
    # 5,000 a second: all at once they would come faster than a run keeps them for anybody.
    feed_tape(WORK / "many.tape", [f"message number {n} of many" for n in range(count)], 200_000)
    arguments = ["replay", "many.tape", "--clients", "9", "--control", "127.0.0.1:0"]
    with Wiretape(arguments, WORK / "many.err", cwd=WORK) as wiretape:
        home = wiretape.ready["control"] + "/"
        with browser.page(home) as page:
            page.goto(home)
            wait(page, "the page follows the run", has("live", ".head"))
            page.evaluate("""() => { window.__longest = 0; let last = performance.now();
              const look = () => { const now = performance.now(); window.__longest = Math.max(window.__longest, now - last);
                last = now; requestAnimationFrame(look); }; requestAnimationFrame(look); }""")
            began = time.monotonic()
            read_feed(wiretape.url, count)
            played = time.monotonic() - began
            wait(page, "the last message", has(f"message number {count - 1}", ".list"), 120)
            shown = time.monotonic() - began
            longest = page.evaluate("window.__longest")
            rows = page.evaluate("document.querySelectorAll('.row').length")
            page.evaluate("window.__longest = 0; document.querySelector('.list').scrollTop = 600000")
            page.wait_for_timeout(500)
            middle = page.inner_text(".list")
            began = time.monotonic()
            page.fill("#find", "number 49321 of")
            wait(page, "a text among all", "document.querySelectorAll('.row').length === 1", 20)
            found = time.monotonic() - began
            page.fill("#find", "")
            page.select_option(".find select", "selector")
            began = time.monotonic()
            page.fill("#find", "message[/n=48765]")
            wait(page, "a selector among all", "document.querySelectorAll('.row').length === 1 &&" + has("48765", ".row"), 60)
            selected = time.monotonic() - began
            answers = page.evaluate("window.__longest")
            shot(page, "many")
            browser.check("many messages")
        figures = (f"many: {count} messages played in {played:.1f} s, the last shown after {shown:.1f} s; longest time without a frame"
                   f" {longest:.0f} ms while they came, {answers:.0f} ms while looked at; {rows} rows in the document; text found in"
                   f" {found:.1f} s, selector in {selected:.1f} s")
        if longest > 1500 or answers > 1500 or rows > 150 or "message number 2" not in middle or shown > played + 30:
            raise Failed(figures)
        wiretape.stop()
    return figures


def token(browser: Browser) -> str:
    arguments = ["replay", TAPE, "--allow-unplayed", "--control", "127.0.0.1:0", "--control-token", TOKEN]
    with Wiretape(arguments, WORK / "token.err") as wiretape:
        home = wiretape.ready["control"] + "/"
        with browser.page(home) as page:
            addresses: list[str] = []
            page.on("request", lambda one: addresses.append(one.url))
            page.goto(home)
            wait(page, "the page asks for the token", "!!document.querySelector('#token')")
            shot(page, "token")
            page.fill("#token", TOKEN[:-1] + "x")
            page.press("#token", "Enter")
            wait(page, "a wrong token is told", has("not the token"))
            page.fill("#token", TOKEN)
            page.press("#token", "Enter")
            wait(page, "the right one opens the page", has("live", ".head"))
            page.reload()
            wait(page, "it is kept for the tab", has("live", ".head"))
            kept = page.evaluate("[JSON.stringify(localStorage), document.cookie, location.href]")
            if any(TOKEN in one for one in [*kept, *addresses]):
                raise Failed("the token stands in an address or outlives its tab")
            # Who asks without it gets the page, and nothing else.
            opened = page.evaluate("""async () => { const out = {}; for (const p of ['/', '/page/main.js', '/v1/status', '/v1/events',
              '/v1/messages?where=message', '/metrics']) out[p] = (await fetch(p, {credentials: 'omit'})).status; return out; }""")
            if opened != {"/": 200, "/page/main.js": 200, "/v1/status": 401, "/v1/events": 401, "/v1/messages?where=message": 401,
                          "/metrics": 401}:
                raise Failed(f"without the token: {opened}")
        with browser.page(home) as page:
            page.goto(home)
            wait(page, "another tab is asked for it again", "!!document.querySelector('#token')")
        browser.check("the token")
        wiretape.stop()
    return "token: asked for, refused when wrong, kept for the tab, in no address; the page alone is open without it"


def lost(browser: Browser) -> str:
    port = free_port()
    control = f"127.0.0.1:{port}"
    home = f"http://{control}/"

    def started() -> Wiretape:
        return Wiretape(["replay", TAPE, "--clients", "9", "--allow-unplayed", "--control", control], WORK / "lost.err")

    with browser.page(home) as page:
        with started() as wiretape:
            page.goto(home)
            wait(page, "the page follows the run", has("live", ".head"))
            wiretape.stop(signal.SIGKILL)
        wait(page, "a lost connection is told", has("The connection to Wiretape is lost"), 15)
        shot(page, "lost")
        with started() as wiretape:
            wait(page, "it follows the next run by itself", has("live", ".head"), 30)
            with chat(wiretape.url, "--until", "6") as client:
                wait(page, "messages of the next run", has("ReceiveMessage", ".list"), 20)
                client.process.wait(30)
            wiretape.stop()
        wait(page, "the end with its verdict", has("(exit 0)", ".banner") + " && " + has("ended", ".head"))
        page.wait_for_timeout(700)
        lanes = page.inner_text(".timeline")
        if "by the client" not in lanes or page.query_selector(".connections li"):
            raise Failed(f"a run that is over is shown as if it went on: {lanes}")
        shot(page, "ended")
    # A run that was over before it had answered: what its events told is drawn.
    with browser.page(home) as page:
        page.route("**/v1/sessions**", lambda route: route.abort())
        with started() as wiretape:
            page.goto(home)
            wait(page, "the page follows a run that does not answer", has("live", ".head"))
            with chat(wiretape.url, "--until", "6") as client:
                wait(page, "its messages", has("ReceiveMessage", ".list"), 20)
                client.process.wait(30)
            wiretape.stop()
        drawn = has("by the client", ".timeline") + " && " + has("over ws", ".timeline")
        wait(page, "its end", has("(exit 0)", ".banner") + " && " + drawn)
        # What a browser says of a refused connection is no stray.
        browser.check("a run that ends")
    return "lost: told, found again by itself, the end told with its verdict, attempts drawn from events alone"


def report(browser: Browser) -> str:
    path = WORK / "report.html"
    client = [sample("sample-client"), "{url}/hub", "--say", "hello bob", "--say", "fine, thanks", "--say", "something else",
              "--reconnect", "0s,300ms,1s", "--until", "6"]
    command = [binary(), "replay", TAPE, "--report", path, "--fault", "reset after ReceiveMessage[3]", "--fault",
               "respond(503) on connect[retry=1]", "--expect", "delays(0s, 2s)", "--seed", "7", "--timeout", "20s", "--", *client]
    code, _, err = run(command, seconds=60)
    if code == 0:
        raise Failed(f"the run was to diverge: {err[-500:]}")
    for name, dark, width in (("report", False, 1200), ("report-dark", True, 1200), ("report-narrow", False, 390)):
        with browser.page(path.as_uri(), dark=dark, width=width, java_script_enabled=False) as page:
            page.goto(path.as_uri())
            page.screenshot(path=WORK / f"{name}.png", full_page=True)
            text = page.inner_text("main")
            for wanted in ("diverged", "digest", "Run it again", "--seed 7", "recorded", "received", "accept", "delays(0s, 2s)",
                           "not met", "reset after ReceiveMessage[3]", "negotiate 503", "session 1"):
                if wanted not in text:
                    raise Failed(f"{name}: '{wanted}' is not in the text:\n{text[:2000]}")
    with browser.page(path.as_uri(), width=390) as page:
        page.goto(path.as_uri())
        fits(page, "report")
    browser.check("the report")
    folder = WORK / "run"
    code, _, err = run([*command[:3], "--report", folder, *command[5:]], seconds=60)
    names = sorted(one.name for one in folder.iterdir())
    if names != ["actual.tape", "report.html", "report.json", "report.txt", "report.xml"]:
        raise Failed(f"the folder has {names}: {err[-300:]}")
    size = path.stat().st_size // 1024
    return f"report: opens from the disk without scripts and requests, {size} KiB; a folder has all kinds and the tape"


PARTS = {"follow": follow, "hostile": hostile, "many": many, "token": token, "lost": lost, "report": report}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS), help="which of them, with commas")
    options = parser.parse_args()
    if not pathlib.Path(CHROMIUM).exists():
        print(f"page: skipped, nothing was looked at: {CHROMIUM} is not there (apt-get install chromium)")
        return 77
    packages()
    from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]  # noqa: PLC0415  # packages() sees to it

    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    with sync_playwright() as playwright:
        for part in options.parts.split(","):
            if part not in PARTS:
                raise SystemExit(f"there is no part '{part}'; there are {', '.join(PARTS)}")
            browser = Browser(playwright)
            try:
                print(PARTS[part](browser), flush=True)
            finally:
                browser.close()
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(fail(str(failure)))
