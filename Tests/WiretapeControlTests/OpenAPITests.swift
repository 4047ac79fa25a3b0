import Testing
import WiretapeControl
import WiretapeWire

/// `docs/openapi.json` has every route and no other. That the answers are as it says, ``APIClient`` sees to with each request of the tests.
@Suite struct OpenAPITests {
    @Test func everyRouteIsInTheDocumentAndNoOther() throws {
        let spec = try OpenAPI.read()
        #expect(spec.root["openapi"]?.string == "3.1.0")
        #expect(
            spec.operations == ControlOperation.allCases.map { "\($0.method) \($0.path) \($0.name)" }.sorted())
        for operation in ControlOperation.allCases {
            #expect(
                spec.queryNames(operation.method, operation.path).sorted() == operation.queryNames.sorted(),
                "\(operation)")
        }
    }

    /// The document can fail an answer: else the others tests would say nothing of it.
    @Test func anAnswerThatIsOtherwiseIsSeen() throws {
        let spec = try OpenAPI.read()
        func answer(_ body: String, _ status: Int = 200) -> Answer {
            Answer(status: status, headers: [.init("Content-Type", "application/json")], body: Array(body.utf8))
        }
        #expect(spec.problems("GET", "/v1/clock", answer(#"{"mode":"manual","scale":1,"t_ms":0.5}"#)).isEmpty)
        #expect(!spec.problems("GET", "/v1/clock", answer(#"{"mode":"slow","scale":1,"t_ms":0.5}"#)).isEmpty)
        #expect(!spec.problems("GET", "/v1/clock", answer(#"{"mode":"manual","scale":1}"#)).isEmpty)
        #expect(!spec.problems("GET", "/v1/clock", answer(#"{"mode":"manual","scale":1,"t_ms":0,"x":1}"#)).isEmpty)
        #expect(!spec.problems("GET", "/v1/clock", answer(#"{"error":"x"}"#, 409)).isEmpty)
        #expect(!spec.problems("GET", "/v1/nothing", answer("{}")).isEmpty)
    }
}
