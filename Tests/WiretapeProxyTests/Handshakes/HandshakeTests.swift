import Foundation
import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeIntercept
import WiretapeProxy
import WiretapeReport
import WiretapeRuntime
import WiretapeSimulation
import WiretapeTLS

/// What rules do to TLS handshakes, with OpenSSL as the client on a simulated network.
struct HandshakeTests {
    private let authority = Result { try TLSIdentity.authority("test") }
    private let refusals = TLSDoorTests.Refusals()
    private let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    private func stage(_ rules: [String]) throws -> RelayStage {
        let refusals = refusals
        let authority = try authority.get()
        let flawed = FlawedCertificates(trusted: authority) { authority, leaves throws(TLSError) in
            try TLSContext(serverIssuing: authority, leaves: leaves)
        }
        let door = TLSDoor(try TLSContext(serverIssuing: authority), flawed: flawed) { refusals.note($1.message) }
        return try RelayStage(door: door, rules: rules) { server in
            server.onBytes = { if $0.text.hasSuffix("\r\n\r\n") { $0.send(answer) } }
        }
    }

    /// One that trusts the authority, and asks once it is let in.
    private func client(_ stage: RelayStage, trusting: TLSContext? = nil) throws -> ScriptedPeer {
        let peer = stage.secureClient(try trusting ?? trustingContext()) {
            $0.send("GET /graphql?query=%7Ba%7D HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n")
        }
        peer.onBytes = { if $0.text.hasSuffix("hi") { $0.shut() } }
        return peer
    }

