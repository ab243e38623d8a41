import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

// biome-ignore lint/suspicious/noExplicitAny: tests read messages field by field.
type Message = Record<string, any>;

export type RealtimeServer = {
  baseUrl: string;
  /** Connections of clients, oldest first. */
  opened: { url: string; authorization: string | undefined }[];
  messages: Message[];
  /** Closes all connections, as the vendor does after an hour. */
  drop: () => void;
  close: () => void;
};

/** A server with the wire format of a vendor's realtime API. It transcribes as told and speaks a tone per word. */
export async function startRealtimeServer(options: {
  /** The transcript by length in seconds; null: unreadable. */
  hear?: (seconds: number) => string | null;
  /** Called before each response; true: do not respond. */
  swallow?: (message: Message, send: (event: Message) => void) => boolean;
}): Promise<RealtimeServer> {
  const opened: RealtimeServer['opened'] = [];
  const messages: Message[] = [];
  const sockets = new Set<Socket>();
  let items = 0;

  function talk(socket: Socket): void {
    let heard = 0;
    const send = (event: Message) => socket.write(frameOf(JSON.stringify(event)));
    send({ type: 'session.created', session: {} });
    readFrames(socket, (text) => {
      const message = JSON.parse(text) as Message;
      messages.push(message);
      if (options.swallow?.(message, send)) return;
      if (message.type === 'session.update') send({ type: 'session.updated', session: message.session });
      if (message.type === 'input_audio_buffer.append') heard += Buffer.from(message.audio, 'base64').length / 2;
      if (message.type === 'input_audio_buffer.clear') heard = 0;
      if (message.type === 'input_audio_buffer.commit') {
        const item_id = `item_${++items}`;
        const transcript = options.hear?.(heard / 24_000) ?? null;
        heard = 0;
        send({ type: 'input_audio_buffer.committed', item_id });
        const type = `conversation.item.input_audio_transcription.${transcript === null ? 'failed' : 'completed'}`;
        send({
          type,
          item_id,
          transcript,
          usage: {
            type: 'tokens',
            input_tokens: 10,
            input_token_details: { audio_tokens: 10, text_tokens: 0 },
            output_tokens: 4,
          },
        });
      }
      if (message.type === 'response.create') {
        const id = `resp_${++items}`;
        send({ type: 'response.created', response: { id, metadata: message.response.metadata } });
        for (const _ of message.response.input[0].content[0].text.split(' ')) {
          send({
            type: 'response.output_audio.delta',
            response_id: id,
            delta: Buffer.alloc(4_800, 1).toString('base64'),
          });
        }
        if (options.swallow?.({ type: 'done' }, send)) return;
        const usage = {
          input_tokens: 30,
          input_token_details: { audio_tokens: 0, text_tokens: 30 },
          output_tokens: 50,
          output_token_details: { audio_tokens: 45, text_tokens: 5 },
        };
        send({
          type: 'response.done',
          response: { id, status: 'completed', metadata: message.response.metadata, usage },
        });
      }
    });
  }

  const server = createServer();
  server.on('upgrade', (request: IncomingMessage, socket: Socket) => {
    opened.push({ url: request.url ?? '', authorization: request.headers.authorization });
    sockets.add(socket);
    socket.on('error', () => {});
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const drop = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    opened,
    messages,
    drop,
    close() {
      drop();
      server.close();
    },
  };
}

function frameOf(text: string): Buffer {
  const payload = Buffer.from(text);
  if (payload.length < 126) return Buffer.concat([Buffer.from([0x81, payload.length]), payload]);
  const head = Buffer.alloc(4);
  head.writeUInt16BE(0x817e);
  head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}

/** Whole text frames of a client, which are masked. */
function readFrames(socket: Socket, each: (text: string) => void): void {
  let held = Buffer.alloc(0);
  socket.on('data', (piece) => {
    held = Buffer.concat([held, piece]);
    for (;;) {
      if (held.length < 2) return;
      const short = (held[1] as number) & 0x7f;
      const head = short < 126 ? 2 : short === 126 ? 4 : 10;
      if (held.length < head + 4) return;
      const length = short < 126 ? short : short === 126 ? held.readUInt16BE(2) : Number(held.readBigUInt64BE(2));
      if (held.length < head + 4 + length) return;
      const mask = held.subarray(head, head + 4);
      const payload = held.subarray(head + 4, head + 4 + length).map((byte, at) => byte ^ (mask[at % 4] as number));
      const isText = ((held[0] as number) & 0x0f) === 1;
      held = held.subarray(head + 4 + length);
      if (isText) each(Buffer.from(payload).toString());
    }
  });
}
