import Foundation

/// Texts that are part of the interface: files under `Tests/Fixtures/golden`.
enum Golden {
    /// The top of the repository.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func text(_ name: String) throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/golden/\(name).txt")
        var text = try String(contentsOf: file, encoding: .utf8)
        if text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}
