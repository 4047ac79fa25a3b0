import Testing
import WiretapeAttempts
import WiretapeBytes
import WiretapeFaults
import WiretapeReplay
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// TLS handshakes that rules break, as a replay counts them.
@Suite struct HandshakeEngineTests {
    private let ticks = TestTape.session(
        TestTape.handshake + #"10 < {"type":1,"target":"Tick","arguments":[1]}"#)

    /// Shakes hands; what breaks it is an attempt.
    private func shake(_ play: Playbook, at listener: String = "") {
        let hits = play.engine.shakesHands(at: listener, now: play.now)
        guard let hit = hits.first else { return }
        play.engine.failedHandshake(
            from: Address(host: play.host, port: 5000), by: hit.name, why: "alert handshake-failure", at: play.now)
    }

    @Test func failuresAreAttemptsOfTheSession() throws {
        let play = try Playbook([ticks], faults: ["alert on tls[1]", "alert(internal-error) on tls[3]"])
        shake(play)
        play.pass(ms: 2_000)
        shake(play)
        let c = try play.start()
        play.pass(ms: 5)
        play.close(c, .rst("gone"))
        play.pass(ms: 500)
        shake(play)
        play.pass(ms: 500)
        shake(play)
        _ = try play.start()
        let report = play.finish()
        #expect(report.faults.map(\.rule) == ["alert on tls[1]", "alert(internal-error) on tls[3]"])
        #expect(report.unfired.isEmpty)
        let attempts = try #require(report.sessions.first).attempts
        #expect(attempts.map { $0.outcome?.rawValue } == ["refused", "connected", "refused", "connected"])
        #expect(attempts.map { $0.delay.map { $0 / 1_000_000 } } == [nil, 2_000, 500, 500])
        #expect(attempts[0].ended?.reason == "alert handshake-failure" && attempts[0].ended?.how == .tls)
    }

    /// A host's failures are those of its clients only, and a listener counts for itself.
    @Test func hostsAndListenersAreApart() throws {
        let play = try Playbook([ticks], faults: ["alert on tls[2, listener=a]"])
        shake(play, at: "a")
        shake(play, at: "b")
        shake(play, at: "b")
        play.host = "10.0.0.2"
        shake(play, at: "a")
        play.host = "10.0.0.1"
        _ = try play.start()
        let report = play.finish()
        #expect(report.faults.count == 1 && report.unfired.isEmpty)
        #expect(report.sessions.first?.attempts.map { $0.outcome?.rawValue } == ["connected"])
    }
}
