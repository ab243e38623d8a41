import { StartFailure } from '../db/start-failure.ts';
import type { S3Place } from '../files/s3-client.ts';

type Settings = Readonly<
  Partial<
    Record<
      | 'VESTRA_FILES'
      | 'VESTRA_S3_ENDPOINT'
      | 'AWS_REGION'
      | 'AWS_DEFAULT_REGION'
      | 'AWS_ACCESS_KEY_ID'
      | 'AWS_SECRET_ACCESS_KEY'
      | 'AWS_SESSION_TOKEN',
      string
    >
  >
>;

const address = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/([A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*))?\/?$/;

/** Where files lie; null: in the data folder. */
export function fileStoreOf(settings: Settings): S3Place | null {
  if (settings.VESTRA_FILES === undefined) return null;
  const [, bucket, prefix = ''] = address.exec(settings.VESTRA_FILES) ?? [];
  if (bucket === undefined || prefix.split('/').some((part) => /^\.+$/.test(part))) {
    throw new StartFailure('The setting VESTRA_FILES is not valid: it must be s3://bucket or s3://bucket/prefix.');
  }
  const { VESTRA_S3_ENDPOINT: endpoint, AWS_REGION, AWS_DEFAULT_REGION } = settings;
  // Stores of one's own have one region, which most of them call so.
  const region = AWS_REGION ?? AWS_DEFAULT_REGION ?? (endpoint === undefined ? undefined : 'us-east-1');
  if (region === undefined) throw new StartFailure('VESTRA_FILES is set: set AWS_REGION or VESTRA_S3_ENDPOINT too.');
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: session } = settings;
  if (id === undefined || secret === undefined) {
    throw new StartFailure('VESTRA_FILES is set: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY too.');
  }
  return {
    endpoint: endpoint ?? `https://s3.${region}.amazonaws.com`,
    region,
    bucket,
    prefix,
    keys: {
      accessKeyId: id,
      secretAccessKey: () => secret,
      sessionToken: session === undefined ? null : () => session,
    },
  };
}
