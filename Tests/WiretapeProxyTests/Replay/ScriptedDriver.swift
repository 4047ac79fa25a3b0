import WiretapeBytes
import WiretapeFaults
import WiretapeProxy
import WiretapeReplay
internal import WiretapeReplayServer
import WiretapeReport
import WiretapeRuntime
import WiretapeWire

/// A driver whose answers a test writes; it notes what it is told.
final class ScriptedDriver: ReplayDriver {
    var heard: [String] = []
    var onOpened: (ConnectionID, inout [ReplayAction]) -> Void = { _, _ in }
    var onRequest: (ConnectionID, RequestHead, inout [ReplayAction]) -> Void = { _, _, _ in }
    var onMessage: (ConnectionID, Opcode, [UInt8], inout [ReplayAction]) -> Void = { _, _, _, _ in }
    var onAcknowledged: (ConnectionID, UInt64, Bool, inout [ReplayAction]) -> Void = { _, _, _, _ in }
    var onClosed: (ConnectionID, ClientEnd, inout [ReplayAction]) -> Void = { _, _, _ in }
    /// What to do at which time.
    var later: [(at: WireInstant, actions: [ReplayAction])] = []
    var shouldEnd = false
    /// Close frames of clients go back as they came.
    var answersCloses = true

    func opened(
        _ c: ConnectionID, from: Address?, name: String?, upstream: String?, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        heard.append("\(c) opened")
        onOpened(c, &out)
    }

    func request(
        _ c: ConnectionID, _ head: RequestHead, body: [UInt8], at now: WireInstant, into out: inout [ReplayAction]
    ) {
        heard.append("\(c) \(head.method) \(head.target) \(String(decoding: body, as: UTF8.self))")
        onRequest(c, head, &out)
    }

    func message(
        _ c: ConnectionID, _ opcode: Opcode, _ payload: Span<UInt8>, at now: WireInstant,
        into out: inout [ReplayAction]
    ) {
        var bytes: [UInt8] = []
        bytes.append(copying: payload)
        heard.append("\(c) \(opcode) \(String(decoding: bytes, as: UTF8.self))")
        onMessage(c, opcode, bytes, &out)
    }

    func controlFrame(_ c: ConnectionID, isPing: Bool, at now: WireInstant) {
        heard.append("\(c) \(isPing ? "ping" : "pong")")
    }

    func clientLeftSilently(_ c: ConnectionID, _ how: ClientEnd, at now: WireInstant) {
        heard.append("\(c) left silently: \(how)")
    }

    func clientClosed(_ c: ConnectionID, _ how: ClientEnd, at now: WireInstant, into out: inout [ReplayAction]) {
        heard.append("\(c) \(how)")
        if answersCloses, case .closeFrame(let code, let reason) = how {
            out.append(.closeFrame(c, code: code, reason: reason))
        }
        onClosed(c, how, &out)
    }

    func handedOver(_ c: ConnectionID, ticket: UInt64, at now: WireInstant, into out: inout [ReplayAction]) {
        heard.append("\(c) handed over \(ticket)")
    }

    func acknowledged(
        _ c: ConnectionID, ticket: UInt64, complete: Bool, at now: WireInstant, into out: inout [ReplayAction]
    ) {
        heard.append("\(c) acknowledged \(ticket) \(complete)")
        onAcknowledged(c, ticket, complete, &out)
    }

    func step(_ count: Int, session: Int?, at now: WireInstant, into out: inout [ReplayAction]) {
        heard.append("step \(count)")
    }

    func wake(at now: WireInstant, into out: inout [ReplayAction]) {
        while let next = later.first, next.at <= now {
            out += next.actions
            later.removeFirst()
        }
    }

    var nextWake: WireInstant? { later.first?.at }

    func finish(at now: WireInstant, clientsAreGone: Bool) -> ReplayReport {
        var engine = ReplayEngine(sessions: [], tapeName: "", options: .init(), faults: FaultPlan(rules: []), seed: 0)
        return engine.finish(at: now)
    }
}
