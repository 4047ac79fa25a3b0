internal import WiretapeBytes

extension JSONValue {
    /// Bytes without a structure as a value: `{"text":…}` when they are valid UTF-8, else `{"hex":…}`. Different bytes
    /// give different values.
    package init(plain bytes: [UInt8]) {
        if let text = String(validUTF8: bytes) {
            self.init(plain: text)
        } else {
            self = .object([Member("hex", .string(hexText(bytes)))])
        }
    }

    /// ``init(plain:)-([UInt8])`` of the text's bytes.
    package init(plain text: String) { self = .object([Member("text", .string(text))]) }
}

/// Two lower-case digits a byte.
package func hexText(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for byte in bytes {
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
}

private let digits = Array("0123456789abcdef".utf8)
