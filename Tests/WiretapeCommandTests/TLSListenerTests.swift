import Foundation
import Testing
import WiretapeWire

/// Listeners with TLS as processes, with Python's TLS as the client.
@Suite(.waitsForPrograms) struct TLSListenerTests {
    let scratch: Scratch
    private let client = Binary.root.appendingPathComponent("Tests/Fixtures/tls-client.py").path

    init() throws { scratch = try Scratch() }

    private var folder: String { scratch.path("ca") }
    private var tape: String { scratch.path("secure.tape") }

    private func record(_ options: [String], _ deeds: String) throws -> Binary.Run {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let run = try Binary.run(
            Binary.wiretape,
            ["record", "--upstream", hub.url, "--output", tape, "--force", "--ca-dir", folder] + options
                + ["--", "/bin/sh", "-c", "python3 \(client) {url} \(deeds)"])
        _ = try hub.stop()
        return run
    }

    /// A command trusts the authority without being told; its session is replayed over TLS and plain.
    @Test func recordedAndReplayed() throws {
        let run = try record(["--tls"], "trusting named unnamed twelve")
        #expect(run.code == 0, "\(run.err)")
        #expect(run.err.contains("made a certificate authority in \(folder)"))
        #expect(run.err.contains("listening on https://127.0.0.1:"))
        let lines = run.out.split(separator: "\n").map(String.init)
        try #require(lines.count == 4, "\(run.out) \(run.err)")
        #expect(lines[0] == "trusting 200 wiretape's sample hub")
        #expect(lines[1] == "named TLSv1.3 http/1.1 DNS:chat.example.com")
        #expect(lines[2].hasPrefix("unnamed TLSv1.3 None DNS:localhost IP Address:127.0.0.1"))
        #expect(lines[3] == "twelve TLSv1.2 None DNS:localhost")
        let text = try String(contentsOfFile: tape, encoding: .utf8)
        #expect(text.contains(#""tls":{"version":"TLSv1.3"}"#))
        for options in [["--tls"], []] {
            let again = try Binary.run(
                Binary.wiretape,
                ["replay", tape, "--ca-dir", folder] + options + [
                    "--", "/bin/sh", "-c", "python3 \(client) {url} trusting",
                ])
            #expect(again.code == 0, "\(again.err)")
            #expect(again.out == "trusting 200 wiretape's sample hub\n")
            #expect(!again.err.contains("made a certificate"))
            #expect(again.err.contains("listening on \(options.isEmpty ? "http" : "https")://"))
        }
    }

    /// A phone connects to an address of the machine, and names no host.
    @Test func onAllInterfacesTheCertificateHasTheMachinesAddresses() throws {
        let told = try Binary.run(URL(fileURLWithPath: "/bin/sh"), ["-c", "hostname -I"])
        let addresses = told.out.split { $0 == " " || $0 == "\n" }.map(String.init).filter { !$0.hasPrefix("fe80:") }
        let first = addresses.first { !$0.contains(":") }
        let other = first.map { " && ADDRESS=\($0) python3 \(client) {url} addressed" } ?? ""
        let run = try record(["--listen", "https://0.0.0.0:0"], "trusting unnamed\(other)")
        #expect(run.code == 0, "\(run.err)")
        if first != nil { #expect(run.out.contains("addressed 200 wiretape's sample hub")) }
        #expect(run.out.contains("DNS:localhost IP Address:127.0.0.1"))
        for address in addresses where !address.contains(":") {
            #expect(run.out.contains("IP Address:\(address)"), "\(run.out)")
            #expect(run.err.contains("https://\(address):"), "\(run.err)")
        }
        #expect(run.err.contains("other machines reach it at") == !addresses.isEmpty)
    }

    /// Wireshark reads both legs.
    @Test func theKeysOfBothLegsAreLogged() throws {
        let hub = try Running("sample-hub", ["--listen", "127.0.0.1:0"], in: scratch.url)
        let server = try Running(
            "wiretape", ["proxy", "--json", "--tls", "--ca-dir", folder, "--upstream", hub.url], in: scratch.url)
        let keys = scratch.path("keys")
        let run = try Binary.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            [
                "SSLKEYLOGFILE=\(keys)", Binary.wiretape.path, "record", "--upstream", server.url, "--upstream-ca",
                "\(folder)/ca.pem", "--output", tape, "--", "/bin/sh", "-c", "python3 \(client) {url} trusting",
            ])
        #expect(run.code == 0, "\(run.err)")
        _ = try server.stop()
        _ = try hub.stop()
        let text = try String(contentsOfFile: keys, encoding: .utf8)
        #expect(text.contains("CLIENT_TRAFFIC_SECRET_0 "), "\(run.err)")
    }

