/// What a command is called, takes and does. Parsing, `--help`, usage errors, shell completions, the man page and
/// docs/cli.md all come from this one value.
package struct CommandSpec: Sendable {
    package var name: String
    /// One line without a full stop, for lists of commands.
    package var abstract: String
    /// Paragraphs for `--help`; an empty line separates two.
    package var discussion: String
    package var positionals: [PositionalSpec]
    package var groups: [OptionGroup]
    /// What follows `--`, when the command takes that.
    package var tail: TailSpec?
    package var examples: [ExampleSpec]
    /// Beside 0 and 64, which every command has.
    package var exitCodes: [ExitCode]

    package init(
        name: String, abstract: String, discussion: String, positionals: [PositionalSpec] = [],
        groups: [OptionGroup] = [], tail: TailSpec? = nil, examples: [ExampleSpec] = [], exitCodes: [ExitCode] = []
    ) {
        self.name = name
        self.abstract = abstract
        self.discussion = discussion
        self.positionals = positionals
        self.groups = groups + [.help]
        self.tail = tail
        self.examples = examples
        self.exitCodes = exitCodes
    }

    /// The options of all groups, in the order of `--help`.
    package var options: [OptionSpec] { groups.flatMap(\.options) }

    /// The option of this long name, without its dashes.
    package func option(_ name: String) -> OptionSpec? { options.first { $0.name == name } }
}

/// A command line that a reader may copy.
package struct ExampleSpec: Sendable {
    package var command: String
    package var meaning: String

    package init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}

/// What a command does with the words after `--`.
package struct TailSpec: Sendable {
    package var help: String

    package init(_ help: String) { self.help = help }
}
