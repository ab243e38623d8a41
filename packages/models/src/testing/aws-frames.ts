import { crc32 } from 'node:zlib';

/** A message in AWS framing. */
export function awsFrame(headers: Record<string, string>, payload: string): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).map(([name, value]) => {
      const sized = Buffer.alloc(3);
      sized.writeUInt8(7, 0);
      sized.writeUInt16BE(Buffer.byteLength(value), 1);
      return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), sized, Buffer.from(value)]);
    }),
  );
  const body = Buffer.from(payload);
  const prelude = Buffer.alloc(12);
  prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
  prelude.writeUInt32BE(head.length, 4);
  prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
  const all = Buffer.concat([prelude, head, body]);
  const end = Buffer.alloc(4);
  end.writeUInt32BE(crc32(all), 0);
  return Buffer.concat([all, end]);
}

/** An event of a model's answer, as Bedrock frames it. */
export const awsChunk = (event: unknown): Buffer =>
  awsFrame(
    { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' },
    JSON.stringify({ bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdef' }),
  );

/** Server-sent events in AWS framing. */
export const awsChunks = (events: string): Buffer =>
  Buffer.concat([...events.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => awsChunk(JSON.parse(data))));
