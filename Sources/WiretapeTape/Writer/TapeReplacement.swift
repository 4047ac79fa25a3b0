package import WiretapeSystem

/// A new form of a tape, written beside it and put in its place in one step: whoever reads the path finds the old file
/// or the whole new one. The file's permissions stay; a symbolic link stays one. Meanwhile the old file is locked, so that
/// nobody records into it.
package final class TapeReplacement: TapeSink {
    private let target: String
    /// Where the new form is written.
    package let temporary: String
    private let file: TapeFile
    private let old: File
    private let files: any FileSystem

    /// - Parameter path: the tape, which is there.
    package init(of path: String, in files: any FileSystem = SystemFiles()) throws(TapeError) {
        self.files = files
        target = files.resolved(path)
        do {
            old = try File.reading(target, in: files)
            try old.lock()
        } catch {
            throw TapeFile.error(error, path, exists: false)
        }
        // The name is new: a file or a link that somebody has put there is neither followed nor written over.
        var number = 0
        while true {
            let name = "\(target).\(ThisProcess.id)\(number == 0 ? "" : "-\(number)").new"
            do throws(TapeError) {
                file = try TapeFile(path: name, in: files)
                temporary = name
                return
            } catch {
                guard error.kind == .exists, number < 100 else { throw error }
                number += 1
            }
        }
    }

    package func write(_ bytes: Span<UInt8>) throws(TapeError) {
        do throws(TapeError) {
            try file.write(bytes)
        } catch {
            throw TapeError(error.kind, file: target, error.message)
        }
    }

    /// Puts it in the tape's place. What was there before is gone then.
    package func commit() throws(TapeError) {
        do {
            try files.copyMode(of: target, to: temporary)
        } catch {
            throw TapeFile.error(error, target, exists: false)
        }
        try file.replace(target)
    }

    /// Takes it away again.
    package func discard() { file.discard() }
}
