internal import WiretapeBytes

/// A media type with its parameters, as `Content-Type` has one and `Accept` several (RFC 9110, section 8.3.1).
package struct MediaType: Hashable, Sendable {
    /// `multipart/mixed`, in lower case.
    package var name: String
    package var parameters: [Parameter]

    package struct Parameter: Hashable, Sendable {
        /// In lower case.
        package var name: String
        /// Without the quotes that it may have stood in.
        package var value: String
    }

    /// Reads what is there: parameters without a name or value are left out.
    package init(_ text: some StringProtocol) {
        let pieces = MediaType.split(text, at: ";")
        name = pieces[0].lowercased()
        parameters = pieces.dropFirst().compactMap { piece -> Parameter? in
            guard let equals = piece.firstIndex(of: "=") else { return nil }
            let value = piece[piece.index(after: equals)...].trimmingBlanks()
            let isQuoted = value.utf8.count >= 2 && value.hasPrefix("\"") && value.hasSuffix("\"")
            return Parameter(
                name: piece[..<equals].trimmingBlanks().lowercased(),
                value: isQuoted ? String(value.dropFirst().dropLast()).replacing("\\", with: "") : value)
        }
    }

    package subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }

    /// Whether it is a stream of JSON texts, a line each (https://github.com/ndjson/ndjson-spec, https://jsonlines.org,
    /// RFC 7464 and the names that servers use for the same).
    package var isJSONLines: Bool { MediaType.jsonLines.contains(name) || name.hasSuffix("+json-seq") }

    /// Whether each piece of such a body means something before the body's end: events, parts, lines.
    package var isStream: Bool { name == "text/event-stream" || name.hasPrefix("multipart/") || isJSONLines }

    /// Whether such a body may be anything that its server says bit by bit: text, bytes, and the frames of remote procedure
    /// calls. Without a length it is a stream, and what arrived together is its unit.
    package var isOfPieces: Bool {
        MediaType.pieces.contains(name) || MediaType.calls.contains { name.hasPrefix($0) }
    }

    private static let pieces: Set<String> = [
        "", "text/plain", "application/octet-stream", "application/vnd.amazon.eventstream",
    ]
    private static let calls = ["application/grpc-web", "application/connect+"]

    private static let jsonLines: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonl",
        "application/jsonlines", "application/x-jsonlines", "application/json-seq", "application/stream+json",
        "application/x-json-stream",
    ]

    /// The types of a list, in its order.
    package static func list(_ values: [String]) -> [MediaType] {
        values.flatMap { split($0, at: ",") }.filter { !$0.isEmpty }.map { MediaType($0) }
    }

    /// At least one piece. A separator between quotes is none.
    private static func split(_ text: some StringProtocol, at separator: Character) -> [String] {
        var pieces: [String] = []
        var piece = ""
        var isQuoted = false
        var isEscaped = false
        for character in text {
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
            if character == separator, !isQuoted {
                pieces.append(piece.trimmingBlanks())
                piece = ""
            } else {
                piece.append(character)
            }
        }
        return pieces + [piece.trimmingBlanks()]
    }
}
