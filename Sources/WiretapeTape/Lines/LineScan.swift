internal import WiretapeBytes
internal import WiretapeWire

/// The pieces of JSON (RFC 8259) that a line is made of. Each function starts at `at` and leaves it behind what it read.
enum LineScan {
    private static let deepest = 256

    static func skipBlanks(_ b: Span<UInt8>, _ at: inout Int) {
        while at < b.count, b[at] == 0x20 || b[at] == 0x0a || b[at] == 0x0d || b[at] == 0x09 { at += 1 }
    }

    static func expect(_ byte: UInt8, _ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        skipBlanks(b, &at)
        guard at < b.count else { throw TapeLineFault("the line ends too early", at: at) }
        guard b[at] == byte else {
            throw TapeLineFault("expected '\(Character(Unicode.Scalar(byte)))'", at: at)
        }
        at += 1
    }

    /// Whether `byte` is next, which is then skipped.
    package static func take(_ byte: UInt8, _ b: Span<UInt8>, _ at: inout Int) -> Bool {
        skipBlanks(b, &at)
        guard at < b.count, b[at] == byte else { return false }
        at += 1
        return true
    }

    /// The UTF-8 of a string. Escaped lone surrogates become U+FFFD.
    package static func bytes(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) -> [UInt8] {
        try expect(UInt8(ascii: "\""), b, &at)
        let start = at
        var out: [UInt8] = []
        while true {
            let from = at
            at += JSONEscape.plainRun(b, from: at)
            if at > from { out.append(copying: b.extracting(from..<at)) }
            guard at < b.count else { throw TapeLineFault("a string without end", at: start) }
            switch b[at] {
            case UInt8(ascii: "\""):
                at += 1
                guard isValidUTF8(out.span) else { throw TapeLineFault("invalid UTF-8", at: start) }
                return out
            case UInt8(ascii: "\\"): try escape(b, &at, into: &out)
            default: throw TapeLineFault("a control character in a string", at: at)
            }
        }
    }

    package static func string(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) -> String {
        String(decoding: try bytes(b, &at), as: UTF8.self)
    }

    /// A whole number of at most 64 bits.
    package static func number(_ b: Span<UInt8>, _ at: inout Int, _ key: TapeKey) throws(TapeLineFault) -> UInt64 {
        skipBlanks(b, &at)
        let start = at
        var value: UInt64 = 0
        while at < b.count, b[at] >= 0x30, b[at] <= 0x39 {
            let (times, over) = value.multipliedReportingOverflow(by: 10)
            let (sum, more) = times.addingReportingOverflow(UInt64(b[at] - 0x30))
            guard !over, !more else { throw TapeLineFault("\"\(key)\" is too large", at: start) }
            value = sum
            at += 1
        }
        let goesOn = at < b.count && (b[at] == UInt8(ascii: ".") || b[at] | 0x20 == UInt8(ascii: "e"))
        guard at > start, !goesOn else { throw TapeLineFault("\"\(key)\" is not a whole number", at: start) }
        return value
    }

    static func bool(_ b: Span<UInt8>, _ at: inout Int, _ key: TapeKey) throws(TapeLineFault) -> Bool {
        skipBlanks(b, &at)
        let start = at
        try skip(b, &at)
        if at - start == 4, b[start] == UInt8(ascii: "t") { return true }
        if at - start == 5, b[start] == UInt8(ascii: "f") { return false }
        throw TapeLineFault("\"\(key)\" is neither true nor false", at: start)
    }

    /// Any value. Brackets must match and strings must end; numbers are not looked at closely.
    static func skip(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        var open: [UInt8] = []
        repeat {
            skipBlanks(b, &at)
            guard at < b.count else { throw TapeLineFault("the line ends too early", at: at) }
            switch b[at] {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open.count < deepest else { throw TapeLineFault("nested too deeply", at: at) }
                open.append(b[at] + 2)
                at += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                guard b[at] == open.last else { throw TapeLineFault("expected a value", at: at) }
                open.removeLast()
                at += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard !open.isEmpty else { throw TapeLineFault("expected a value", at: at) }
                at += 1
            case UInt8(ascii: "\""): try skipString(b, &at)
            default: try skipWord(b, &at)
            }
        } while !open.isEmpty
    }

    private static func skipString(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        let start = at
        at += 1
        at += JSONEscape.plainRun(b, from: at)
        while at < b.count, b[at] != UInt8(ascii: "\"") { at += b[at] == UInt8(ascii: "\\") ? 2 : 1 }
        guard at < b.count else { throw TapeLineFault("a string without end", at: start) }
        at += 1
    }

    private static func skipWord(_ b: Span<UInt8>, _ at: inout Int) throws(TapeLineFault) {
        let start = at
        while at < b.count {
            switch b[at] {
            case 0x30...0x39, UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "E"), UInt8(ascii: "+"),
                UInt8(ascii: "-"), UInt8(ascii: "."):
                at += 1
            default:
                guard at > start else { throw TapeLineFault("expected a value", at: at) }
                return
            }
        }
    }

    private static func escape(_ b: Span<UInt8>, _ at: inout Int, into out: inout [UInt8]) throws(TapeLineFault) {
        do throws(JSONUnescape.Fault) {
            try JSONUnescape.take(b, &at, into: &out)
        } catch {
            switch error {
            case .end(let at): throw TapeLineFault("a string without end", at: at)
            case .digit(let at): throw TapeLineFault("a bad \\u escape", at: at)
            case .letter(_, let at): throw TapeLineFault("an unknown escape", at: at)
            }
        }
    }
}
