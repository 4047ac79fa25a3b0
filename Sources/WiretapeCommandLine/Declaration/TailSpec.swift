/// What a command does with the words after `--`.
package struct TailSpec: Sendable {
    package var help: String

    package init(_ help: String) { self.help = help }
}
