import Foundation
import Testing
import WiretapeFuzz

/// The committed inputs of `tools/fuzz`: every seed, and every input that once failed, through its target.
@Suite struct FuzzSeedTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures/fuzz")

    @Test(arguments: FuzzTarget.all.map(\.name))
    func holds(_ name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let folder = Self.folder.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.isEmpty)
        for file in files {
            let input = Array(try Data(contentsOf: folder.appending(path: file)))
            let wrong = target.run(input)
            #expect(wrong == nil, "\(file)")
        }
        #expect(target.run([]) == nil)
    }
}
