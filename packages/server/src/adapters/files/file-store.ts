/**
 * Where bytes lie, each under the hash of its content and apart per org, so that no org can find out what another has.
 * A folder on disk is one; any store of objects by name, such as an S3-compatible one, can be another.
 */
export type FileStore = {
  /** Keeps the bytes before it resolves, also through a power cut. Putting what is there changes nothing. */
  put: (orgId: string, sha256: string, bytes: Uint8Array) => Promise<void>;
  /** Null where there is nothing under this hash. */
  read: (orgId: string, sha256: string) => Promise<Uint8Array | null>;
  /** Removing what is not there changes nothing. */
  remove: (orgId: string, sha256: string) => Promise<void>;
};
