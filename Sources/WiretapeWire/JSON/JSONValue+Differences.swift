extension JSONValue {
    /// The JSON Pointers of the places that differ, each the deepest that holds its difference, in order; `""` alone when
    /// the values have nothing in common.
    package func differences(from other: JSONValue) -> [String] {
        guard canonicalText != other.canonicalText else { return [] }
        switch (self, other) {
        case (.object(let left), .object(let right)):
            let names = left.map(\.name) + right.map(\.name).filter { name in !left.contains { $0.name == name } }
            return names.flatMap { name -> [String] in
                let escaped = name.replacing("~", with: "~0").replacing("/", with: "~1")
                guard let x = self[name], let y = other[name] else { return ["/\(escaped)"] }
                return x.differences(from: y).map { "/\(escaped)\($0)" }
            }
        case (.array(let left), .array(let right)) where left.count == right.count:
            return zip(left, right).enumerated().flatMap { i, pair in
                pair.0.differences(from: pair.1).map { "/\(i)\($0)" }
            }
        case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): return [""]
        }
    }
}
