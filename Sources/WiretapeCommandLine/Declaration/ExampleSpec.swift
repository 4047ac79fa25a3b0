/// A command line that a reader may copy.
package struct ExampleSpec: Sendable {
    package var command: String
    package var meaning: String

    package init(_ command: String, _ meaning: String) {
        self.command = command
        self.meaning = meaning
    }
}
