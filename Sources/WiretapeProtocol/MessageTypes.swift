/// The types of a protocol's messages, compared without regard to case.
package struct MessageTypes: Sendable {
    private let names: Set<String>

    package init(_ names: [String]) { self.names = Set(names.map { $0.lowercased() }) }

    package func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }
}
