internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
internal import WiretapeWire

/// Where a sweep puts its faults.
enum SweepPoints: String, CaseIterable, Sendable {
    /// Behind every message, of either side.
    case messages
    /// At the requests that open a connection, the handshake, and the first and last message of a session.
    case boundaries
    /// Inside every message to the client: its first byte, behind its head, in the middle, before its last byte.
    case bytes

    struct Place {
        /// As rules write it.
        var text: String
        /// Bytes of the frame that carries its message, the header counted.
        var size = 0
        var headerSize: Int { size <= 127 ? 2 : size <= 65_539 ? 4 : 10 }
    }

    /// The places of a session, in the order of the tape.
    func places(of session: RecordedSession) -> [Place] {
        switch self {
        case .messages: names(of: session).map { Place(text: "after \($0.text)") }
        case .boundaries: boundaries(of: session).map { Place(text: $0) }
        case .bytes:
            names(of: session).filter { $0.direction == .toClient }.map { name in
                Place(text: "on \(name.text)", size: name.size + (name.size <= 125 ? 2 : name.size <= 65_535 ? 4 : 10))
            }
        }
    }

    /// The faults to put there, from those that were asked for: cuts inside a message come before an end.
    func faults(_ asked: [String], at place: Place) -> [(text: String, asked: String)] {
        guard self == .bytes else { return asked.map { ($0, $0) } }
        let middle = place.headerSize + (place.size - place.headerSize) / 2
        let cuts = Set([1, place.headerSize, middle, place.size - 1]).sorted().filter { (1..<place.size).contains($0) }
        return cuts.flatMap { cut in asked.map { ("truncate(\(cut)) + \($0)", $0) } }
    }

    private struct Name {
        var text: String
        var direction: Direction
        /// Bytes of the message.
        var size: Int
    }

    /// Every message by its label, or its type where it has none, with its ordinal.
    private func names(of session: RecordedSession) -> [Name] {
        let messages = session.entries.compactMap { entry -> Message? in
            guard case .message(let message) = entry.what else { return nil }
            return [.handshake, .keepalive, .ack, .opaque].contains(message.role) ? nil : message
        }
        var before: [Direction: [String: Int]] = [:]
        let all = Dictionary(grouping: messages, by: \.direction).mapValues { Set($0.flatMap(Self.words)) }
        return messages.map { message in
            for word in Set(Self.words(message)) { before[message.direction, default: [:]][word, default: 0] += 1 }
            let name = Self.words(message).last ?? message.type
            let same = before[message.direction]?[name] ?? 1
            let isBoth = all[message.direction.reversed]?.contains(name) ?? false
            let direction = isBoth ? ", direction=\(message.direction.name)" : ""
            return Name(
                text: "\(Self.quoted(name))[\(same)\(direction)]", direction: message.direction,
                size: message.bytes.count)
        }
    }

    /// What a rule may call a message by: its type, and its label where it brings that.
    private static func words(_ message: Message) -> [String] {
        let isLabelled = ![.reply, .part, .cancel].contains(message.role)
        return [message.type] + (isLabelled ? message.label.map { [$0] } ?? [] : [])
    }

    /// The first of each: one that came on every attempt would keep a client that tries again at once busy for ever.
    private func boundaries(of session: RecordedSession) -> [String] {
        var places: [String] = []
        if session.negotiate != nil { places.append("on negotiate[1]") }
        switch session.transport {
        case _ where session.isOperation: places += ["on operation[1]", "after operation[1]"]
        case .ws: places += ["on upgrade[1]", "after upgrade[1]"]
        case .lp: places += ["on poll[1]", "on poll[2]"]
        case .sse, .stream, .multipart, .http: places.append("on stream[1]")
        }
        let names = names(of: session)
        if session.entries.contains(where: {
            if case .message(let one) = $0.what { one.role == .handshake } else { false }
        }) {
            places.append("after handshake[1]")
        }
        if let first = names.first { places += ["before \(first.text)", "after \(first.text)"] }
        if names.count > 1, let last = names.last { places += ["before \(last.text)", "after \(last.text)"] }
        return places
    }

    /// A label that is no plain word, or is spelled like a point, stands in quotes.
    private static func quoted(_ name: String) -> String {
        let isPlain =
            name.utf8.first.map { Self.isLetter($0) } ?? false
            && name.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) || "-./:".utf8.contains($0) }
            && !(name.utf8.last.map { "-./:".utf8.contains($0) } ?? true)
        guard !isPlain || FaultPoint(rawValue: name) != nil else { return name }
        return "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
    }
}

extension Direction {
    /// As rules write it.
    fileprivate var name: String { self == .toServer ? "toServer" : "toClient" }
}
