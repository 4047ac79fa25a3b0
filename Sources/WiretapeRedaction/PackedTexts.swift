internal import WiretapeBytes
internal import WiretapeWire

/// Texts and numbers within MessagePack, replaced. Everything else stays byte for byte; lengths are computed anew, those of
/// SignalR's framing too.
package enum PackedTexts {
    package enum Outcome: Equatable {
        case unchanged
        case changed([UInt8])
        /// It is no MessagePack.
        case other
    }

    /// What is shown, and the name of the member that it is, if it is one.
    package enum Place {
        case text(name: String?)
        case bytes(name: String?)
        /// The number's decimal digits.
        case number(name: String?)
        /// A text, bytes, or a number's digits, at or below a pointer that was asked for.
        case pointed(isNumber: Bool)
    }

    /// Where a value stands: what is left of the pointers that lead on from there, and whether one has led there.
    private struct Reach {
        var tails: [ArraySlice<String>]
        var isPointed = false

        func below(_ key: @autoclosure () -> String) -> Reach {
            guard !tails.isEmpty else { return self }
            let key = key()
            let next = tails.filter { $0.first == "*" || $0.first == key }.map { $0.dropFirst() }
            return Reach(tails: next.filter { !$0.isEmpty }, isPointed: isPointed || next.contains { $0.isEmpty })
        }

        func place(_ named: Place, isNumber: Bool = false) -> Place { isPointed ? .pointed(isNumber: isNumber) : named }
    }

    /// One value of MessagePack, or several with their lengths before them, as SignalR sends them.
    /// - Parameters:
    ///   - pointers: JSON Pointers into a value, `*` for every member or item.
    ///   - isSecret: whether members of that name are secrets. Values in a list or map with such a name are secrets, too.
    ///   - change: gives what stands for a text; nil: it stays.
    package static func replacing(
        _ bytes: [UInt8], pointers: [String] = [], isSecret: (String) -> Bool = { _ in false },
        _ change: ([UInt8], Place) -> [UInt8]?
    ) -> Outcome {
        // The answer to SignalR's handshake is JSON, and messages may come with it: one answer, whatever a peer says.
        if bytes.first == UInt8(ascii: "{"), let end = bytes.firstIndex(of: 0x1e), end + 1 < bytes.count {
            switch values(Array(bytes[(end + 1)...]), pointers, isSecret, change) {
            case .changed(let new): return .changed(bytes[...end] + new)
            case .unchanged: return .unchanged
            case .other: return .other
            }
        }
        return values(bytes, pointers, isSecret, change)
    }

    private static func values(
        _ bytes: [UInt8], _ pointers: [String], _ isSecret: (String) -> Bool, _ change: ([UInt8], Place) -> [UInt8]?
    ) -> Outcome {
        guard bytes.count >= 2 else { return .other }
        let root = Reach(tails: pointers.map { JSONText.tokens($0)[...] })
        if let frames = frames(bytes) {
            var out: [UInt8] = []
            var changed = false
            for frame in frames {
                let part = Array(bytes[frame])
                var at = 0
                var new: [UInt8] = []
                guard (try? copy(part, &at, nil, root, 0, &new, isSecret, change)) != nil else { return .other }
                changed = changed || new != part
                writeLength(new.count, into: &out)
                out += new
            }
            return changed ? .changed(out) : .unchanged
        }
        let first = bytes[0]
        // A single number or text may be anything.
        guard (0x80...0x9f).contains(first) || (0xdc...0xdf).contains(first) else { return .other }
        var at = 0
        var out: [UInt8] = []
        guard (try? copy(bytes, &at, nil, root, 0, &out, isSecret, change)) != nil, at == bytes.count else {
            return .other
        }
        return out == bytes ? .unchanged : .changed(out)
    }

    private static func copy(
        _ bytes: [UInt8], _ at: inout Int, _ name: String?, _ reach: Reach, _ depth: Int, _ out: inout [UInt8],
        _ isSecret: (String) -> Bool, _ change: ([UInt8], Place) -> [UInt8]?
    ) throws(MessagePackError) {
        guard depth < MessagePack.deepest else { throw MessagePackError(reason: "nested too deeply", offset: at) }
        let start = at
        switch try MessagePack.Head(bytes.span, &at) {
        case .scalar(let value):
            if case .number(let text) = value,
                let new = change(Array(text.utf8), reach.place(.number(name: name), isNumber: true)),
                let number = UInt64(String(decoding: new, as: UTF8.self))
            {
                return MessagePack.write(number, into: &out)
            }
            out += bytes[start..<at]
        case .text(let range):
            guard let new = change(Array(bytes[range]), reach.place(.text(name: name))) else {
                out += bytes[start..<at]
                return
            }
            MessagePack.write(String(decoding: new, as: UTF8.self), into: &out)
        case .bytes(let range):
            guard let new = change(Array(bytes[range]), reach.place(.bytes(name: name))) else {
                out += bytes[start..<at]
                return
            }
            out += new.count < 256 ? [0xc4, UInt8(new.count)] : [0xc6]
            if new.count >= 256 {
                for shift in [24, 16, 8, 0] { out.append(UInt8(truncatingIfNeeded: new.count >> shift)) }
            }
            out += new
        case .typed(_, let range):
            let new = change(Array(bytes[range]), .bytes(name: name))
            out += bytes[start..<range.lowerBound]
            // The length before it is told: what replaces it has the same.
            out +=
                new.map { ($0 + Array(repeating: UInt8(ascii: "_"), count: range.count)).prefix(range.count) }
                ?? bytes[range]
        case .array(let count):
            let inherited = secret(name, isSecret)
            out += bytes[start..<at]
            for index in 0..<count {
                try copy(bytes, &at, inherited, reach.below("\(index)"), depth + 1, &out, isSecret, change)
            }
        case .map(let count):
            let inherited = secret(name, isSecret)
            out += bytes[start..<at]
            for _ in 0..<count {
                let keyStart = at
                var key: String?
                if case .text(let range) = try MessagePack.Head(bytes.span, &at) {
                    key = String(validUTF8: Array(bytes[range]))
                } else {
                    at = keyStart
                    try MessagePack.skip(bytes.span, &at)
                }
                out += bytes[keyStart..<at]
                try copy(bytes, &at, inherited ?? key, reach.below(key ?? ""), depth + 1, &out, isSecret, change)
            }
        }
    }

    /// The name, if it is that of a secret.
    private static func secret(_ name: String?, _ isSecret: (String) -> Bool) -> String? {
        guard let name, isSecret(name) else { return nil }
        return name
    }

    // MARK: SignalR's framing

    /// The answer to SignalR's handshake, which is JSON in front of MessagePack, too.
    package static let handshake = Array("{}\u{1e}".utf8)

    /// What bytes begin with.
    package enum Framing: Hashable {
        /// A message of SignalR's: a length and an array.
        case messages
        /// There are too few of them.
        case unknown
        case other
    }

    /// - Parameter mayBeText: a single letter is no length.
    package static func framing(_ bytes: [UInt8], mayBeText: Bool) -> Framing {
        if mayBeText, bytes.count == 1, (0x20...0x7e).contains(bytes[0]) { return .other }
        var at = 0
        guard let length = length(bytes, &at) else { return bytes.count - at < 5 ? .unknown : .other }
        guard at < bytes.count else { return .unknown }
        return length > 0 && (0x90...0x9f).contains(bytes[at]) ? .messages : .other
    }

    /// Where the message ends that begins at `start`; nil when it is not whole, or none.
    package static func messageEnd(_ bytes: [UInt8], _ start: Int) -> Int? {
        var at = start
        guard let length = length(bytes, &at), length > 0, length <= bytes.count - at,
            (0x90...0x9f).contains(bytes[at])
        else { return nil }
        return at + length
    }

    /// A varint of 5 bytes at most; nil when it is not whole, or longer.
    private static func length(_ bytes: [UInt8], _ at: inout Int) -> Int? {
        var length = 0
        for shift in stride(from: 0, through: 28, by: 7) {
            guard at < bytes.count else { return nil }
            let byte = bytes[at]
            at += 1
            length |= Int(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return length }
        }
        return nil
    }

    /// The values, each with its length in a varint before it. Nil when it is not that.
    private static func frames(_ bytes: [UInt8]) -> [Range<Int>]? {
        var frames: [Range<Int>] = []
        var at = 0
        while at < bytes.count {
            guard let length = length(bytes, &at), length > 0, length <= bytes.count - at,
                (0x90...0x9f).contains(bytes[at])
            else { return nil }
            var end = at
            guard (try? MessagePack.skip(bytes.span, &end)) != nil, end == at + length else { return nil }
            frames.append(at..<end)
            at = end
        }
        return frames.isEmpty ? nil : frames
    }

    private static func writeLength(_ count: Int, into out: inout [UInt8]) {
        var left = count
        repeat {
            let low = UInt8(left & 0x7f)
            left >>= 7
            out.append(left > 0 ? low | 0x80 : low)
        } while left > 0
    }
}
