package import WiretapeBytes

/// Inflates the messages of one direction as two peers agreed on (RFC 7692 section 7.2.2). It allocates with the first.
package struct MessageInflater: ~Copyable {
    private let windowBits: Int
    private let resets: Bool
    private var inflater: Inflater?

    /// What came of one call.
    package enum Outcome: Hashable, Sendable {
        /// All that was given is inflated.
        case done
        /// There is a byte more than wanted, or there may be: the next call goes on.
        case tooMuch
        case bad(InflateFault)
    }

    /// What a sender cuts off the end of a message.
    package static let tail: [UInt8] = [0, 0, 0xff, 0xff]

    package init(_ direction: Direction, _ parameters: DeflateParameters) {
        windowBits = parameters.windowBits(direction)
        resets = parameters.resetsContext(direction)
    }

    /// A message begins.
    package mutating func begin() {
        guard resets else { return }
        inflater?.reset()
    }

    /// Inflates `packed` from `used` on, until `out` has a byte more than `limit`. Behind a message's last byte comes ``tail``.
    package mutating func feed(
        _ packed: Span<UInt8>, used: inout Int, limit: Int, into out: inout [UInt8]
    ) -> Outcome {
        if inflater == nil { inflater = Inflater(.raw(windowBits: windowBits)) }
        while true {
            // One byte more than wanted tells that there is too much.
            switch inflater?.feed(packed, used: &used, limit: max(1, limit - out.count + 1), into: &out) {
            case .more: return out.count > limit ? .tooMuch : .done
            case .full: return .tooMuch
            case .end:
                // A final block: the next one may follow within the message.
                if out.count > limit { return .tooMuch }
                if used == packed.count { return .done }
            case .bad(let fault): return .bad(fault)
            case nil: return .bad(.misused)
            }
        }
    }
}
