import { setIdClock } from '@vestra/contract/ids';
import { createEmbedder } from '@vestra/models/embeddings/embedder';
import { createModels, type Models } from '@vestra/models/models';
import type { Logger } from 'pino';
import { createDocumentReader } from '../agents/documents/reader.ts';
import type { Embeddings } from '../agents/embeddings/embeddings.ts';
import { createOfflineEmbeddings } from '../agents/embeddings/offline.ts';
import { createProviderEmbeddings } from '../agents/embeddings/provider.ts';
import { createMcpClient } from '../agents/mcp-client/mcp-client.ts';
import { shareAdjustments } from '../agents/models/adjustments.ts';
import { prepareVectorTable } from '../agents/notebooks/index.ts';
import type { AgentServices } from '../agents/register.ts';
import { createAppSignIn } from '../integrations/app-sign-in/app-sign-in.ts';
import { readCatalogue } from '../integrations/apps/catalogue.ts';
import type { Apps } from '../integrations/register.ts';
import { createClusterNotifications } from '../platform/cluster/cluster-notifications.ts';
import type { Config } from '../platform/config/config.ts';
import { withFileSettings } from '../platform/config/settings-files.ts';
import { sharedNow } from '../platform/db/clock.ts';
import { createDatabaseHealthCheck } from '../platform/db/database-health.ts';
import { migrate } from '../platform/db/migrate.ts';
import { type NotifyListener, openNotifyListener } from '../platform/db/notify-listener.ts';
import type { Database } from '../platform/db/pool.ts';
import { retryAtStart } from '../platform/db/retry-through-failover.ts';
import { type FileStore, measuredStore } from '../platform/files/file-store.ts';
import { openFiles } from '../platform/files/open-files.ts';
import { createReports } from '../platform/http/reports.ts';
import { catalog } from '../platform/jobs/catalog.ts';
import { createJobs } from '../platform/jobs/queue.ts';
import type { Schemas } from '../platform/json-schema/schemas.ts';
import { createLazyRef, type Kernel as PlatformKernel } from '../platform/kernel.ts';
import { createMetrics, type Metrics, measuredModels } from '../platform/metrics/metrics.ts';
import { assertCallable, refuseAddress } from '../platform/outbound/address.ts';
import { createOutbound, type Outbound } from '../platform/outbound/fetcher.ts';
import { createVault, openMasterKeys, sharedSecret } from '../platform/secrets/vault.ts';
import { version } from '../platform/version.ts';
import { type CustomerMemory, createCustomerMemory } from '../users/memory/customer-memory.ts';
import { migrationsFolder } from './postgres.ts';
import { type Credentials, createFirstOrg } from './provisioning.ts';
import type { Shutdown } from './shutdown.ts';

/** The kernel with the services of modules that more than one other module uses. */
export type Kernel = PlatformKernel & AgentServices & { customerMemory: CustomerMemory; apps: Apps };

