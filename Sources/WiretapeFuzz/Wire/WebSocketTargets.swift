internal import WiretapeBytes
internal import WiretapeWire

/// Frames and compressed data: cut anywhere they are read as when whole, and what was packed unpacks to what it was.
enum WebSocketTargets {
    static let all = [
        FuzzTarget("frames") { frames(FuzzInput($0)) },
        FuzzTarget("deflate") { deflate(FuzzInput($0)) },
    ]

    private static let limit = 1 << 16

    private static func parameters(_ input: FuzzInput) -> DeflateParameters {
        var parameters = DeflateParameters()
        parameters.clientNoContextTakeover = input.chooses(2)
        parameters.serverNoContextTakeover = input.chooses(2)
        if input.chooses(3) {
            parameters.clientMaxWindowBits = 9
            parameters.serverMaxWindowBits = 9
        }
        return parameters
    }

    private static func frames(_ input: FuzzInput) -> String? {
        let whole = messages(input.whole, input)
        let cut = messages(input.pieces, input)
        return whole == cut ? nil : "cut: \(cut)\nwhole: \(whole)"
    }

    private static func messages(_ pieces: [[UInt8]], _ input: FuzzInput) -> [Assembled] {
        var assembler = MessageAssembler(
            input.chooses(0) ? .toServer : .toClient, limit: limit, deflate: input.chooses(1) ? parameters(input) : nil)
        var found: [Assembled] = []
        for piece in pieces {
            var at = 0
            reading: while true {
                switch assembler.feed(piece.span, from: at) {
                case .more: break reading
                case .message(let opcode, let bytes, let deflated, let fragments, let next):
                    found.append(.message(opcode, bytes, deflated: deflated, fragments: fragments, next: 0))
                    at = next
                case .ping(let bytes, let next):
                    found.append(.ping(bytes, next: 0))
                    at = next
                case .pong(let bytes, let next):
                    found.append(.pong(bytes, next: 0))
                    at = next
                case .close(let code, let reason, let next):
                    found.append(.close(code: code, reason: reason, next: 0))
                    at = next
                case .violation(let code, let reason):
                    found.append(.violation(code: code, reason: reason))
                    break reading
                }
            }
        }
        return found
    }

    private static func deflate(_ input: FuzzInput) -> String? {
        let formats: [Inflater.Format] = [.raw(windowBits: 15), .zlib, .gzip, .raw(windowBits: 9)]
        let format = formats[Int(input.choices >> 4 & 3)]
        let whole = inflated(input.whole, format)
        let cut = inflated(input.pieces, format)
        // What came out before corrupt data is nobody's.
        if whole.end != cut.end || (whole.isSound && whole.bytes != cut.bytes) {
            return "inflated in pieces: \(cut.end), whole: \(whole.end)"
        }
        for coding in ["gzip", "deflate", "br", "zstd"] {
            guard let decoder = ContentDecoder(ContentCodings([coding])) else { return "no decoder for \(coding)" }
            var out: [UInt8] = []
            for piece in input.pieces {
                var used = 0
                _ = decoder.feed(piece.span, used: &used, limit: max(0, limit - out.count), into: &out)
                if out.count > limit { return "\(coding): \(out.count) bytes where \(limit) are allowed" }
            }
        }
        return packed(input)
    }

    private struct Inflated {
        var bytes: [UInt8]
        var end: String
        var isSound = true
    }

    private static func inflated(_ pieces: [[UInt8]], _ format: Inflater.Format) -> Inflated {
        var inflater = Inflater(format)
        var out: [UInt8] = []
        for piece in pieces {
            var used = 0
            while used < piece.count {
                let before = used
                switch inflater.feed(piece.span, used: &used, limit: limit - out.count, into: &out) {
                case .more: break
                case .full: return Inflated(bytes: out, end: "full")
                case .end: return Inflated(bytes: out, end: "end")
                case .bad(let fault): return Inflated(bytes: out, end: "\(fault)", isSound: false)
                }
                if used == before { return Inflated(bytes: out, end: "does not get on") }
            }
        }
        return Inflated(bytes: out, end: "more")
    }

    private static func packed(_ input: FuzzInput) -> String? {
        let parameters = parameters(input)
        var packer = MessageDeflater(.toClient, parameters)
        var reader = MessageAssembler(.toClient, deflate: parameters)
        for message in [input.payload, Array(input.payload.reversed()), input.payload] {
            guard let bytes = packer.pack(message.span) else { return "cannot be packed" }
            var frame: [UInt8] = []
            FrameWriter.append(opcode: 2, rsv1: true, payload: bytes.span, mask: nil, into: &frame)
            guard
                case .message(.binary, message, deflated: true, _, next: frame.count) = reader.feed(frame.span, from: 0)
            else { return "what was packed is not what is unpacked" }
        }
        return nil
    }
}
