import Testing
import WiretapeCodecs
internal import WiretapeMessages
import WiretapeProtocol
import WiretapeWire

/// What every codec of the list owes, over the payloads of real sessions.
@Suite struct ContractTests {
    @Test func everyCodecHasSamples() {
        #expect(Set(Codecs.all.map(\.id)).count == Codecs.all.count)
        #expect(Codecs.named("signalr")?.id == "signalr" && Codecs.named("nope") == nil)
        for codec in Codecs.all { #expect(ContractSamples.named(codec.id)?.tapes.isEmpty == false, "\(codec.id)") }
    }

    /// A tape's sessions are of the codec, whatever others there are.
    @Test(arguments: ContractCase.all)
    func sessionsAreFound(_ one: ContractCase) throws {
        let sessions = try ContractSession.all(one)
        #expect(sessions.contains { $0.payloads.count > 1 })
    }

    @Test(arguments: ContractCase.all)
    func messagesMakeUpThePayloads(_ one: ContractCase) throws {
        for session in try ContractSession.all(one) {
            var codec = session.fresh
            var again = session.fresh
            var heard: [Direction: [UInt8]] = [:]
            var said = heard
            for payload in session.payloads {
                let messages = codec.read(payload)
                #expect(messages == again.read(payload))
                heard[payload.direction, default: []] += payload.bytes
                said[payload.direction, default: []] += messages.flatMap(\.bytes)
                for message in messages {
                    #expect(message.direction == payload.direction && message.opcode == payload.opcode)
                    #expect(!message.title.isEmpty && !message.summary.contains("\n"))
                    #expect(message.summary.count <= Summary.limit && message.role != .opaque)
                }
            }
            #expect(heard == said)
        }
    }

    @Test(arguments: ContractCase.all)
    func writtenWithoutBindingsTheyMeanTheSame(_ one: ContractCase) throws {
        let isVerbatim = try #require(ContractSamples.named(one.codec)).isVerbatim
        for session in try ContractSession.all(one) {
            var codec = session.fresh
            var second = session.fresh
            for payload in session.payloads {
                let messages = codec.read(payload)
                var (bytes, twice) = ([UInt8](), [UInt8]())
                var opcode = payload.opcode
                for message in messages {
                    opcode = codec.write(message, ids: IDMap(), on: session.transport, into: &bytes)
                }
                for message in messages { _ = codec.write(message, ids: IDMap(), on: session.transport, into: &twice) }
                #expect(bytes == twice)
                let written = ContractSession.Payload(direction: payload.direction, opcode: opcode, bytes: bytes)
                #expect(!isVerbatim || written == payload)
                #expect(second.read(written).map(\.matchKey) == messages.map(\.matchKey))
            }
        }
    }

    @Test(arguments: ContractCase.all)
    func writtenWithOtherIdsOnlyTheIdsDiffer(_ one: ContractCase) throws {
        for session in try ContractSession.all(one) {
            let hasNames = session.codec.type.chainsAreNames
            var recorded = session.fresh
            var live = session.fresh
            for payload in session.payloads where payload.bytes.count < 4_096 {
                for message in recorded.read(payload) {
                    let chains = message.opens + [message.chain].compactMap(\.self)
                    var ids = IDMap()
                    // Where a connection has one chain only, that needs no id.
                    let other = { (chain: Chain) in Chain(chain.id.isEmpty ? "" : "x-\(chain.id)", origin: chain.origin)
                    }
                    for chain in chains { ids.bind(chain, to: other(chain).id) }
                    var bytes: [UInt8] = []
                    let opcode = recorded.write(message, ids: ids, on: session.transport, into: &bytes)
                    let written = live.read(.init(direction: message.direction, opcode: opcode, bytes: bytes))
                    guard message.role != .handshake else { continue }
                    #expect(written.count == 1 && written.first?.type == message.type)
                    #expect(written.first?.chain == message.chain.map(other))
                    #expect(written.first?.opens == message.opens.map(other))
                    if !hasNames || chains.isEmpty {
                        #expect(written.map(\.matchKey) == [message.matchKey])
                    }
                }
            }
        }
    }

    @Test(arguments: ContractSamples.all.map(\.codec.id))
    func keysAreStableUnderWhatVaries(_ id: String) throws {
        let samples = try #require(ContractSamples.named(id))
        #expect(!samples.equal.isEmpty && !samples.different.isEmpty)
        func messages(_ pair: ContractSamples.Pair, _ bytes: [UInt8]) -> [Message] {
            var codec = samples.codec.type.init(samples.opening)
            for payload in samples.before { _ = codec.read(payload) }
            return codec.read(.init(direction: pair.direction, opcode: pair.opcode, bytes: bytes))
        }
        for pair in samples.equal {
            let (first, second) = (messages(pair, pair.first), messages(pair, pair.second))
            #expect(first.map(\.matchKey) == second.map(\.matchKey))
            #expect(!first.isEmpty && first.allSatisfy { $0.role != .opaque } && pair.first != pair.second)
        }
        for pair in samples.different {
            let (first, second) = (messages(pair, pair.first), messages(pair, pair.second))
            #expect(first.map(\.matchKey) != second.map(\.matchKey))
            #expect(samples.readsAnything || (first + second).allSatisfy { $0.role != .opaque })
        }
    }

    @Test(arguments: ContractSamples.all.map(\.codec.id))
    func variedIdsDiffer(_ id: String) throws {
        let type = try #require(ContractSamples.named(id)).codec.type
        #expect(type.vary("abc", 0) == "abc")
        #expect(type.vary("abcdef0123", 5).utf8.count == 10)
    }
}
