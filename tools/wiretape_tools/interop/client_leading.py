"""requests at hosts that send it to each other: client_leading.py URL. Prints what the application sees, without addresses and without
the cookies' values, for which a tape has pseudonyms."""

import sys

import requests  # type: ignore[import-untyped]

base = sys.argv[1].rstrip("/")
session = requests.Session()


def seen(what, answer):
    print(what, answer.status_code, len(answer.history), answer.text)


seen("logged in", session.get(base + "/in", timeout=20))
print("cookies", sorted(cookie.name for cookie in session.cookies))
page = {"Origin": base, "Referer": base + "/page"}
made = session.post(base + "/orders", headers=page, data="x", timeout=20)
seen("ordered", made)
print("the page may read it", made.headers.get("Access-Control-Allow-Origin") == base)
order = session.get(made.headers["Location"], timeout=20)
seen("looked", order)
seen("refreshed", session.get(order.headers["Refresh"].split("url=")[1], timeout=20))
seen("configured", session.get(session.get(base + "/config", timeout=20).json()["hub"], timeout=20))
try:
    session.get(base + "/loop", timeout=20)
    print("no loop")
except requests.TooManyRedirects as error:
    print("loop", error)
