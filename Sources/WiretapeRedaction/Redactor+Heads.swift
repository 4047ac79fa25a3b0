internal import WiretapeBytes
package import WiretapeWire

/// Heads of requests and answers.
extension Redactor {
    /// The head without its secrets. Its target keeps path and names, cookies keep names and attributes.
    package mutating func head(_ head: RequestHead) -> RequestHead {
        var head = head
        head.target = target(head.target)
        head.headers = fields(head.headers)
        return head
    }

    package mutating func head(_ head: ResponseHead) -> ResponseHead {
        var head = head
        head.headers = fields(head.headers)
        if !head.reason.isEmpty { head.reason = text(head.reason) }
        return head
    }

    package mutating func target(_ target: String) -> String {
        let bytes = Array(target.utf8)
        var new = text(bytes) ?? bytes
        // An item may hold JSON in base64 (AppSync's `header`).
        if let mark = new.firstIndex(of: UInt8(ascii: "?")) {
            let items = new[(mark + 1)...].split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
            var changed = false
            let all = items.map { item -> [UInt8] in
                guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { return Array(item) }
                let plain = Array(percentDecoded(String(decoding: item[(equals + 1)...], as: UTF8.self)).utf8)
                guard let packed = packedJSON(plain) else { return Array(item) }
                changed = true
                return Array(item[...equals]) + packed
            }
            if changed { new = Array(new[...mark]) + Array(all.joined(separator: [UInt8(ascii: "&")])) }
        }
        return String(decoding: new, as: UTF8.self)
    }

    package mutating func fields(_ fields: [HeaderField]) -> [HeaderField] {
        fields.map { field in
            var field = field
            field.value = value(of: field)
            return field
        }
    }

    private mutating func value(of field: HeaderField) -> String {
        let name = field.name.lowercased()
        if isRenumbering, name != "sec-websocket-protocol" { return text(field.value) }
        guard !rules.keeps(header: name) else { return field.value }
        switch name {
        case "cookie":
            return self.cookies(field.value)
        case "set-cookie", "set-cookie2":
            return setCookie(field.value)
        case "sec-websocket-protocol":
            var before = ""
            return field.value.split(separator: ",", omittingEmptySubsequences: false).map { part in
                defer { before = part.trimmingBlanks() }
                return subprotocol(String(part), after: before)
            }.joined(separator: ",")
        // Made of the connection, and as random as secrets.
        case "sec-websocket-key", "sec-websocket-accept", "etag", "if-none-match", "content-length", "date":
            return field.value
        default: break
        }
        if rules.redacts(header: name) {
            return value(Array(field.value.utf8), .header, field.name).map { String(decoding: $0, as: UTF8.self) }
                ?? field.value
        }
        return text(field.value)
    }

    /// Subprotocols carry tokens where browsers can send no header: `header-…` of AppSync, `…bearer.authorization….TOKEN`,
    /// `openai-insecure-api-key.TOKEN`, or a token that follows its name (`access_token, TOKEN`).
    private mutating func subprotocol(_ part: String, after before: String) -> String {
        let name = part.trimmingBlanks()
        let blanks = part.prefix { $0 == " " || $0 == "\t" }
        if name.hasPrefix("header-"), let packed = packedJSON(Array(name.utf8.dropFirst(7))) {
            return blanks + "header-" + String(decoding: packed, as: UTF8.self)
        }
        if let mark = name.lowercased().firstRange(of: "bearer.authorization."), let dot = name.lastIndex(of: "."),
            name.distance(from: name.startIndex, to: dot)
                > name.lowercased().distance(from: name.lowercased().startIndex, to: mark.lowerBound)
        {
            let token = Array(name[name.index(after: dot)...].utf8)
            guard let new = pseudonym(token, .bearer, "Sec-WebSocket-Protocol") else { return part }
            return blanks + name[...dot] + String(decoding: new, as: UTF8.self)
        }
        let names = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        if let last = names.dropLast().firstIndex(where: { rules.redacts(item: Array($0)[...]) }) {
            let begin = names[...last].map { String(decoding: Array($0), as: UTF8.self) }.joined(separator: ".") + "."
            guard let new = pseudonym(Array(name.utf8.dropFirst(begin.utf8.count)), .named, String(begin.dropLast()))
            else {
                return part
            }
            return blanks + begin + String(decoding: new, as: UTF8.self)
        }
        if rules.redacts(item: Array(before.utf8)[...]), let new = pseudonym(Array(name.utf8), .named, before) {
            return blanks + String(decoding: new, as: UTF8.self)
        }
        return text(part)
    }

    /// JSON in base64: encoded again without its secrets; nil when it is none or has none.
    private mutating func packedJSON(_ text: [UInt8]) -> [UInt8]? {
        guard text.count >= 8, text.starts(with: "ey".utf8), let plain = Base64URL.decode(text),
            plain.first == UInt8(ascii: "{"), let new = self.text(plain)
        else { return nil }
        return Array(Base64URL.encode(new).utf8)
    }

    /// Lines that look like those of a head, in bytes that are none: everything behind the name of a secret goes.
    package mutating func rawLines(_ bytes: [UInt8]) -> [UInt8]? {
        if isRenumbering { return text(bytes) }
        var changed = false
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map { line -> [UInt8] in
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon - line.startIndex <= SecretNames.longest
            else { return Array(line) }
            let name = String(decoding: line[..<colon], as: UTF8.self)
            let isCookie = ["cookie", "set-cookie"].contains(name.lowercased())
            guard isCookie || rules.redacts(header: name) else { return Array(line) }
            let end = line.last == 0x0d ? line.endIndex - 1 : line.endIndex
            let value = String(decoding: line[(colon + 1)..<end], as: UTF8.self).trimmingBlanks()
            let new = fields([HeaderField(name, value)])[0].value
            guard new != value else { return Array(line) }
            changed = true
            return Array(line[...colon]) + [0x20] + Array(new.utf8) + line[end...]
        }
        let joined = changed ? Array(lines.joined(separator: [0x0a])) : bytes
        return text(joined) ?? (changed ? joined : nil)
    }
}
