internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSettings
internal import WiretapeSystem

/// The settings files that hold for a command line: `x.tape.yaml` beside the tape first, then `wiretape.yaml` found upward.
struct SettingsSource {
    private(set) var files: [(path: String, settings: SettingsFile)] = []
    /// What the file beside the tape says and may not say.
    private(set) var leftOut: [TapeSettings.LeftOut] = []
    /// The file beside the tape, if it is one of ``files``.
    private(set) var beside: String?
    /// Files that were found and are not read, with the reason.
    private(set) var refused: [(path: String, why: String)] = []

    /// - Parameters:
    ///   - tape: the tape that the command is about; nil when there is none. Where it lies decides about nothing but the
    ///     file beside it: the search for `wiretape.yaml` goes upward from the current folder.
    ///   - config: the file that `--config` names in place of what would be found.
    /// - Throws: ``PlanError`` when a file cannot be read or has something that is no setting.
    init(tape: String?, config: String?) throws(PlanError) {
        if let config {
            files = [(config, try Self.load(config))]
            return
        }
        if let tape, tape != "-" {
            let beside = (tape.hasSuffix(".gz") ? String(tape.dropLast(3)) : tape) + ".yaml"
            if let trusted = trusted(beside) {
                var settings = try Self.load(beside, from: trusted)
                leftOut = TapeSettings.restrict(&settings)
                files.append((beside, settings))
                self.beside = beside
            }
        }
        if let found = Self.upward(from: File.currentFolder), let trusted = trusted(found) {
            files.append((found, try Self.load(found, from: trusted)))
        }
    }

    /// The nearest `wiretape.yaml`, from a folder up to the one that has `.git`, or to the home folder. If neither is above, only the
    /// first folder counts: the others may belong to anybody.
    private static func upward(from start: String) -> String? {
        let home = ThisProcess.environment("HOME").map(File.resolved)
        var found: String?
        var folder = Substring(start)
        var isFirst = true
        while true {
            while folder.last == "/" { folder = folder.dropLast() }
            let path = String(folder + "/wiretape.yaml")
            if found == nil, File.exists(path), !File.isDirectory(path) {
                found = path
                if isFirst { return found }
            }
            isFirst = false
            if File.isThere(folder + "/.git") || String(folder) == home { return found }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = folder[..<slash]
        }
    }

    /// Whether the file exists and can be trusted (``File/whyNotTrusted(_:)``). Adds an existing file that cannot be to ``refused``.
    /// - Returns: its path without links, from which it has to be read. Nil if it is not read.
    private mutating func trusted(_ path: String) -> String? {
        guard File.exists(path), !File.isDirectory(path) else { return nil }
        let resolved = File.resolved(path)
        guard let why = File.whyNotTrusted(path, resolved) else { return resolved }
        refused.append((path, why))
        return nil
    }

    /// Settings are small: the rest of a longer file is not read, and the parser refuses it.
    /// - Parameter place: where it is read from. Nil: at `path`.
    private static func load(_ path: String, from place: String? = nil) throws(PlanError) -> SettingsFile {
        var bytes: [UInt8] = []
        do throws(FileError) {
            if path == "-" {
                bytes = try StandardInput.bytes(for: "--config", limit: 2 << 20)
            } else {
                let file = try File.reading(place ?? path)
                while bytes.count <= 2 << 20, try file.read(at: UInt64(bytes.count), limit: 64 << 10, into: &bytes) > 0
                {}
            }
        } catch {
            throw PlanError("cannot be read: \(error.reason)", at: RuleSource(file: path))
        }
        let settings = try SettingsFile(bytes, file: path)
        try SettingsCheck.check(settings)
        return settings
    }
}
