"""TLS talked between two of Python's in memory: what either side says, and the secrets of both."""

import pathlib
import ssl

from wiretape_tools.lib.processes import Failed, run


def certificate(folder: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    """A certificate of `localhost` that signs itself, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    if not cert.exists():
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        code, _, err = run([*command, "-subj", "/CN=localhost", "-keyout", key, "-out", cert])
        if code != 0:
            raise Failed(f"openssl makes no certificate: {err[-300:]}")
    return cert, key


def talk(
    folder: pathlib.Path, version: ssl.TLSVersion, plain: list[tuple[bool, bytes]]
) -> tuple[list[tuple[bool, bytes]], bytes]:
    """(the turns on the wire, the key log) of a conversation whose turns are these (True: the client's)."""
    log = folder / f"{version.name}.keys"
    log.unlink(missing_ok=True)
    contexts = {True: ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), False: ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)}
    contexts[True].check_hostname = False
    contexts[True].verify_mode = ssl.CERT_NONE
    contexts[False].load_cert_chain(*certificate(folder))
    for context in contexts.values():
        context.minimum_version = context.maximum_version = version
    contexts[True].keylog_filename = str(log)
    into = {side: ssl.MemoryBIO() for side in contexts}
    out = {side: ssl.MemoryBIO() for side in contexts}
    sides = {
        True: contexts[True].wrap_bio(into[True], out[True], server_hostname="localhost"),
        False: contexts[False].wrap_bio(into[False], out[False], server_side=True),
    }
    turns: list[tuple[bool, bytes]] = []

    def pass_on(side: bool) -> None:
        if said := out[side].read():
            turns.append((side, said))
            into[not side].write(said)

    done = {True: False, False: False}
    while not all(done.values()):
        for side in (True, False):
            try:
                if not done[side]:
                    sides[side].do_handshake()
                    done[side] = True
            except ssl.SSLWantReadError:
                pass
            pass_on(side)
    for side, text in plain:
        sides[side].write(text)
        pass_on(side)
        while text:
            text = text[len(sides[not side].read(len(text))) :]
        pass_on(not side)
    return turns, log.read_bytes()
