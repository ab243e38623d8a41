import type { Kernel } from '../platform/kernel.ts';
import type { Registration } from '../platform/registration.ts';
import { type DeploymentDependencies, deploymentRoutes } from './deployments/routes.ts';
import type { DocumentReader } from './documents/reader.ts';
import type { Embeddings } from './embeddings/embeddings.ts';
import type { McpClient } from './mcp-client/mcp-client.ts';
import { adjustmentExpiry } from './models/adjustments.ts';
import { modelRoutes } from './models/routes.ts';
import { documentsToIndex, indexDocument, pruneIndexes } from './notebooks/document-index.ts';
import { pruneContent } from './notebooks/revisions.ts';
import { notebookRoutes } from './notebooks/routes.ts';
import { openZip } from './skills/open-zip.ts';
import { skillRoutes } from './skills/routes.ts';
import { mcpServerRoutes } from './tool-servers/routes.ts';
import { forgetOutagesOf } from './tool-servers/store.ts';
import type { RepublishLive } from './versions/versions.ts';

export type AgentServices = {
  documents: DocumentReader;
  embeddings: Embeddings;
  /** True if PostgreSQL compares vectors itself. */
  comparesVectors: boolean;
  mcpClient: McpClient;
};

/** Checks of higher modules before something live changes. */
export type AgentPorts = Omit<DeploymentDependencies, 'db' | 'jobs'> & {
  republishLive: RepublishLive;
  search: Parameters<typeof notebookRoutes>[0]['search'];
};

export function register(
  kernel: Kernel & AgentServices,
  { republishLive, search, ...deployments }: AgentPorts,
): Registration {
  const { db, vault, jobs, models, assertCallable, documents, embeddings, comparesVectors, mcpClient } = kernel;
  return {
    routes: () => ({
      deployments: deploymentRoutes({ db, jobs, ...deployments }),
      notebooks: notebookRoutes({ db, reader: documents, republishLive, jobs, embeddings, search }),
      skills: skillRoutes({ db, openZip, republishLive, jobs }),
      mcpServers: mcpServerRoutes({ db, vault, client: mcpClient, assertCallable, republishLive }),
      models: modelRoutes({ db, models }),
    }),
    jobs: {
      'document.index': ({ document_id }, { signal }) =>
        indexDocument({ db, embeddings, comparesVectors }, document_id, signal),
    },
    sweeps: [documentsToIndex(embeddings)],
    expiry: [adjustmentExpiry],
    async housekeeping(signal) {
      await pruneContent(db, signal);
      await pruneIndexes(db, embeddings.model, signal);
    },
    erasure: [forgetOutagesOf],
  };
}
