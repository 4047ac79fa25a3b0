internal import WiretapeCore
internal import WiretapeTape

/// The payloads of a long tape, read again when they are sent.
struct TapePayloads: PayloadSource {
    private let lookup: TapeLookup

    init(_ lookup: TapeLookup) { self.lookup = lookup }

    func payload(of event: UInt64) -> RecordedPayload? {
        guard let found = try? lookup.event(event), case .message(_, let opcode, let bytes, _, _) = found.event.kind
        else { return nil }
        return RecordedPayload(bytes: bytes, opcode: opcode, isUnframed: found.isUnframed)
    }
}
