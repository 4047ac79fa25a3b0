internal import WiretapeBytes

extension MessagePack {
    /// Appends a value as ``value(_:_:)`` reads it, tags such as `{"$bin":…}` included: numbers with a fraction or an
    /// exponent as doubles, others in their shortest form.
    /// - Returns: false when a tag, or a number, is none.
    package static func write(_ value: JSONValue, into out: inout [UInt8]) -> Bool {
        switch value {
        case .null: out.append(0xc0)
        case .bool(let flag): out.append(flag ? 0xc3 : 0xc2)
        case .string(let text): write(text, into: &out)
        case .number(let text): return number(text, into: &out)
        case .array(let items):
            writeArray(of: items.count, into: &out)
            for item in items { guard write(item, into: &out) else { return false } }
        case .object(let members):
            if members.count == 1, members[0].name.hasPrefix("$") {
                let name = members[0].name
                if let isWritten = tagged(name, members[0].value, into: &out) { return isWritten }
                writeMap(of: 1, into: &out)
                // One `$` was added to what only looks like a tag, and to nothing else.
                write(looksLikeTag(name) ? String(name.dropFirst()) : name, into: &out)
                return write(members[0].value, into: &out)
            }
            writeMap(of: members.count, into: &out)
            for member in members {
                write(member.name, into: &out)
                guard write(member.value, into: &out) else { return false }
            }
        }
        return true
    }

    /// Appends the head of a map of `count` pairs: they follow.
    package static func writeMap(of count: Int, into out: inout [UInt8]) {
        switch count {
        case 0...15: out.append(0x80 | UInt8(count))
        case 16...0xffff: out += [0xde, UInt8(count >> 8), UInt8(count & 0xff)]
        default:
            out.append(0xdf)
            big(UInt64(count), 4, &out)
        }
    }

    private static func number(_ text: String, into out: inout [UInt8]) -> Bool {
        if let number = UInt64(text) {
            write(number, into: &out)
        } else if let number = Int64(text) {
            signed(number, &out)
        } else if let number = Double(text) {
            out.append(0xcb)
            big(number.bitPattern, 8, &out)
        } else {
            return false
        }
        return true
    }

    private static func signed(_ number: Int64, _ out: inout [UInt8]) {
        let bits = UInt64(bitPattern: number)
        switch number {
        case -32...(-1): out.append(UInt8(truncatingIfNeeded: number))
        case -0x80...(-33): out += [0xd0, UInt8(truncatingIfNeeded: number)]
        case -0x8000...(-0x81):
            out.append(0xd1)
            big(bits, 2, &out)
        case -0x8000_0000...(-0x8001):
            out.append(0xd2)
            big(bits, 4, &out)
        default:
            out.append(0xd3)
            big(bits, 8, &out)
        }
    }

    /// Nil when the name is no tag.
    private static func tagged(_ name: String, _ value: JSONValue, into out: inout [UInt8]) -> Bool? {
        switch name {
        case "$bin":
            guard let bytes = bytes(value) else { return false }
            lengthed(bytes, [0xc4, 0xc5, 0xc6], &out)
        case "$ext":
            guard let parts = value.array, parts.count == 2, let type = parts[0].int.flatMap({ Int8(exactly: $0) }),
                let bytes = bytes(parts[1])
            else { return false }
            return ext(type, bytes, &out)
        case "$time":
            guard let text = value.string, let bytes = MessagePackTime.bytes(of: text) else { return false }
            return ext(-1, bytes, &out)
        case "$float":
            let special: [String: Double] = ["NaN": .nan, "Infinity": .infinity, "-Infinity": -.infinity]
            guard let number = value.string.flatMap({ special[$0] }) else { return false }
            out.append(0xcb)
            big(number.bitPattern, 8, &out)
        case "$text":
            guard let bytes = hex(value) else { return false }
            if bytes.count < 32 {
                out.append(0xa0 | UInt8(bytes.count))
            } else {
                head(bytes.count, [0xd9, 0xda, 0xdb], &out)
            }
            out += bytes
        case "$map":
            guard let entries = value.array else { return false }
            writeMap(of: entries.count, into: &out)
            for entry in entries {
                guard let pair = entry.array, pair.count == 2, write(pair[0], into: &out), write(pair[1], into: &out)
                else {
                    return false
                }
            }
        default: return nil
        }
        return true
    }

    private static func ext(_ type: Int8, _ bytes: [UInt8], _ out: inout [UInt8]) -> Bool {
        if [1, 2, 4, 8, 16].contains(bytes.count) {
            out.append(0xd4 + UInt8(bytes.count.trailingZeroBitCount))
        } else {
            head(bytes.count, [0xc7, 0xc8, 0xc9], &out)
        }
        out.append(UInt8(bitPattern: type))
        out += bytes
        return true
    }

    private static func lengthed(_ bytes: [UInt8], _ marks: [UInt8], _ out: inout [UInt8]) {
        head(bytes.count, marks, &out)
        out += bytes
    }

    /// The mark for a length of 1, 2 or 4 bytes, and the length.
    private static func head(_ count: Int, _ marks: [UInt8], _ out: inout [UInt8]) {
        let index = count < 0x100 ? 0 : count < 0x1_0000 ? 1 : 2
        out.append(marks[index])
        big(UInt64(count), 1 << index, &out)
    }

    private static func big(_ number: UInt64, _ width: Int, _ out: inout [UInt8]) {
        for i in (0..<width).reversed() { out.append(UInt8(truncatingIfNeeded: number >> UInt64(8 * i))) }
    }

    private static func bytes(_ value: JSONValue) -> [UInt8]? {
        value.string.flatMap { Base64.decode(Array($0.utf8).span) }
    }

    private static func hex(_ value: JSONValue) -> [UInt8]? {
        guard let digits = value.string.map({ Array($0.utf8) }), digits.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for i in stride(from: 0, to: digits.count, by: 2) {
            guard let high = hexDigit(digits[i]), let low = hexDigit(digits[i + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
