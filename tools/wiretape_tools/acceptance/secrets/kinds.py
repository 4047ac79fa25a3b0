"""The secrets of a place: three of each of eleven kinds, as they are met in the field, and how each is spelled where it stands.

Every place has secrets of its own, drawn from its name: what is recognised in one place helps in no other.
"""

import base64
import dataclasses
import json
import random
import string
import urllib.parse
import uuid
from typing import Any

KINDS = ("bearer", "jwt", "service key", "password", "session", "signature", "oauth", "pusher", "private key", "rule", "ending")
EACH = 3
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "-_"
# What nobody but the user knows to be a secret: `record` and `scan` are told.
RULES = ["header:X-Iban", "header:X-Pin", "query:iban", "query:pin", "regex:acct-[0-9]{12}", "json:pin",
         # Wherever the secrets stand in a message: bodies and texts within texts, calls and answers of SignalR, GraphQL's.
         *(f"json:{pointer}/items/*/iban" for pointer in (
             "", "/arguments/*", "/result", "/4", "/4/*", "/payload/variables/input", "/payload/data/take", "/payload/data/give",
             "/variables/input", "/data/take", "/data/give", "/payload/payload/variables/input", "/data", "/user_info"))]  # fmt: skip
ARMOUR = ("PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY")

Pair = tuple[str, str]


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def url64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def escaped(text: str) -> str:
    return urllib.parse.quote(text, safe="")


@dataclasses.dataclass(frozen=True)
class Secret:
    """One of them. value: as the application has it; shown: as people and `scan` count it, where that is something else."""

    kind: str
    number: int
    value: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number + 1}"

    @property
    def basic(self) -> str:
        return b64(f"ada:{self.value}".encode())

    @property
    def proper(self) -> list[str]:
        """What a pseudonym takes the place of, in one spelling or another."""
        if self.kind == "private key":
            return ["\n".join(self.value.split("\n")[1:-1]), self.value]
        return [self.basic, self.value] if self.kind == "password" else [self.value]

    @property
    def atoms(self) -> list[str]:
        """Of these no part may be seen. What a pseudonym keeps of a token (algorithm, times) is none of them."""
        if self.kind == "jwt":
            _, claims, signature = self.value.split(".")
            return [claims[64:], signature]
        if self.kind == "private key":
            return self.value.split("\n")[1:-1]
        return self.proper

    # Where it stands

    def header(self) -> Pair:
        name, spelled = self.headers()[self.number]
        return name, spelled

    def headers(self) -> list[Pair]:
        v = self.value
        return {
            "bearer": [("Authorization", f"Bearer {v}"), ("X-Auth-Token", v), ("X-Access-Token", v)],
            "jwt": [("X-Note-1", v), ("X-Note-2", f"the token {v} of ada"), ("X-Id-Token", v)],
            "service key": [("X-Note-3", v), ("X-Note-4", f"use {v} for it"), ("X-Api-Key", v)],
            "password": [("X-Client-Password", f"Basic {self.basic}"), ("X-Note-5", f"Basic {self.basic}"),
                         ("X-Note-6", f"https://ada:{escaped(v)}@db.example.com/app")],
            "session": [("X-Session-Token", v), ("X-Csrf-Token", v), ("X-Xsrf-Token", v)],
            "signature": [("X-Hub-Signature", v), ("X-Amz-Signature", v), ("Sig", v)],
            "oauth": [("X-Refresh-Token", v), ("X-Client-Secret", v), ("Refresh-Token", v)],
            "pusher": [("X-Pusher-Signature", v), ("X-Eventflit-Signature", v), ("X-Hub-Signature-256", f"sha256={v}")],
            "private key": [("Private-Key", escaped(v)), ("Private-Token", escaped(v)), ("Shared-Secret", escaped(v))],
            "rule": [("X-Note-7", f"pay to {v} please"), ("X-Iban", v), ("X-Pin", v)],
            "ending": [("X-Door-Token", v), ("DD-API-KEY", v), ("X-Hasura-Admin-Secret", v)],
        }[self.kind]  # fmt: skip

    def item(self) -> Pair:
        """Of a query or a form, not encoded yet."""
        v = self.value
        return {
            "bearer": [("access_token", v), ("bearer_token", v), ("auth_token", v)],
            "jwt": [("state", v), ("note2", f"the token {v} of ada"), ("id_token", v)],
            "service key": [("note3", v), ("note4", f"use {v} for it"), ("api_key", v)],
            "password": [("password", v), ("authorization", f"Basic {self.basic}"), ("dsn", f"postgres://ada:{v}@db.example.com/app")],
            "session": [("session_token", v), ("csrf_token", v), ("token", v)],
            "signature": [("sig", v), ("X-Amz-Signature", v), ("sharedAccessSignature", v)],
            "oauth": [("refresh_token", v), ("client_secret", v), ("secret", v)],
            "pusher": [("auth_signature", v), ("auth", f"key:{v}"), ("api_secret", v)],
            "private key": [("private_key", v), ("note5", v), ("secret_key", v)],
            "rule": [("note6", f"pay to {v} please"), ("iban", v), ("pin", v)],
            "ending": [("db_password", v), ("user[passcode]", v), ("webhook-secret", v)],
        }[self.kind][self.number]  # fmt: skip

    def cookie(self) -> Pair:
        """Every cookie is a secret: names say nothing."""
        names = (".AspNetCore.Cookies", "connect.sid", "theme")
        return f"{names[self.number]}{KINDS.index(self.kind)}", escaped(self.value)

    def member(self) -> dict[str, Any]:
        v = self.value
        members: dict[str, list[dict[str, Any]]] = {
            "bearer": [{"accessToken": v}, {"note": f"Authorization: Bearer {v}"}, {"authorization": f"Bearer {v}"}],
            "jwt": [{"note": f"the token {v} of ada"}, {"jwt": v}, {"deep": [[{"er": v}]]}],
            "service key": [{"note": f"use {v} for it"}, {"note": v}, {"api_key": v}],
            "password": [{"password": v}, {"note": f"log in with Basic {self.basic}"},
                         {"dsn": f"postgres://ada:{v}@db.example.com/app"}],
            "session": [{"sessionToken": v}, {"csrf_token": v}, {"token": v}],
            "signature": [{"sig": v}, {"sharedAccessSignature": v}, {"link": f"https://blob.example.com/a?se=2026&sig={escaped(v)}"}],
            "oauth": [{"refresh_token": v}, {"client-secret": v}, {"inner": json.dumps({"refresh_token": v})}],
            "pusher": [{"auth": f"key:{v}"}, {"auth_signature": v}, {"appSecret": v}],
            "private key": [{"note": f"here it is: {v} bye"}, {"privateKey": v}, {"pem": v}],
            "rule": [{"note": f"pay to {v} please"}, {"iban": v}, {"pin": int(v) if v.isdigit() else v}],
            "ending": [{"dbPassword": v}, {"credentials": {"pins": [v]}}, {"note": f'mutation {{ login(password: "{v}") }}'}],
        }  # fmt: skip
        return members[self.kind][self.number]


