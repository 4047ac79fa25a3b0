import Testing
import WiretapeAttempts
import WiretapeReport
import WiretapeSimulation
import WiretapeWire

/// Behind the last message, from the client's side through the real server: let in, greeted by the protocol, kept alive.
@Suite struct ReturnPromiseTests {
    private static let tape = """
        {"d":"<","after":"1s","json":{"type":1,"target":"Tick","arguments":[1]}}
        {"d":"<","after":"1s","json":{"type":1,"target":"Tick","arguments":[2]}}
        """

    private func tick(_ n: Int) -> String { #"{"type":1,"target":"Tick","arguments":[\#(n)]}"# }

    @Test(arguments: [Transport.ws, .sse, .lp], ["reset after Tick[2]", "disconnect after Tick[2]", ""])
    func theClientIsLetIn(_ transport: Transport, _ fault: String) throws {
        let stage = try NetworkStage(Self.tape, faults: fault.isEmpty ? [] : [fault])
        let client = RecordClient(stage, transport)
        try client.connect()
        stage.run(ms: 3_000)
        let end = fault.isEmpty ? [] : [fault.hasPrefix("reset") ? "RST" : "FIN"]
        #expect(client.take() == [tick(1), tick(2)] + end)
        if fault.isEmpty { client.cut(reset: true) }
        stage.run(ms: 20)
        try client.connect()
        stage.run(ms: 40_000)
        #expect(client.take() == [])
        let report = stage.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
        #expect(report.sessions[0].attempts.map(\.outcome) == [.connected, .connected])
        client.close()
    }

    /// The bytes of the last message that a rule lets pass, and the whole of it on the next connection; a rule that keeps
    /// nothing of it from the client has let it be played.
    @Test(arguments: [Transport.ws, .sse, .lp], [7, 4_000])
    func aMessageThatWasCutShortComesAgain(_ transport: Transport, _ bytes: Int) throws {
        let stage = try NetworkStage(Self.tape, faults: ["truncate(\(bytes)) on Tick[2]"])
        let client = RecordClient(stage, transport)
        try client.connect()
        stage.run(ms: 3_000)
        #expect(client.take() == [tick(1)] + (bytes == 7 ? [] : [tick(2)]) + ["FIN"])
        try client.connect()
        stage.run(ms: 3_000)
        #expect(client.take() == (bytes == 7 ? [tick(2)] : []))
        let report = stage.finish()
        #expect(report.verdict == .pass && report.sessions[0].finished, "\(report.reasons)")
        client.close()
    }
}
