internal import WiretapeBytes
internal import WiretapeCapture
internal import WiretapeWire

/// What kind of file is imported, by its first bytes.
enum ImportFormat: String, CaseIterable {
    case capture, har, flows, hoverfly, wiremock, toxiproxy

    /// How much of a file tells what it is.
    static let lookedAt = 64 << 10

    /// - Parameter bytes: the beginning of the file.
    /// - Returns: nil for anything unknown.
    static func of(_ bytes: [UInt8]) -> ImportFormat? {
        let magics: [[UInt8]] = [
            [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1], [0xa1, 0xb2, 0x3c, 0x4d],
            [0x0a, 0x0d, 0x0d, 0x0a],
        ]
        if magics.contains(where: { bytes.starts(with: $0) }) { return .capture }
        if isZip(bytes) { return .har }
        let digits = bytes.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
        if (1...12).contains(digits), bytes.count > digits, bytes[digits] == UInt8(ascii: ":") { return .flows }
        return json(bytes)
    }

    static func isZip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x50, 0x4b, 0x03, 0x04]) }

    /// By the names at the root of a JSON text.
    private static func json(_ bytes: [UInt8]) -> ImportFormat? {
        let text = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? Array(bytes.dropFirst(3)) : bytes
        let start = JSONMembers.skipBlanks(text, 0)
        guard start < text.count else { return nil }
        if text[start] == UInt8(ascii: "[") { return isToxiproxy(text, start + 1) ? .toxiproxy : nil }
        guard text[start] == UInt8(ascii: "{") else { return nil }
        // A tape is a JSON line, too.
        let names = names(text, start)
        if names.contains("tape") { return nil }
        if names.contains("log") { return .har }
        if names.contains("mappings") || names.isSuperset(of: ["request", "response"]) { return .wiremock }
        // What GET /proxies answers: objects by their names.
        if let value = try? JSONValue(parsing: text), let first = value.members?.first?.value, first["listen"] != nil,
            first["upstream"] != nil
        {
            return .toxiproxy
        }
        if names.contains("data"), contains(text, "\"pairs\"") || names.contains("meta") { return .hoverfly }
        return nil
    }

    private static func isToxiproxy(_ text: [UInt8], _ at: Int) -> Bool {
        let start = JSONMembers.skipBlanks(text, at)
        let names = names(text, start)
        return names.isSuperset(of: ["listen", "upstream"])
    }

    /// Of an object's members as far as the text goes.
    private static func names(_ text: [UInt8], _ start: Int) -> Set<String> {
        var names: Set<String> = []
        var at = start + 1
        while at < text.count {
            at = JSONMembers.skipBlanks(text, at)
            guard at < text.count, text[at] == UInt8(ascii: "\"") else { return names }
            let end = JSONMembers.skipValue(text, at)
            guard end - at >= 2 else { return names }
            let name = String(decoding: text[at + 1..<end - 1], as: UTF8.self)
            at = JSONMembers.skipBlanks(text, end)
            guard at < text.count, text[at] == UInt8(ascii: ":") else { return names }
            names.insert(name)
            at = JSONMembers.skipValue(text, JSONMembers.skipBlanks(text, at + 1))
            at = JSONMembers.skipBlanks(text, at)
            guard at < text.count, text[at] == UInt8(ascii: ",") else { return names }
            at += 1
        }
        return names
    }

    private static func contains(_ text: [UInt8], _ word: String) -> Bool {
        String(decoding: text, as: UTF8.self).contains(word)
    }

    /// The reader of an archive; nil for the kinds that have one of their own.
    var archive: ForeignImport.Format? {
        switch self {
        case .har: .har
        case .flows: .flows
        case .hoverfly: .hoverfly
        case .wiremock: .wiremock
        case .capture, .toxiproxy: nil
        }
    }

    var name: String {
        switch self {
        case .capture: "packet capture"
        case .har: "HTTP archive (HAR)"
        case .flows: "mitmproxy flows"
        case .hoverfly: "Hoverfly simulation"
        case .wiremock: "WireMock mappings"
        case .toxiproxy: "Toxiproxy configuration"
        }
    }
}
