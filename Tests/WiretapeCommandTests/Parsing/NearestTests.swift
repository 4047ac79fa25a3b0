import Testing
import wiretape

@Suite struct NearestTests {
    @Test(arguments: [
        ("rcord", "record"), ("reocrd", "record"), ("play", "replay"), ("inspekt", "inspect"),
        ("complete", "completions"),
    ])
    func findsWhatWasMeant(_ word: String, _ name: String) {
        #expect(Nearest.name(word, among: ["record", "proxy", "replay", "inspect", "completions"]) == name)
    }

    @Test(arguments: ["x", "banana", "qqqqqqqq"])
    func staysSilentWhenNothingIsNear(_ word: String) {
        #expect(Nearest.name(word, among: ["record", "proxy", "replay"]) == nil)
    }

    @Test func distanceCountsEdits() {
        #expect(Nearest.distance("kitten", "sitting") == 3)
        #expect(Nearest.distance("ab", "ba") == 1)
        #expect(Nearest.distance("", "abc") == 3)
    }
}
