internal import WiretapeCodecs
internal import WiretapeCore
internal import WiretapeTape

/// A tape as a replay needs it: its sessions and ordinary exchanges, decoded.
struct LoadedTape {
    var sessions: [RecordedSession]
    /// Ordinary requests beside them.
    var exchanges: [RecordedExchange]
    /// The file's name without its folders, as messages show it.
    var name: String

    /// Files from this size on get a progress bar.
    private static let longFile: UInt64 = 8 << 20

    /// Reads all of it.
    /// - Throws: `TapeError` when it is no tape or is damaged.
    init(path: String, log: Log) throws {
        name = path.split(separator: "/").last.map(String.init) ?? path
        var reader = try TapeReader(path: path)
        var decoder = SessionReader(codecs: Codecs.all, header: reader.header)
        var bar = ProgressBar(name, isWanted: log.level == .info && reader.progress.size > Self.longFile)
        defer { bar.clear() }
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            decoder.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            messages.removeAll(keepingCapacity: true)
            let (read, size) = reader.progress
            bar.show(read, of: size)
        }
        sessions = decoder.finish()
        exchanges = decoder.exchanges
        if reader.isTruncated {
            log.warning(
                "\(name) is cut off within its last event, as a recorder that was killed leaves it; the rest is used")
        }
    }
}
