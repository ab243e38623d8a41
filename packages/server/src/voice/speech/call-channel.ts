import type { Duplex } from 'node:stream';

/** Sends and receives the messages of a call over a socket between two processes. */
export type CallChannel<Message> = { send: (message: Message) => void };

type CallMessage = { kind: string; samples?: Int16Array };

/** The file descriptor of the socket in the process of the call. */
export const callPipe = 3;

const headerBytes = 8;

/**
 * A message is two lengths, its fields as JSON, and its samples. Node's own channel between processes would let code
 * that took over the other process crash this one. `end` is called once: when the other side has gone, or has sent more
 * than `maxBytes` in one message or something that is no message.
 */
export function openCallChannel<Message extends CallMessage>(
  socket: Duplex,
  on: { maxBytes: number; message: (message: unknown) => void; end: () => void },
): CallChannel<Message> {
  let received: Buffer[] = [];
  let receivedBytes = 0;
  let wantedBytes = headerBytes;
  let isOpen = true;

  function end(): void {
    if (!isOpen) return;
    isOpen = false;
    received = [];
    socket.destroy();
    on.end();
  }

  /** Joins the pieces only if a whole message has arrived, so that many small pieces cost no copies. */
  function take(piece: Buffer): void {
    received.push(piece);
    receivedBytes += piece.length;
    while (isOpen && receivedBytes >= wantedBytes) {
      const all = received.length === 1 ? (received[0] as Buffer) : Buffer.concat(received);
      const bytes = all.readUInt32LE(0);
      if (bytes > on.maxBytes) return void end();
      wantedBytes = headerBytes + bytes;
      received = [all];
      if (receivedBytes < wantedBytes) return;
      const message = decode(all.subarray(0, wantedBytes));
      received = [all.subarray(wantedBytes)];
      receivedBytes -= wantedBytes;
      wantedBytes = headerBytes;
      if (message === null) return void end();
      on.message(message);
    }
  }

  socket.on('data', take);
  socket.on('error', end);
  socket.on('close', end);
  socket.on('end', end);
  return { send: (message) => void (isOpen && socket.write(encode(message))) };
}

function encode({ samples, ...fields }: CallMessage): Buffer {
  const text = Buffer.from(JSON.stringify({ ...fields, ...(samples && { samples: true }) }));
  const sound = samples ? Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength) : Buffer.alloc(0);
  const head = Buffer.alloc(headerBytes);
  head.writeUInt32LE(text.length + sound.length, 0);
  head.writeUInt32LE(text.length, 4);
  return Buffer.concat([head, text, sound]);
}

/** Returns null if the bytes are no message. */
function decode(bytes: Buffer): unknown {
  const textEnd = headerBytes + bytes.readUInt32LE(4);
  if (textEnd > bytes.length || (bytes.length - textEnd) % 2 !== 0) return null;
  try {
    const fields: unknown = JSON.parse(bytes.toString('utf8', headerBytes, textEnd));
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return null;
    if (!('samples' in fields)) return textEnd === bytes.length ? fields : null;
    // A copy, because samples need an even address.
    return { ...fields, samples: new Int16Array(new Uint8Array(bytes.subarray(textEnd)).buffer) };
  } catch {
    return null;
  }
}
