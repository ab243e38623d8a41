import { createHash, createHmac } from 'node:crypto';

export type AwsKeys = { accessKeyId: string; secretAccessKey: () => string; sessionToken: (() => string) | null };

type Signed = { url: string; body: string; region: string; service: string; keys: AwsKeys; now: Date };

/** The headers that let a POST through, by AWS Signature Version 4: the secret key itself is never sent. */
export function signedByAws({ url, body, region, service, keys, now }: Signed): Record<string, string> {
  const { host, pathname } = new URL(url);
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '');
  const headers: Record<string, string> = {
    host,
    'x-amz-date': time,
    ...(keys.sessionToken && { 'x-amz-security-token': keys.sessionToken() }),
  };
  const names = Object.keys(headers).toSorted();
  // Every service but S3 wants the path, encoded as it is, encoded once more.
  const path = pathname.split('/').map(encodeURIComponent).join('/');
  const lines = names.map((name) => `${name}:${headers[name]}\n`).join('');
  const canonical = ['POST', path, '', lines, names.join(';'), hashOf(body)].join('\n');
  const scope = `${time.slice(0, 8)}/${region}/${service}/aws4_request`;
  const text = ['AWS4-HMAC-SHA256', time, scope, hashOf(canonical)].join('\n');
  const key = scope
    .split('/')
    .reduce<string | Buffer>((last, part) => hmac(last, part), `AWS4${keys.secretAccessKey()}`);
  const signature = hmac(key, text).toString('hex');
  const { host: _, ...sent } = headers;
  return {
    ...sent,
    authorization: `AWS4-HMAC-SHA256 Credential=${keys.accessKeyId}/${scope}, SignedHeaders=${names.join(';')}, Signature=${signature}`,
  };
}

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
