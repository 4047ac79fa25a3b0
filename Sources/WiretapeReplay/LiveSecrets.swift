internal import WiretapeBytes
internal import WiretapeFaults
internal import WiretapeMessages
internal import WiretapeProtocol
package import WiretapeRedaction
internal import WiretapeWire

/// What the pseudonyms of a tape stand for in a run: the live values of its clients. What a client says is read with the
/// pseudonyms in the place of its values, so that it is compared with what is on the tape and nothing that is told of it
/// has a secret; what the server says again carries the live ones.
///
/// A pseudonym is bound to the first live value that stands in its place, for each client; a later, renewed value takes
/// its place from then on. One that no client has given stays what it is: it is a fine token for a server that is played.
package struct LiveSecrets: Sendable {
    private var variables = TapeVariables()
    /// Texts of header fields, cookies and items of queries that have pseudonyms, by the name of their place.
    private var slots: [String: [Slot]] = [:]
    /// A recorded text with pseudonyms, and the path of the request that had it.
    private struct Slot: Hashable {
        var path: String
        var text: String
    }

    /// How the tape spells each pseudonym.
    private var spellings: [Int: String] = [:]
    /// Live values by client and number.
    private var live: [String: [Int: String]] = [:]
    private var known = SecretTable()
    /// Finds what else a client says that nobody should read in a report.
    private var masker: Redactor

    /// Numbers of secrets that the tape does not have.
    static let firstForeign = 90_001
    /// Clients whose values are kept apart.
    static let mostClients = 4096

    /// - Parameter rules: what is a secret besides, of which nothing is told.
    package init(_ rules: RedactionRules = RedactionRules()) {
        masker = Redactor(rules, first: LiveSecrets.firstForeign)
    }

    /// Whether the tape has pseudonyms.
    package var isActive: Bool { !variables.isEmpty || !slots.isEmpty }

    // MARK: The tape

    mutating func learn(_ other: TapeVariables) { variables.add(other) }

    /// An ordinary request of the tape.
    mutating func learn(_ exchange: RecordedExchange) {
        learn(exchange.request)
        let body = ExchangeBody(exchange.requestBody, exchange.request.headers).value
        variables.add(kind: "body", meaning: body, content: body)
    }

    /// A request of the tape: its header fields, cookies and items.
    mutating func learn(_ head: RequestHead) {
        for (slot, text) in LiveSecrets.texts(head) {
            let found = Slot(path: head.path, text: text)
            guard slots[slot]?.contains(found) != true, slots[slot, default: []].count < 256,
                !Pseudonym.ranges(in: Array(text.utf8)).isEmpty
            else { continue }
            slots[slot, default: []].append(found)
        }
    }

    /// `header authorization` and its value …
    private static func texts(_ head: RequestHead) -> [(slot: String, text: String)] {
        // A plus in a query is read as a blank, as servers do: so it stands in what they say again.
        var query = head
        query.target = head.target.replacing("+", with: "%20")
        var texts: [(String, String)] = query.query.map { ("query \($0.name.lowercased())", $0.value) }
        for field in head.headers {
            let name = field.name.lowercased()
            guard name == "cookie" else {
                texts.append(("header \(name)", field.value))
                continue
            }
            for part in field.value.split(separator: ";") {
                guard let equals = part.firstIndex(of: "=") else { continue }
                texts.append(
                    ("cookie \(part[..<equals].trimmingBlanks())", part[part.index(after: equals)...].trimmingBlanks()))
            }
        }
        return texts
    }

    // MARK: What clients say

    /// A live request: its values are what the tape's pseudonyms stand for.
    mutating func hear(_ head: RequestHead, of client: String) {
        _ = masker.head(head)
        guard !slots.isEmpty else { return }
        for (slot, text) in LiveSecrets.texts(head) {
            guard let recorded = slots[slot] else { continue }
            // One name may have other secrets in requests to other places.
            let own = recorded.filter { $0.path == head.path }
            let captures = (own.isEmpty ? recorded : own).compactMap { LiveSecrets.captures($0.text, text) }
            if let best = choose(captures, of: client) { bind(best, for: client) }
        }
    }

    /// A live message as the tape would have it.
    /// - Parameter isRecorded: whether the tape has the message as it is: then nothing in it is a variable.
    mutating func hear(_ message: inout Message, of client: String, isRecorded: (Message) -> Bool) {
        _ = masker.payload(message.bytes, isBinary: message.opcode == .binary)
        guard isActive else { return }
        message.meaning = withPseudonyms(message.meaning)
        message.content = withPseudonyms(message.content)
        message.summary = withPseudonyms(message.summary)
        guard !variables.isEmpty, !isRecorded(message) else { return }
        let templates = variables.templates(kind: TapeVariables.kind(message), meaning: message.meaning)
        let found = templates.compactMap { template in
            captures(template.content, message.content).map { (template, $0) }
        }
        if let best = choose(found.map(\.1), of: client), let template = found.first(where: { $0.1 == best })?.0 {
            bind(best, for: client)
            message.meaning = TapeVariables.setting(template.meaning, in: message.meaning)
            message.content = TapeVariables.setting(template.content, in: message.content)
        }
        message.summary = withPseudonyms(message.summary)
    }

    /// The body of an ordinary request with pseudonyms in the place of known values.
    mutating func named(_ body: [UInt8], _ head: RequestHead) -> [UInt8] {
        _ = masker.payload(body, isBinary: true)
        guard isActive, !body.isEmpty else { return body }
        let said = ExchangeBody(body, head.headers)
        return LiveSecrets.bytes(withPseudonyms(said.value), said) ?? body
    }

    /// The body as the tape would have it, when the tape does not have it as it is.
    mutating func hear(body: [UInt8], _ head: RequestHead, of client: String) -> [UInt8] {
        guard isActive, !body.isEmpty else { return body }
        let said = ExchangeBody(body, head.headers)
        let value = said.value
        let templates = variables.templates(kind: "body", meaning: value)
        let found = templates.compactMap { template in captures(template.content, value).map { (template, $0) } }
        guard let best = choose(found.map(\.1), of: client), let template = found.first(where: { $0.1 == best })?.0
        else {
            return body
        }
        bind(best, for: client)
        return LiveSecrets.bytes(TapeVariables.setting(template.content, in: value), said) ?? body
    }

    /// The same kind of body with another value; nil when it is the same.
    private static func bytes(_ value: JSONValue, _ said: ExchangeBody) -> [UInt8]? {
        guard value != said.value else { return nil }
        switch said {
        case .json: return Array(value.text.utf8)
        case .form:
            let items = (value.members ?? []).map { member in
                "\(encoded(member.name))=\(encoded(member.value.string ?? ""))"
            }
            return Array(items.joined(separator: "&").utf8)
        case .bytes: return value["text"]?.string.map { Array($0.utf8) }
        case .none: return nil
        }
    }

    private static func encoded(_ text: String) -> String {
        text.replacing("%", with: "%25").replacing("&", with: "%26").replacing("=", with: "%3D")
            .replacing("+", with: "%2B").replacing("#", with: "%23")
    }

    /// Known live values are called by their pseudonyms.
    private func withPseudonyms(_ value: JSONValue) -> JSONValue {
        guard !known.isEmpty else { return value }
        switch value {
        case .string(let text): return .string(withPseudonyms(text))
        case .array(let items): return .array(items.map(withPseudonyms))
        case .object(let members): return .object(members.map { .init($0.name, withPseudonyms($0.value)) })
        case .null, .bool, .number: return value
        }
    }

    private func withPseudonyms(_ text: String) -> String {
        let bytes = Array(text.utf8)
        guard case .found(let places) = known.find(in: bytes), !places.isEmpty else { return text }
        var out: [UInt8] = []
        var at = 0
        for place in places {
            out += bytes[at..<place.range.lowerBound]
            out += Array((spellings[place.number] ?? "td_\(place.number)").utf8)
            at = place.range.upperBound
        }
        return String(decoding: out + bytes[at...], as: UTF8.self)
    }

    // MARK: Binding

    /// A pseudonym as the tape spells it, and the live text in its place.
    private struct Capture: Hashable {
        var number: Int
        var spelling: String
        var value: String
    }

    private func captures(_ places: [TapeVariables.Place], _ live: JSONValue) -> [Capture]? {
        var all: [Capture] = []
        for place in places {
            switch (place.recorded, TapeVariables.value(live, at: place.path)) {
            case (.string(let recorded), .string(let text)?):
                guard let captures = LiveSecrets.captures(recorded, text) else { return nil }
                all += captures
            case (.number(let recorded), .number(let text)?):
                guard let number = Pseudonym.number(of: recorded) else { return nil }
                all.append(Capture(number: number, spelling: recorded, value: text))
            case (.string, _), (.number, _), (.null, _), (.bool, _), (.array, _), (.object, _): return nil
            }
        }
        return all
    }

    /// What stands in the places of a recorded text's pseudonyms: `Bearer td_1` and `Bearer abc` give `abc`. Nil when the
    /// texts differ elsewhere.
    private static func captures(_ recorded: String, _ live: String) -> [Capture]? {
        let pattern = Array(recorded.utf8)
        let text = Array(live.utf8)
        var captures: [Capture] = []
        var (at, from) = (0, 0)
        let ranges = Pseudonym.ranges(in: pattern)
        for (i, range) in ranges.enumerated() {
            let before = pattern[from..<range.lowerBound]
            guard text[at...].starts(with: before) else { return nil }
            at += before.count
            let next = i + 1 < ranges.count ? ranges[i + 1].lowerBound : pattern.count
            let behind = pattern[range.upperBound..<next]
            var end = text.count
            if i + 1 == ranges.count {
                end = text.count - behind.count
                guard end >= at, text[end...].elementsEqual(behind) else { return nil }
            } else if !behind.isEmpty {
                guard let found = (at..<text.count).first(where: { text[$0...].starts(with: behind) }) else {
                    return nil
                }
                end = found
            }
            guard end > at, let number = Pseudonym.number(of: Array(pattern[range])) else { return nil }
            captures.append(
                Capture(
                    number: number, spelling: String(decoding: pattern[range], as: UTF8.self),
                    value: String(decoding: text[at..<end], as: UTF8.self)))
            at = end
            from = range.upperBound
        }
        return captures
    }

    /// Of several that a live text may stand for: the one whose values are bound so already, else one whose pseudonyms
    /// have no value yet, else the first.
    private func choose(_ candidates: [[Capture]], of client: String) -> [Capture]? {
        let mine = live[client] ?? [:]
        func isBound(_ capture: Capture) -> Bool {
            mine[capture.number] == capture.value || capture.value == capture.spelling
        }
        if let same = candidates.first(where: { $0.allSatisfy(isBound) }) { return same }
        return candidates.first { $0.allSatisfy { mine[$0.number] == nil || isBound($0) } } ?? candidates.first
    }

    private mutating func bind(_ captures: [Capture], for client: String) {
        for capture in captures where capture.value != capture.spelling {
            spellings[capture.number] = capture.spelling
            guard Pseudonym.number(of: capture.value) == nil else { continue }
            let client = live[client] == nil && live.count >= LiveSecrets.mostClients ? "" : client
            live[client, default: [:]][capture.number] = capture.value
            let spelled = capture.value.replacing(" ", with: "+")
            for value in spelled == capture.value ? [spelled] : [capture.value, spelled] {
                known.add(Array(value.utf8), capture.number, isSought: true)
                masker.learn(Array(value.utf8))
            }
        }
    }

    // MARK: What the server says

    /// Bytes for a client with its live values in the place of pseudonyms.
    func say(_ bytes: [UInt8], isBinary: Bool = false, to client: String?) -> [UInt8] {
        guard !live.isEmpty else { return bytes }
        if isBinary,
            case .changed(let new) = PackedTexts.replacing(
                bytes, { text, _ in restored(text, to: client, isJSON: false) })
        {
            return new
        }
        return isBinary
            ? restored(bytes, to: client, isJSON: false) ?? bytes : restoredText(bytes, to: client) ?? bytes
    }

    func say(_ headers: [HeaderField], to client: String?) -> [HeaderField] {
        guard !live.isEmpty else { return headers }
        return headers.map { field in
            let new = restored(Array(field.value.utf8), to: client, isJSON: false)
            return new.map { HeaderField(field.name, String(decoding: $0, as: UTF8.self)) } ?? field
        }
    }

    func say(_ answer: HTTPAnswer, to client: String?) -> HTTPAnswer {
        guard !live.isEmpty else { return answer }
        var answer = answer
        answer.headers = say(answer.headers, to: client)
        let isText = String(validUTF8: answer.body) != nil
        answer.body = say(answer.body, isBinary: !isText, to: client)
        return answer
    }

    /// The same for a text, in which messages behind their lengths may stand: lengths are those of what is said.
    private func restoredText(_ bytes: [UInt8], to client: String?) -> [UInt8]? {
        guard !Pseudonym.ranges(in: bytes).isEmpty else { return nil }
        func restoredRecords(_ text: [UInt8]) -> [UInt8]? {
            LengthPrefixedTexts.replacing(text) { restored($0, to: client, isJSON: true) }
        }
        if LengthPrefixedTexts.isAll(bytes) { return restoredRecords(bytes) }
        var out: [UInt8] = []
        var at = 0
        for place in LengthPrefixedPlace.all(in: bytes) {
            guard let new = restoredRecords(place.text) else { continue }
            let before = Array(bytes[at..<place.range.lowerBound])
            out += restored(before, to: client, isJSON: true) ?? before
            out += place.written(new)
            at = place.range.upperBound
        }
        let rest = Array(bytes[at...])
        let newRest = restored(rest, to: client, isJSON: true)
        return at == 0 ? newRest : out + (newRest ?? rest)
    }

    private func restored(_ bytes: [UInt8], to client: String?, isJSON: Bool) -> [UInt8]? {
        let ranges = Pseudonym.ranges(in: bytes)
        guard !ranges.isEmpty else { return nil }
        var out: [UInt8] = []
        var at = 0
        for range in ranges {
            guard let number = Pseudonym.number(of: Array(bytes[range])), let value = value(number, of: client) else {
                continue
            }
            let new = Array(value.utf8)
            out += bytes[at..<range.lowerBound]
            out += isJSON ? LiveSecrets.escaped(new, for: range.lowerBound, in: bytes) : new
            at = range.upperBound
        }
        return at == 0 ? nil : out + bytes[at...]
    }

    /// As a text of JSON has it; in JSON that stands in a text of JSON, once more. The quote before it tells how deep it stands.
    private static func escaped(_ text: [UInt8], for place: Int, in bytes: [UInt8]) -> [UInt8] {
        let once = TextScan.escaped(text)
        guard once != text, let quote = bytes[..<place].lastIndex(of: UInt8(ascii: "\"")) else { return once }
        var backslashes = 0
        while quote > backslashes, bytes[quote - 1 - backslashes] == UInt8(ascii: "\\") { backslashes += 1 }
        var escaped = once
        var level = 1
        while level <= backslashes, level < 16 {
            escaped = TextScan.escaped(escaped)
            level = 2 * level + 1
        }
        return escaped
    }

    private func value(_ number: Int, of client: String?) -> String? {
        if let client, let own = live[client]?[number] { return own }
        // A session may go by another name than the request that brought its token.
        guard live.count == 1 || client == nil else { return nil }
        return live.values.lazy.compactMap { $0[number] }.first
    }

    // MARK: What people read

    /// A text for logs and reports without secrets.
    /// - Parameter words: texts of the user that stay as they are.
    package mutating func masked(_ text: String, sparing words: [String] = []) -> String {
        masker.text(withPseudonyms(text), sparing: words)
    }
}
