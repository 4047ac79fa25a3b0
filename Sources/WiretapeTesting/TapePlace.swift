internal import WiretapeSystem

/// Where the tape of a test is.
enum TapePlace {
    /// The variable with a folder of tapes.
    static let variable = "WIRETAPE_RECORDINGS"

    /// - Parameters:
    ///   - tape: absolute; or relative to the folder of the test's file, to one above it as far as the package, or to
    ///     `WIRETAPE_RECORDINGS`.
    ///   - filePath: the test's file.
    /// - Throws: with the command that makes the tape, when there is none.
    static func find(_ tape: String, from filePath: String) throws(TapeFailure) -> String {
        let places = places(of: tape, from: filePath)
        if let place = places.first(where: { File.exists($0) && !File.isDirectory($0) }) { return place }
        let place = home(of: tape, from: filePath)
        throw TapeFailure(
            "there is no recording \(place); make it with: wiretape record --upstream URL --output \(place)")
    }

    /// Where a new tape of that name goes.
    static func home(of tape: String, from filePath: String) -> String {
        if tape.hasPrefix("/") { return tape }
        if let folder = recordings { return folder + "/" + (tape.split(separator: "/").last.map(String.init) ?? tape) }
        return normal(folder(of: filePath) + "/" + tape)
    }

    private static var recordings: String? {
        ThisProcess.environment(variable).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func places(of tape: String, from filePath: String) -> [String] {
        if tape.hasPrefix("/") { return [tape] }
        var places: [String] = []
        if let recordings {
            places.append(recordings + "/" + tape)
            if let name = tape.split(separator: "/").last { places.append(recordings + "/" + name) }
        }
        var folder = folder(of: filePath)
        while true {
            places.append(normal(folder + "/" + tape))
            if folder.isEmpty || File.exists(folder + "/Package.swift") { return places }
            folder = Self.folder(of: folder)
        }
    }

    /// Of `/` nothing.
    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." == path || path.isEmpty ? "" : "." }
        return String(path[..<slash])
    }

    /// Without `.` and `..`, as people want to read it.
    private static func normal(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else if part != "." {
                parts.append(part)
            }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}
