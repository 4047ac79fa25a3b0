internal import WiretapeBytes
package import WiretapeCore
package import WiretapeSystem

extension TapeCanon {
    /// Writes the canonical form of the tape at `path`.
    /// - Returns: how many events it has.
    @discardableResult
    package static func write(
        _ path: String, to target: TapeRewrite.Target, codecs: [CodecEntry], in files: any FileSystem = SystemFiles()
    ) throws -> UInt64 {
        var reader = try TapeLineReader(path: path, in: files)
        var events: UInt64 = 0
        try TapeRewrite.write(target, of: path, isCompressed: reader.isCompressed, in: files) { output in
            events = try each(&reader, codecs) { line throws(TapeError) in
                try output.line(line.bytes.span, event: line.event)
            }
        }
        return events
    }

    /// The first line that the canonical form of the tape at `path` would have otherwise; nil when there is none.
    package static func firstDifference(_ path: String, codecs: [CodecEntry]) throws(TapeError) -> Int? {
        var reader = try TapeLineReader(path: path)
        var original = try TapeLineReader(path: path)
        var difference: Int?
        var at = 0
        try each(&reader, codecs) { line throws(TapeError) in
            guard difference == nil else { return }
            at += 1
            if try original.next()?.bytes != line.bytes { difference = at }
        }
        if difference == nil, try original.next() != nil { difference = at + 1 }
        return difference
    }

    @discardableResult
    private static func each(
        _ reader: inout TapeLineReader, _ codecs: [CodecEntry], _ take: (TapeNewLine) throws(TapeError) -> Void
    ) throws(TapeError) -> UInt64 {
        var canon = TapeCanon(codecs: codecs)
        var lines: [TapeNewLine] = []
        var pieces = CanonPieces()
        while let line = try reader.next() {
            if case .event(let event, _) = line.what, let size = pieces.add(event) {
                throw TapeError(
                    .tooLarge, file: reader.name, event: line.number,
                    "line \(line.line): a message of more than \(size >> 20) MiB has no canonical form, since its line would "
                        + "be longer than a tape's may be; the tape is left as it is")
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
