internal import WiretapeBytes
package import WiretapeRuntime

extension Loop {
    /// Listens for clients that have a place from their first moment on. Those for whom there is none are told so, in HTTP or by
    /// TLS's alert.
    /// - Parameters:
    ///   - door: nil for clients that speak plain HTTP.
    ///   - admission: nil: everybody is let in.
    ///   - handshakes: who hears of those of TLS; nil: nobody.
    ///   - accept: gets each client, behind its TLS handshake, with its seat; nil: nobody serves the listener's clients any more.
    package func listen(
        on address: Address, reusePort: Bool, door: TLSDoor?, admission: Admission?,
        handshakes: WatchedHandshakes? = nil,
        _ accept: @escaping (any ByteStream, Seat?) -> (any StreamHandler)?
    ) throws(NetError) -> any Listener {
        // Lifetime: a loop outlives its listeners.
        try listen(on: address, reusePort: reusePort) { [unowned self] stream in
            let seat = admission?.admit()
            if let admission, seat == nil {
                return admission.refuse(stream, door == nil ? OwnAnswer.noPlace : OwnAnswer.noPlaceOverTLS)
            }
            return door?.accepting(stream, seat, on: self, handshakes: handshakes, accept) ?? accept(stream, seat)
                ?? Unserved.end(stream, seat)
        }
    }
}

/// The handler of a stream that came too late. It was reset: nothing that it tells matters.
final class Unserved: StreamHandler {
    static func end(_ stream: any ByteStream, _ seat: Seat?) -> any StreamHandler {
        seat?.leave()
        stream.reset()
        return Unserved()
    }

    func connected() {}
    func received(_ bytes: Span<UInt8>) {}
    func receivedEnd() {}
    func drained() {}
    func ended(_ how: StreamEnd) {}
}
