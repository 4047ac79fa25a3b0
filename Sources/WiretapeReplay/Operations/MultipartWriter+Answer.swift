internal import WiretapeProtocol
internal import WiretapeWire

extension MultipartWriter {
    /// For an answer whose head names the boundary.
    init(for answer: HTTPAnswer) {
        let type = answer.headers.first("Content-Type").map { MediaType($0) }
        self.init(boundary: type?["boundary"] ?? "-")
    }
}
