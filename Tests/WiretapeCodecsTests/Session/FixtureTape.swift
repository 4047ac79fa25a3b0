import Foundation
import WiretapeCore

/// A plain tape of `Tests/Fixtures`, as far as its events are used there.
struct FixtureTape {
    var events: [TapeEvent] = []

    /// - Parameter name: below `Tests/Fixtures`, without `.tape`.
    init(_ name: String, file: String = #filePath) throws {
        let folder = URL(filePath: file).deletingLastPathComponent().appending(path: "../../Fixtures")
        let text = try String(contentsOf: folder.appending(path: "\(name).tape"), encoding: .utf8)
        for line in text.split(separator: "\n").dropFirst() where !line.hasPrefix("#") {
            events.append(try FixtureTape.event(JSONValue(parsing: String(line))))
        }
    }

    static let signalR = [
        "signalr-js-ws-json", "aspnet10-js-ws-json", "aspnet10-dotnet-ws-json", "signalr-js-ws-reconnect",
        "signalr-swift-ws-json", "aspnet10-js-abort-skip-negotiation", "aspnet10-js-ws-stateful-reconnect",
    ].map { "signalr/\($0)" }

    private static func event(_ line: JSONValue) -> TapeEvent {
        let x = UInt32(line["x"]?.int ?? 0)
        let direction: Direction = line["d"]?.string == ">" ? .toServer : .toClient
        let bytes = line["text"]?.string.map { Array($0.utf8) }
        let body = bytes.map(TapeEvent.Body.whole) ?? .none
        let headers = (line["headers"]?.array ?? []).compactMap { pair -> HeaderField? in
            guard let name = pair.array?.first?.string, let value = pair.array?.last?.string else { return nil }
            return HeaderField(name, value)
        }
        let kind: TapeEvent.Kind
        switch line["e"]?.string ?? "" {
        case "open": kind = .open(.init())
        case "request":
            let head = RequestHead(
                method: line["method"]?.string ?? "", target: line["target"]?.string ?? "", headers: headers)
            kind = .request(x: x, head, body)
        case "response":
            let head = ResponseHead(status: line["status"]?.int ?? 0, headers: headers)
            kind = .response(x: x, head, body, interim: false, coding: nil, proxy: false)
        case "message":
            let opcode = Opcode(rawValue: line["op"]?.string ?? "") ?? .text
            kind = .message(direction, opcode, bytes ?? [], deflated: false, fragments: [])
        case "close":
            kind = .close(direction, code: line["code"]?.int.map { UInt16($0) }, reason: line["reason"]?.string)
        case "gone":
            kind = .gone(
                by: .init(rawValue: line["by"]?.string ?? "") ?? .proxy,
                how: .init(rawValue: line["how"]?.string ?? "") ?? .error, why: nil)
        case let name: kind = .unknown(name)
        }
        return TapeEvent(time: UInt64(line["t"]?.int ?? 0), connection: UInt32(line["c"]?.int ?? 0), kind)
    }
}

/// Reads events in order.
struct Reading {
    var reader: SessionReader
    var messages: [DecodedMessage] = []
    private var count: UInt64 = 0

    init(_ codecs: [CodecEntry], _ events: [TapeEvent] = [], keepsEntries: Bool = true) {
        reader = SessionReader(codecs: codecs, keepsEntries: keepsEntries)
        for event in events { read(event) }
    }

    mutating func read(_ event: TapeEvent) {
        count += 1
        reader.read(event, number: count, into: &messages)
    }

    var sessions: [RecordedSession] { reader.finish() }
}

extension RecordedSession {
    /// `> Send("ada")`, `< close 1000`: the entries as lines.
    var lines: [String] {
        entries.map { entry in
            switch entry.what {
            case .message(let message): "\(message.direction.mark) \(message.summary)"
            case .ending(.close(let code, let reason)): "< close \(code.map { "\($0)" } ?? "")\(reason)"
            case .ending(.disconnect): "< disconnect"
            case .ending(.reset): "< reset"
            }
        }
    }
}
