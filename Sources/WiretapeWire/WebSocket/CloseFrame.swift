internal import WiretapeBytes

/// The payload of a close frame (RFC 6455 section 5.5.1), judged.
package enum CloseFrame: Hashable, Sendable {
    /// No code: the payload is empty.
    case empty
    case told(code: UInt16, reason: String)
    /// One byte, a code that must not be sent, or a reason that is not UTF-8: what to answer with.
    case invalid(answer: UInt16, why: String)

    /// - Parameter payload: unmasked.
    package init(_ payload: Span<UInt8>) {
        switch payload.count {
        case 0: self = .empty
        case 1: self = .invalid(answer: 1002, why: "close frame of one byte")
        default:
            let code = UInt16(payload[0]) << 8 | UInt16(payload[1])
            var bytes: [UInt8] = []
            bytes.append(copying: payload.extracting(2..<payload.count))
            guard Self.maySend(code) else {
                self = .invalid(answer: 1002, why: "close code \(code)")
                return
            }
            guard let reason = String(validUTF8: bytes) else {
                self = .invalid(answer: 1007, why: "close reason is not UTF-8")
                return
            }
            self = .told(code: code, reason: reason)
        }
    }

    /// Whether an endpoint may put `code` on the wire: the registered ones, and 3000 to 4999.
    package static func maySend(_ code: UInt16) -> Bool {
        switch code {
        case 1000...1003, 1007...1014, 3000...4999: true
        default: false
        }
    }
}
