import WiretapeBytes

/// What a simulated disk has: of every file and of the folder's names what a crash leaves for certain, and what was done
/// since.
struct DiskState {
    /// A file as it is.
    struct Content: Hashable, CustomStringConvertible {
        var bytes: [UInt8] = []
        var mode = 0o600

        var description: String { "\(bytes.count) bytes, mode \(String(mode, radix: 8))" }
    }

    /// What was done to a file and not synced.
    enum Change {
        case write(at: Int, [UInt8])
        case resize(Int)
        case mode(Int)
    }

    struct Node {
        var content = Content()
        var durable = Content()
        var pending: [Change] = []
        /// The opening that has the lock.
        var owner: Int?

        mutating func change(_ change: Change) {
            content.apply(change)
            pending.append(change)
        }
    }

    /// What was done to the folder and not synced.
    enum NameChange {
        case make(String, node: Int)
        case move(String, to: String)
        case remove(String)
    }

    enum Operation: String, CustomStringConvertible {
        case open, make, read, write, resize, sync, lock, mode, move, remove, folder

        var description: String { rawValue }
    }

    private(set) var names: [String: Int] = [:]
    private var durableNames: [String: Int] = [:]
    private var pendingNames: [NameChange] = []
    var nodes: [Node] = []
    /// All that was asked for so far.
    private(set) var operations: [Operation] = []

    /// A disk with these files, all of them synced.
    init(_ files: [String: Content]) {
        for (name, content) in files {
            names[name] = nodes.count
            nodes.append(Node(content: content, durable: content))
        }
        durableNames = names
    }

    mutating func count(_ operation: Operation) { operations.append(operation) }

    /// Its files by name.
    var files: [String: Content] { names.mapValues { nodes[$0].content } }
    /// Those that a crash leaves for certain, with as much as is certain.
    var durable: [String: Content] { durableNames.mapValues { nodes[$0].durable } }

    // MARK: Changes

    mutating func change(_ change: NameChange) {
        DiskState.apply(change, to: &names)
        pendingNames.append(change)
    }

    /// A new file without bytes.
    mutating func make(_ name: String) -> Int {
        nodes.append(Node())
        change(.make(name, node: nodes.count - 1))
        return nodes.count - 1
    }

    mutating func sync(_ node: Int) {
        nodes[node].durable = nodes[node].content
        nodes[node].pending = []
    }

    mutating func syncFolder() {
        durableNames = names
        pendingNames = []
    }

    private static func apply(_ change: NameChange, to names: inout [String: Int]) {
        switch change {
        case .make(let name, let node): names[name] = node
        case .move(let name, let to): names[to] = names.removeValue(forKey: name)
        case .remove(let name): names[name] = nil
        }
    }

    // MARK: Crashes

    /// What a crash leaves of that which was not synced. Changes of names and lengths are lost from some point on, as with
    /// a journal; bytes may be missing anywhere, and are zeros there.
    enum Survival: CaseIterable {
        case nothing
        case everything
        /// Files are there, renamed too, and what was written to them is not.
        case names
        /// The same, with the lengths.
        case zeros
        /// Some of it, drawn from a seed.
        case some1, some2, some3, some4
    }

    /// The disk that is found after a crash at this moment.
    func survivor(_ survival: Survival, seed: UInt64) -> [String: Content] {
        var random = SplitMix64(seed: seed)
        var left = durableNames
        let keepsNames =
            switch survival {
            case .nothing: 0
            case .everything, .names, .zeros: pendingNames.count
            case .some1, .some2, .some3, .some4: random.below(pendingNames.count + 1)
            }
        for change in pendingNames.prefix(keepsNames) { DiskState.apply(change, to: &left) }
        return left.sorted { $0.key < $1.key }.reduce(into: [:]) { files, entry in
            files[entry.key] = nodes[entry.value].survivor(survival, &random)
        }
    }
}

extension DiskState.Content {
    mutating func apply(_ change: DiskState.Change) {
        switch change {
        case .write(let at, let new):
            if bytes.count < at + new.count { resize(at + new.count) }
            bytes.replaceSubrange(at..<at + new.count, with: new)
        case .resize(let size): resize(size)
        case .mode(let mode): self.mode = mode
        }
    }

    private mutating func resize(_ size: Int) {
        if size < bytes.count {
            bytes.removeSubrange(size...)
        } else {
            bytes += [UInt8](repeating: 0, count: size - bytes.count)
        }
    }
}

extension DiskState.Node {
    fileprivate func survivor(_ survival: DiskState.Survival, _ random: inout SplitMix64) -> DiskState.Content {
        switch survival {
        case .nothing, .names: return durable
        case .everything: return content
        case .zeros: return changed(pending.map(\.zeroed))
        case .some1, .some2, .some3, .some4:
            return changed(pending.prefix(random.below(pending.count + 1)).map { $0.torn(&random) })
        }
    }

    private func changed(_ changes: [DiskState.Change]) -> DiskState.Content {
        changes.reduce(into: durable) { $0.apply($1) }
    }
}

extension DiskState.Change {
    fileprivate var zeroed: Self { torn(at: 0) }

    /// A write that came through, as a whole, up to some byte, or not at all.
    fileprivate func torn(_ random: inout SplitMix64) -> Self {
        guard case .write(_, let bytes) = self, random.below(2) == 0 else { return self }
        return torn(at: random.below(bytes.count + 1))
    }

    private func torn(at count: Int) -> Self {
        guard case .write(let at, let bytes) = self else { return self }
        return .write(at: at, bytes.prefix(count) + [UInt8](repeating: 0, count: bytes.count - count))
    }
}
