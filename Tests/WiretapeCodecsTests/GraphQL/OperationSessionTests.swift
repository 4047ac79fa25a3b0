import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What exchanges over HTTP become when a tape is read.
@Suite struct OperationSessionTests {
    private static let tick = #"{"query":"subscription OnTick($n: Int) { tick(n: $n) }","variables":{"n":3}}"#

    private func reading(_ make: (inout GraphQLExchange) -> Void) -> Reading {
        var tape = GraphQLExchange()
        make(&tape)
        return Reading(Codecs.all, tape.events)
    }

    @Test func aMultipartAnswerEndsWithItsClosingDelimiter() {
        let reading = reading { tape in
            tape.request(1, accept: "multipart/mixed;subscriptionSpec=1.0,application/json", body: Self.tick)
            tape.answer(1, GraphQLExchange.multipart)
            tape.piece(1, "\r\n--graphql" + GraphQLExchange.part("{}"))
            tape.piece(1, GraphQLExchange.part(#"{"payload":{"data":{"tick":1}}}"#))
            tape.piece(1, GraphQLExchange.part(#"{"payload":null}"#))
            tape.piece(1, GraphQLExchange.part(#"{"payload":{"data":null,"errors":[{"message":"no"}]}}"#))
            tape.piece(1, "--\r\n")
            tape.end(1)
        }
        let session = reading.sessions[0]
        #expect(session.isOperation && session.transport == .multipart)
        #expect(
            session.lines == [
                "> OnTick(n: 3)", #"< OnTick {"tick":1}"#, #"< OnTick errors "no""#, "< OnTick", "< close 1000",
            ])
        #expect(
            reading.messages.map(\.message.type) == [
                "subscribe", "heartbeat", "next", "heartbeat", "next", "complete",
            ])
        #expect(Set(session.entries.map(\.frame)).count == 4)
    }

    /// The client leaves at the closing delimiter, before the server's last chunk.
    @Test func aClientMayLeaveAtTheClosingDelimiter() {
        let reading = reading { tape in
            tape.request(1, accept: "multipart/mixed;subscriptionSpec=1.0", body: Self.tick)
            tape.answer(1, GraphQLExchange.multipart)
            tape.piece(1, "\r\n--graphql" + GraphQLExchange.part(#"{"payload":{"data":{"tick":1}}}"#) + "--\r\n")
            tape.gone(1, .client)
            tape.gone(1, .server)
        }
        #expect(
            reading.sessions[0].lines
                == ["> OnTick(n: 3)", #"< OnTick {"tick":1}"#, "< OnTick", "< close 1000"])
    }

    @Test func errorsBesideAPayloadOfNullAreTheEnd() {
        let session = reading { tape in
            tape.request(1, accept: "multipart/mixed", body: Self.tick)
            tape.answer(1, GraphQLExchange.multipart)
            tape.piece(
                1, "--graphql" + GraphQLExchange.part(#"{"payload":null,"errors":[{"message":"no"}]}"#) + "--\r\n")
            tape.end(1)
        }.sessions[0]
        #expect(session.lines == ["> OnTick(n: 3)", #"< OnTick errors "no""#, "< close 1000"])
    }

    @Test func anAnswerWithoutItsClosingDelimiterHasNoEnd() {
        let whole = reading { tape in
            tape.request(1, accept: "multipart/mixed", body: Self.tick)
            tape.answer(1, GraphQLExchange.multipart)
            tape.piece(1, "--graphql" + GraphQLExchange.part(#"{"payload":{"data":{"tick":1}}}"#))
            tape.end(1)
        }.sessions[0]
        #expect(whole.lines == ["> OnTick(n: 3)", #"< OnTick {"tick":1}"#, "< close 1000"])
        let cut = reading { tape in
            tape.request(1, accept: "text/event-stream", body: Self.tick)
            tape.answer(1, "text/event-stream")
            tape.piece(1, ":\n\nevent: next\ndata: {\"data\":{\"tick\":1}}\n\n")
            tape.gone(1, .server, .rst)
        }.sessions[0]
        #expect(cut.lines == ["> OnTick(n: 3)", #"< OnTick {"tick":1}"#, "< reset"])
    }

    @Test func aClientThatLeavesCancels() {
        let reading = reading { tape in
            tape.request(1, accept: "text/event-stream", body: Self.tick)
            tape.answer(1, "text/event-stream; charset=utf-8")
            tape.piece(1, "event: next\ndata: {\"data\":{\"tick\":1}}\n\n")
            tape.gone(1, .client)
            tape.piece(1, "event: next\ndata: {\"data\":{\"tick\":2}}\n\n")
            tape.gone(1, .server)
        }
        #expect(reading.sessions[0].lines == ["> OnTick(n: 3)", #"< OnTick {"tick":1}"#, "> OnTick"])
        #expect(reading.sessions[0].transport == .sse)
    }

    @Test func eventsOfAConnectionOfItsOwn() {
        let session = reading { tape in
            tape.request(
                1, "GET",
                "/graphql?query=subscription+OnTick(%24n%3A+Int)%7Btick(n%3A%24n)%7D&variables=%7B%22n%22%3A3%7D",
                accept: "text/event-stream")
            tape.answer(1, "text/event-stream")
            tape.piece(1, ":\n\nevent: next\ndata: {\"data\":\ndata: {\"tick\":1}}\n\nevent: complete\ndata:\n\n")
            tape.end(1)
        }.sessions[0]
        #expect(session.lines == ["> OnTick(n: 3)", #"< OnTick {"tick":1}"#, "< OnTick", "< close 1000"])
    }

    @Test func aSingleConnectionIsASession() {
        let run = #"{"query":"subscription OnTick { tick }","extensions":{"operationId":"a"}}"#
        let reading = reading { tape in
            tape.request(1, "PUT")
            tape.answer(1, "text/plain; charset=utf-8", "token-1", status: 201)
            tape.request(1, token: "token-1", body: run)
            tape.answer(1, "", "", status: 202)
            tape.request(2, "GET", accept: "text/event-stream", token: "token-1")
            tape.answer(2, "text/event-stream")
            tape.piece(2, ":\n\nevent: next\ndata: {\"id\":\"a\",\"payload\":{\"data\":{\"tick\":1}}}\n\n")
            tape.request(1, token: "token-1", body: run.replacing("\"a\"", with: "\"b\""))
            tape.answer(1, "", "", status: 202)
            tape.request(1, "DELETE", "/graphql?operationId=a", token: "token-1")
            tape.answer(1, "", "", status: 200)
            tape.piece(2, "event: complete\ndata: {\"id\":\"b\"}\n\n", x: 1)
            tape.gone(2, .client)
        }
        let session = reading.sessions[0]
        #expect(reading.sessions.count == 1 && session.transport == .sse && !session.isOperation)
        #expect(session.serverIDs?.token == "token-1" && session.negotiate?.request.method == "PUT")
        #expect(
            session.lines == [
                "> ", "< ", "> OnTick", #"< OnTick {"tick":1}"#, "> OnTick", "> OnTick", "< OnTick",
            ])
        let chains = session.entries.compactMap { entry -> String? in
            if case .message(let message) = entry.what { message.chain?.id } else { nil }
        }
        #expect(chains == ["a", "a", "b", "a", "b"])
    }

    @Test func whatIsNoGraphQLIsAnOrdinaryExchange() {
        let reading = reading { tape in
            tape.request(1, body: #"{"query":"select * from t"}"#)
            tape.answer(1, "application/json", "[]")
            tape.request(1, "GET", "/search?query=shoes")
            tape.answer(1, "application/json", "[]")
            tape.request(1, body: #"[{"query":"{ a }"}]"#)
            tape.answer(1, "application/json", "[]")
        }
        #expect(reading.sessions.isEmpty)
        #expect(reading.reader.exchanges.count == 3)
    }

    @Test func anAnswerInOtherWordsIsARefusal() {
        let sessions = reading { tape in
            tape.request(1, body: Self.tick)
            tape.answer(1, "text/html", "<h1>busy</h1>", status: 503)
            tape.request(1, body: Self.tick)
            tape.answer(1, "application/graphql-response+json", #"{"errors":[{"message":"bad"}]}"#, status: 400)
        }.sessions
        #expect(sessions.map(\.refusal?.status) == [503, nil])
        #expect(sessions[0].lines.isEmpty)
        #expect(sessions[1].lines == ["> OnTick(n: 3)", #"< OnTick errors "bad""#, "< OnTick", "< close 1000"])
    }
}