    /// Who does not trust, speaks no TLS, an old one, or insists on HTTP/2 is refused with a sentence to both.
    @Test func whoIsRefused() throws {
        let made = try Binary.run("ca", "init", "--ca-dir", scratch.path("other"))
        #expect(made.code == 0)
        let run = try record(
            ["--tls"],
            "plain older h2 && STRANGER=\(scratch.path("other"))/ca.pem python3 \(client) {url} stranger trusting")
        #expect(run.code == 0, "\(run.err)")
        let lines = run.out.split(separator: "\n").map(String.init)
        try #require(lines.count == 5, "\(run.out) \(run.err)")
        #expect(lines[0] == "plain 400 This port speaks TLS: use https:// or wss:// in place of http:// or ws://.")
        #expect(lines[1].hasPrefix("older refused: "))
        // Python's words for the alert depend on its version.
        let refusal = lines[2].lowercased().replacing("_", with: " ")
        #expect(refusal.hasPrefix("h2 refused: ") && refusal.contains("no application protocol"), "\(refusal)")
        #expect(lines[3].contains("CERTIFICATE_VERIFY_FAILED"))
        #expect(lines[4] == "trusting 200 wiretape's sample hub")
        for text in [
            "the client speaks plain HTTP", "unsupported protocol", "insists on a protocol other than http/1.1",
            "it does not trust \(folder)/ca.pem ('wiretape ca trust-help')",
        ] { #expect(run.err.contains(text), "\(text) is not in \(run.err)") }
    }

    @Test func aGivenCertificate() throws {
        // Another authority's certificate for itself serves as one that somebody has.
        #expect(try Binary.run("ca", "init", "--ca-dir", scratch.path("given")).code == 0)
        let files = ["--cert", scratch.path("given/ca.pem"), "--key", scratch.path("given/ca.key")]
        let run = try record(["--tls"] + files, "trusting || true")
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(run.out.contains("CERTIFICATE_VERIFY_FAILED"))
        let missing = try record(["--tls", "--cert", scratch.path("none.pem")], "trusting")
        #expect(
            missing.code == 1 && missing.err.contains("none.pem: cannot be used as a certificate"), "\(missing.err)")
        let plain = try record(files, "trusting")
        #expect(plain.code == 64 && plain.err.contains("no listener speaks TLS"))
        let half = try record(["--tls", "--key", scratch.path("given/ca.key")], "trusting")
        #expect(half.code == 64 && half.err.contains("--key needs --cert"))
    }

    /// Each listener for itself, and the variables of a run without TLS stay away.
    @Test func oneListenerOfTwo() throws {
        let run = try Binary.run(
            "proxy", "--upstream", "a=http://127.0.0.1:1", "--upstream", "b=http://127.0.0.1:2", "--listen",
            "a=https://localhost:0", "--listen", "b=127.0.0.1:0", "--ca-dir", folder, "--json", "--", "/bin/sh", "-c",
            "echo {url:a} {url:b} $WIRETAPE_WS_URL")
        #expect(run.code == 0, "\(run.err)")
        let words = (run.out.split(separator: "\n").first { $0.hasPrefix("http") } ?? "").split(separator: " ")
        try #require(words.count == 3)
        #expect(words[0].hasPrefix("https://") && words[1].hasPrefix("http://") && words[2].hasPrefix("wss://"))
        let plain = try Binary.run(
            "proxy", "--upstream", "http://127.0.0.1:1", "--", "/bin/sh", "-c", "echo \"[$WIRETAPE_CA]\"")
        #expect(plain.out == "[]\n")
    }
}

