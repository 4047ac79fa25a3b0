/// Protects bytes as TLS does (RFC 8439). Wiretape itself opens only, and by OpenSSL.
enum ChaCha20Poly1305 {
    /// The encrypted bytes, and their proof behind them.
    /// - Parameter also: what is proved and not encrypted.
    static func seal(_ plain: [UInt8], key: [UInt8], nonce: [UInt8], also: [UInt8]) -> [UInt8] {
        var sealed: [UInt8] = []
        for (number, start) in stride(from: 0, to: plain.count, by: 64).enumerated() {
            let stream = block(key, nonce, UInt32(number + 1))
            sealed += zip(plain[start..<min(plain.count, start + 64)], stream).map { $0 ^ $1 }
        }
        func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: (16 - bytes.count % 16) % 16) }
        let counts = [also.count, sealed.count].flatMap { count in
            (0..<8).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
        }
        return sealed + proof(padded(also) + padded(sealed) + counts, key: block(key, nonce, 0))
    }

    private static func little(_ bytes: some Collection<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private static func block(_ key: [UInt8], _ nonce: [UInt8], _ number: UInt32) -> [UInt8] {
        func words(_ bytes: [UInt8]) -> [UInt32] {
            stride(from: 0, to: bytes.count, by: 4).map { UInt32(little(bytes[$0..<$0 + 4])) }
        }
        let first = words(Array("expand 32-byte k".utf8)) + words(key) + [number] + words(nonce)
        var state = first
        func mix(_ a: Int, _ b: Int, _ c: Int, _ d: Int) {
            for (to, from, by, turn) in [(a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)] {
                state[to] &+= state[from]
                let word = state[by] ^ state[to]
                state[by] = word << turn | word >> (32 - turn)
            }
        }
        for _ in 0..<10 {
            for i in 0..<4 { mix(i, 4 + i, 8 + i, 12 + i) }
            for i in 0..<4 { mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) }
        }
        return zip(state, first).flatMap { word, start in
            let sum = word &+ start
            return (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
        }
    }

    /// Poly1305 of whole blocks, with numbers of 130 bits as three parts of 44, 44 and 42.
    private static func proof(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let part: UInt128 = (1 << 44) - 1
        func parts(_ number: UInt128) -> [UInt128] { [number & part, number >> 44 & part, number >> 88] }
        func number(_ bytes: some Collection<UInt8>) -> UInt128 {
            UInt128(little(bytes.prefix(8))) | UInt128(little(bytes.dropFirst(8))) << 64
        }
        let factor = parts(number(key[..<16]) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff)
        var sum: [UInt128] = [0, 0, 0]
        func carry() {
            sum[1] += sum[0] >> 44
            sum[2] += sum[1] >> 44
            // 2^130 is 5 there.
            sum[0] = sum[0] & part + (sum[2] >> 42) * 5
            (sum[1], sum[2]) = (sum[1] & part, sum[2] & (1 << 42 - 1))
        }
        for start in stride(from: 0, to: bytes.count, by: 16) {
            let block = parts(number(bytes[start..<start + 16]))
            let a = [sum[0] + block[0], sum[1] + block[1], sum[2] + block[2] + 1 << 40]
            sum = [
                a[0] * factor[0] + 20 * (a[1] * factor[2] + a[2] * factor[1]),
                a[0] * factor[1] + a[1] * factor[0] + 20 * a[2] * factor[2],
                a[0] * factor[2] + a[1] * factor[1] + a[2] * factor[0],
            ]
            carry()
        }
        for _ in 0..<3 { carry() }
        let isWhole = sum[2] == 1 << 42 - 1 && sum[1] == part && sum[0] >= part - 4
        let rest = isWhole ? sum[0] - (part - 4) : sum[0] | sum[1] << 44 | sum[2] << 88
        let told = rest &+ number(key[16...])
        return (0..<16).map { UInt8(truncatingIfNeeded: told >> (8 * $0)) }
    }
}
