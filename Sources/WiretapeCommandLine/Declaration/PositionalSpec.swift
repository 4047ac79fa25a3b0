/// An argument that is told by its place.
package struct PositionalSpec: Sendable {
    /// In capitals, as texts name it.
    package var name: String
    package var kind: ValueKind
    package var isRequired: Bool
    package var isRepeatable: Bool
    package var help: String

    package init(
        _ name: String, _ kind: ValueKind = .text, required: Bool = true, repeatable: Bool = false, _ help: String
    ) {
        self.name = name
        self.kind = kind
        self.isRequired = required
        self.isRepeatable = repeatable
        self.help = help
    }

    /// `FILE`, `[FILE]`, `FILE…` as a usage line writes it.
    package var spelling: String {
        let text = name + (isRepeatable ? "…" : "")
        return isRequired ? text : "[\(text)]"
    }
}
