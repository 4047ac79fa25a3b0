import Foundation
import Testing
import WiretapeCodecs
import WiretapeFaults
import WiretapeSystem
import WiretapeTape
import WiretapeTapeTools
import WiretapeWire

/// A command that makes a tape of another one, on a disk with the files that it needs.
enum RewriteJob: String, CaseIterable, CustomTestStringConvertible {
    case canon, edit, name, repair
    /// To another file, which is not there yet, or written over.
    case canonElsewhere, repairElsewhere, canonOver, editOver, repairOver

    var testDescription: String { rawValue }

    static let tape = "tapes/chat.tape.gz"
    private static let output = "tapes/new.tape"
    private static let recording = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
        path: "../../../recordings/chat.tape.gz")

    /// The file that is to become another one.
    var path: String { isElsewhere ? Self.output : Self.tape }

    /// What a read or write takes at most: so little that there are 100 operations and more.
    var mostPerCall: Int { isElsewhere ? 200 : 61 }

    private var isElsewhere: Bool {
        switch self {
        case .canon, .edit, .name, .repair: false
        case .canonElsewhere, .repairElsewhere, .canonOver, .editOver, .repairOver: true
        }
    }

    private var isOver: Bool {
        switch self {
        case .canonOver, .editOver, .repairOver: true
        case .canon, .edit, .name, .repair, .canonElsewhere, .repairElsewhere: false
        }
    }

    func files() throws -> [String: DiskState.Content] {
        var bytes = [UInt8](try Data(contentsOf: Self.recording))
        switch self {
        // Its last member is cut off.
        case .repair, .repairElsewhere, .repairOver: bytes.removeLast(20)
        case .canon, .edit, .name, .canonElsewhere, .canonOver, .editOver: break
        }
        var files = [Self.tape: DiskState.Content(bytes: bytes, mode: 0o640)]
        if isOver { files[Self.output] = .init(bytes: Tapes.plain(Tapes.events(30)), mode: 0o644) }
        return files
    }

    func run(_ disk: SimulatedDisk) throws {
        let target: TapeRewrite.Target = isElsewhere ? .file(Self.output, force: isOver) : .place
        switch self {
        case .canon, .canonElsewhere, .canonOver:
            try TapeCanon.write(Self.tape, to: target, codecs: Codecs.all, in: disk)
        case .edit, .editOver:
            var edit = TapeEdit(Selector(.label("ReceiveMessage")))
            edit.changes = [.set(pointer: "/arguments/1", .string("bye"))]
            var editor = TapeEditor(edit, codecs: Codecs.all)
            try Self.look(disk) { editor.look($0) }
            try #require(!editor.matches.isEmpty)
            try TapeRewrite.run(Self.tape, to: target, in: disk) { try editor.change($0) }
        case .name:
            var namer = TapeNamer([("alice", 1)], codecs: Codecs.all)
            try Self.look(disk) { namer.look($0) }
            try namer.settle()
            try TapeRewrite.run(Self.tape, to: target, in: disk) { try namer.change($0) }
        case .repair: _ = try TapeRepair.repair(path: Self.tape, in: disk)
        case .repairElsewhere, .repairOver:
            _ = try TapeRepair.repair(path: Self.tape, to: Self.output, force: isOver, in: disk)
        }
    }

    /// The same job on a disk where an earlier run may have left its output.
    func again(_ files: [String: DiskState.Content]) -> RewriteJob {
        guard files[path] != nil else { return self }
        return switch self {
        case .canonElsewhere: .canonOver
        case .repairElsewhere: .repairOver
        case .canon, .edit, .name, .repair, .canonOver, .editOver, .repairOver: self
        }
    }

    private static func look(_ disk: SimulatedDisk, _ look: (TapeLine) -> Void) throws {
        var reader = try TapeLineReader(path: tape, in: disk)
        while let line = try reader.next() { look(line) }
    }
}
