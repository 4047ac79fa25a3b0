"""Headless Chromium as a client: it opens a page, trusts one authority by a user's own store, and what stands on the page is read
over DevTools. No package is needed, but Debian's chromium and libnss3-tools."""

import contextlib
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

from wiretape_tools.lib import frames
from wiretape_tools.lib.exchange import read_head
from wiretape_tools.lib.processes import Failed, Skipped

NEEDS = ("chromium", "certutil")
# What a browser asks its maker for by itself goes nowhere.
ALONE = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-port=0"]  # fmt: skip
NOWHERE = "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"


def check() -> None:
    for need in NEEDS:
        if shutil.which(need) is None:
            raise Skipped(f"there is no {need} (Debian: chromium, libnss3-tools)")


def page_text(
    url: str, trusted: pathlib.Path | str | None, options: Sequence[str] = (), hosts: str = NOWHERE, seconds: float = 40
) -> str:
    """What stands on a page whose last line becomes `done`; where that never comes, `error: ` and what stands there then.

    trusted: PEM of an authority that the browser's user trusts. hosts: Chromium's rules for names.
    """
    with tempfile.TemporaryDirectory() as home:
        store, profile = os.path.join(home, ".pki/nssdb"), os.path.join(home, "profile")
        os.makedirs(store)
        commands = [["-N", "--empty-password"]]
        if trusted:
            commands.append(["-A", "-t", "CP,,", "-n", "trusted", "-i", str(trusted)])
        for words in commands:
            subprocess.run(["certutil", "-d", f"sql:{store}", *words], check=True, capture_output=True)
        command = ["chromium", *ALONE, f"--user-data-dir={profile}", f"--host-resolver-rules={hosts}", *options, url]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        browser = subprocess.Popen(command, env={**os.environ, "HOME": home}, **quiet)  # type: ignore[call-overload]
        try:
            return looked_at(os.path.join(profile, "DevToolsActivePort"), seconds)
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
            time.sleep(0.1)  # its children write into the folder until they have noticed


def looked_at(told: str, seconds: float) -> str:
    end = time.monotonic() + seconds
    text = ""
    while time.monotonic() < end:
        with contextlib.suppress(OSError, ValueError, IndexError, EOFError, Failed):
            with open(told, encoding="ascii") as file:
                port = int(file.readline())
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(f"http://127.0.0.1:{port}/json/list", timeout=10) as answer:
                pages = [page for page in json.load(answer) if page["type"] == "page"]
            for text in texts(port, pages[0]["webSocketDebuggerUrl"]):
                if text.rstrip().endswith("done"):
                    return text
                if "ERR_" in text or time.monotonic() > end:
                    return f"error: {text[-300:]}"
                time.sleep(0.1)
        time.sleep(0.1)
    return f"error: the browser shows nothing: {text[-300:]}"


def texts(port: int, address: str) -> Iterator[str]:
    """The text of the page, again and again."""
    host = f"127.0.0.1:{port}"
    with socket.create_connection(("127.0.0.1", port), 20) as tools:
        tools.sendall(frames.request(address.split(host, 1)[1], host))
        _, data = read_head(tools)
        reader, heard = frames.FrameReader(), list[Any]()
        ask = {"id": 1, "method": "Runtime.evaluate", "params": {"expression": "document.body ? document.body.innerText : ''"}}
        while True:
            tools.sendall(frames.frame(frames.TEXT, json.dumps(ask).encode(), masked=True))
            while not heard:
                heard = [one for _, payload in reader.feed(data) if "result" in (one := json.loads(payload))]
                data = b"" if heard else tools.recv(65536)
                if not heard and not data:
                    raise EOFError
            yield str(heard.pop()["result"].get("result", {}).get("value", ""))
            heard = []
