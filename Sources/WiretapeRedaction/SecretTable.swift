/// The secrets that were met and their numbers, in memory only. Finds them again wherever they stand in later bytes.
///
/// Memory and time are bounded: at most ``mostSecrets`` are told apart, the others share the number 0, and looking for
/// them takes time proportional to the bytes. Where that cannot be kept, since somebody has made secrets up for the
/// purpose, ``Sought/tooMuch`` says so and the bytes must not be shown.
package struct SecretTable: Sendable {
    static let mostSecrets = 4096
    /// Of all secrets together.
    static let mostBytes = 4 << 20
    /// Shorter ones are replaced where they stand under a name, and are not looked for elsewhere: they would be found in
    /// every word.
    static let shortestSought = 6
    /// Longer ones are found by their looks and their names only.
    static let longestSought = 8192

    private var numbers: [[UInt8]: Int] = [:]
    private var bytes = 0
    private var next: Int
    /// By the last ``shortestSought`` bytes: what ends so. The ends of tokens differ where their beginnings are all alike.
    private var byEnd: [UInt64: [[UInt8]]] = [:]
    /// A filter before `byEnd`: a bit for each end that there is.
    private var filter = [UInt64](repeating: 0, count: 256)
    private var firstBytes = [Bool](repeating: false, count: 256)
    private var longest = 0
    /// Secrets that there was no room for.
    package private(set) var refused = 0

    /// - Parameter first: the number of the first secret.
    package init(first: Int = 1) { next = first }

    package var isEmpty: Bool { byEnd.isEmpty }
    /// How many have a number of their own.
    package var count: Int { numbers.count }

    /// The number of a secret, a new one when it is new.
    /// - Parameter isSought: whether it is looked for in other places from now on.
    package mutating func number(of secret: [UInt8], isSought: Bool) -> Int {
        if let known = numbers[secret] { return known }
        guard numbers.count < SecretTable.mostSecrets, bytes + secret.count <= SecretTable.mostBytes,
            next <= Pseudonym.largest
        else {
            refused += 1
            return Pseudonym.overflow
        }
        let number = next
        next += 1
        add(secret, number, isSought: isSought)
        return number
    }

    /// States the number of a secret, for tables whose numbers are given.
    package mutating func add(_ secret: [UInt8], _ number: Int, isSought: Bool) {
        guard numbers[secret] == nil else {
            numbers[secret] = number
            return
        }
        guard numbers.count < SecretTable.mostSecrets, bytes + secret.count <= SecretTable.mostBytes else {
            refused += 1
            return
        }
        numbers[secret] = number
        bytes += secret.count
        guard isSought, (SecretTable.shortestSought...SecretTable.longestSought).contains(secret.count) else { return }
        let end = SecretTable.end(of: secret, before: secret.count)
        byEnd[end, default: []].append(secret)
        let bit = SecretTable.bit(end)
        filter[bit >> 6] |= 1 << UInt64(bit & 63)
        firstBytes[Int(secret[0])] = true
        longest = max(longest, secret.count)
    }

    package func knows(_ secret: [UInt8]) -> Int? { numbers[secret] }

    /// A place where a secret stands.
    package struct Place: Hashable, Sendable {
        package var range: Range<Int>
        package var number: Int
    }

    package enum Sought: Sendable {
        /// In order, without overlaps.
        case found([Place])
        case tooMuch
    }

    /// Where known secrets stand. Of several that overlap the longest counts, and takes the bytes of all.
    package func find(in text: [UInt8]) -> Sought {
        guard !byEnd.isEmpty, text.count >= SecretTable.shortestSought else { return .found([]) }
        let bytes = text.span
        var places: [Place] = []
        var work = 0
        let most = 64 * text.count + (1 << 16)
        var window: UInt64 = 0
        for at in bytes.indices {
            window = (window << 8 | UInt64(bytes[at])) & 0xffff_ffff_ffff
            guard at >= SecretTable.shortestSought - 1 else { continue }
            let bit = SecretTable.bit(window)
            guard filter[bit >> 6] & (1 << UInt64(bit & 63)) != 0, let ending = byEnd[window] else { continue }
            var best: [UInt8]?
            for secret in ending where secret.count <= at + 1 && secret.count > (best?.count ?? 0) {
                let start = at + 1 - secret.count
                let theirs = secret.span
                var same = 0
                while same < secret.count, theirs[same] == bytes[start + same] { same += 1 }
                work += same + 1
                if same == secret.count { best = secret }
            }
            guard work <= most else { return .tooMuch }
            guard let best, let number = numbers[best] else { continue }
            var place = Place(range: at + 1 - best.count..<at + 1, number: number)
            var longest = best.count
            while let last = places.last, last.range.upperBound > place.range.lowerBound {
                if last.range.count >= longest {
                    place.number = last.number
                    longest = last.range.count
                }
                place.range = min(last.range.lowerBound, place.range.lowerBound)..<place.range.upperBound
                places.removeLast()
            }
            places.append(place)
        }
        return .found(places)
    }

    /// How many bytes at the end of `text` may be the beginning of a known secret.
    package func begun(atEndOf text: ArraySlice<UInt8>) -> Int {
        guard !byEnd.isEmpty else { return 0 }
        let reach = text.suffix(longest - 1)
        var work = 0
        for start in reach.indices where firstBytes[Int(reach[start])] {
            let count = reach.endIndex - start
            for secrets in byEnd.values {
                for secret in secrets where secret.count > count {
                    var same = 0
                    while same < count, secret[same] == reach[start + same] { same += 1 }
                    if same == count { return count }
                    work += same + 1
                }
            }
            // Somebody has made secrets up for this: all of it waits.
            guard work <= 1 << 22 else { return reach.count }
        }
        return 0
    }

    private static func end(of secret: [UInt8], before end: Int) -> UInt64 {
        secret[(end - shortestSought)..<end].reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func bit(_ end: UInt64) -> Int { Int((end &* 0x9e37_79b9_7f4a_7c15) >> 50) }
}
