import Foundation
import Testing

/// docs/threat-model.md names a test for each sentence: each of them exists.
@Suite struct ThreatModelTests {
    private static let page = Binary.root.appendingPathComponent("docs/threat-model.md")

    /// The text of all tests that declare this suite.
    private static let sources: [String] = {
        let folder = Binary.root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
            .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
    }()

    private static func names(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /`([A-Z][A-Za-z]+Tests(?:\.[a-z][A-Za-z]+)?|tools\/[a-z\/-]+)`/).map { String($0.1) }
    }

    /// Whether there is a suite of that name, or a test of that name in it; or a tool.
    private static func exists(_ name: String) -> Bool {
        if name.hasPrefix("tools/") {
            return FileManager.default.isExecutableFile(atPath: Binary.root.appendingPathComponent(name).path)
        }
        let parts = name.split(separator: ".")
        return sources.contains { source in
            source.contains("struct \(parts[0]) {") && (parts.count == 1 || source.contains("func \(parts[1])("))
        }
    }

    @Test func everyTestThatIsNamedExists() throws {
        let names = Self.names(in: try String(contentsOf: Self.page, encoding: .utf8))
        #expect(names.count > 80)
        for name in names { #expect(Self.exists(name), "\(name) is not there") }
        #expect(!Self.exists("NoSuchTests") && !Self.exists("ThreatModelTests.noSuchTest"))
    }

    /// Every promise names at least one; the sections of what is not held name none.
    @Test func everySentenceHasATest() throws {
        let text = try String(contentsOf: Self.page, encoding: .utf8)
        let sections = text.components(separatedBy: "\n## ").dropFirst()
        #expect(sections.count == 11)
        for section in sections {
            let title = section.prefix { $0 != "\n" }
            let isHeld = title != "Not held yet" && title != "Out of scope"
            for item in section.components(separatedBy: "\n- ").dropFirst() {
                let sentence = item.components(separatedBy: "\n\n")[0]
                #expect(Self.names(in: sentence).isEmpty != isHeld, "\(title): \(sentence)")
            }
        }
    }
}
