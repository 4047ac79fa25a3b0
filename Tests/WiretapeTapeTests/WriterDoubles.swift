import Synchronization
import WiretapeBytes
import WiretapeProtocol
import WiretapeRecorder
import WiretapeTape
import WiretapeWire

/// Records of a test: each a time (u64) and a text after its length (u32). Every one becomes a message.
struct TestConsumer: RecordConsumer {
    static func record(_ time: UInt64, _ text: String) -> [UInt8] {
        var out: [UInt8] = []
        out.append(littleEndian: time)
        out.append(littleEndian: UInt32(text.utf8.count))
        return out + Array(text.utf8)
    }

    func consume(_ batch: [UInt8], loop: Int, into packer: inout MemberPacker) {
        var at = 0
        while at < batch.count {
            let time = batch.span.littleEndian(UInt64.self, at: at)
            let count = Int(batch.span.littleEndian(UInt32.self, at: at + 8))
            packer.message(
                time, UInt32(loop) + 1, .toServer, .text, batch.span.extracting(at + 12..<at + 12 + count))
            at += 12 + count
        }
    }

    func lost(loop: Int, into packer: inout MemberPacker) {
        packer.append(TapeEvent(time: packer.lastTime, connection: 0, .mark("lost on \(loop)")))
    }

    func finish(into packer: inout MemberPacker) {
        packer.append(TapeEvent(time: packer.lastTime, connection: 0, .mark("finished")))
    }

    static func countEvents(in batch: [UInt8]) -> UInt64 {
        var at = 0
        var count: UInt64 = 0
        while at < batch.count {
            at += 12 + Int(batch.span.littleEndian(UInt32.self, at: at + 8))
            count += 1
        }
        return count
    }
}

/// A sink in memory that counts how often it was handed to its device, and can be made to fail, at its `failAt`th write after half of the bytes, and to stand still.
final class TestSink: TapeSink {
    private let bytes = Mutex<[UInt8]>([])
    private let writes = Atomic<Int>(0)
    private let isOpen = Atomic<Bool>(true)
    private let syncs = Atomic<Int>(0)
    private let failAt: Int?

    init(failAt: Int? = nil, isOpen: Bool = true) {
        self.failAt = failAt
        self.isOpen.store(isOpen, ordering: .relaxed)
    }

    var written: [UInt8] { bytes.withLock { $0 } }
    var count: Int { writes.load(ordering: .relaxed) }

    var synced: Int { syncs.load(ordering: .relaxed) }

    func sync() throws(TapeError) { syncs.add(1, ordering: .relaxed) }

    func open() { isOpen.store(true, ordering: .releasing) }

    func write(_ span: Span<UInt8>) throws(TapeError) {
        // The first write is the header's, on the caller's thread.
        while count > 0, !isOpen.load(ordering: .acquiring) {}
        let n = writes.add(1, ordering: .relaxed).newValue
        let fails = failAt.map { n >= $0 } ?? false
        var copy: [UInt8] = []
        copy.append(copying: fails ? span.extracting(..<(span.count / 2)) : span)
        bytes.withLock { $0 += copy }
        if fails { throw TapeError(.noSpace, file: "sink", "cannot be written: No space left on device") }
    }
}
