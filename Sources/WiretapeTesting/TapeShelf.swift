internal import WiretapeCodecs
internal import WiretapeProtocol
internal import WiretapeReplay
internal import WiretapeSystem
internal import WiretapeTape

/// A tape as servers play it, decoded once.
struct ShelvedTape: Sendable {
    /// The file's name without its folders, as messages show it.
    let name: String
    let sessions: [RecordedSession]
    /// Ordinary requests beside them.
    let exchanges: [RecordedExchange]
    let upstreams: Upstreams
    /// The size that it had, which tells a new recording from it.
    let size: UInt64
}

/// The tapes of this process: each is read and decoded once, however many tests play it.
enum TapeShelf {
    private static let tapes = Gate<[String: ShelvedTape]>([:])

    /// - Throws: for people, when it is no tape, is damaged, or has nothing to be played.
    static func tape(at path: String) throws(TapeFailure) -> ShelvedTape {
        do {
            let size = try File.reading(path).size
            // Whoever wants the same tape meanwhile waits for it, and does not read it a second time.
            return try tapes.withLock { tapes in
                if let known = tapes[path], known.size == size { return known }
                let tape = try read(path, size: size)
                tapes[path] = tape
                return tape
            }
        } catch let error as TapeFailure {
            throw error
        } catch {
            throw TapeFailure("\(error)")
        }
    }

    private static func read(_ path: String, size: UInt64) throws -> ShelvedTape {
        var reader = try TapeReader(path: path)
        var decoder = SessionReader(codecs: Codecs.all, header: reader.header)
        var messages: [DecodedMessage] = []
        while let next = try reader.next() {
            decoder.read(
                next.event, number: next.number, line: next.line, isUnframed: next.isUnframed, into: &messages)
            messages.removeAll(keepingCapacity: true)
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let sessions = decoder.finish()
        guard !sessions.isEmpty || !decoder.exchanges.isEmpty else {
            throw TapeFailure("\(name) has no session that could be played")
        }
        return ShelvedTape(
            name: name, sessions: sessions, exchanges: decoder.exchanges,
            upstreams: Upstreams(reader.header.upstreams.map(\.name)), size: size)
    }
}
