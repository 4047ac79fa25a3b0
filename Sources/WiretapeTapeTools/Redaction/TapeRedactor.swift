internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeRedaction
package import WiretapeSystem
package import WiretapeTape
internal import WiretapeWire

/// Takes the secrets out of a tape that has them, line by line: what has none is copied byte for byte, and so are keys that
/// this version does not know.
package struct TapeRedactor {
    private let redaction: TapeRedaction
    /// The header's `redaction` from now on; nil: it stays.
    private let name: String?
    /// Events that stand for those of the tape so far.
    private var written: UInt64 = 0
    private var lastTime: UInt64 = 0

    /// - Parameters:
    ///   - name: the header's `redaction` from now on.
    ///   - first: the number of the first pseudonym: above those that the tape has already.
    init(_ rules: RedactionRules, name: String, first: Int, tell: @escaping (String) -> Void) {
        redaction = TapeRedaction(rules, first: first, tell: tell)
        self.name = name
    }

    /// For whoever only looks.
    init(_ redaction: TapeRedaction) {
        self.redaction = redaction
        name = nil
    }

    /// Gives pseudonyms other numbers, and changes nothing else.
    init(renumbering numbers: [Int: Int]) { self.init(TapeRedaction(renumbering: numbers)) }

    /// Writes the tape at `path` without its secrets.
    /// - Returns: how many different ones it had.
    package static func write(
        _ path: String, to target: TapeRewrite.Target, _ rules: RedactionRules, name: String,
        longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles(),
        tell: @escaping (String) -> Void
    ) throws -> Int {
        var redactor = TapeRedactor(
            rules, name: name, first: try largestNumber(path, longestLine: longestLine, in: files) + 1, tell: tell)
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        try TapeRewrite.write(target, of: path, isCompressed: reader.isCompressed, in: files) { output in
            while let line = try reader.next() {
                if case .bad(let fault) = line.what {
                    throw TapeError(
                        .badLine, file: path, event: line.number,
                        "line \(line.line), column \(fault.offset + 1): \(fault.reason); see `wiretape validate \(path)`"
                    )
                }
                for new in redactor.change(line) { try output.line(new.bytes.span, event: new.event) }
            }
            for new in redactor.rest() { try output.line(new.bytes.span, event: new.event) }
        }
        return redactor.redaction.secrets
    }

    /// The numbers of the pseudonyms on the tape, at most ``Pseudonym/largest``.
    package static func numbers(
        on path: String, longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws(TapeError) -> Set<Int> {
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        var redactor = TapeRedactor(renumbering: [:])
        while let line = try reader.next() { _ = redactor.change(line) }
        _ = redactor.rest()
        return redactor.redaction.numbers
    }

    /// The largest of these numbers; 0: there are none.
    package static func largestNumber(
        _ path: String, longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws(TapeError) -> Int {
        try numbers(on: path, longestLine: longestLine, in: files).max() ?? 0
    }

    /// A text as it stands on the tape from now on.
    func text(_ text: String) -> String { redaction.text(text) }

    /// The lines that stand for a line.
    mutating func change(_ line: TapeLine) -> [TapeNewLine] {
        switch line.what {
        case .header(let header): return [self.header(header, line)]
        case .comment:
            return [TapeNewLine(Array(redaction.text(String(decoding: line.bytes, as: UTF8.self)).utf8), nil)]
        case .bad: return [TapeNewLine(line)]
        case .event(let event, let isUnframed):
            lastTime = event.time
            switch event.kind {
            case .unknown, .frame:
                written += 1
                return [unknown(line, event)]
            case .open, .request, .response, .chunk, .end, .message, .part, .ping, .pong, .close, .gone, .fault,
                .mark, .take, .gap, .missing, .stop:
                break
            }
            var events: [TapeEvent] = []
            redaction.take(event, into: &events)
            if case .stop(let count, let connections, let level) = event.kind, written != line.number - 1,
                count == line.number - 1, !events.isEmpty
            {
                // Pieces have become more, or fewer.
                let all = written + UInt64(events.count - 1)
                events[events.count - 1].kind = .stop(events: all, connections: connections, level: level)
            }
            written += UInt64(events.count)
            guard events != [event] else { return [TapeNewLine(line)] }
            return events.map { new in
                guard TapeRedactor.isSameKind(new, event) else { return TapeRedactor.fresh(new) }
                return TapeRedactor.patched(line.bytes, event, new, isUnframed: isUnframed)
            }
        }
    }

    /// What waited for the end of its stream when the tape ended.
    mutating func rest() -> [TapeNewLine] {
        var events: [TapeEvent] = []
        redaction.flushAll(at: lastTime, into: &events)
        return events.map(TapeRedactor.fresh)
    }

    private func header(_ header: TapeHeader, _ line: TapeLine) -> TapeNewLine {
        var text = JSONText(line.bytes)
        for upstream in header.upstreams {
            let bare = redaction.text(upstream.url)
            let pointer = "/upstreams/" + upstream.name.replacing("~", with: "~0").replacing("/", with: "~1")
            if bare != upstream.url { try? text.set(pointer, to: Array(JSONValue.string(bare).text.utf8)) }
        }
        if let name, header.redaction != name, header.redaction != "rules" {
            try? text.set("/redaction", to: Array(JSONValue.string(name).text.utf8))
        }
        return TapeNewLine(text.bytes, nil)
    }

    /// A line of a kind that carries bytes which are no message.
    private func unknown(_ line: TapeLine, _ event: TapeEvent) -> TapeNewLine {
        var text = JSONText(line.bytes)
        // A compressed frame cannot be looked at.
        let head = (try? JSONValue(parsing: line.bytes))?["head"]?.int ?? 0
        let isDeflated = head & 0x40 != 0 && text.range(at: "/b64") != nil
        if isDeflated, redaction.leavesOut {
            try? text.remove("/b64")
            try? text.set("/text", to: Array("\"\"".utf8))
        }
        func member(_ pointer: String) -> String? {
            guard let range = text.range(at: pointer) else { return nil }
            return (try? JSONValue(parsing: Array(text.bytes[range])))?.string
        }
        let direction: Direction = member("/d") == "<" ? .toClient : .toServer
        let isFrame = if case .frame = event.kind { true } else { false }
        let oldWhy = member("/why")
        var why = oldWhy.map { redaction.text($0) } ?? ""
        func shown(_ bytes: [UInt8]) -> [UInt8] {
            isFrame ? redaction.lines(bytes) : redaction.malformed(event.connection, direction, bytes, why: &why)
        }
        if let old = member("/text") {
            let bytes = Array(old.utf8)
            let new = shown(bytes)
            if new != bytes {
                try? text.set("/text", to: Array(JSONValue.string(String(decoding: new, as: UTF8.self)).text.utf8))
            }
        }
        if !isDeflated, let old = member("/b64"), let bytes = Base64.decode(old) {
            let new = shown(bytes)
            if new != bytes { try? text.set("/b64", to: Array(JSONValue.string(Base64.encode(new.span)).text.utf8)) }
        }
        if why != oldWhy ?? "" { try? text.set("/why", to: Array(JSONValue.string(why).text.utf8)) }
        return TapeNewLine(text.bytes, event)
    }

    private static func isSameKind(_ new: TapeEvent, _ old: TapeEvent) -> Bool {
        switch old.kind {
        case .request: if case .request = new.kind { true } else { false }
        case .response: if case .response = new.kind { true } else { false }
        case .chunk: if case .chunk = new.kind { true } else { false }
        case .end: if case .end = new.kind { true } else { false }
        case .message: if case .message = new.kind { true } else { false }
        case .part: if case .part = new.kind { true } else { false }
        case .ping: if case .ping = new.kind { true } else { false }
        case .pong: if case .pong = new.kind { true } else { false }
        case .close: if case .close = new.kind { true } else { false }
        case .gone: if case .gone = new.kind { true } else { false }
        case .fault: if case .fault = new.kind { true } else { false }
        case .mark: if case .mark = new.kind { true } else { false }
        case .open: if case .open = new.kind { true } else { false }
        case .take: if case .take = new.kind { true } else { false }
        case .gap: if case .gap = new.kind { true } else { false }
        case .missing: if case .missing = new.kind { true } else { false }
        case .stop: if case .stop = new.kind { true } else { false }
        case .frame, .unknown: false
        }
    }

    private static func fresh(_ event: TapeEvent) -> TapeNewLine {
        var bytes: [UInt8] = []
        TapeLines.append(event, into: &bytes)
        bytes.removeLast()
        return TapeNewLine(bytes, event)
    }

    /// The old line with what is different.
    private static func patched(_ line: [UInt8], _ old: TapeEvent, _ new: TapeEvent, isUnframed: Bool) -> TapeNewLine {
        guard let before = try? JSONValue(parsing: fresh(old).bytes),
            let after = try? JSONValue(parsing: fresh(new).bytes)
        else { return fresh(new) }
        var text = JSONText(line)
        for member in after.members ?? [] where before[member.name] != member.value {
            if isUnframed, member.name == "text" || member.name == "b64" {
                guard let payload = payload(of: new), (try? JSONValue(parsing: payload)) != nil else {
                    return fresh(new)
                }
                try? text.set("/json", to: payload)
            } else {
                try? text.set("/\(member.name)", to: Array(member.value.text.utf8))
            }
        }
        for member in before.members ?? [] where after[member.name] == nil {
            try? text.remove(isUnframed && member.name == "text" ? "/json" : "/\(member.name)")
        }
        return TapeNewLine(text.bytes, new)
    }

    private static func payload(of event: TapeEvent) -> [UInt8]? {
        switch event.kind {
        case .message(_, _, let bytes, _, _), .chunk(_, _, let bytes), .part(_, _, _, let bytes, _),
            .ping(_, let bytes),
            .pong(_, let bytes), .request(_, _, .whole(let bytes)), .response(_, _, .whole(let bytes), _, _, _):
            bytes
        case .open, .request, .response, .end, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing, .stop,
            .unknown:
            nil
        }
    }
}
