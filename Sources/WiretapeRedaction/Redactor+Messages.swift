internal import WiretapeBytes
package import WiretapeWire

/// Messages and bodies.
extension Redactor {
    /// A whole message, event or body without its secrets; nil when it has none.
    /// - Parameter isBinary: it may be MessagePack.
    package mutating func payload(_ bytes: [UInt8], isBinary: Bool) -> [UInt8]? {
        guard isBinary, String(validUTF8: bytes) == nil || !Redactor.looksLikeText(bytes) else { return text(bytes) }
        switch pack(bytes) {
        case .unchanged: return nil
        case .changed(let new): return new
        case .other: return sameLength(bytes)
        }
    }

    private static func looksLikeText(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first else { return true }
        // No value of MessagePack that has members is UTF-8.
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return true }
        // A frame of STOMP ends with a zero.
        let end = bytes.lastIndex { $0 != 0 } ?? 0
        return !bytes[...end].contains { $0 < 9 || $0 == 0x7f }
    }

    /// What becomes of a body.
    package enum Body: Equatable, Sendable {
        case unchanged
        case changed([UInt8])
        /// It was compressed and has secrets: they are gone, and so is the coding.
        case decoded([UInt8])
        /// It cannot be read: nobody knows what is in it.
        case unreadable
    }

    /// A whole body.
    /// - Parameter headers: those of its head as they were received.
    package mutating func body(_ bytes: [UInt8], _ headers: [HeaderField]) -> Body {
        let type = MediaType(headers.first("Content-Type") ?? "").name
        let isBinary =
            !type.hasPrefix("text/") && !type.hasSuffix("json") && type != "application/x-www-form-urlencoded"
        let codings = headers.contentCodings
        guard !codings.isEmpty else {
            return payload(bytes, isBinary: isBinary).map(Body.changed) ?? .unchanged
        }
        guard let plain = try? ContentDecoder.whole(bytes, codings, limit: 16 << 20) else {
            // Some servers say that a body is compressed when it is not: then it can be read as it is.
            guard looksPlain(bytes) else {
                withhold()
                return .unreadable
            }
            return payload(bytes, isBinary: isBinary).map(Body.changed) ?? .unchanged
        }
        return payload(plain, isBinary: isBinary).map(Body.decoded) ?? .unchanged
    }

    private func looksPlain(_ bytes: [UInt8]) -> Bool {
        String(validUTF8: bytes) != nil && !bytes.contains { $0 < 9 }
    }

    /// Bytes of no known form: what is replaced keeps its length, since others may count on it. In bytes that are no text, no names are
    /// looked for: random bytes would have some.
    package mutating func sameLength(_ bytes: [UInt8]) -> [UInt8]? {
        var scan = TextScan(bytes, isWhole: true, depth: 0)
        scan.hasNames = isRenumbering || UnreadBytes.isText(bytes)
        guard run(&scan) else { return Pseudonym.text(Pseudonym.overflow) }
        if !isRenumbering, let password = MQTTConnect.password(in: bytes),
            let new = pseudonym(Array(bytes[password]), .named, "MQTT password")
        {
            scan.edit(password, new)
        }
        guard !scan.edits.isEmpty else { return nil }
        if !isRenumbering { changedBytes += scan.edits.count }
        var out = bytes
        for edit in scan.edits {
            let room = edit.range.count
            // The beginning of a new number would be another one.
            let isWhole = !isRenumbering || edit.bytes.count <= room
            let new = (isWhole ? edit.bytes : Pseudonym.text(Pseudonym.overflow)).prefix(room)
            out.replaceSubrange(
                edit.range, with: new + [UInt8](repeating: UInt8(ascii: "_"), count: room - new.count))
        }
        return out
    }

    // MARK: MessagePack

    /// Only texts under the names of secrets, and texts that hold secrets, are written anew.
    package mutating func pack(_ bytes: [UInt8]) -> PackedTexts.Outcome {
        PackedTexts.replacing(
            bytes, pointers: rules.pointers,
            isSecret: { [rules] name in rules.redacts(member: Array(name.utf8)[...]) }
        ) { [rules, renumbering] text, place in
            if let renumbering { return self.renumbered(text, place, renumbering) }
            switch place {
            case .text(let name):
                if let name, rules.redacts(member: Array(name.utf8)[...]) { return self.value(text, .named, name) }
                return self.text(text)
            case .bytes(let name):
                if let name, rules.redacts(member: Array(name.utf8)[...]) { return self.value(text, .named, name) }
                return self.sameLength(text)
            case .number(let name):
                guard let name, rules.redacts(member: Array(name.utf8)[...]) else { return nil }
                return self.pseudonym(ofNumber: text, .named, name)
            case .pointed(let isNumber):
                return isNumber ? self.pseudonym(ofNumber: text, .rule, "") : self.value(text, .rule, "")
            }
        }
    }
}
