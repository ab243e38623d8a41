import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AwsV4Signer } from 'aws4fetch';
import S3rver from 's3rver';
import type { S3Location } from './s3-client.ts';

/** A fault for one request; null forwards it unchanged. */
type Trouble =
  | { answer: number; code?: string }
  /** The connection ends after this many bytes of the response body. */
  | { cutAfter: number }
  /** The connection ends after the request was executed, before the response. */
  | 'silence'
  | null;

export type S3Fixture = {
  place: S3Location;
  /** The settings for this server. */
  env: Record<string, string>;
  /** Called before each request. By default there are no faults. */
  trouble: (of: (request: { method: string; url: string }) => Trouble) => void;
  /** All requests, the newest last. */
  seen: { method: string; url: string; status: number | null }[];
  stop: () => Promise<void>;
};

const key = { id: 'S3RVER', secret: 'S3RVER' };

/** A real S3 server that checks signatures, behind a proxy that can inject faults. */
export async function startS3({ bucket = 'vestra' } = {}): Promise<S3Fixture> {
  const folder = await mkdtemp(join(tmpdir(), 'vestra-s3-'));
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const behind = (await server.run()) as AddressInfo;
  let troubleOf: Parameters<S3Fixture['trouble']>[0] = () => null;
  const seen: S3Fixture['seen'] = [];
  const proxy = createServer(async (incoming, outgoing) => {
    const { method = '', url = '' } = incoming;
    const body = await bodyOf(incoming);
    const entry = { method, url, status: null as number | null };
    seen.push(entry);
    const trouble = troubleOf({ method, url });
    if (trouble !== null && typeof trouble === 'object' && 'answer' in trouble) return refuse(outgoing, trouble);
    if (!(await isSigned(incoming, body))) return refuse(outgoing, { answer: 403, code: 'SignatureDoesNotMatch' });
    pass(incoming, outgoing, { body, port: behind.port, trouble, entry });
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const endpoint = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    place: {
      endpoint,
      region: 'us-east-1',
      bucket,
      prefix: 'files',
      keys: { accessKeyId: key.id, secretAccessKey: () => key.secret, sessionToken: null },
    },
    env: {
      VESTRA_FILES: `s3://${bucket}/files`,
      VESTRA_S3_ENDPOINT: endpoint,
      AWS_ACCESS_KEY_ID: key.id,
      AWS_SECRET_ACCESS_KEY: key.secret,
    },
    trouble: (of) => {
      troubleOf = of;
    },
    seen,
    async stop() {
      await closed(proxy);
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The server behind accepts any version 4 signature. This check computes it again with another client. */
async function isSigned({ method = '', url = '', headers }: IncomingMessage, body: Buffer): Promise<boolean> {
  const address = new URL(url, `http://${headers.host}`);
  const given = address.searchParams.get('X-Amz-Signature');
  const [, names = '', signature = given] =
    /SignedHeaders=([^,]+), Signature=(\w+)/.exec(headers.authorization ?? '') ?? [];
  address.searchParams.delete('X-Amz-Signature');
  const sent = headers['x-amz-content-sha256'];
  if (given === null && sent !== createHash('sha256').update(body).digest('hex')) return false;
  const signer = new AwsV4Signer({
    method,
    url: address.href,
    headers: names
      .split(';')
      .filter((name) => name !== '' && name !== 'host')
      .map((name): [string, string] => [name, String(headers[name])]),
    accessKeyId: key.id,
    secretAccessKey: key.secret,
    service: 's3',
    region: 'us-east-1',
    datetime: String(headers['x-amz-date'] ?? address.searchParams.get('X-Amz-Date')),
    signQuery: given !== null,
    allHeaders: true,
  });
  return signature !== null && (await signer.signature()) === signature;
}

function refuse(outgoing: ServerResponse, { answer, code = '' }: { answer: number; code?: string }): void {
  outgoing.writeHead(answer, { 'content-type': 'application/xml' });
  outgoing.end(`<Error><Code>${code}</Code></Error>`);
}

function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  of: { body: Buffer; port: number; trouble: Trouble; entry: { status: number | null } },
): void {
  const { method, url: path, headers } = incoming;
  const cutAfter =
    of.trouble !== null && typeof of.trouble === 'object' && 'cutAfter' in of.trouble ? of.trouble.cutAfter : null;
  const on = request({ host: '127.0.0.1', port: of.port, method, path, headers }, (answer) => {
    of.entry.status = answer.statusCode ?? null;
    if (of.trouble === 'silence') return answer.resume().on('end', () => outgoing.destroy());
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    if (cutAfter === null) return answer.pipe(outgoing);
    let left = cutAfter;
    answer.on('data', (chunk: Buffer) => {
      if (left <= 0) return;
      outgoing.write(chunk.subarray(0, left));
      left -= chunk.byteLength;
      if (left <= 0) setImmediate(() => outgoing.destroy());
    });
    return answer;
  });
  on.on('error', () => outgoing.destroy());
  outgoing.on('close', () => on.destroy());
  on.end(of.body);
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
