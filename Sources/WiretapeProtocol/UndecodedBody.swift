package import WiretapeBytes
package import WiretapeWire

/// A body of a tape whose content codings cannot be removed: it is kept as it was received.
package struct UndecodedBody: Hashable, Sendable {
    /// Of the exchange within its connection.
    package var exchange: UInt32
    package var direction: Direction
    package var codings: ContentCodings
    package var fault: ContentDecoder.Fault
    /// Some of it was read: what comes behind that is not.
    package var isBegun = false

    package var text: String {
        let whose = direction == .toServer ? "request" : "answer"
        let what = isBegun ? "the rest of the \(whose)'s body" : "the \(whose)'s body"
        return "\(what) cannot be decoded (\(codings.text)): \(fault.text)"
    }
}

extension UndecodedBody {
    /// What the recorder writes when it has removed a coding from the beginning of a streamed answer and cannot go on.
    package static func mark(connection: UInt32, exchange: UInt32, why: String) -> String {
        "connection \(connection) exchange \(exchange): \(staysEncoded): \(why)"
    }

    /// The same words, as canonical tapes have them: their connections are others.
    package static let staysEncoded = "the rest of the body stays encoded"

    /// The connection and exchange that such a mark names, and why.
    package static func read(_ mark: String) -> (connection: UInt32, exchange: UInt32, why: String)? {
        let parts = mark.split(separator: " ", maxSplits: 4).map(String.init)
        guard parts.count == 5, parts[0] == "connection", parts[2] == "exchange", parts[3].hasSuffix(":"),
            let connection = UInt32(parts[1]), let exchange = UInt32(parts[3].dropLast()),
            parts[4].hasPrefix(staysEncoded + ": ")
        else { return nil }
        return (connection, exchange, String(parts[4].dropFirst(staysEncoded.count + 2)))
    }

    /// A mark without what another recording would call otherwise.
    package static func canonical(_ mark: String) -> String {
        read(mark).map { "\(staysEncoded): \($0.why)" } ?? mark
    }
}
