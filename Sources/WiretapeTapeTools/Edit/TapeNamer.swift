internal import WiretapeBytes
internal import WiretapeFaults
package import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Writes names of sessions on the `open` events of their connections, in two passes: ``look(_:)`` at every line, then
/// ``settle()``, then ``change(_:)`` gives the lines anew. Memory: the tape's connections.
package struct TapeNamer: Sendable {
    /// An empty name takes the name away.
    private let names: [(name: String, session: Int)]
    private let codecs: [CodecEntry]
    private var reader: SessionReader?
    private var decoded: [DecodedMessage] = []
    private var take = 0
    private var headerLine = 0
    private var opens: [Place: Int] = [:]
    private var usage: [Place: Set<Int>] = [:]
    private var known: [Place: String] = [:]
    /// Names to write, by line of the `open`; those of connections without one, to be written behind the header.
    private var changes: [Int: String] = [:]
    private var missing: [(connection: UInt32, name: String)] = []

    private struct Place: Hashable, Comparable {
        var take: Int
        var connection: UInt32

        static func < (a: Self, b: Self) -> Bool { (a.take, a.connection) < (b.take, b.connection) }
    }

    package init(_ names: [(name: String, session: Int)], codecs: [CodecEntry]) {
        self.names = names
        self.codecs = codecs
    }

    /// Letters, digits, `-`, `_` and `.`: names stand in URLs and in lists with commas.
    package static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 64
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }

    package mutating func look(_ line: TapeLine) {
        switch line.what {
        case .header(let header):
            headerLine = line.line
            reader = SessionReader(codecs: codecs, header: header, keepsEntries: false)
        case .event(let event, let isUnframed):
            if case .take = event.kind { take += 1 }
            let place = Place(take: take, connection: event.connection)
            if case .open(let open) = event.kind {
                opens[place] = line.line
                known[place] = open.session
            }
            decoded.removeAll(keepingCapacity: true)
            reader?.read(event, number: line.number, line: line.line, isUnframed: isUnframed, into: &decoded)
            for one in decoded { usage[place, default: []].insert(one.session) }
        case .comment, .bad: break
        }
    }

    /// Decides which lines get names. Call it between the passes.
    package mutating func settle() throws(TapeEdit.Fault) {
        let sessions = reader?.finish() ?? []
        for (name, number) in names {
            guard let session = sessions.first(where: { $0.number == number }) else {
                throw TapeEdit.Fault(line: 0, reason: "there is no session \(number): the tape has \(sessions.count)")
            }
            var places = usage.filter { $0.value.contains(number) }.map(\.key).sorted()
            if places.isEmpty { places = session.connections.map { Place(take: take, connection: $0) } }
            // A connection that several sessions use (HTTP keeps it) has no name of its own.
            let own = places.filter { usage[$0, default: [number]].count == 1 }
            guard !own.isEmpty else {
                throw TapeEdit.Fault(
                    line: 0,
                    reason: "session \(number) cannot be named: a name belongs to a connection, and other sessions use "
                        + "each connection of this one. Commands take its number, \(number), as well"
                )
            }
            for place in own { write(name, at: place) }
        }
        try checkUnique()
    }

    private mutating func write(_ name: String, at place: Place) {
        known[place] = name.isEmpty ? nil : name
        if let line = opens[place] {
            changes[line] = name
        } else if !name.isEmpty {
            missing.append((place.connection, name))
        }
    }

    private func checkUnique() throws(TapeEdit.Fault) {
        var owners: [String: Int] = [:]
        for (place, name) in known.sorted(by: { $0.key < $1.key }) {
            for session in usage[place, default: []].sorted() {
                if let other = owners[name], other != session {
                    throw TapeEdit.Fault(
                        line: opens[place] ?? 0, reason: "sessions \(other) and \(session) would both be '\(name)'")
                }
                owners[name] = session
            }
        }
    }

    package func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        if line.line == headerLine {
            return [TapeNewLine(line)]
                + missing.map { connection, name in
                    let event = TapeEvent(time: 0, connection: connection, .open(.init(session: name)))
                    var bytes: [UInt8] = []
                    TapeLines.append(event, into: &bytes)
                    bytes.removeLast()
                    return TapeNewLine(bytes, event)
                }
        }
        guard let name = changes[line.line], case .event(let event, _) = line.what else { return [TapeNewLine(line)] }
        var text = JSONText(line.bytes)
        do throws(JSONText.Fault) {
            if !name.isEmpty {
                try text.set("/session", to: Array(JSONValue.string(name).text.utf8))
            } else if text.range(at: "/session") != nil {
                try text.remove("/session")
            }
        } catch {
            throw TapeEdit.Fault(line: line.line, reason: error.reason)
        }
        return [TapeNewLine(text.bytes, event)]
    }
}
