"""Headless Chromium by Playwright's own recorder of HARs. Runs in the venv that has playwright: URL, HAR, embed or attach."""

import sys

from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]  # of the venv that this runs in

SCRIPT = """async () => {
  await (await fetch('/api?x=1')).text();
  await (await fetch('/post', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: '{"q": "é"}'})).text();
  await (await fetch('/bytes')).arrayBuffer();
  await (await fetch('/events')).text();
  await new Promise((resolve, reject) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/ws');
    socket.binaryType = 'arraybuffer';
    let heard = 0, said = 0;
    const say = () => {
      if (said < 5) socket.send(`message ${said} é`);
      else if (said == 5) socket.send(Uint8Array.from({length: 200}, (_, i) => i));
      else socket.close(1000, 'bye');
      said += 1;
    };
    socket.onopen = say;
    socket.onmessage = () => { heard += 1; if (heard % 2 == 0) say(); };
    socket.onclose = resolve;
    socket.onerror = () => reject(new Error('the socket failed'));
  });
}"""


def main() -> None:
    url, har, content = sys.argv[1:4]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        context = browser.new_context(record_har_path=har, record_har_content=content)
        page = context.new_page()
        page.goto(url)
        page.evaluate(SCRIPT)
        context.close()
        browser.close()


if __name__ == "__main__":
    main()
