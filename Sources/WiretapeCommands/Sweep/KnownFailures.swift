internal import WiretapeBytes
internal import WiretapeCommandLine
internal import WiretapeFaults
internal import WiretapeSystem

/// A file of failures that are known: a rule a line, as a sweep tells it; `#` begins a comment.
struct KnownFailures {
    private(set) var rules: [String] = []

    init() {}

    /// - Throws: when the file cannot be read or is no such list.
    init(path: String) throws {
        var bytes: [UInt8] = []
        let file = try File.reading(path)
        while bytes.count <= 1 << 20, try file.read(at: UInt64(bytes.count), limit: 64 << 10, into: &bytes) > 0 {}
        guard bytes.count <= 1 << 20 else {
            throw Failure("\(path): a list of known failures has at most 1 MiB", .usage)
        }
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (i, line) in lines.enumerated() {
            let text = String(decoding: line, as: UTF8.self).trimmingBlanks()
            guard !text.isEmpty, !text.hasPrefix("#") else { continue }
            do {
                _ = try FaultRule(parsing: text, from: RuleSource(file: path))
            } catch {
                throw Failure("\(path):\(i + 1): not a rule: \(error.message)", .usage)
            }
            rules.append(text)
        }
    }
}
