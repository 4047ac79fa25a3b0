package import WiretapeSystem
package import WiretapeTape

/// Copies a tape line by line and lets each line be changed on the way. What is not changed is copied byte for byte.
package enum TapeRewrite {
    /// Where the new tape goes.
    package enum Target {
        /// In the tape's own place, in one step when all is written.
        case place
        case file(String, force: Bool)
        case sink(any TapeSink, isCompressed: Bool)
        /// Nowhere: a trial.
        case nowhere
    }

    /// - Parameter change: what becomes of a line: nothing, or the lines that stand for it.
    package static func run(
        _ path: String, to target: Target, longestLine: Int = TapeReader.longestLine,
        in files: any FileSystem = SystemFiles(), _ change: (TapeLine) throws -> [TapeNewLine]
    ) throws {
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        try write(target, of: path, isCompressed: reader.isCompressed, in: files) { output in
            while let line = try reader.next() {
                for new in try change(line) { try output.line(new.bytes.span, event: new.event) }
            }
        }
    }

    /// Reads a tape without writing anything: the first of two passes.
    package static func read(
        _ path: String, longestLine: Int = TapeReader.longestLine, in files: any FileSystem = SystemFiles(),
        _ look: (TapeLine) throws -> Void
    ) throws {
        var reader = try TapeLineReader(path: path, longestLine: longestLine, in: files)
        while let line = try reader.next() { try look(line) }
    }

    /// Opens the target, lets `body` write, reads a file back, and closes it; when something fails nothing is left behind.
    /// - Parameter isCompressed: of the tape at `path`; a file's name decides otherwise.
    package static func write(
        _ target: Target, of path: String, isCompressed: Bool, in files: any FileSystem,
        _ body: (inout TapeLineOutput) throws -> Void
    ) throws {
        switch target {
        case .nowhere:
            var output = TapeLineOutput(nil, isCompressed: false)
            try body(&output)
        case .sink(let sink, let isCompressed):
            var output = TapeLineOutput(sink, isCompressed: isCompressed)
            try body(&output)
            try output.finish()
        case .file(let name, let force) where files.exists(name):
            guard force else { throw TapeError(.exists, file: name, "exists already; --force overwrites it") }
            guard files.isRegular(name) else {
                // No other file may take the place of a pipe or a device.
                let file = try TapeFile(path: name, force: true, in: files)
                let target = Target.sink(file, isCompressed: TapeFile.isCompressed(name))
                return try write(target, of: path, isCompressed: isCompressed, in: files, body)
            }
            try write(.place, of: name, isCompressed: TapeFile.isCompressed(name), in: files, body)
        case .file(let name, _):
            let file = try TapeFile(path: name, in: files)
            var output = TapeLineOutput(file, isCompressed: TapeFile.isCompressed(name))
            do {
                try body(&output)
                try output.finish()
                try file.sync()
                try readBack(file.path, events: output.events, in: files)
            } catch {
                file.discard()
                throw error
            }
        case .place:
            let file = try TapeReplacement(of: path, in: files)
            var output = TapeLineOutput(file, isCompressed: isCompressed)
            do {
                try body(&output)
                try output.finish()
                try readBack(file.temporary, events: output.events, in: files)
                try file.commit()
            } catch {
                file.discard()
                throw error
            }
        }
    }

    /// Nothing takes the place of a tape that our own reader would not read to its end.
    private static func readBack(_ path: String, events: UInt64, in files: any FileSystem) throws(TapeError) {
        var read: UInt64 = 0
        do throws(TapeError) {
            var reader = try TapeReader(path: path, in: files)
            while try reader.next() != nil { read += 1 }
        } catch {
            throw TapeError(
                error.kind, file: path, offset: error.offset, event: error.event,
                "what was written cannot be read again (\(error.message)); nothing was replaced")
        }
        guard read == events else {
            throw TapeError(
                .damaged, file: path, event: read,
                "of \(events) events that were written \(read) can be read again; nothing was replaced")
        }
    }
}
