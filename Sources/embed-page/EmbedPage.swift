internal import Foundation

/// `embed-page FOLDER OUTPUT.swift`: writes the files below FOLDER as string literals into a Swift file. The build runs it for the
/// web page of `WiretapeControl` (`Plugins/EmbedPage`).
///
/// SwiftPM could do that by itself (`embedInCode`), as an array of numbers, which the compiler takes half a minute for; texts it
/// takes as they are.
@main
enum EmbedPage {
    private static let mark = "###"

    struct Unfit: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) has characters that a raw string literal cannot have" }
    }

    static func main() throws {
        guard CommandLine.arguments.count == 3 else {
            FileHandle.standardError.write(Data("embed-page FOLDER OUTPUT.swift\n".utf8))
            exit(64)
        }
        let folder = URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory)
        let source = try source(of: folder)
        let output = URL(filePath: CommandLine.arguments[2])
        // A file that stays as it is need not be compiled again.
        if let before = try? String(contentsOf: output, encoding: .utf8), before == source { return }
        try source.write(to: output, atomically: true, encoding: .utf8)
    }

    private static func source(of folder: URL) throws -> String {
        var text = """
            /// The files of the web page, byte for byte.
            package enum PageResources {
                /// By their paths below the folder.
                package static let files: [(path: String, text: String)] = [

            """
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path(percentEncoded: false)).sorted() {
            let file = folder.appending(path: path)
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
            let content = try String(contentsOf: file, encoding: .utf8)
            guard !content.contains("\\" + mark), !content.contains("\"\"\"" + mark), !content.utf8.contains(0x0d)
            else {
                throw Unfit(path: path)
            }
            text += "        (\"\(path)\", \(mark)\"\"\"\n\(content)\n\"\"\"\(mark)),\n"
        }
        return text + "    ]\n}\n"
    }
}
