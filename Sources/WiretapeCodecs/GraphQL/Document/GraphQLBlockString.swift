/// The value of a block string: without the indentation that its lines share, and without blank lines at its ends
/// (GraphQL specification, section 2.9.4, `BlockStringValue`).
enum GraphQLBlockString {
    static func value(of raw: [UInt8]) -> String {
        var lines = split(raw)
        let indents = lines.dropFirst().compactMap { line -> Int? in
            let indent = line.prefix(while: isBlank).count
            return indent < line.count ? indent : nil
        }
        if let common = indents.min(), common > 0 {
            for i in lines.indices.dropFirst() { lines[i] = lines[i].dropFirst(common) }
        }
        while lines.first?.allSatisfy(isBlank) == true { lines.removeFirst() }
        while lines.last?.allSatisfy(isBlank) == true { lines.removeLast() }
        return String(decoding: Array(lines.joined(separator: [0x0a])), as: UTF8.self)
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// At LF, CR LF and CR.
    private static func split(_ raw: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var at = 0
        while at < raw.count {
            let byte = raw[at]
            at += 1
            guard byte == 0x0a || byte == 0x0d else { continue }
            lines.append(raw[start..<at - 1])
            if byte == 0x0d, at < raw.count, raw[at] == 0x0a { at += 1 }
            start = at
        }
        lines.append(raw[start...])
        return lines
    }
}
