internal import WiretapeBytes
internal import WiretapeProtocol
package import WiretapeTape
internal import WiretapeWire

/// Writes other names of sessions, hosts and paths on a tape, in one pass: in the header, on `open` events, and in the heads
/// of requests and answers. What messages and bodies say is left alone.
package struct TapeRename: Sendable {
    package struct Pair: Hashable, Sendable {
        package var old: String
        package var new: String

        package init(_ old: String, _ new: String) {
            self.old = old
            self.new = new
        }
    }

    package struct Choice: Sendable {
        package var sessions: [Pair] = []
        /// `name` or `name:port`. A name without a port means every port, which stays.
        package var hosts: [Pair] = []
        /// What targets begin with, up to a `/`, a `?` or their end.
        package var paths: [Pair] = []

        package init() {}
    }

    private let choice: Choice
    /// Lines that were changed.
    package private(set) var changed = 0
    private var found: Set<Pair> = []

    package init(_ choice: Choice) { self.choice = choice }

    /// What was asked for and stands nowhere.
    package var missing: [Pair] {
        (choice.sessions + choice.hosts + choice.paths).filter { !found.contains($0) }
    }

    package mutating func change(_ line: TapeLine) throws(TapeEdit.Fault) -> [TapeNewLine] {
        var text = JSONText(line.bytes)
        do throws(JSONText.Fault) {
            switch line.what {
            case .comment, .bad: return [TapeNewLine(line)]
            case .header: try header(&text)
            case .event(let event, _): try self.event(event, &text)
            }
        } catch {
            throw TapeEdit.Fault(line: line.line, reason: error.reason)
        }
        guard text.bytes != line.bytes else { return [TapeNewLine(line)] }
        changed += 1
        return [TapeNewLine(text.bytes, line.event)]
    }

    private mutating func header(_ text: inout JSONText) throws(JSONText.Fault) {
        try set(&text, "/route") { $0.path($1) }
        for range in text.ranges(at: "/upstreams/*").reversed() {
            guard let old = TapeRename.string(text.bytes, range) else { continue }
            let new = url(old)
            if new != old { text = TapeRename.replacing(range, of: text, with: new) }
        }
    }

    private mutating func event(_ event: TapeEvent, _ text: inout JSONText) throws(JSONText.Fault) {
        switch event.kind {
        case .open:
            try set(&text, "/session") { rename, old in rename.pick(old, rename.choice.sessions) ?? old }
            try set(&text, "/tls/sni") { $0.host($1) }
        case .request:
            try set(&text, "/target") { $0.url($1) }
            headers(&text)
        case .response: headers(&text)
        case .chunk, .end, .message, .part, .ping, .pong, .close, .frame, .gone, .fault, .mark, .take, .gap, .missing,
            .stop,
            .unknown:
            break
        }
    }

    /// The headers that name hosts and paths.
    private mutating func headers(_ text: inout JSONText) {
        let names = text.ranges(at: "/headers/*/0")
        let values = text.ranges(at: "/headers/*/1")
        guard names.count == values.count else { return }
        for (name, value) in zip(names, values).reversed() {
            guard let header = TapeRename.string(text.bytes, name)?.lowercased(),
                let old = TapeRename.string(text.bytes, value)
            else { continue }
            let new: String
            switch header {
            case "host", "x-forwarded-host": new = host(old)
            case "origin", "referer", "location", "content-location", "access-control-allow-origin": new = url(old)
            default: continue
            }
            if new != old { text = TapeRename.replacing(value, of: text, with: new) }
        }
    }

    // MARK: Names

    private mutating func pick(_ old: String, _ pairs: [Pair]) -> String? {
        guard let pair = pairs.first(where: { $0.old == old }) else { return nil }
        found.insert(pair)
        return pair.new
    }

    /// `name` or `name:port`.
    private mutating func host(_ old: String) -> String {
        for pair in choice.hosts {
            if equalIgnoringCase(pair.old, old) {
                found.insert(pair)
                return pair.new
            }
            guard old.count > pair.old.count, equalIgnoringCase(pair.old, String(old.prefix(pair.old.count))) else {
                continue
            }
            let rest = old.dropFirst(pair.old.count)
            if rest.first == ":", rest.dropFirst().allSatisfy({ $0.isASCII && $0.isNumber }) {
                found.insert(pair)
                // A new port takes the place of the old one.
                return pair.new.contains(":") ? pair.new : pair.new + rest
            }
        }
        return old
    }

    private mutating func path(_ old: String) -> String {
        for pair in choice.paths where old.hasPrefix(pair.old) {
            let rest = old.dropFirst(pair.old.count)
            guard rest.isEmpty || rest.first == "/" || rest.first == "?" || pair.old.hasSuffix("/") else { continue }
            found.insert(pair)
            return pair.new + rest
        }
        return old
    }

    /// `scheme://host/path` or a path alone.
    private mutating func url(_ old: String) -> String {
        guard let colon = old.ranges(of: "://").first else { return old.hasPrefix("/") ? path(old) : old }
        let rest = old[colon.upperBound...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return String(old[..<colon.upperBound]) + host(String(rest[..<end])) + path(String(rest[end...]))
    }

    // MARK: Text

    private mutating func set(
        _ text: inout JSONText, _ pointer: String, _ change: (inout TapeRename, String) -> String
    ) throws(JSONText.Fault) {
        guard let range = text.range(at: pointer), let old = TapeRename.string(text.bytes, range) else { return }
        let new = change(&self, old)
        if new != old { try text.set(pointer, to: Array(JSONValue.string(new).text.utf8)) }
    }

    private static func string(_ bytes: [UInt8], _ range: Range<Int>) -> String? {
        (try? JSONValue(parsing: Array(bytes[range])))?.string
    }

    private static func replacing(_ range: Range<Int>, of text: JSONText, with new: String) -> JSONText {
        var bytes = text.bytes
        bytes.replaceSubrange(range, with: Array(JSONValue.string(new).text.utf8))
        return JSONText(bytes)
    }
}
