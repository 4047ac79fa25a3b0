internal import WiretapeBytes
package import WiretapeProtocol
package import WiretapeSystem
package import WiretapeTape

extension TapeCanon {
    /// The longest line, and the longest message, for whoever has so many bytes: the message, its tree and its new line are held
    /// at once.
    package static func longestLine(memory: Int) -> Int { min(TapeReader.longestLine, memory / 8) }

    /// Writes the canonical form of the tape at `path`.
    /// - Parameter longestLine: longer ones are an error, and so are messages in pieces.
    /// - Returns: how many events it has.
    @discardableResult
    package static func write(
        _ path: String, to target: TapeRewrite.Target, codecs: [CodecEntry],
        longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles()
    ) throws -> UInt64 {
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        var events: UInt64 = 0
        try TapeRewrite.write(target, of: path, isCompressed: reader.isCompressed, in: files) { output in
            events = try each(&reader, codecs, longestLine) { line throws(TapeError) in
                try output.line(line.bytes.span, event: line.event)
            }
        }
        return events
    }

    /// The first line that the canonical form of the tape at `path` would have otherwise; nil when there is none.
    package static func firstDifference(
        _ path: String, codecs: [CodecEntry], longestLine: Int = TapeReader.longestLine
    ) throws(TapeError) -> Int? {
        var reader = try TapeLineReader(path: path, longestLine: longestLine)
        var original = try TapeLineReader(path: path, longestLine: longestLine)
        var difference: Int?
        var at = 0
        try each(&reader, codecs, longestLine) { line throws(TapeError) in
            guard difference == nil else { return }
            at += 1
            if try original.next()?.bytes != line.bytes { difference = at }
        }
        if difference == nil, try original.next() != nil { difference = at + 1 }
        return difference
    }

    @discardableResult
    private static func each(
        _ reader: inout TapeLineReader, _ codecs: [CodecEntry], _ longestLine: Int,
        _ take: (TapeNewLine) throws(TapeError) -> Void
    ) throws(TapeError) -> UInt64 {
        var canon = TapeCanon(codecs: codecs)
        var lines: [TapeNewLine] = []
        var pieces = CanonPieces(limit: longestLine)
        while let line = try reader.next() {
            if case .event(let event, _) = line.what, let size = pieces.add(event) {
                let why =
                    size < SessionReader.messageLimit
                    ? "takes more than --memory allows"
                    : "has no canonical form, since its line would be longer than a tape's may be"
                throw TapeError(
                    .tooLarge, file: reader.name, event: line.number,
                    "line \(line.line): a message of more than \(ByteSize.text(size)) \(why); the tape is left as it is"
                )
            }
            if case .bad(let fault) = line.what {
                throw TapeError(
                    .badLine, file: reader.name, event: line.number,
                    "line \(line.line), column \(fault.offset + 1): \(fault.reason); see `wiretape validate \(reader.name)`"
                )
            }
            canon.add(line, into: &lines)
            for new in lines { try take(new) }
            lines.removeAll(keepingCapacity: true)
        }
        canon.finish(into: &lines)
        for new in lines { try take(new) }
        return canon.writer.events
    }
}
