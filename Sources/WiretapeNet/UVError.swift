internal import CWiretapeUV
internal import WiretapeRuntime

// Lifetime: libuv's error texts are constants; they are copied.

/// libuv's words for an error: `connection refused`.
func words(_ status: Int32) -> String {
    guard let text = unsafe uv_strerror(status) else { return "error \(status)" }
    return unsafe String(cString: text)
}

extension NetError {
    /// The failed call with libuv's words.
    init(_ call: String, status: Int32) {
        self.init(call, code: status, reason: words(status))
    }
}

extension StreamEnd {
    /// What a failed read, write or shutdown of a connected stream says about its end. A reset shows itself as EPIPE when
    /// its own error has been taken by an earlier call, and as ENOTCONN in a shutdown.
    init(status: Int32) {
        switch status {
        case UV_ECONNRESET.rawValue, UV_EPIPE.rawValue, UV_ENOTCONN.rawValue: self = .reset
        default: self = .failed(words(status))
        }
    }
}
