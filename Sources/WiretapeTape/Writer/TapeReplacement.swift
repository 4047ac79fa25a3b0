internal import WiretapeSystem

/// A new form of a tape, written beside it and put in its place in one step: whoever reads the path finds the old file
/// or the whole new one. The file's permissions stay; a symbolic link stays one.
package final class TapeReplacement: TapeSink {
    private let target: String
    private let temporary: String
    private let file: TapeFile

    /// - Parameter path: the tape, which is there.
    package init(of path: String) throws(TapeError) {
        target = File.resolved(path)
        temporary = "\(target).\(ThisProcess.id).new"
        file = try TapeFile(path: temporary, force: true)
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
            try File.copyMode(of: target, to: temporary)
        } catch {
            throw TapeFile.error(error, target, exists: false)
        }
        try file.replace(target)
    }

    /// Takes it away again.
    package func discard() { file.discard() }
}