/// `wiretape ca`.
@Suite(.waitsForPrograms) struct CACommandTests {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    private func ca(_ words: String...) throws -> Binary.Run {
        try Binary.run(Binary.wiretape, ["ca"] + words + ["--ca-dir", scratch.path("ca")])
    }

    @Test func made() throws {
        let missing = try ca("show")
        #expect(missing.code == 6 && missing.err.contains("make one with 'wiretape ca init'"))
        #expect(try ca("init").code == 0)
        let first = try ca("show", "--json")
        let key = try FileManager.default.attributesOfItem(atPath: scratch.path("ca/ca.key"))
        #expect(key[.posixPermissions] as? Int == 0o600)
        let again = try ca("init")
        #expect(again.code == 1 && again.err.contains("--force replaces it"))
        #expect(try ca("show", "--json").out == first.out)
        #expect(try ca("init", "--force").code == 0)
        #expect(try ca("show", "--json").out != first.out)
        let told = try JSONValue(parsing: first.out)
        #expect(told["certificate"]?.string == scratch.path("ca/ca.pem"))
        #expect(told["sha256"]?.string?.split(separator: ":").count == 32)
    }

    /// Anyone who has the key can pretend to be any server.
    @Test func aKeyThatOthersCanReadIsRefused() throws {
        #expect(try ca("init").code == 0)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: scratch.path("ca/ca.key"))
        let run = try ca("show")
        #expect(
            run.code != 0 && run.err.contains("ca.key belongs to another user, or others can read it."), "\(run.err)")
        #expect(try ca("init", "--force").code == 0)
        #expect(try ca("show").code == 0)
    }

    /// Every form is the same certificate, read by Python's modules; the key is in none.
    @Test func exported() throws {
        #expect(try ca("init").code == 0)
        for format in ["pem", "der", "p12", "apple"] {
            #expect(try ca("export", "--format", format, "-o", scratch.path("x.\(format)")).code == 0)
        }
        let script = """
            import plistlib, ssl, sys
            folder = sys.argv[1]
            read = lambda name: open(f"{folder}/{name}", "rb").read()
            pem = read("x.pem").decode()
            der = ssl.PEM_cert_to_DER_cert(pem)
            profile = plistlib.loads(read("x.apple"))
            payload = profile["PayloadContent"][0]
            assert der == read("x.der")
            assert der == payload["PayloadContent"] and payload["PayloadType"] == "com.apple.security.root"
            assert len(read("x.p12")) > len(der)
            assert all(b"PRIVATE" not in read("x." + kind) for kind in ("pem", "der", "p12", "apple"))
            """
        let run = try Binary.run(URL(fileURLWithPath: "/usr/bin/env"), ["python3", "-c", script, scratch.url.path])
        #expect(run.code == 0, "\(run.err)")
    }

    @Test func help() throws {
        let run = try ca("trust-help")
        #expect(run.code == 0 && run.err.contains("there is no authority yet"))
        for word in ["curl --cacert", "update-ca-certificates", "Certificate Trust Settings", "Android", "Firefox"] {
            #expect(run.out.contains(word))
        }
        #expect(try ca("sign").code == 64)
    }

    @Test func aDamagedAuthorityIsTold() throws {
        #expect(try ca("init").code == 0)
        try Data("nonsense".utf8).write(to: URL(fileURLWithPath: scratch.path("ca/ca.key")))
        let run = try ca("show")
        #expect(run.code == 1 && run.err.contains("holds no private key"), "\(run.err)")
    }
}
