/// Reads a command line of the samples from left to right.
struct ArgumentReader {
    private var rest: ArraySlice<String>

    init(_ arguments: [String]) { rest = arguments[...] }

    mutating func next() -> String? { rest.popFirst() }

    mutating func value(of option: String) throws(UsageError) -> String {
        guard let value = rest.popFirst() else { throw UsageError("\(option) needs a value") }
        return value
    }
}

/// A command line that cannot be understood; without a message, one that asks for help.
struct UsageError: Error, Hashable {
    var message: String?

    init(_ message: String?) { self.message = message }
}
