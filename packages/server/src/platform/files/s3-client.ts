import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type AwsKeys,
  type AwsSigner,
  awsAuthorization,
  awsScope,
  awsSignature,
  awsTime,
} from '@vestra/models/vendors/clouds/aws-signature';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { guardedConnector, type OutboundLog } from '../outbound/connector.ts';
import { storeFailure } from './file-store.ts';

/** The bucket of the settings. Keys are functions, so that printing this never shows them. */
export type S3Location = { endpoint: string; region: string; bucket: string; prefix: string; keys: AwsKeys };

type S3Request = {
  method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE';
  /** The key in the bucket; absent for the bucket itself. */
  key?: string;
  query?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
  /** Statuses other than 2xx that are not a failure. */
  expected?: readonly number[];
  patience?: keyof typeof patience;
};

type S3Answer = Pick<Dispatcher.ResponseData, 'statusCode' | 'headers' | 'body'>;

export type S3Client = {
  /** Read or dump the body of the response. Throws `not_ready` if the store stays unreachable or is full. */
  send: (request: S3Request) => Promise<S3Answer>;
  /** Sends a request and returns a small response as text. */
  ask: (request: S3Request) => Promise<string>;
  /** A temporary address that lets its holder read one key. */
  sign: (key: string, query: Readonly<Record<string, string>>, seconds: number) => string;
  close: () => Promise<void>;
};

/**
 * How often a request is tried, and how long each try waits. Requests inside a database transaction use `brief`: an
 * unreachable store must not use up the connections.
 */
const patience = {
  usual: { tries: 4, answerMs: 15_000 },
  brief: { tries: 2, answerMs: 3_000 },
};

/** The pause before the second try. It grows fourfold with each further one. */
const firstPauseMs = 100;

/** The longest pause between two chunks of a body. */
const silenceMs = 30_000;
const maxAnswerBytes = 4 * 1024 * 1024;

/**
 * The few S3 requests that a file store needs. The bucket is part of the path, which every compatible store accepts.
 */
