internal import WiretapeBytes

extension HTTPHeadWriter {
    /// The bytes of a head with the value of every field of that name replaced, or without such fields. Every other byte
    /// stays as it is; a head that has no such field stays as it is altogether.
    /// - Parameters:
    ///   - value: nil takes the fields away.
    ///   - raw: a whole head as in ``HTTPHeadInfo/raw``.
    package static func replacing(_ name: String, with value: String?, in raw: [UInt8]) -> [UInt8] {
        let bytes = raw.span
        let wanted = Array(name.lowercased().utf8) + [UInt8(ascii: ":")]
        var out: [UInt8] = []
        out.reserveCapacity(raw.count + (value?.utf8.count ?? 0))
        var at = 0
        while let feed = firstIndex(of: 0x0a, in: bytes, from: at) {
            if at > 0, begins(bytes, at, with: wanted) {
                if let value {
                    out.append(copying: bytes.extracting(at..<at + wanted.count))
                    out.append(utf8: " \(value)\r\n")
                }
            } else {
                out.append(copying: bytes.extracting(at..<feed + 1))
            }
            at = feed + 1
        }
        out.append(copying: bytes.extracting(at..<bytes.count))
        return out
    }

    /// The same with fields of that name replaced by one at the end of the head.
    package static func setting(_ name: String, to value: String, in raw: [UInt8]) -> [UInt8] {
        var out = replacing(name, with: nil, in: raw)
        // The empty line: CRLF, or LF alone.
        let end = out.suffix(2).elementsEqual([0x0d, 0x0a]) ? out.count - 2 : max(0, out.count - 1)
        out.insert(contentsOf: Array("\(name): \(value)\r\n".utf8), at: end)
        return out
    }

    /// The bytes of a head with every field as `edit` has it. Every other byte stays as it is; nil when no field has changed.
    /// - Parameters:
    ///   - raw: a whole head as in ``HTTPHeadInfo/raw``.
    ///   - edit: called with the name of each field and its value, without the blanks around it.
    package static func editing(_ raw: [UInt8], _ edit: (_ name: String, _ value: String) -> FieldEdit) -> [UInt8]? {
        let bytes = raw.span
        var out: [UInt8] = []
        out.reserveCapacity(raw.count + 64)
        var at = 0
        var hasChanged = false
        while let feed = firstIndex(of: 0x0a, in: bytes, from: at) {
            let line = at..<feed + 1
            at = feed + 1
            guard line.lowerBound > 0, let colon = firstIndex(of: UInt8(ascii: ":"), in: bytes, from: line.lowerBound),
                colon < feed
            else {
                out.append(copying: bytes.extracting(line))
                continue
            }
            let hasCR = bytes[feed - 1] == 0x0d
            let end = max(colon + 1, hasCR ? feed - 1 : feed)
            switch edit(latin1(raw[line.lowerBound..<colon]), latin1(raw[colon + 1..<end]).trimmingBlanks()) {
            case .keep: out.append(copying: bytes.extracting(line))
            case .drop: hasChanged = true
            case .value(let value):
                hasChanged = true
                out.append(copying: bytes.extracting(line.lowerBound..<colon + 1))
                out.append(0x20)
                append(text: value, into: &out)
                out.append(utf8: hasCR ? "\r\n" : "\n")
            }
        }
        out.append(copying: bytes.extracting(at..<bytes.count))
        return hasChanged ? out : nil
    }

    /// Each byte as the scalar of its number.
    private static func latin1(_ bytes: ArraySlice<UInt8>) -> String {
        String(String.UnicodeScalarView(bytes.lazy.map { Unicode.Scalar($0) }))
    }

    private static func begins(_ bytes: Span<UInt8>, _ at: Int, with name: [UInt8]) -> Bool {
        guard bytes.count - at > name.count else { return false }
        for (i, byte) in name.enumerated() {
            let other = bytes[at + i]
            let lowered = other >= UInt8(ascii: "A") && other <= UInt8(ascii: "Z") ? other | 0x20 : other
            guard lowered == byte else { return false }
        }
        return true
    }
}
