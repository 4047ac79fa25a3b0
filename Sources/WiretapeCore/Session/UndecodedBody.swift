package import WiretapeBytes

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