export function createS3Client(place: S3Location, log: OutboundLog, pauseMs = firstPauseMs): S3Client {
  const { endpoint, region, bucket, keys } = place;
  const { origin, host, pathname } = new URL(endpoint);
  const base = `${pathname.replace(/\/+$/, '')}/${bucket}`;
  const signer = (): AwsSigner => ({ region, service: 's3', keys, now: new Date() });
  const agent = new Agent({
    allowH2: false,
    // The operator chose this address, which may be in their own network.
    connect: guardedConnector({ allowPrivate: true, log, build: buildConnector }),
    bodyTimeout: silenceMs,
    keepAliveMaxTimeout: 30_000,
  });

  async function send(request: S3Request): Promise<S3Answer> {
    const { tries } = patience[request.patience ?? 'usual'];
    for (let attempt = 1; ; attempt++) {
      const answer = await tryOnce(request).catch((error: unknown) => error as Error);
      if (!(answer instanceof Error) && isAnswer(answer, request)) return answer;
      const fault = answer instanceof Error ? { reason: reasonOf(answer) } : await faultIn(answer);
      if (isFull(fault)) throw logFailure(request, fault, 'full');
      if (!isPassing(fault)) throw refusal(request, fault);
      if (attempt === tries) throw logFailure(request, fault, 'away');
      // Random pauses keep clients from retrying all at the same moment.
      await pause(pauseMs * 4 ** (attempt - 1) * (0.5 + Math.random()));
    }
  }

  function tryOnce({ method, key, query = {}, headers = {}, body, patience: named = 'usual' }: S3Request) {
    const path = key === undefined ? base : `${base}/${key.split('/').map(encoded).join('/')}`;
    const now = signer();
    const bodyHash = createHash('sha256')
      .update(body ?? '')
      .digest('hex');
    const signed = {
      ...headers,
      host,
      'x-amz-content-sha256': bodyHash,
      'x-amz-date': awsTime(now.now),
      ...(keys.sessionToken && { 'x-amz-security-token': keys.sessionToken() }),
    };
    const asked = { method, path, query: queryOf(query), headers: signed, bodyHash };
    return agent.request({
      origin,
      path: asked.query === '' ? path : `${path}?${asked.query}`,
      method,
      headers: { ...signed, 'accept-encoding': 'identity', authorization: awsAuthorization(asked, now) },
      body: body ?? null,
      headersTimeout: patience[named].answerMs,
    });
  }

  /** Logs the reason for the operator, without the key or address of the request: an address may be signed. */
  function logFailure({ method }: S3Request, fault: S3Fault, what: 'away' | 'full') {
    log.warn({ store: host, method, ...fault }, `the file store ${what === 'full' ? 'is full' : 'is unreachable'}`);
    return storeFailure(what);
  }

  function refusal({ method }: S3Request, { status, code }: S3Fault): Error {
    const hint =
      status === 403 || status === 401
        ? 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and what they may do in the bucket.'
        : 'Check VESTRA_FILES and VESTRA_S3_ENDPOINT.';
    return new Error(`The file store at ${host} refused a ${method}: ${status} ${code ?? ''}. ${hint}`);
  }

  return {
    send,
    async ask(request) {
      const { body } = await send(request);
      let text = '';
      for await (const chunk of body) {
        text += chunk;
        if (text.length > maxAnswerBytes) throw new Error(`The file store at ${host} answers with too much.`);
      }
      return text;
    },
    sign(key, query, seconds) {
      const now = signer();
      const path = `${base}/${key.split('/').map(encoded).join('/')}`;
      const parameters = {
        ...query,
        'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
        'X-Amz-Credential': `${keys.accessKeyId}/${awsScope(now)}`,
        'X-Amz-Date': awsTime(now.now),
        'X-Amz-Expires': String(seconds),
        'X-Amz-SignedHeaders': 'host',
        ...(keys.sessionToken && { 'X-Amz-Security-Token': keys.sessionToken() }),
      };
      const request = {
        method: 'GET',
        path,
        query: queryOf(parameters),
        headers: { host },
        bodyHash: 'UNSIGNED-PAYLOAD',
      };
      return `${origin}${path}?${request.query}&X-Amz-Signature=${awsSignature(request, now)}`;
    },
    close: () => agent.destroy(),
  };
}

type S3Fault = { status?: number; code?: string; reason?: string };

const isAnswer = ({ statusCode }: S3Answer, { expected = [] }: S3Request) =>
  (statusCode >= 200 && statusCode < 300) || expected.includes(statusCode);

async function faultIn({ statusCode, body }: S3Answer): Promise<S3Fault> {
  const text = await body.text().catch(() => '');
  const [, code] = /<Code>([A-Za-z0-9]{1,100})<\/Code>/.exec(text.slice(0, 10_000)) ?? [];
  return { status: statusCode, ...(code !== undefined && { code }) };
}

/** The codes that AWS, MinIO, Ceph and others use. */
const fullCodes =
  /^(InsufficientStorage|XMinioStorageFull|StorageFull|QuotaExceeded|.*QuotaExceeded|ServiceQuotaExceeded)$/;

const isFull = ({ status, code }: S3Fault) => status === 507 || fullCodes.test(code ?? '');

const isPassing = ({ status, code }: S3Fault) =>
  status === undefined ||
  status >= 500 ||
  status === 429 ||
  status === 408 ||
  code === 'RequestTimeout' ||
  code === 'SlowDown';

/** Log only the code or name, because an error of the client may contain the whole request. */
const reasonOf = (error: Error) => (error as NodeJS.ErrnoException).code ?? error.name;

/** Encodes by RFC 3986, as the signature requires: `encodeURIComponent` leaves some characters. */
const encoded = (text: string) =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);

const queryOf = (query: Readonly<Record<string, string>>) =>
  Object.entries(query)
    .map(([name, value]) => [encoded(name), encoded(value)] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
