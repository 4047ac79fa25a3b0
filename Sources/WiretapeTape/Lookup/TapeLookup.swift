internal import WiretapeBytes
package import WiretapeProtocol
internal import WiretapeSystem

/// Single events of a tape by their numbers, read again from the file when they are asked for. It keeps the lines of the
/// places that were used last, so that several readers that go forward cost one inflated member (a MiB of a plain tape)
/// each time they come to a new one.
package final class TapeLookup: Sendable {
    package typealias Found = (event: TapeEvent, line: Int, isUnframed: Bool)

    private static let kept = 4

    private let source: Source
    private let index: TapeIndex
    private let isSparse: Bool
    /// The one used last is first.
    private let chunks = Gate<[TapeChunk]>([])

    private enum Source: Sendable {
        case file(String)
        case memory([UInt8], name: String)
    }

    /// - Parameter index: of this very file, which must not be changed meanwhile but by appending.
    package init(path: String, header: TapeHeader, index: TapeIndex) {
        source = .file(path)
        isSparse = header.protocolID != nil
        self.index = index
    }

    package init(bytes: [UInt8], name: String, header: TapeHeader, index: TapeIndex) {
        source = .memory(bytes, name: name)
        isSparse = header.protocolID != nil
        self.index = index
    }

    /// The event of that number with its line, and whether its payload came as `json`; nil when the tape has none.
    /// - Throws: when the file cannot be read any more, or is not what it was.
    package func event(_ number: UInt64) throws(TapeError) -> Found? {
        guard let place = index.place(of: number) else { return nil }
        return try chunks.withLock {
            (chunks: inout [TapeChunk]) throws(TapeError) -> Found? in
            if let at = chunks.firstIndex(where: { $0.first == place.first }) {
                if at > 0 { chunks.insert(chunks.remove(at: at), at: 0) }
            } else {
                if chunks.count == Self.kept { chunks.removeLast() }
                chunks.insert(try TapeChunk(open(), place, until: index.place(after: place.first)), at: 0)
            }
            do throws(TapeLineFault) {
                return try chunks[0].event(number, isSparse: isSparse)
            } catch {
                throw TapeError(
                    .badLine, file: name, offset: place.offset, event: number, "is not what it was: \(error.reason)")
            }
        }
    }

    private var name: String {
        switch source {
        case .file(let path): path
        case .memory(_, let name): name
        }
    }

    private func open() throws(TapeError) -> TapeInflow {
        switch source {
        case .file(let path): try TapeInflow(TapeInput(path: path, in: SystemFiles()))
        case .memory(let bytes, let name): try TapeInflow(TapeInput(bytes, name: name))
        }
    }
}
