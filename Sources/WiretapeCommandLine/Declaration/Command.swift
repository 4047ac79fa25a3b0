/// One command of the tool: one file, one line in ``Commands``.
package protocol Command {
    static var spec: CommandSpec { get }

    /// Takes what the parser accepted. What only the command can know to be wrong is refused here, before anything runs.
    init(_ arguments: ParsedArguments) throws(UsageError)

    /// Runs to the end.
    /// - Returns: the exit code.
    func run() throws -> Int32
}
