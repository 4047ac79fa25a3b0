import Foundation
import Testing
import WiretapeSystem

struct FileTests {
    private let folder: String

    init() throws {
        folder = NSTemporaryDirectory() + "wiretape-\(ThisProcess.id)-\(UInt32.random(in: 0 ... .max))"
        try File.makeFolder(folder + "/a/b")
    }

    private func contents(_ path: String) throws -> String {
        let file = try File.reading(path)
        var bytes: [UInt8] = []
        while try file.read(at: UInt64(bytes.count), limit: 3, into: &bytes) > 0 {}
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(_ text: String, _ file: borrowing File) throws {
        let bytes = Array(text.utf8)
        try file.write(bytes.span)
    }

    @Test func writeReadAppendTruncate() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/a/b/file"
        do {
            let file = try File.creating(path, overwrite: false)
            try write("hello world", file)
            try file.truncate(to: 5)
            try write("!", file)
            try file.sync()
            #expect(file.size == 6)
        }
        do { try write("more", try File.appending(path)) }
        #expect(try contents(path) == "hello!more")
        do { try write("new", try File.creating(path, overwrite: true)) }
        #expect(try contents(path) == "new")
        try SystemFiles().move(path, to: folder + "/moved")
        #expect(File.exists(folder + "/moved"))
        #expect(!File.exists(path))
        try File.remove(folder + "/moved")
        #expect(!File.exists(folder + "/moved"))
    }

    @Test func errorsSayWhatAndWhy() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/there"
        do { _ = try File.creating(path, overwrite: false) }
        let existing = #expect(throws: FileError.self) { _ = try File.creating(path, overwrite: false) }
        #expect(existing?.isExisting == true)
        #expect(existing?.description == "\(path): File exists")
        let missing = #expect(throws: FileError.self) { _ = try File.reading(folder + "/nowhere") }
        #expect(missing?.isNotFound == true)
        #expect(throws: FileError.self) { try File.makeFolder(path + "/below") }
        #expect(throws: FileError.self) { try File.remove(folder + "/nowhere") }
    }

    @Test func aFullDiskIsRecognised() throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        guard File.exists("/dev/full") else { return }
        let error = #expect(throws: FileError.self) {
            let file = try File.appending("/dev/full")
            try write("x", file)
        }
        #expect(error?.isNoSpace == true)
    }

    @Test func theProcessKnowsItself() {
        #expect(ThisProcess.id > 0)
        #expect(ThisProcess.environment("PATH")?.isEmpty == false)
        #expect(ThisProcess.environment("WIRETAPE_SURELY_NOT_SET") == nil)
        #if os(Linux)
            #expect((ThisProcess.residentSize ?? 0) > 1 << 20)
        #endif
        #expect(ThisProcess.randomSeed != ThisProcess.randomSeed)
    }

    /// A process that is being started has a copy of every descriptor until it becomes its program: such a copy keeps no lock.
    @Test func aLockEndsWithItsFileAndNotWithACopyOfIt() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-lock-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var copy: Int32 = -1
        do {
            let file = try SystemFile(path, .new)
            try file.lock()
            copy = file.lending { dup($0) }
            let other = try SystemFile(path, .writing)
            #expect(throws: FileError.self) { try other.lock() }
        }
        #expect(copy >= 0)
        #expect(throws: Never.self) { try SystemFile(path, .writing).lock() }
        close(copy)
    }
}

@Suite struct TemporaryFolderTests {
    @Test func itIsNewAndForItsOwnerOnly() throws {
        let parent = try File.makeTemporaryFolder("wiretape-test")
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let folders = try (0..<3).map { _ in try File.makeTemporaryFolder(in: parent, "x") }
        #expect(Set(folders).count == 3)
        for folder in folders {
            #expect(folder.hasPrefix(parent + "/x-"))
            let mode = try FileManager.default.attributesOfItem(atPath: folder)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
        #expect(throws: FileError.self) { try File.makeTemporaryFolder(in: parent + "/none", "x") }
    }

    @Test func whatOthersMayWriteOrRead() throws {
        let folder = try File.makeTemporaryFolder("wiretape-test")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = folder + "/file"
        _ = try File.creating(path, overwrite: false)
        func why(_ path: String) -> String? { File.whyNotTrusted(path, File.resolved(path)) }
        func set(_ mode: Int, _ path: String) throws {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
        try set(0o600, path)
        #expect(File.isPrivate(path) && why(path) == nil)
        try set(0o644, path)
        #expect(!File.isPrivate(path) && why(path) == nil)
        try set(0o646, path)
        #expect(why(path) == "everybody can write to it")
        try set(0o644, path)
        try set(0o1777, folder)
        #expect(why(path) == "everybody can write to its folder")
        #expect(why(folder + "/none") == "it cannot be looked at")
        try set(0o700, folder)
        // A link is as good as what it leads to.
        try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: "/dev/null")
        #expect(why(folder + "/link") != nil)
        if geteuid() == 0 {
            try FileManager.default.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
            #expect(why(path) == "it belongs to another user" && !File.isPrivate(path))
        }
    }
}
