import Foundation
import Testing

/// docs/testing-in-swift.md shows what is in Examples/swift.
@Suite struct DocumentationTests {
    private static let root = URL(fileURLWithPath: #filePath).appending(path: "../../..").standardizedFileURL

    private static func lines(_ text: some StringProtocol) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
            .joined(separator: "\n") + "\n"
    }

    @Test func itsListingsAreOfTheExample() throws {
        let page = try String(contentsOf: Self.root.appending(path: "docs/testing-in-swift.md"), encoding: .utf8)
        let example = Self.root.appending(path: "Examples/swift")
        let sources = try ["Package.swift", "Tests/ChatTests/ChatTests.swift", "Tests/ChatTests/Ada.swift"].map {
            Self.lines(try String(contentsOf: example.appending(path: $0), encoding: .utf8))
        }
        let listings = page.matches(of: /```swift\n((?s).*?)```/).map { Self.lines($0.1) }
        #expect(listings.count > 10)
        for listing in listings {
            #expect(sources.contains { $0.contains(listing) }, "not in Examples/swift:\n\(listing)")
        }
    }

    @Test func itsLinksLeadSomewhere() throws {
        let file = Self.root.appending(path: "docs/testing-in-swift.md")
        for match in try String(contentsOf: file, encoding: .utf8).matches(of: /\]\((?!https?:)([^)#]+)\)/) {
            let target = file.deletingLastPathComponent().appending(path: String(match.1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(match.1)")
        }
    }
}
