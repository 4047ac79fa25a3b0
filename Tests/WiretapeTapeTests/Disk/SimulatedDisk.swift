import Foundation
import Synchronization
import WiretapeBytes
import WiretapeSystem

/// A disk in memory with one folder. Every call is an operation with a number; from the one that it is told on it fails, and
/// at each it remembers what a crash would leave. A read or a write takes a few bytes at most, so that short tapes have
/// many operations and every caller has to go on where a call has left off.
final class SimulatedDisk: FileSystem {
    enum Fault: CaseIterable {
        /// A read or write takes half of what it would have taken.
        case short
        /// One operation fails (`EIO`).
        case inputOutput
        /// From there on nothing can be written or made; that operation fails too when it has to do with writing (`ENOSPC`).
        case noSpace
        /// From there on everything fails (`EIO`).
        case gone

        /// The operations to try it at, of so many: the first 1,000, where a dead disk differs little from one to the next.
        func places(_ operations: Int) -> [Int] {
            Array(stride(from: 1, through: min(1000, operations), by: self == .gone ? 5 : 1))
        }
    }

    private struct Inside {
        var state: DiskState
        var failure: (from: Int, how: Fault)?
        var hasFailed = false
        var openings = 0
        var history: [DiskState] = []
    }

    private let inside: Mutex<Inside>
    private let mostPerCall: Int
    private let remembers: Bool
    /// A file that is a pipe: what is written to it is kept here, and that is all that it has of a file.
    private let pipe: String?

    /// - Parameters:
    ///   - failure: the number of the operation, from 1, and what happens to it.
    ///   - remembers: whether ``history`` is kept.
    init(
        _ files: [String: DiskState.Content], mostPerCall: Int, failure: (from: Int, how: Fault)? = nil,
        remembers: Bool = false, pipe: String? = nil
    ) {
        self.pipe = pipe
        inside = Mutex(Inside(state: DiskState(files), failure: failure))
        self.mostPerCall = mostPerCall
        self.remembers = remembers
    }

    var files: [String: DiskState.Content] { inside.withLock { $0.state.files } }
    var operations: [DiskState.Operation] { inside.withLock { $0.state.operations } }
    /// Whether an operation failed or was cut short.
    var hasFailed: Bool { inside.withLock { $0.hasFailed } }
    /// What the disk was before each operation, and now.
    var history: [DiskState] { inside.withLock { $0.history + [$0.state] } }

    /// All works again.
    func heal() {
        inside.withLock {
            $0.failure = nil
            $0.hasFailed = false
        }
    }

    // MARK: Operations

    /// Counts an operation and does it, unless it fails.
    /// - Parameter body: gets the disk, and how many bytes the operation may take.
    fileprivate func run<R>(
        _ operation: DiskState.Operation, _ path: String, _ body: (inout DiskState, Int) throws(FileError) -> R
    ) throws(FileError) -> R {
        let remembers = remembers
        let mostPerCall = mostPerCall
        return try inside.withLock { (inside: inout sending Inside) throws(FileError) -> R in
            if remembers { inside.history.append(inside.state) }
            inside.state.count(operation)
            var room = mostPerCall
            if let failure = inside.failure, inside.state.operations.count >= failure.from {
                let isFirst = inside.state.operations.count == failure.from
                switch SimulatedDisk.outcome(failure.how, operation, isFirst: isFirst) {
                case .done: break
                case .cut:
                    inside.hasFailed = true
                    room = max(1, room / 2)
                case .failed(let code):
                    inside.hasFailed = true
                    throw SimulatedDisk.error(operation.rawValue, path, code)
                }
            }
            return try body(&inside.state, room)
        }
    }

    private enum Outcome {
        case done
        case cut
        case failed(Int32)
    }

    private static func outcome(_ fault: Fault, _ operation: DiskState.Operation, isFirst: Bool) -> Outcome {
        switch fault {
        case .short:
            guard isFirst else { return .done }
            return operation == .read || operation == .write ? .cut : .done
        case .inputOutput: return isFirst ? .failed(EIO) : .done
        case .gone: return .failed(EIO)
        case .noSpace:
            switch operation {
            case .write, .make: return .failed(ENOSPC)
            case .sync, .move, .folder: return isFirst ? .failed(ENOSPC) : .done
            case .open, .read, .resize, .lock, .mode, .remove: return .done
            }
        }
    }

    // MARK: FileSystem

