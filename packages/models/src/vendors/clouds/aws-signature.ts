import { createHash, createHmac } from 'node:crypto';

export type AwsKeys = { accessKeyId: string; secretAccessKey: () => string; sessionToken: (() => string) | null };

type Signed = { url: string; body: string; region: string; service: string; keys: AwsKeys; now: Date };

/** The headers of a POST signed with AWS Signature Version 4. The secret key itself is never sent. */
export function signedByAws({ url, body, region, service, keys, now }: Signed): Record<string, string> {
  const { host, pathname } = new URL(url);
  const headers: Record<string, string> = {
    host,
    'x-amz-date': awsTime(now),
    ...(keys.sessionToken && { 'x-amz-security-token': keys.sessionToken() }),
  };
  // Every service except S3 requires the encoded path to be encoded again.
  const path = pathname.split('/').map(encodeURIComponent).join('/');
  const request = { method: 'POST', path, query: '', headers, bodyHash: hashOf(body) };
  const { host: _, ...sent } = headers;
  return { ...sent, authorization: awsAuthorization(request, { region, service, keys, now }) };
}

/** The signed parts. Path and query are encoded as the service requires; header names are lower-case. */
export type AwsRequest = {
  method: string;
  path: string;
  query: string;
  headers: Readonly<Record<string, string>>;
  bodyHash: string;
};

export type AwsSigner = { region: string; service: string; keys: AwsKeys; now: Date };

/** The `authorization` header of a request whose headers are all signed. */
export function awsAuthorization(request: AwsRequest, signer: AwsSigner): string {
  const scope = awsScope(signer);
  return `AWS4-HMAC-SHA256 Credential=${signer.keys.accessKeyId}/${scope}, SignedHeaders=${namesOf(request)}, Signature=${awsSignature(request, signer)}`;
}

export const awsTime = (now: Date) => now.toISOString().replace(/[-:]|\.\d+/g, '');

export const awsScope = ({ region, service, now }: AwsSigner) =>
  `${awsTime(now).slice(0, 8)}/${region}/${service}/aws4_request`;

export function awsSignature(request: AwsRequest, signer: AwsSigner): string {
  const { method, path, query, headers, bodyHash } = request;
  const names = Object.keys(headers).toSorted();
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const canonical = [method, path, query, lines, namesOf(request), bodyHash].join('\n');
  const scope = awsScope(signer);
  const text = ['AWS4-HMAC-SHA256', awsTime(signer.now), scope, hashOf(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${signer.keys.secretAccessKey()}`);
  return hmac(key, text).toString('hex');
}

const namesOf = ({ headers }: AwsRequest) => Object.keys(headers).toSorted().join(';');
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
