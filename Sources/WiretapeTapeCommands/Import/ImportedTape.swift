internal import WiretapeCapture
package import WiretapeCommandLine
internal import WiretapeSystem
internal import WiretapeTape

/// A tape that was made of an archive for one run, in a folder of its own.
package struct ImportedTape {
    package let path: String
    private let folder: String

    /// - Returns: nil when `path` is no archive of another tool: a tape, something else, or nothing.
    package init?(_ path: String, memory: Int, _ log: Log) throws {
        var begun: [UInt8] = []
        guard let file = try? ImportFile(path), file.isRegular,
            (try? file.read(at: 0, limit: ImportFormat.lookedAt, into: &begun)) != nil,
            let archive = ImportFormat.of(begun)?.archive
        else { return nil }
        let name = path.split(separator: "/").last.map(String.init) ?? "session"
        folder = try File.makeTemporaryFolder("wiretape-replay")
        self.path = "\(folder)/\(name).tape"
        let run = ArchiveRun(redaction: .standard, log: log, memory: memory, force: true, isQuiet: log.level < .info)
        do {
            let verdict = try run.run(archive, path, file, isZip: ImportFormat.isZip(begun), to: self.path)
            // What could not be read to its end is played as far as it goes, and told.
            guard File.exists(self.path) else { throw Failure(verdict.reason, code: verdict.code) }
            if verdict.code != 0 { log.warning(verdict.reason) }
        } catch {
            remove()
            throw error
        }
        log.info("\(name) is played as a tape; to keep it: wiretape import \(path) -o FILE.tape.gz")
    }

    package func remove() {
        try? File.remove(path)
        try? File.removeFolder(folder)
    }
}
