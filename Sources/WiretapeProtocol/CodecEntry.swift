internal import WiretapeMessages
internal import WiretapeWire

/// A line of the list of codecs: what the sessions need to find and make one.
package struct CodecEntry: Sendable {
    package var id: String
    package var type: any FrameCodec.Type

    package init(_ type: any FrameCodec.Type) {
        self.id = type.id
        self.type = type
    }
}

extension [CodecEntry] {
    /// The codec whose operation an exchange is by the head of its answer, and how the body is framed. Nil: none, or a
    /// protocol knows the exchange as its own.
    /// - Parameter isWhole: the body stands whole on a tape. Where the head does not tell how it was framed, it had a
    ///   length, and is not in pieces.
    package func told(
        by opening: StreamOpening, isWhole: Bool = false
    ) -> (entry: CodecEntry, framing: BodyFraming)? {
        guard let entry = first(where: { $0.type.isToldByAnswer }), entry.type.claim(opening) >= .likely,
            let framing = entry.type.framing(opening)
        else { return nil }
        let others = filter { !$0.type.isToldByAnswer }
        guard !others.contains(where: { $0.type.claim(opening) >= .likely }) else { return nil }
        guard framing == .units(.pieces) else { return (entry, framing) }
        if isWhole, opening.response?.headers.first("Transfer-Encoding") == nil { return nil }
        // Pieces say nothing by themselves: what a request negotiates is its protocol's, before the answer is there.
        let asked = StreamOpening(request: opening.request, requestBody: opening.requestBody)
        let isNegotiation = others.contains {
            $0.type.kind(opening.request) == .negotiate && $0.type.claim(asked) > .no
        }
        return isNegotiation ? nil : (entry, framing)
    }
}
