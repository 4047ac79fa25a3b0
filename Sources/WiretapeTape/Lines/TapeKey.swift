/// The keys of events that this version knows. The raw value is the key.
package enum TapeKey: String, CaseIterable, CustomStringConvertible {
    case t, c, e, d, x, n, op, text, b64, json, after
    case from, to, upstream, tls, session, version, alpn, sni, client
    case method, target, headers, stream, status, reason, interim, coding, by, how, why, trailers
    case deflated, frames, last, code, rule, action, ref, delivered, line, started, lost, bytes, events, connections,
        level

    package var description: String { rawValue }

    /// The key between the quotes at `range`; nil for one of a later version.
    package init?(_ b: Span<UInt8>, _ range: Range<Int>) {
        guard range.count < 16 else { return nil }
        var word = UInt128(range.count)
        for i in range { word = word << 8 | UInt128(b[i]) }
        var low = 0
        var high = TapeKey.table.count
        while low < high {
            let middle = (low + high) / 2
            if TapeKey.table[middle].word < word { low = middle + 1 } else { high = middle }
        }
        guard low < TapeKey.table.count, TapeKey.table[low].word == word else { return nil }
        self = TapeKey.table[low].key
    }

    /// Length and letters of each key as one number, in order.
    private static let table: [(word: UInt128, key: TapeKey)] = allCases.map { key in
        (key.rawValue.utf8.reduce(UInt128(key.rawValue.utf8.count)) { $0 << 8 | UInt128($1) }, key)
    }.sorted { $0.word < $1.word }
}
