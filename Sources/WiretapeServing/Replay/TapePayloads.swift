internal import WiretapeProtocol
internal import WiretapeTape

/// The events of a long tape, read again when they are wanted.
struct TapePayloads: PayloadSource {
    private let lookup: TapeLookup

    init(_ lookup: TapeLookup) { self.lookup = lookup }

    func event(_ number: UInt64) -> (event: TapeEvent, line: Int, isUnframed: Bool)? { try? lookup.event(number) }
}
