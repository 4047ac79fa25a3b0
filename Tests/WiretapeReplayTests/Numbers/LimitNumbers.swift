import Foundation
import WiretapeFaults

/// Numbers at the limits of what a machine counts with, as peers and files may spell them. Whoever reads one of them takes it,
/// or refuses it in its own way: no arithmetic may trap, which would end the whole program (and ends the test run).
enum LimitNumbers {
    static let whole = [
        "0", "1", "2147483647", "2147483648", "2147483649", "4294967295", "4294967296", "9007199254740991",
        "9007199254740993", "9223372036854775807", "9223372036854775808", "18446744073709551615",
        "18446744073709551616",
    ]
    static let all = whole + ["-1", "-9223372036854775808", "1.5", "1e308", "1e999"]

    /// A third of them, another for each of three places in a row; all of them where the environment has `WIRETAPE_TEST_ALL`.
    static func share(ofPlace place: Int) -> [String] {
        if ProcessInfo.processInfo.environment["WIRETAPE_TEST_ALL"] != nil { return all }
        return all.indices.filter { ($0 + place) % 3 == 0 }.map { all[$0] }
    }

    /// A number of a JSON text, and the name of the member that it stands in.
    struct Place: Hashable {
        var key: String
        var range: Range<Int>
    }

    /// The numbers of a JSON text in their order.
    static func places(in json: [UInt8]) -> [Place] {
        var places: [Place] = []
        var key = ""
        var at = 0
        while at < json.count {
            switch json[at] {
            case UInt8(ascii: "\""):
                let start = at + 1
                at += 1
                while at < json.count, json[at] != UInt8(ascii: "\"") { at += json[at] == UInt8(ascii: "\\") ? 2 : 1 }
                let end = min(at, json.count)
                at += 1
                if at < json.count, json[at] == UInt8(ascii: ":") {
                    key = String(decoding: json[min(start, end)..<end], as: UTF8.self)
                }
            case 0x30...0x39, UInt8(ascii: "-"):
                let start = at
                while at < json.count, "0123456789+-.eE".utf8.contains(json[at]) { at += 1 }
                places.append(Place(key: key, range: start..<at))
            default: at += 1
            }
        }
        return places
    }

    /// The same of JSON whose quotes may be escaped once more, in a string of a tape's line.
    static func places(escaped json: ArraySlice<UInt8>) -> [Place] {
        var places: [Place] = []
        var word: [UInt8] = []
        var at = json.startIndex
        while at < json.endIndex {
            let byte = json[at]
            let before = at > json.startIndex ? json[at - 1] : 0
            let start = at
            at += 1
            if (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) {
                word = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(before | 0x20) ? word + [byte] : [byte]
            } else if (0x30...0x39).contains(byte), ":,[ ".utf8.contains(before) {
                while at < json.endIndex, "0123456789.".utf8.contains(json[at]) { at += 1 }
                guard at < json.endIndex, ",]}\\ ".utf8.contains(json[at]) else { continue }
                places.append(Place(key: String(decoding: word, as: UTF8.self), range: start..<at))
            }
        }
        return places
    }

    /// The runs of digits of any text.
    static func digits(in text: String) -> [Range<String.Index>] {
        var found: [Range<String.Index>] = []
        var start: String.Index?
        for i in text.indices {
            if text[i].isASCII, text[i].isNumber {
                start = start ?? i
            } else if let from = start {
                found.append(from..<i)
                start = nil
            }
        }
        if let start { found.append(start..<text.endIndex) }
        return found
    }

    static func replacing(_ range: Range<Int>, of bytes: [UInt8], with text: String) -> [UInt8] {
        Array(bytes[..<range.lowerBound]) + Array(text.utf8) + bytes[range.upperBound...]
    }
}