    func open(_ path: String, _ mode: FileMode) throws(FileError) -> any OpenFile {
        let isThere = exists(path)
        let opening = inside.withLock {
            $0.openings += 1
            return $0.openings
        }
        return try run(isThere || mode == .reading ? .open : .make, path) { state, _ throws(FileError) in
            if mode == .new, isThere { throw SimulatedDisk.error("open", path, EEXIST) }
            if mode == .reading, !isThere { throw SimulatedDisk.error("open", path, ENOENT) }
            let node = state.names[path] ?? state.make(path)
            if mode == .emptied { state.nodes[node].change(.resize(0)) }
            let at = mode == .appending ? state.nodes[node].content.bytes.count : 0
            return SimulatedFile(self, path, node: node, opening: opening, at: at)
        }
    }

    func exists(_ path: String) -> Bool { inside.withLock { $0.state.names[path] != nil } }
    func isRegular(_ path: String) -> Bool { exists(path) && path != pipe }
    func resolved(_ path: String) -> String { path }

    func copyMode(of other: String, to path: String) throws(FileError) {
        try run(.mode, path) { state, _ throws(FileError) in
            guard let from = state.names[other], let to = state.names[path] else {
                throw SimulatedDisk.error("chmod", path, ENOENT)
            }
            state.nodes[to].change(.mode(state.nodes[from].content.mode))
        }
    }

    func move(_ from: String, to: String) throws(FileError) {
        try run(.move, to) { state, _ throws(FileError) in
            guard state.names[from] != nil else { throw SimulatedDisk.error("rename", to, ENOENT) }
            state.change(.move(from, to: to))
        }
    }

    func remove(_ path: String) throws(FileError) {
        try run(.remove, path) { state, _ throws(FileError) in
            guard state.names[path] != nil else { throw SimulatedDisk.error("remove", path, ENOENT) }
            state.change(.remove(path))
        }
    }

    func syncFolder(of path: String) throws(FileError) {
        try run(.folder, path) { state, _ throws(FileError) in state.syncFolder() }
    }

    fileprivate static func error(_ call: String, _ path: String, _ code: Int32) -> FileError {
        FileError(call, path, code: code, reason: "error \(code)")
    }

    fileprivate func size(_ node: Int) -> UInt64 {
        inside.withLock { UInt64($0.state.nodes[node].content.bytes.count) }
    }

    fileprivate func unlock(_ node: Int, _ opening: Int) {
        inside.withLock { if $0.state.nodes[node].owner == opening { $0.state.nodes[node].owner = nil } }
    }
}

/// An opening of a file of a ``SimulatedDisk``.
private final class SimulatedFile: OpenFile {
    private let disk: SimulatedDisk
    private let path: String
    private let node: Int
    private let opening: Int
    /// Where the last write ended.
    private let position: Mutex<Int>

    init(_ disk: SimulatedDisk, _ path: String, node: Int, opening: Int, at: Int) {
        self.disk = disk
        self.path = path
        self.node = node
        self.opening = opening
        position = Mutex(at)
    }

    deinit { unlock() }

    var size: UInt64 { disk.size(node) }
    var isRegular: Bool { disk.isRegular(path) }

    func read(at offset: UInt64, limit: Int, into out: inout [UInt8]) throws(FileError) -> Int {
        let got = try disk.run(.read, path) { state, room throws(FileError) in
            Array(state.nodes[node].content.bytes.dropFirst(Int(offset)).prefix(min(limit, room)))
        }
        out += got
        return got.count
    }

    func write(_ bytes: Span<UInt8>) throws(FileError) -> Int {
        var all: [UInt8] = []
        all.append(copying: bytes)
        let at = position.withLock { $0 }
        let count = try disk.run(.write, path) { state, room throws(FileError) in
            let some = Array(all.prefix(room))
            state.nodes[node].change(.write(at: at, some))
            return some.count
        }
        position.withLock { $0 = at + count }
        return count
    }

    func truncate(to size: UInt64) throws(FileError) {
        try disk.run(.resize, path) { state, _ throws(FileError) in state.nodes[node].change(.resize(Int(size))) }
        position.withLock { $0 = Int(size) }
    }

    func sync() throws(FileError) {
        try disk.run(.sync, path) { state, _ throws(FileError) in state.sync(node) }
    }

    func lock() throws(FileError) {
        try disk.run(.lock, path) { state, _ throws(FileError) in
            let owner = state.nodes[node].owner
            guard owner == nil || owner == opening, state.names[path] == node else {
                throw SimulatedDisk.error("lock", path, EWOULDBLOCK)
            }
            state.nodes[node].owner = opening
        }
    }

    func unlock() { disk.unlock(node, opening) }
}
