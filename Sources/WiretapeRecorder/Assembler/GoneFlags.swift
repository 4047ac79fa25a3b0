package import WiretapeProtocol

/// Who ended a transport and how, in the flags of a `gone` record.
package enum GoneFlags {
    private static let parties: [TapeEvent.Party] = [.client, .server, .proxy]
    private static let ways: [TapeEvent.How] = [.fin, .rst, .timeout, .error]

    package static func encode(_ party: TapeEvent.Party, _ how: TapeEvent.How) -> UInt8 {
        UInt8(parties.firstIndex(of: party) ?? 0) | UInt8(ways.firstIndex(of: how) ?? 0) << 2
    }

    static func decode(_ flags: UInt8) -> (TapeEvent.Party, TapeEvent.How) {
        (parties[min(Int(flags & 3), 2)], ways[Int(flags >> 2 & 3)])
    }
}