    private func trustingContext() throws -> TLSContext {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID()).pem")
        try Data(authority.get().certificatePEM).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try TLSContext(client: .systemAnd(file: file.path))
    }

    private func run(_ stage: RelayStage, _ seconds: Double) {
        _ = stage.loop.run(until: stage.loop.now.advanced(by: UInt64(seconds * 1e9)))
    }

    private func reason(_ client: ScriptedPeer) -> String {
        if case .failed(let reason)? = client.end {
            reason
        } else {
            "\(client.end.map { "\($0)" } ?? "none") \(client.text)"
        }
    }

    /// The client sees exactly what the rule says, on the connections that it names; then all is well again.
    @Test(arguments: [
        ("certificate(expired)", "certificate verify failed: certificate has expired"),
        ("certificate(not-yet-valid)", "certificate verify failed: certificate is not yet valid"),
        ("certificate(wrong-name)", "certificate verify failed: it is not for localhost"),
        ("certificate(unknown-ca)", "certificate verify failed: unable to get local issuer certificate"),
        ("certificate(self-signed)", "certificate verify failed: self-signed certificate"),
        ("alert", "alert handshake failure"), ("alert(protocol-version)", "alert protocol version"),
        ("alert(internal-error)", "alert internal error"),
        ("alert(unrecognized-name)", "unrecognized name"),
        ("reset", "the connection was reset in the middle of the TLS handshake"),
        ("disconnect", "the connection was closed in the middle of the TLS handshake"),
        ("delay(3s) + reset", "the connection was reset in the middle of the TLS handshake"),
    ]) func theClientSeesIt(_ fault: String, _ wanted: String) throws {
        let stage = try stage(["\(fault) on tls[2]"])
        let first = try client(stage)
        run(stage, 1)
        let second = try client(stage)
        run(stage, 5)
        let third = try client(stage)
        run(stage, 1)
        #expect(first.text.hasSuffix("hi") && third.text.hasSuffix("hi"))
        #expect(reason(second).contains(wanted), "\(reason(second))")
        let report = try #require(stage.control?.faults.report(at: stage.loop.now))
        #expect(report.faults.map(\.rule) == ["\(fault) on tls[2]"] && report.unfired.isEmpty)
        #expect(
            refusals.all.count == 1 && refusals.all[0].hasSuffix(", by rule '\(fault) on tls[2]'"), "\(refusals.all)")
        let lines = stage.finish()
        let faults = lines.filter { $0.contains(#""e":"fault""#) }
        #expect(faults.count == 1 && faults[0].contains(#""c":2,"#) && faults[0].contains(fault), "\(faults)")
        #expect(lines.contains { $0.contains(#""c":2,"#) && $0.contains(#""e":"gone","by":"proxy","how":"error""#) })
        #expect(lines.count { $0.contains(#""e":"open""#) } == 3)
    }

    /// Slow, and well in the end; so is one that takes the flawed certificate.
    @Test func whatOnlyWaitsIsServed() throws {
        let stage = try stage(["delay(2s) on tls[1]", "stall(both, 3s) on tls[2]", "certificate(expired) on tls[3]"])
        for (seconds, isThere) in [(1.5, false), (1, true)] {
            if seconds == 1.5 { _ = try client(stage) }
            run(stage, seconds)
            #expect(stage.servers.isEmpty == !isThere)
        }
        let second = try client(stage)
        run(stage, 2.5)
        #expect(second.text.isEmpty)
        run(stage, 1)
        #expect(second.text.hasSuffix("hi"))
        let careless = try client(stage, trusting: TLSContext(client: .everyone))
        run(stage, 1)
        #expect(careless.text.hasSuffix("hi"))
        let report = try #require(stage.control?.faults.report(at: stage.loop.now))
        #expect(report.faults.count == 3 && report.unfired.isEmpty)
        let lines = stage.finish()
        // The fault stands behind the connection that came of it.
        let kinds = lines.compactMap { line in
            ["open", "fault"].first { line.contains(#""e":"\#($0)""#) }
        }
        #expect(kinds == ["open", "fault", "open", "fault", "open", "fault"])
        #expect(refusals.all == [])
    }

    /// For ever: until the client has enough of it, which is noticed.
    @Test func aStallLastsUntilTheClientLeaves() throws {
        let stage = try stage(["stall on tls[1]"])
        let waiting = try client(stage)
        run(stage, 100)
        #expect(waiting.end == nil)
        waiting.stream?.reset()
        run(stage, 1)
        #expect(
            refusals.all == ["the connection was reset in the middle of the TLS handshake, by rule 'stall on tls[1]'"])
        _ = stage.finish()
    }

    /// Neither silent nor plain clients are handshakes: no rule counts them.
    @Test func whatIsNoHandshakeIsNotCounted() throws {
        let stage = try stage(["alert on tls[1]"])
        let silent = stage.client { _ in }
        let plain = stage.client { $0.send("GET / HTTP/1.1\r\n\r\n") }
        run(stage, 61)
        #expect(plain.text.hasPrefix("HTTP/1.1 400 "))
        #expect(silent.end != nil || silent.sawEnd)
        let report = try #require(stage.control?.faults.report(at: stage.loop.now))
        #expect(report.unfired.map(\.rule) == ["alert on tls[1]"])
        #expect(refusals.all.contains("the TLS handshake took too long"))
        _ = stage.finish()
    }

    /// They are attempts of the client's session: before its first one, and between two.
    @Test func failuresAreAttempts() throws {
        let stage = try stage(["certificate(expired) on tls[1]", "alert on tls[3]"])
        for _ in 1...4 {
            _ = try client(stage)
            run(stage, 1)
        }
        let report = try #require(stage.control?.faults.report(at: stage.loop.now))
        try #require(report.sessions.count == 1, "\(report.sessions)")
        let attempts = report.sessions[0].attempts
        #expect(attempts.map { $0.outcome?.rawValue } == ["refused", "connected", "refused", "connected"])
        #expect(attempts.map(\.retry) == [0, 1, 1, 2])
        let ends = attempts.compactMap(\.ended)
        #expect(ends[0].by == .fault("certificate(expired) on tls[1]") && ends[0].how == .tls)
        #expect(ends[0].reason?.contains("certificate expired") == true, "\(ends[0])")
        #expect(ends[2].reason == "alert handshake-failure")
        #expect(attempts[0].steps.map(\.request) == ["tls"])
        _ = stage.finish()
    }
}
