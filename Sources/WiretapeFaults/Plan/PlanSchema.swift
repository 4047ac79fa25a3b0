internal import WiretapeWire

/// The JSON Schema of plans, made from the catalogue: docs/faults.schema.json.
package enum PlanSchema {
    /// Indented, with a newline at its end.
    package static var text: String { pretty(schema, 0) + "\n" }

    private static var schema: JSONValue {
        object([
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("Plan of faults of wiretape: --faults FILE")), ("type", .string("object")),
            ("additionalProperties", .bool(false)),
            (
                "properties",
                object([
                    (
                        "seed",
                        object([
                            ("type", strings(["integer", "string"])), ("minimum", .number(0)),
                            ("maximum", .number(UInt64.max)), ("pattern", .string("^[0-9]{1,20}$")),
                        ])
                    ),
                    ("rules", list(object([("$ref", .string("#/$defs/rule"))]), most: FaultPlan.mostRules)),
                    ("include", list(object([("type", .string("string")), ("minLength", .number(1))]))),
                ])
            ), ("$defs", definitions),
        ])
    }

    private static var definitions: JSONValue {
        object([
            ("rule", object([("oneOf", .array([inline, written, structured]))])), ("action", action),
            (
                "ordinal",
                object([
                    ("type", strings(["integer", "string"])), ("minimum", .number(1)),
                    (
                        "pattern",
                        .string("^ *(\(count)([.]{2}( *\(count))?|( *[|] *\(count))*)|every *\(count)) *$")
                    ),
                ])
            ),
            (
                "duration",
                object([
                    ("type", strings(["string", "integer"])), ("minimum", .number(0)), ("maximum", .number(0)),
                    ("pattern", .string("^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h)|0+([.]0+)?)$")),
                ])
            ),
            ("when", when),
        ])
    }

    /// A whole number from 1.
    private static let count = "0*[1-9][0-9]*"

    private static let flag = object([("enum", .array([.bool(true), .bool(false), .string("true"), .string("false")]))])
    private static let name = object([("type", strings(["string", "number", "boolean"])), ("minLength", .number(1))])

    private static var inline: JSONValue {
        object([
            ("type", .string("string")), ("pattern", .string("^ *(\(words))( *[(+].*)?( .*)?$")),
            ("description", .string("A rule in its inline form: reset after ReceiveMessage[3]")),
            ("examples", .array(Faults.all.flatMap(\.examples).map(JSONValue.string))),
        ])
    }

    /// `{ fault: … }`.
    private static var written: JSONValue {
        object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("required", strings(["fault"])),
            (
                "properties",
                object([
                    ("name", name), ("fault", inline), ("optional", flag),
                ])
            ),
        ])
    }

    /// `{ when: …, do: … }`.
    private static var structured: JSONValue {
        object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("required", strings(["when", "do"])),
            (
                "properties",
                object([
                    ("name", name),
                    ("when", object([("$ref", .string("#/$defs/when"))])),
                    (
                        "do",
                        object([
                            (
                                "oneOf",
                                .array([
                                    object([("$ref", .string("#/$defs/action"))]),
                                    list(object([("$ref", .string("#/$defs/action"))]), least: 1),
                                ])
                            )
                        ])
                    ),
                    ("place", object([("enum", strings(["before", "after", "on", "instead"]))])),
                    ("pause", object([("$ref", .string("#/$defs/duration"))])),
                    ("optional", flag),
                ])
            ),
        ])
    }

    private static var action: JSONValue {
        object([
            ("type", .string("string")), ("pattern", .string("^ *(\(words))( *[(+].*)? *$")),
            (
                "description",
                .string(Faults.all.map { "\($0.word): \($0.summary)" }.joined(separator: "\n"))
            ),
        ])
    }

    private static var words: String { Faults.all.map(\.word).joined(separator: "|") }

    private static var when: JSONValue {
        let text = object([("type", strings(["string", "number", "boolean"])), ("minLength", .number(1))])
        let ordinal = object([("$ref", .string("#/$defs/ordinal"))])
        let duration = object([("$ref", .string("#/$defs/duration"))])
        var properties: [(String, JSONValue)] = [
            (
                "at",
                object([
                    ("type", strings(["string", "number", "boolean"])), ("minLength", .number(1)),
                    (
                        "description",
                        .string(
                            "A label, or one of the points "
                                + FaultPoint.allCases.map(\.rawValue).joined(separator: ", "))
                    ),
                ])
            )
        ]
        for key in ["occurrence", "attempt", "retry", "session"] { properties.append((key, ordinal)) }
        properties.append(
            (
                "probability",
                object([
                    ("type", strings(["number", "string"])), ("minimum", .number(0)), ("maximum", .number(1)),
                    ("pattern", .string("^(0*([.][0-9]+)?|0*1([.]0*)?|[0-9.]+[eE]-[0-9]+)$")),
                    ("minLength", .number(1)),
                ])
            ))
        properties.append(
            (
                "max",
                object([
                    ("type", strings(["integer", "string"])), ("minimum", .number(1)),
                    ("pattern", .string("^[+]?\(count)$")),
                ])
            ))
        properties.append(("per", object([("enum", strings(RuleFilters.Scope.allCases.map(\.rawValue)))])))
        let marks = RuleFilters.Since.Mark.allCases.map { ($0.rawValue, duration) }
        properties.append(
            (
                "since",
                object([
                    ("type", .string("object")), ("additionalProperties", .bool(false)), ("minProperties", .number(1)),
                    ("maxProperties", .number(1)), ("properties", object(marks)),
                ])
            ))
        properties.append(("headers", object([("type", .string("object")), ("additionalProperties", text)])))
        for key in Condition.keys { properties.append((key, condition(key, text))) }
        return object([
            ("type", .string("object")), ("additionalProperties", .bool(false)), ("properties", object(properties)),
            (
                "patternProperties",
                object([
                    ("^/", object([("type", strings(["string", "number", "boolean", "null"]))])), ("^header[.].", text),
                ])
            ),
            // Filters alone say nothing of where.
            (
                "not",
                object([
                    ("type", .string("object")), ("additionalProperties", .bool(false)),
                    (
                        "properties",
                        object(
                            ["attempt", "retry", "session", "probability", "max", "per", "occurrence"].map {
                                ($0, object([]))
                            })
                    ),
                ])
            ),
        ])
    }

    private static func condition(_ key: String, _ text: JSONValue) -> JSONValue {
        switch key {
        case "direction": object([("enum", strings(["toClient", "toServer"]))])
        case "by": object([("enum", strings(["server", "client"]))])
        case "token": object([("enum", strings(["stale"]))])
        case "transport":
            object([
                ("type", .string("string")), ("pattern", .string("^(\(transports))([|](\(transports)))*$")),
            ])
        case "size":
            object([
                ("type", strings(["integer", "string"])), ("minimum", .number(0)),
                ("pattern", .string("^([<>]?[0-9]+|[0-9]+[.]{2}[0-9]+)$")),
            ])
        case "code":
            object([
                ("type", strings(["integer", "string"])), ("minimum", .number(0)), ("maximum", .number(65_535)),
                ("pattern", .string("^[0-9]+$")),
            ])
        default: text
        }
    }

    private static var transports: String { Transport.allCases.map(\.rawValue).joined(separator: "|") }

    // MARK: Making JSON

    private static func object(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { JSONValue.Member($0.0, $0.1) })
    }

    private static func list(_ items: JSONValue, least: Int? = nil, most: Int? = nil) -> JSONValue {
        let least = least.map { ("minItems", JSONValue.number($0)) }
        // Where a list may be empty, nothing may stand in its place.
        let type = least == nil ? strings(["array", "null"]) : .string("array")
        return object(
            [("type", type), ("items", items)] + [least, most.map { ("maxItems", .number($0)) }].compactMap(\.self))
    }

    private static func strings(_ texts: [String]) -> JSONValue { .array(texts.map(JSONValue.string)) }

    private static func pretty(_ value: JSONValue, _ depth: Int) -> String {
        let inner = String(repeating: "  ", count: depth + 1)
        let outer = String(repeating: "  ", count: depth)
        switch value {
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(JSONValue.string($0.name).text): \(pretty($0.value, depth + 1))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
        case .array(let items) where items.contains { $0.members != nil } || items.count > 8:
            let lines = items.map { inner + pretty($0, depth + 1) }
            return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
        case .null, .bool, .number, .string, .array, .object: return value.text
        }
    }
}