def made(random: random.Random, kind: str, n: int) -> str:
    def word(count: int, letters: str = ALNUM) -> str:
        return "".join(random.choice(letters) for _ in range(count))

    if kind == "bearer":
        return word(40 + n, URLSAFE[:-2]) + "9a"
    if kind == "jwt":
        # The times come first: they stay as they are, and nothing else does.
        claims = {"iat": 1795000000, "exp": 1795003600 + n, "jti": word(24), "email": f"{word(10 + 3 * n)}@{word(6)}.net"}
        head = {"alg": ("HS256", "RS256", "ES256")[n], "typ": "JWT", "kid": word(8)}
        signature = random.randbytes((32, 256, 64)[n])
        return ".".join([*(url64(json.dumps(part, separators=(",", ":")).encode()) for part in (head, claims)), url64(signature)])
    if kind == "service key":
        upper = string.ascii_uppercase + string.digits
        return ("AKIA" + word(15, upper) + "7", "ghp_" + word(35) + "7", "sk_live_" + word(23) + "7")[n]
    if kind == "password":
        # The first one is what a user thinks of, the last one can stand in a URL.
        return (f'{word(6)}&1"{word(6)}\\{word(5)} é{word(4)}', word(9) + "!4" + word(7), word(18))[n]
    if kind == "session":
        return (word(32, "0123456789abcdef"), word(43, URLSAFE[:-2]), str(uuid.UUID(int=random.getrandbits(128), version=4)))[n]
    if kind == "signature":
        return b64(random.randbytes(32 + 3 * n))
    if kind == "oauth":
        return ("1//0" + word(50, URLSAFE[:-2]) + "x1", "GOCSPX-" + word(27) + "2", "rt." + word(30) + "3")[n]
    if kind == "pusher":
        return random.randbytes(32).hex()
    if kind == "private key":
        body = b64(random.randbytes(48 * (3 + n) + 15))
        lines = [body[i : i + 64] for i in range(0, len(body), 64)]
        return "\n".join([f"-----BEGIN {ARMOUR[n]}-----", *lines, f"-----END {ARMOUR[n]}-----"])
    if kind == "ending":
        return word(19 + n) + "5x"
    return ("acct-" + word(12, "123456789"), "DE" + word(20, "123456789"), word(9, "123456789"))[n]


def planted(place: str) -> list[Secret]:
    """The secrets of a place, always the same ones for its name."""
    source = random.Random(place)
    return [Secret(kind, n, made(source, kind, n)) for kind in KINDS for n in range(EACH)]


def items(secrets: list[Secret]) -> dict[str, Any]:
    """As a JSON object."""
    return {"greeting": "hello", "items": [secret.member() for secret in secrets]}
