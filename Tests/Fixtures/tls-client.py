"""A client of a TLS listener, told by the name of what it does; its one argument behind that is the listener's origin.
Python's own modules only."""

import os
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request


def get(url, context=None):
    try:
        with urllib.request.urlopen(url, timeout=10, context=context) as answer:
            return f"{answer.status} {answer.read().decode().strip()}"
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.read().decode().strip()}"
    except urllib.error.URLError as error:
        return f"refused: {error.reason}"


def shake(url, server_name, change):
    """What a handshake comes to: the version, the protocol and the certificate's names, or the error."""
    context = ssl.create_default_context(cafile=os.environ["WIRETAPE_CA"])
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    change(context)
    where = urllib.parse.urlsplit(url)
    import socket

    try:
        with socket.create_connection((where.hostname, where.port), 10) as plain:
            with context.wrap_socket(plain, server_hostname=server_name) as secure:
                names = [f"{kind}:{name}" for kind, name in secure.getpeercert()["subjectAltName"]]
                return f"{secure.version()} {secure.selected_alpn_protocol()} {' '.join(names)}"
    except (ssl.SSLError, ConnectionError) as error:
        return f"refused: {getattr(error, 'reason', None) or error}"


def older(context):
    context.minimum_version = ssl.TLSVersion.TLSv1
    context.maximum_version = ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")


DEEDS = {
    "trusting": lambda url: get(url + "/"),
    "stranger": lambda url: get(url + "/", ssl.create_default_context(cadata=open(os.environ["STRANGER"]).read())),
    "addressed": lambda url: get(url.replace("127.0.0.1", os.environ["ADDRESS"]) + "/"),
    "plain": lambda url: get(url.replace("https:", "http:") + "/"),
    "named": lambda url: shake(url, "chat.example.com", lambda c: c.set_alpn_protocols(["h2", "http/1.1"])),
    "unnamed": lambda url: shake(url, "127.0.0.1", lambda c: None),
    "twelve": lambda url: shake(url, "localhost", lambda c: setattr(c, "maximum_version", ssl.TLSVersion.TLSv1_2)),
    "older": lambda url: shake(url, "localhost", older),
    "h2": lambda url: shake(url, "localhost", lambda c: c.set_alpn_protocols(["h2"])),
}

for deed in sys.argv[2:]:
    print(deed, DEEDS[deed](sys.argv[1]))
