/**
 * Where bytes lie, each under a name and apart per org, so that no org can find out what another has. A folder on disk
 * is one, a bucket of an S3-compatible store another.
 *
 * What a file holds is named by its hash, 64 hex digits: it never changes, it is kept once however often it is put, and
 * what is put or read whole is held against its name. Any other name, such as that of a computer's saved home, belongs
 * to whoever made it up. Names are the server's own: nothing that a caller has written is one.
 *
 * A store that is away, or has no room left, is a `not_ready` failure with a sentence that says which.
 */
export type FileStore = {
  /** Whole or not at all, and before it resolves also through a power cut. A part of it can never be seen. */
  put: (orgId: string, name: string, content: Content) => Promise<KeptFile>;
  /** Null where there is nothing of this name. What is not read to its end must be returned, as `for await` does. */
  open: (orgId: string, name: string, range?: Range) => Promise<Opened | null>;
  /** All of it, for what is known to be small. Null where there is nothing of this name. */
  read: (orgId: string, name: string) => Promise<Uint8Array | null>;
  has: (orgId: string, name: string) => Promise<boolean>;
  /** Removing what is not there changes nothing. */
  remove: (orgId: string, name: string) => Promise<void>;
  /** Everything that lies here, of all orgs, in no order; what comes or goes meanwhile may be missing or told. */
  list: () => AsyncIterable<Listed>;
  /** An address at which whoever has it may download this for a while; null where only the server reads the store. */
  link: (orgId: string, name: string, as: Download) => string | null;
};

export type Content = Uint8Array | AsyncIterable<Uint8Array>;

/** Of the whole content, as it was when it was put. */
export type KeptFile = { sha256: string; bytes: number };

/** From the first byte to the last one, both counted from 0 and both included. */
export type Range = { first: number; last: number };

/** `bytes`: of the whole, whatever range of it the chunks bring. */
type Opened = { bytes: number; chunks: AsyncIterable<Uint8Array> };

export type Listed = { orgId: string; name: string; bytes: number };

type Download = { filename: string; mediaType: string; seconds: number };