/** Returns the first credentials if this start created the first org. */
export async function createKernel(
  config: Config,
  log: Logger,
  { db, connectionString, shutdown }: { db: Database; connectionString: string; shutdown: Shutdown },
): Promise<{ kernel: Kernel; firstCredentials: Credentials | null }> {
  setIdClock(sharedNow);
  const opening = openNotifyListener({ connectionString: db.directUrl ?? connectionString, log });
  shutdown.undo(async () => (await opening).close());
  const { newest } = await retryAtStart(() => migrate(db, migrationsFolder));
  const metrics = createMetrics({ version, role: config.role, queues: Object.keys(catalog), now: sharedNow });
  shutdown.undo(metrics.stop);
  const vault = createVault(openMasterKeys(config));
  const signingSecret = await retryAtStart(() => sharedSecret(db, vault, 'signing-secret'));
  const comparesVectors = await retryAtStart(() => prepareVectorTable(db, log));
  // Create the org before the other processes are greeted: a database with one session has none left during that.
  const firstCredentials = await retryAtStart(() => createFirstOrg(db, vault, config.dataDir));
  const line = await opening;

  const { allowPrivateAddresses: allowPrivate } = config;
  const outbound = createOutbound({ allowPrivate });
  shutdown.undo(() => outbound.close());
  const refuse = (address: string) => refuseAddress(address, { allowPrivate });
  const apps = assembleApps({ config, outbound, refuseAddress: refuse });
  const embeddings = openEmbeddings(config, log, shutdown);
  const jobs = createJobs({ db, line, catalog, settings: { listen: config.role !== 'api' } });
  const processNews = await createClusterNotifications({ db, line, log, runsTasks: config.role !== 'api' });
  shutdown.undo(() => processNews.stop());
  const openSchemas = schemasOnDemand();
  const publicUrl = createLazyRef<string>('the public address');
  // A worker does not know the address of the API processes, so it uses the setting.
  publicUrl.set(config.publicUrl ?? `http://${config.host}:${config.port}`);
  const mcpClient = createMcpClient({ fetch: outbound.webFetch, version });
  shutdown.undo(() => mcpClient.settled());
  const kernel: Kernel = {
    config,
    log,
    line,
    db,
    lookAtDatabase: createDatabaseHealthCheck(db, newest),
    metrics,
    vault,
    signingSecret,
    jobs,
    processNews,
    outbound,
    refuseAddress: refuse,
    assertCallable: (address, param) => assertCallable(address, param, { allowPrivate }),
    openSchemas,
    faultOfSchema: async (schema) => (await openSchemas()).faultOf(schema),
    files: await openFileStore(config, log, { shutdown, metrics }),
    documents: createDocumentReader(),
    embeddings,
    comparesVectors,
    models: measuredModels(await openModels(config, log, { db, line, shutdown }), metrics, log),
    mcpClient,
    customerMemory: createCustomerMemory({ outbound, signingSecret, vault, log }),
    apps,
    publicUrl,
    reports: createReports(),
  };
  return { kernel, firstCredentials };
}

/**
 * A provider may reject a request that works without one field or schema. The operator sees once how requests to this model
 * have changed, and all processes learn it.
 */
async function openModels(
  config: Config,
  log: Logger,
  { db, line, shutdown }: { db: Database; line: NotifyListener; shutdown: Shutdown },
): Promise<Models> {
  const shared = shareAdjustments({ db, line, log });
  shutdown.undo(shared.stop);
  const models = createModels(
    config.models,
    {},
    {
      onAdjusted(model, { sentence, rule }) {
        log.warn({ model }, `requests to a model were adjusted: ${sentence}`);
        const endpoint = models.endpointOf(model);
        if (endpoint !== null) shared.save({ endpoint, model, ...rule });
      },
    },
  );
  await shared.follow(models);
  return models;
}

function openEmbeddings(config: Config, log: Logger, shutdown: Shutdown): Embeddings {
  if (config.embeddings) return createProviderEmbeddings(createEmbedder(config.embeddings));
  const offline = createOfflineEmbeddings({ log });
  shutdown.undo(() => offline.close());
  return offline;
}

async function openFileStore(
  config: Config,
  log: Logger,
  { shutdown, metrics }: { shutdown: Shutdown; metrics: Metrics },
): Promise<FileStore> {
  const { s3 } = config.files;
  const store = measuredStore(await openFiles(config, log), metrics);
  shutdown.undo(() => store.close());
  if (s3 === null) return store;
  // Probe the store in the background, so that bad S3 credentials are logged at startup and not at the first upload.
  store.has('start', 'start').then(
    () => log.info(`files are stored in s3://${s3.bucket}/${s3.prefix}`),
    (error: Error) => log.error(`files cannot be stored: ${error.message}`),
  );
  return store;
}

function assembleApps({
  config,
  outbound,
  refuseAddress,
}: {
  config: Config;
  outbound: Outbound;
  refuseAddress: (address: string) => string | null;
}): Apps {
  return {
    catalogue: readCatalogue({
      file: config.appsFile,
      refuseAddress,
      env: (name) => withFileSettings(process.env, [name])[name],
    }),
    signIn: createAppSignIn({ outbound, refuseAddress }),
  };
}

/** Loads the validator with the first schema: it takes three megabytes, which an idle server saves. */
function schemasOnDemand(): () => Promise<Schemas> {
  let opened: Promise<Schemas> | undefined;
  return () => {
    opened ??= import('../platform/json-schema/schemas.ts').then(({ createSchemas }) => createSchemas());
    return opened;
  };
}
