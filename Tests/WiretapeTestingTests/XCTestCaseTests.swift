import WiretapeTesting
import XCTest

final class XCTestCaseTests: XCTestCase {
    func testHasAServer() async throws {
        let server = try await wiretape("../../recordings/chat.tape.gz", options: Options(speed: .instant))
        let heard = try await playChat(server)
        XCTAssertEqual(heard, Ada.chat)
        server.expect(.finished)
    }

    func testAMissingTapeThrows() async {
        do {
            _ = try await wiretape("nothing.tape")
            XCTFail("there is no such tape")
        } catch {
            XCTAssertTrue("\(error)".hasPrefix("there is no recording "))
        }
    }
}
