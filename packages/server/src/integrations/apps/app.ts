import type { SignInFacts } from '../app-sign-in/sign-in-server.ts';

/** A remote MCP server that is reached with the user's own sign-in, or with a key of theirs. */
export type App = {
  id: string;
  name: string;
  description: string;
  url: string;
  icon_url: string | null;
  connectable: boolean;
  /** Null where nobody signs in there. */
  sign_in: AppSignInData | null;
  /** Null where it takes no key. */
  api_key: ApiKeyPlace | null;
};

export type AppSignInData = {
  facts: SignInFacts;
  /** The app takes only clients that somebody registered by hand. */
  needs_client: boolean;
  register_at: string | null;
  note: string | null;
  /** The operator's, for every org that gave none of its own. */
  client: OperatorClient | null;
};

export type OperatorClient = {
  client_id: string;
  client_secret: string | null;
  auth_method: SignInFacts['auth_method'] | null;
};

/** Where a call to the app carries the key: a header, after `prefix`, or a parameter of the address. */
export type ApiKeyPlace = ({ header: string; prefix: string } | { query: string }) & { note: string | null };
