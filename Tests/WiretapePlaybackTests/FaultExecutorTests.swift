import Testing
import WiretapeBytes
import WiretapeFaults
internal import WiretapeMessages
import WiretapePlayback
import WiretapeProtocol
import WiretapeWire

/// What the executor asks of its ports: everything of the catalogue, and in which order.
@Suite struct FaultExecutorTests {
    /// Notes what it is asked for.
    private struct NotingPort: FaultPort, MessagePort {
        func request(_ site: [String]) -> (head: RequestHead, kind: ExchangeKind)? {
            (RequestHead(method: "GET", target: "/chat"), .negotiate)
        }

        func end(_ end: ConnectionEnd, _ site: inout [String]) { site.append("end: \(end)") }
        func answer(_ answer: HTTPAnswer, _ site: inout [String]) { site.append("answer: \(answer.status)") }
        func sendRaw(_ bytes: [UInt8], _ site: inout [String]) { site.append("raw") }
        func begin(_ outage: Outage, _ site: inout [String]) { site.append("outage") }
        func stall(_ stall: Stall, _ site: inout [String]) { site.append("stall") }
        func mute(_ scope: MuteScope, for time: UInt64?, _ site: inout [String]) { site.append("mute") }
        func pace(_ pace: WritePacer.Pace, for time: UInt64?, _ site: inout [String]) { site.append("pace") }
        func withdraw(_ transports: [Transport], _ site: inout [String]) { site.append("withdraw") }
        func expire(_ site: inout [String]) { site.append("expire") }
        func setLifetime(_ seconds: Int, _ site: inout [String]) { site.append("lifetime \(seconds)") }

        func wait(_ gap: UInt64, _ said: inout [String]) { said.append("wait \(gap)") }
        func inject(_ edit: MessageEdit, _ said: inout [String]) { said.append("inject") }
        func begin(_ effects: [FaultEffect], _ place: Place, _ said: inout [String]) { said.append("effects \(place)") }
        func takePayloads(_ said: inout [String]) -> [OutboundPayload] { [OutboundPayload([1, 2, 3], .text)] }
        func send(_ payload: OutboundPayload, isCopy: Bool, _ said: inout [String]) {
            said.append(isCopy ? "copy" : "message")
        }
        func cut(_ payloads: [OutboundPayload], after count: Int, _ said: inout [String]) {
            said.append("cut \(count)")
        }
        func park(_ payload: OutboundPayload, _ reorder: MessageFate.Reorder, _ said: inout [String]) {
            said.append("park")
        }
        func delivered(_ said: inout [String]) {}
        func lose(_ said: inout [String]) { said.append("lose") }
        func finish(_ end: MessageFate.End?, after gap: UInt64, _ said: inout [String]) {
            said.append(end.map { "end \($0.place)" } ?? "goes on")
        }
    }

    private func rule(_ text: String) throws -> FaultRule {
        try FaultRule(parsing: text, from: RuleSource(file: "--fault"))
    }

    /// What becomes of a message for which all of them fire.
    private func said(_ texts: String...) throws -> [String] {
        let hits = try texts.enumerated().map { i, text in
            let one = try rule(text)
            return FaultHit(
                rule: i, name: "\(i)", place: one.place, actions: one.actions, message: 1, counted: nil, random: 1)
        }
        var said: [String] = []
        var port = NotingPort()
        FaultExecutor.carryOut(try #require(MessageFate(hits)), on: &said, by: &port)
        return said
    }

    /// None does nothing, and none does two things.
    @Test(arguments: Faults.all.map(\.word)) func asksForOneThing(_ word: String) throws {
        let entry = try #require(Faults.all.first { $0.word == word })
        for example in entry.examples {
            for action in try rule(example).actions {
                var calls: [String] = []
                var port = NotingPort()
                FaultExecutor.carryOut(action.verdict, on: &calls, by: &port)
                switch action.verdict.kind {
                case .message, .upgrade, .handshake: #expect(calls.isEmpty, "\(action.text)")
                case .end(let end): #expect(calls == ["end: \(end)"])
                case .outage: #expect(calls == ["outage"])
                case .answer, .connection, .session: #expect(calls.count == 1, "\(action.text)")
                }
            }
        }
    }

    @Test func ordersWhatIsDoneToAMessage() throws {
        #expect(
            try said(
                "delay(5ms) on Tick", "inject(\"a\") before Tick", "stall(1s) before Tick", "duplicate on Tick",
                "inject(\"b\") after Tick", "mute after Tick", "reset after Tick")
                == [
                    "wait 5000000", "inject", "effects before", "message", "copy", "inject", "effects after",
                    "end after",
                ])
        #expect(try said("reorder on Tick") == ["park", "goes on"])
        #expect(try said("drop on Tick", "inject(\"b\") after Tick") == ["lose", "inject", "goes on"])
        #expect(try said("reset on Tick") == ["lose", "end instead"])
    }

    @Test func putsNothingBehindAMessageThatIsCutShort() throws {
        let behind = "inject(\"b\") after Tick"
        #expect(try said(behind, "mute after Tick", "truncate(2) on Tick") == ["cut 2", "end instead"])
        #expect(try said(behind, "reset before Tick") == ["end before"])
    }
}
