import type { Tenant } from '../../platform/caller.ts';
import type { McpTarget } from '../mcp-client/session.ts';

/** A server that a user is signed in to. */
export type SignedIn = {
  slug: string;
  connectionId: string;
  credential:
    | {
        kind: 'token';
        /** What no text that the server writes may show. */
        token: string;
        /** The server with the credential in its place. */
        target: McpTarget;
        /** The server did not take it: what there is after one more attempt to get a good one. */
        refused: () => Promise<SignedIn>;
      }
    /** The person must sign in anew. */
    | { kind: 'over' }
    /** Whether it still holds could not be found out. */
    | { kind: 'unavailable' };
};

/** Where servers are reached with the user's own sign-in instead of headers that the company set up. */
export type SignIns = {
  /** Those of the wanted servers that the user is or was signed in to, with tokens that are good now. */
  of: (tenant: Tenant, userId: string | null, wanted: 'all' | readonly string[]) => Promise<SignedIn[]>;
};
