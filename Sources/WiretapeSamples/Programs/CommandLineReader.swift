/// Reads a command line of the samples from left to right.
struct CommandLineReader {
    private var rest: ArraySlice<String>

    init(_ arguments: [String]) { rest = arguments[...] }

    mutating func next() -> String? { rest.popFirst() }

    mutating func value(of option: String) throws(CommandLineError) -> String {
        guard let value = rest.popFirst() else { throw CommandLineError("\(option) needs a value") }
        return value
    }
}

/// A command line that cannot be understood; without a message, one that asks for help.
struct CommandLineError: Error, Hashable {
    var message: String?

    init(_ message: String?) { self.message = message }
}
