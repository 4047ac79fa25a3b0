internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSettings
internal import WiretapeSystem

/// The settings files that hold for a command line: `x.tape.yaml` beside the tape first, then `wiretape.yaml` found upward.
struct SettingsSource {
    private(set) var files: [(path: String, settings: SettingsFile)] = []
    /// What the file beside the tape says and may not say.
    private(set) var leftOut: [TapeSettings.LeftOut] = []

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
            if File.exists(beside), !File.isDirectory(beside) {
                var settings = try Self.load(beside)
                leftOut = TapeSettings.restrict(&settings)
                files.append((beside, settings))
            }
        }
        if let found = Self.upward(from: File.currentFolder) { files.append((found, try Self.load(found))) }
    }

    private static func upward(from start: String) -> String? {
        var folder = Substring(start)
        while true {
            while folder.last == "/" { folder = folder.dropLast() }
            let path = folder + "/wiretape.yaml"
            if File.exists(String(path)), !File.isDirectory(String(path)) { return String(path) }
            guard let slash = folder.lastIndex(of: "/") else { return nil }
            folder = folder[..<slash]
        }
    }

    /// Settings are small: the rest of a longer file is not read, and the parser refuses it.
    private static func load(_ path: String) throws(PlanError) -> SettingsFile {
        var bytes: [UInt8] = []
        do throws(FileError) {
            if path == "-" {
                bytes = try StandardInput.bytes(for: "--config", limit: 2 << 20)
            } else {
                let file = try File.reading(path)
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
