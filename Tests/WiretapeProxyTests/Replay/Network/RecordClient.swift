import Testing
import WiretapeSimulation
import WiretapeWire

/// A SignalR client that a test leads record by record, over any transport. What it hears is kept in order: records without
/// pings, and the ends of what carried them.
final class RecordClient {
    private let stage: NetworkStage
    private let transport: Transport
    /// Of the handshake: 2 asks for a stateful reconnect.
    private let version: Int
    private(set) var token = ""
    private var heard: [String] = []
    private var slots: [Int: ClientSlot] = [:]
    private var main = 0
    private var last = 0
    private var events = SSEReader()
    private var answer: (status: Int, body: String)?
    private var isPolling = false

    init(_ stage: NetworkStage, _ transport: Transport, version: Int = 1) {
        self.stage = stage
        self.transport = transport
        self.version = version
    }

    /// What came since the last look.
    func take() -> [String] {
        defer { heard = [] }
        return heard
    }

    // MARK: What it does

    /// Negotiates, opens its transport, shakes hands; wants all of it to succeed.
    func connect() throws {
        try #require(negotiate() == 200, "\(answer?.body ?? "")")
        try open()
        say(#"{"protocol":"json","version":\#(version)}"#)
        stage.run(ms: 1)
        try #require(heard.first == "{}", "\(heard)")
        heard.removeFirst()
    }

    /// - Returns: the status.
    func negotiate() -> Int {
        let query = version == 2 ? "&useStatefulReconnect=true" : ""
        let slot = newSlot()
        slot.request(head("POST", "/chat/negotiate?negotiateVersion=1\(query)"), body: [])
        stage.run(ms: 1)
        if let value = try? JSONValue(parsing: answer?.body ?? ""), let id = value["connectionToken"]?.string {
            token = id
        }
        return answer?.status ?? 0
    }

    /// The status of the last answer that was no poll's.
    var status: Int { answer?.status ?? 0 }

    /// The text of the last answer that was no poll's.
    var refusal: String { answer?.body ?? "" }

    /// Opens the transport with the token that it has.
    func open() throws {
        let slot = newSlot()
        main = last
        events = SSEReader()
        let target = "/chat?id=\(token)"
        switch transport {
        case .sse: slot.request(head("GET", target, [HeaderField("Accept", "text/event-stream")]), body: [])
        case .lp:
            isPolling = false
            slot.request(head("GET", target), body: [])
            stage.run(ms: 1)
            try #require(answer?.status == 200 && answer?.body == "")
            isPolling = true
            slot.request(head("GET", target), body: [])
        default:
            let headers = [
                HeaderField("Connection", "Upgrade"), HeaderField("Upgrade", "websocket"),
                HeaderField("Sec-WebSocket-Version", "13"),
                HeaderField("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
            ]
            slot.request(head("GET", target, headers), body: [])
        }
        stage.run(ms: 1)
    }

    func say(_ record: String) {
        let bytes = Array((record + "\u{1e}").utf8)
        guard transport != .ws else { return slots[main]?.send(.text, bytes) ?? () }
        newSlot().request(head("POST", "/chat?id=\(token)"), body: bytes)
    }

    /// Loses what carries the session's messages.
    func cut(reset: Bool) { slots[main]?.end(reset: reset) }

    func close() { for slot in slots.values { slot.end(reset: true) } }

    private func newSlot() -> ClientSlot {
        last += 1
        let slot = ClientSlot(stage.loop, to: stage.address, last) { [unowned self] in hear($0) }
        slots[last] = slot
        return slot
    }

    private func head(_ method: String, _ target: String, _ headers: [HeaderField] = []) -> RequestHead {
        RequestHead(method: method, target: target, headers: [HeaderField("Host", "replay")] + headers)
    }

    // MARK: What it hears

    private func hear(_ event: ClientEvent) {
        guard event.slot == main || !isCarrier(event) else { return }
        switch event {
        case .answered(let slot, let status, _, let body):
            guard slot == main, isPolling else { return answer = (status, String(decoding: body, as: UTF8.self)) }
            guard status == 200 else { return heard.append("\(status)") }
            note(body)
            slots[main]?.request(head("GET", "/chat?id=\(token)"), body: [])
        case .streamBytes(_, let bytes): readEvents(bytes)
        case .message(_, _, let bytes): note(bytes)
        case .closeFrame(let slot, let code):
            heard.append("close \(code ?? 0)")
            slots[slot]?.sendClose(code ?? 1000)
            slots[slot]?.end(reset: false)
        case .streamEnded: heard.append("end")
        case .ended(_, let reset): heard.append(reset ? "RST" : "FIN")
        case .streamOpened, .upgraded: break
        }
    }

    /// Ends of connections that carry no messages are of no interest.
    private func isCarrier(_ event: ClientEvent) -> Bool { if case .answered = event { false } else { true } }

    private func readEvents(_ bytes: [UInt8]) {
        var at = 0
        while true {
            switch events.feed(bytes.span, from: at) {
            case .more: return
            case .event(let event, let next):
                note(event.data)
                at = next
            case .comment(_, let next), .retry(_, let next), .tooLong(let next): at = next
            }
        }
    }

    private func note(_ bytes: [UInt8]) {
        heard += String(decoding: bytes, as: UTF8.self).split(separator: "\u{1e}").map(String.init)
            .filter { $0 != #"{"type":6}"# }
    }
}
