internal import CWiretapeYAML
internal import WiretapeFaults

// Lifetime: the parser reads the copy of the input that is allocated with it; both are freed in `deinit`, and each
// event in the function that reads it.

/// One event of a YAML stream and where it begins.
struct YAMLEvent: Equatable {
    enum Kind: Equatable {
        case streamStart, streamEnd, documentStart, documentEnd
        /// `isQuoted`: not plain, so never a number or a boolean.
        case scalar(String, isQuoted: Bool, hasAnchor: Bool)
        case sequenceStart(hasAnchor: Bool), sequenceEnd
        case mappingStart(hasAnchor: Bool), mappingEnd
        case alias(String)
    }

    var kind: Kind
    /// From 1.
    var line: Int
    var column: Int
}

/// libyaml's parser: the only owner of its C object, which lives in allocated memory and never moves. libyaml itself
/// limits nothing but the depth of flow collections; size and depth are the caller's (``YAMLReader``).
@safe
final class YAMLParser {
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>
    private let file: String

    /// - Throws: when memory is short.
    init(_ bytes: [UInt8], file: String) throws(PlanError) {
        self.file = file
        unsafe parser = .allocate(capacity: 1)
        unsafe input = .allocate(capacity: bytes.count)
        _ = unsafe input.initialize(from: bytes)
        // yaml_parser_initialize returns 0 only when memory is short; it has zeroed the object then, so that deleting it
        // is allowed.
        guard unsafe yaml_parser_initialize(parser) == 1 else {
            throw PlanError("not enough memory", at: RuleSource(file: file))
        }
        unsafe yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        unsafe yaml_parser_delete(parser)
        unsafe parser.deallocate()
        unsafe input.deallocate()
    }

    /// The next event. Not to be called after `streamEnd`.
    /// - Throws: what libyaml finds wrong, with its place.
    func next() throws(PlanError) -> YAMLEvent {
        var event = unsafe yaml_event_t()
        // 0: an error, described in the parser; the event is empty then and needs no deletion.
        guard unsafe yaml_parser_parse(parser, &event) == 1 else { throw unsafe failure() }
        defer { unsafe yaml_event_delete(&event) }
        let line = unsafe Int(clamping: event.start_mark.line) + 1
        let column = unsafe Int(clamping: event.start_mark.column) + 1
        return YAMLEvent(kind: unsafe kind(of: event), line: line, column: column)
    }

    @unsafe private func kind(of event: yaml_event_t) -> YAMLEvent.Kind {
        switch unsafe event.type {
        case YAML_DOCUMENT_START_EVENT: return .documentStart
        case YAML_DOCUMENT_END_EVENT: return .documentEnd
        case YAML_STREAM_END_EVENT: return .streamEnd
        case YAML_ALIAS_EVENT: return .alias(unsafe text(event.data.alias.anchor))
        case YAML_SCALAR_EVENT:
            let scalar = unsafe event.data.scalar
            let bytes = unsafe UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return .scalar(
                unsafe String(decoding: bytes, as: UTF8.self),
                isQuoted: unsafe scalar.style != YAML_PLAIN_SCALAR_STYLE, hasAnchor: unsafe scalar.anchor != nil)
        case YAML_SEQUENCE_START_EVENT: return .sequenceStart(hasAnchor: unsafe event.data.sequence_start.anchor != nil)
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_START_EVENT: return .mappingStart(hasAnchor: unsafe event.data.mapping_start.anchor != nil)
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        default: return .streamStart
        }
    }

    @unsafe private func text(_ bytes: UnsafeMutablePointer<yaml_char_t>?) -> String {
        guard let bytes = unsafe bytes else { return "" }
        var length = 0
        while unsafe bytes[length] != 0 { length += 1 }
        return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    }

    @unsafe private func failure() -> PlanError {
        let mark = unsafe parser.pointee.problem_mark
        let source = RuleSource(
            file: file, line: Int(clamping: mark.line) + 1, column: Int(clamping: mark.column) + 1)
        guard let problem = unsafe parser.pointee.problem else { return PlanError("not YAML", at: source) }
        return PlanError("not YAML: \(unsafe String(cString: problem))", at: source)
    }
}
