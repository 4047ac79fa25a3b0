/// A regular expression over bytes that is found in time proportional to the text: a Thompson automaton, so that no pattern
/// can make a message take long. Literals, `.`, classes (`[a-z]`, `[^"]`, `\d \w \s` and their opposites), groups, `|`,
/// `* + ?`, `{2,5}`, `^`, `$`, and `(?i)` at the beginning. No back references, no look-around.
package struct Pattern: Hashable, Sendable {
    package let text: String
    private let program: [Step]

    /// How much of a payload is looked at, in bytes.
    package static let reach = 64 << 10
    private static let mostSteps = 2_000

    enum Step: Hashable, Sendable {
        case byte(ByteSet)
        case split(Int, Int)
        case jump(Int)
        case start, end
        case found
    }

    /// Why a text is no pattern, as a sentence without its full stop, and the offset in characters.
    package struct Fault: Error, Hashable, Sendable {
        package var reason: String
        package var at: Int
    }

    package init(_ text: String) throws(Fault) {
        self.text = text
        var parser = PatternParser(text)
        let tree = try parser.parse()
        var program: [Step] = []
        try Pattern.emit(tree, into: &program)
        program.append(.found)
        self.program = program
    }

    package static func == (a: Pattern, b: Pattern) -> Bool { a.text == b.text }

    package func hash(into hasher: inout Hasher) { hasher.combine(text) }

    /// Whether it stands somewhere in the first 64 KiB of `bytes`.
    package func isFound(in bytes: [UInt8]) -> Bool {
        let count = min(bytes.count, Pattern.reach)
        var current = States(program.count)
        var next = States(program.count)
        for at in 0...count {
            // A match may begin anywhere.
            if add(0, to: &current, at: at, of: count) { return true }
            guard at < count else { return false }
            next.clear()
            for state in current.list {
                guard case .byte(let set) = program[state], set.contains(bytes[at]) else { continue }
                if add(state + 1, to: &next, at: at + 1, of: count) { return true }
            }
            swap(&current, &next)
        }
        return false
    }

    /// Where it stands in `bytes`, in order and without overlaps: of matches that begin at one place the longest. One that
    /// takes no bytes is none. All of `bytes` is looked at, in time proportional to them for patterns that find little.
    package func ranges(in bytes: [UInt8]) -> [Range<Int>] {
        var found: [Range<Int>] = []
        var from = 0
        while from <= bytes.count, let range = first(in: bytes, from: from) {
            if !range.isEmpty { found.append(range) }
            from = range.isEmpty ? range.upperBound + 1 : range.upperBound
        }
        return found
    }

    /// The match that begins first. States are followed in the order in which their matches began, so that the first to
    /// reach a state is the one that counts.
    private func first(in bytes: [UInt8], from: Int) -> Range<Int>? {
        var current = States(program.count)
        var starts = [Int](repeating: 0, count: program.count)
        var next = States(program.count)
        var nextStarts = starts
        var best: Range<Int>?
        for at in from...bytes.count {
            if best == nil {
                let known = current.list.count
                let isFound = add(0, to: &current, at: at, of: bytes.count, stops: false)
                for state in current.list[known...] { starts[state] = at }
                if isFound { best = at..<at }
            }
            guard at < bytes.count, !current.list.isEmpty else { break }
            next.clear()
            for state in current.list {
                guard best.map({ starts[state] <= $0.lowerBound }) ?? true, case .byte(let set) = program[state],
                    set.contains(bytes[at])
                else { continue }
                let start = starts[state]
                let known = next.list.count
                let isFound = add(state + 1, to: &next, at: at + 1, of: bytes.count, stops: false)
                for reached in next.list[known...] { nextStarts[reached] = start }
                if isFound { best = start..<at + 1 }
            }
            swap(&current, &next)
            swap(&starts, &nextStarts)
        }
        return best
    }

    /// Follows everything that takes no byte.
    /// - Returns: whether the end of the pattern is reached.
    private func add(_ state: Int, to states: inout States, at: Int, of count: Int, stops: Bool = true) -> Bool {
        var pending = [state]
        var isFound = false
        while let state = pending.popLast() {
            guard states.insert(state) else { continue }
            switch program[state] {
            case .found:
                if stops { return true }
                isFound = true
            case .byte: break
            case .jump(let to): pending.append(to)
            case .split(let a, let b):
                pending.append(b)
                pending.append(a)
            case .start: if at == 0 { pending.append(state + 1) }
            case .end: if at == count { pending.append(state + 1) }
            }
        }
        return isFound
    }

    private struct States {
        var list: [Int] = []
        private var marks: [Bool]

        init(_ count: Int) { marks = Array(repeating: false, count: count) }

        mutating func insert(_ state: Int) -> Bool {
            guard !marks[state] else { return false }
            marks[state] = true
            list.append(state)
            return true
        }

        mutating func clear() {
            for state in list { marks[state] = false }
            list.removeAll(keepingCapacity: true)
        }
    }

    private static func emit(_ node: PatternNode, into program: inout [Step]) throws(Fault) {
        guard program.count < mostSteps else { throw Fault(reason: "the pattern is too large", at: 0) }
        switch node {
        case .empty: break
        case .bytes(let set): program.append(.byte(set))
        case .start: program.append(.start)
        case .end: program.append(.end)
        case .sequence(let nodes): for node in nodes { try emit(node, into: &program) }
        case .either(let a, let b):
            let split = program.count
            program.append(.split(0, 0))
            try emit(a, into: &program)
            let jump = program.count
            program.append(.jump(0))
            program[split] = .split(split + 1, program.count)
            try emit(b, into: &program)
            program[jump] = .jump(program.count)
        case .repeated(let node, let least, let most):
            for _ in 0..<least { try emit(node, into: &program) }
            guard let most else {
                let split = program.count
                program.append(.split(0, 0))
                try emit(node, into: &program)
                program.append(.jump(split))
                program[split] = .split(split + 1, program.count)
                return
            }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(program.count)
                program.append(.split(0, 0))
                try emit(node, into: &program)
            }
            for split in splits { program[split] = .split(split + 1, program.count) }
        }
    }
}
