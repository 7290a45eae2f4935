import { connect } from 'node:net'

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'
const DATA = 0
const HEADERS = 1
const RST_STREAM = 3
const SETTINGS = 4
const GOAWAY = 7
const END_STREAM = 1
const END_HEADERS = 4

/** What a server did with one stream: the body of its response, or nothing where it refused the stream. */
export type Outcome = string | 'refused'

/** Says one request on an HTTP/2 connection, frame by frame (RFC 9113 section 4.1), as no client library would. */
export async function sayFrames (
  url: string,
  fields: ReadonlyArray<readonly [name: string, value: string]>,
  body = ''
): Promise<Outcome> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    Buffer.concat([
      Buffer.from(PREFACE),
      frame(SETTINGS, 0, 0, Buffer.alloc(0)),
      frame(HEADERS, END_HEADERS | (body === '' ? END_STREAM : 0), 1, Buffer.concat(fields.map(field))),
      ...(body === '' ? [] : [frame(DATA, END_STREAM, 1, Buffer.from(body))])
    ])
  )
  let received = Buffer.alloc(0)
  let text = ''
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      received = Buffer.concat([received, chunk])
      while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
        const length = received.readUIntBE(0, 3)
        const [type, flags, stream] = [received[3], received[4] as number, received.readUInt32BE(5)]
        const payload = received.subarray(9, 9 + length)
        received = received.subarray(9 + length)
        if (type === GOAWAY || (type === RST_STREAM && stream === 1)) return 'refused'
        if (type === DATA) text += payload.toString()
        if (stream === 1 && (type === DATA || type === HEADERS) && (flags & END_STREAM) !== 0) return text
      }
    }
    return 'refused'
  } finally {
    socket.destroy()
  }
}

function frame (type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A literal header field without indexing, nothing of it compressed (RFC 7541 section 6.2.2). */
function field ([name, value]: readonly [string, string]): Buffer {
  return Buffer.concat([
    Buffer.from([0]),
    ...[name, value].flatMap((text) => [integer(text.length), Buffer.from(text, 'latin1')])
  ])
}

/** An integer with a prefix of 7 bits (RFC 7541 section 5.1). */
function integer (value: number): Buffer {
  if (value < 127) return Buffer.from([value])
  const bytes = [127]
  let rest = value - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}
