import type { McpClient } from '../../agents/index.ts';
import type { Database } from '../../platform/db/pool.ts';
import type { JobSender } from '../../platform/jobs/catalog.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import type { AppSignIn } from '../app-sign-in/sign-in-server.ts';
import type { Catalogue } from './catalogue.ts';

export type ConnectDependencies = {
  db: Database;
  vault: Vault;
  catalogue: Catalogue;
  signIn: AppSignIn;
  /** Keys of users are tried with it. */
  mcpClient: Pick<McpClient, 'listTools'>;
  jobs: JobSender;
  redirectUri: string;
  /** The address of the document that describes this server as a client; null where it could not be fetched by others. */
  clientDocument: string | null;
};
