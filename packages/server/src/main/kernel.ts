import { setIdClock } from '@vestra/contract/ids';
import { createEmbedder } from '@vestra/models/embeddings/embedder';
import { createModels, type Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import { createDocumentReader, type DocumentReader } from '../agents/documents/reader.ts';
import type { Embeddings } from '../agents/embeddings/embeddings.ts';
import { createOfflineEmbeddings } from '../agents/embeddings/offline.ts';
import { createProviderEmbeddings } from '../agents/embeddings/provider.ts';
import { createMcpClient, type McpClient } from '../agents/mcp-client/mcp-client.ts';
import { prepareVectorTable } from '../agents/notebooks/index.ts';
import { untilThere } from '../platform/db/away.ts';
import { sharedNow } from '../platform/db/clock.ts';
import { type Look, lookAtDatabase } from '../platform/db/condition.ts';
import { type Line, openLine } from '../platform/db/listen.ts';
import { migrate } from '../platform/db/migrate.ts';
import type { Database } from '../platform/db/pool.ts';
import { createProcessNews, type ProcessNews } from '../platform/db/process-news.ts';
import type { FileStore } from '../platform/files/file-store.ts';
import { catalog } from '../platform/jobs/catalog.ts';
import { createJobs, type Jobs } from '../platform/jobs/queue.ts';
import type { Schemas } from '../platform/json-schema/schemas.ts';
import { schemasOnDemand } from '../platform/json-schema/schemas-on-demand.ts';
import { measuredModels } from '../platform/metrics/measured-models.ts';
import { createMetrics, type Metrics } from '../platform/metrics/metrics.ts';
import { refuseAddress } from '../platform/outbound/address.ts';
import { createOutbound, type Outbound } from '../platform/outbound/fetcher.ts';
import { openMasterKeys } from '../platform/secrets/master-key.ts';
import { createVault, type Vault } from '../platform/secrets/vault.ts';
import { type CustomerMemory, createCustomerMemory } from '../users/memory/customer-memory.ts';
import { agreedSecret } from './agreed-secret.ts';
import { type Apps, assembleApps } from './assemble/apps.ts';
import type { Config } from '../platform/config/config.ts';
import { makeFirstOrg } from './first-org.ts';
import { createLate, type Late } from '../platform/late.ts';
import { migrationsFolder } from './migrations-folder.ts';
import { openFiles } from './open-files.ts';
import type { Credentials } from './provisioning/create-org.ts';
import type { Shutdown } from './shutdown.ts';
import { version } from '../platform/version.ts';

/** What the parts of one process share. Each is made here and nowhere else, so that its limits hold for the process. */
export type Kernel = {
  config: Config;
  log: Logger;
  /** Hears what other processes tell. */
  line: Line;
  db: Database;
  lookAtDatabase: Look;
  metrics: Metrics;
  vault: Vault;
  /** What every process on this database signs with. */
  signingSecret: Buffer;
  jobs: Jobs;
  processNews: ProcessNews;
  outbound: Outbound;
  /** Why an address must not be called, or null. The sentence never repeats the address. */
  refuseAddress: (address: string) => string | null;
  /** Of callers' JSON Schemas. */
  openSchemas: () => Promise<Schemas>;
  /** What is wrong with a JSON Schema, or null. */
  faultOfSchema: (schema: Readonly<Record<string, unknown>>) => Promise<string | null>;
  files: FileStore;
  documents: DocumentReader;
  embeddings: Embeddings;
  /** Whether PostgreSQL compares vectors itself. */
  comparesVectors: boolean;
  models: Models;
  mcpClient: McpClient;
  customerMemory: CustomerMemory;
  apps: Apps;
  /** Where callers reach this server. Without a setting the port is known when the server listens. */
  publicUrl: Late<string>;
};

/** With what the first org is entered by, where this start made it. */
export async function createKernel(
  config: Config,
  log: Logger,
  { db, connectionString, shutdown }: { db: Database; connectionString: string; shutdown: Shutdown },
): Promise<{ kernel: Kernel; firstCredentials: Credentials | null }> {
  setIdClock(sharedNow);
  const opening = openLine({ connectionString: db.directUrl ?? connectionString, log });
  shutdown.undo(async () => (await opening).close());
  const { newest } = await untilThere(() => migrate(db, migrationsFolder));
  const metrics = createMetrics({ version, role: config.role, queues: Object.keys(catalog), now: sharedNow });
  shutdown.undo(metrics.stop);
  const vault = createVault(openMasterKeys(config));
  const signingSecret = await untilThere(() => agreedSecret(db, vault, 'signing-secret'));
  const comparesVectors = await untilThere(() => prepareVectorTable(db, log));
  // Before the hello to other processes, which would have the only session just then.
  const firstCredentials = await untilThere(() => makeFirstOrg(db, vault, config.dataDir));
  const line = await opening;

  const { allowPrivateAddresses: allowPrivate } = config;
  const outbound = createOutbound({ allowPrivate });
  shutdown.undo(() => outbound.close());
  const refuse = (address: string) => refuseAddress(address, { allowPrivate });
  const apps = assembleApps({ config, outbound, refuseAddress: refuse });
  const embeddings = openEmbeddings(config, log, shutdown);
  const jobs = createJobs({ db, line, catalog, settings: { listen: config.role !== 'api' } });
  const processNews = await createProcessNews({ db, line, log });
  shutdown.undo(() => processNews.stop());
  const openSchemas = schemasOnDemand();
  const publicUrl = createLate<string>('the public address');
  // A worker serves nobody and does not know the address of those that do: the setting names it.
  publicUrl.set(config.publicUrl ?? `http://${config.host}:${config.port}`);
  const mcpClient = createMcpClient({ fetch: outbound.webFetch, version });
  shutdown.undo(() => mcpClient.settled());
  const kernel: Kernel = {
    config,
    log,
    line,
    db,
    lookAtDatabase: lookAtDatabase(db, newest),
    metrics,
    vault,
    signingSecret,
    jobs,
    processNews,
    outbound,
    refuseAddress: refuse,
    openSchemas,
    faultOfSchema: async (schema) => (await openSchemas()).faultOf(schema),
    files: await openFileStore(config, log, shutdown),
    documents: createDocumentReader(),
    embeddings,
    comparesVectors,
    models: measuredModels(createModels(config.models), metrics),
    mcpClient,
    customerMemory: createCustomerMemory({ outbound, signingSecret, log }),
    apps,
    publicUrl,
  };
  return { kernel, firstCredentials };
}

function openEmbeddings(config: Config, log: Logger, shutdown: Shutdown): Embeddings {
  if (config.embeddings) return createProviderEmbeddings(createEmbedder(config.embeddings));
  const offline = createOfflineEmbeddings({ log });
  shutdown.undo(() => offline.close());
  return offline;
}

async function openFileStore(config: Config, log: Logger, shutdown: Shutdown): Promise<FileStore> {
  const { s3 } = config.files;
  const store = await openFiles(config, log);
  shutdown.undo(() => store.close());
  if (s3 === null) return store;
  // Nothing waits for it, and one that is away may come back; wrong keys are told at the start and not at the first file.
  store.has('start', 'start').then(
    () => log.info(`files lie in s3://${s3.bucket}/${s3.prefix}`),
    (error: Error) => log.error(`files cannot be kept: ${error.message}`),
  );
  return store;
}
