import Testing
import WiretapeCodecs
import WiretapeProtocol
import WiretapeSystem
import WiretapeTape
import WiretapeTapeTools

/// Tapes given as lines, for tests of `cut` and `merge`.
enum TapeAlgebra {
    static func bytes(_ lines: [String]) -> [UInt8] { Array((lines.joined(separator: "\n") + "\n").utf8) }

    static func cut(_ lines: [String], _ choice: CutChoice) throws -> [String] {
        var cut = TapeCut(choice, codecs: Codecs.all)
        var reader = try TapeLineReader(bytes: bytes(lines), name: "whole.tape")
        while let line = try reader.next() { cut.look(line) }
        try cut.settle()
        reader = try TapeLineReader(bytes: bytes(lines), name: "whole.tape")
        var left: [String] = []
        while let line = try reader.next() {
            left += try cut.change(line).map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        return left
    }

    /// The lines of the tapes in one.
    static func merge(_ tapes: [[String]], by order: TapeMerge.Order = .sequence) throws -> (
        lines: [String], result: TapeMerge.Result
    ) {
        let paths = tapes.indices.map { temporaryPath("merge-\($0).tape") }
        defer { paths.forEach(remove) }
        for (path, lines) in zip(paths, tapes) { writeFile(path, bytes(lines)) }
        let sink = TapeBytes()
        let result = try TapeMerge.write(paths, by: order, to: .sink(sink, isCompressed: false), tool: "test")
        return (String(decoding: sink.bytes, as: UTF8.self).split(separator: "\n").map(String.init), result)
    }

    /// When each event was, in nanoseconds since 1970, by its payload or kind.
    static func moments(_ lines: [String]) throws -> [(at: UInt64, what: TapeEvent.Kind)] {
        var reader = try TapeReader(bytes: bytes(lines), name: "moments.tape")
        var started = try #require(reader.header.started.flatMap { SystemClock.nanoseconds(rfc3339: $0) })
        var moments: [(at: UInt64, what: TapeEvent.Kind)] = []
        while let next = try reader.next() {
            if case .take(let again) = next.event.kind {
                started = try #require(SystemClock.nanoseconds(rfc3339: again))
            }
            moments.append((started + next.event.time, next.event.kind))
        }
        return moments
    }
}
