internal import WiretapeProtocol
internal import WiretapeWire

extension MultipartWriter {
    /// For an answer whose head names the boundary.
    init(for answer: HTTPAnswer) {
        let type = answer.headers.first("Content-Type").map { MediaType($0) }
        self.init(boundary: type?["boundary"] ?? "-")
    }
}

extension Link {
    /// Appends a payload as a part of the multipart answer, or its end.
    mutating func addPart(_ payload: Span<UInt8>, _ codec: any FrameCodec.Type, into out: inout [UInt8]) {
        guard case .parts(var answer) = body else { return }
        codec.part(payload, of: &answer, into: &out)
        body = .parts(answer)
    }
}
