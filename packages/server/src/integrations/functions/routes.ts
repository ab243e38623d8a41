import { fail } from '@vestra/contract/errors';
import { requireDeployment } from '../../agents/deployments/index.ts';
import { manifestOf, versionToRun } from '../../agents/versions/index.ts';
import type { Engine } from '../../engine/index.ts';
import type { Waiters } from '../../platform/async/waiters.ts';
import { transaction } from '../../platform/db/transaction.ts';
import type { Handlers } from '../../platform/http/handler.ts';
import type { Streams } from '../../platform/http/streams.ts';
import type { Vault } from '../../platform/secrets/vault.ts';
import { giveUpCall, holdCall, takeOrWait } from './calls.ts';
import {
  findEndpoint,
  presentEndpoint,
  presentFunction,
  presentTaken,
  removeEndpoint,
  rollSecret,
  setEndpoint,
} from './endpoint.ts';

type Dependencies = {
  engine: Engine;
  vault: Vault;
  streams: Streams;
  watchers: Waiters;
  /** Throws a failure on `param` if the server must not call this address. */
  assertCallable: (address: string, param: string) => void;
};

export function functionRoutes(dependencies: Dependencies): Handlers<'functions'> {
  const { engine, vault, streams, watchers, assertCallable } = dependencies;
  const { db, announcer } = engine;
  const deploymentIdOf = async (orgId: string, reference: string) => (await requireDeployment(db, orgId, reference)).id;
  const endpointChanged = (deploymentId: string) => announcer.notify('function_endpoint', deploymentId);

  return {
    list: async ({ caller, params }) => {
      const deployment = await requireDeployment(db, caller.orgId, params.deployment_id);
      const version = versionToRun(deployment, caller.mode, null);
      const { tools } = await manifestOf(db, deployment.id, version);
      const endpoint = await findEndpoint(db, caller, deployment.id);
      return {
        deployment_id: deployment.id,
        version,
        has_endpoint: endpoint !== undefined,
        data: tools.map(presentFunction),
      };
    },
    take: async ({ caller, params, body, signal }) => {
      const deploymentId = await deploymentIdOf(caller.orgId, params.deployment_id);
      const wanted = { deploymentId, names: body.functions, limit: body.limit, leaseSeconds: body.lease_s };
      const open = streams.open(caller, signal, { endsAtOnce: true });
      try {
        const until = { withinMs: body.wait_s * 1000, signal: open.signal };
        return { data: (await takeOrWait({ db, watchers }, caller, wanted, until)).map(presentTaken) };
      } finally {
        open.close();
      }
    },
    renew: async ({ caller, params, body }) => {
      const claim = { callId: params.call_id, claimId: body.claim_id, leaseSeconds: body.lease_s };
      const row = await holdCall(engine, caller, { ...claim, progress: body.progress });
      return { call_id: row.id, taken_until: (row.taken_until as Date).toISOString() };
    },
    release: async ({ caller, params, body }) => {
      await giveUpCall(engine, caller, { callId: params.call_id, claimId: body.claim_id });
      return { call_id: params.call_id, released: true };
    },
    endpoint: async ({ caller, params }) => {
      const row = await findEndpoint(db, caller, await deploymentIdOf(caller.orgId, params.deployment_id));
      if (!row) throw fail('function_endpoint_not_found');
      return presentEndpoint(row);
    },
    setEndpoint: async ({ origin, params, body }) => {
      assertCallable(body.url, 'url');
      const deploymentId = await deploymentIdOf(origin.orgId, params.deployment_id);
      const shown = await transaction(db, (tx) => setEndpoint(tx, vault, origin, deploymentId, body.url));
      endpointChanged(deploymentId);
      return shown;
    },
    deleteEndpoint: async ({ origin, params }) => {
      const deploymentId = await deploymentIdOf(origin.orgId, params.deployment_id);
      await transaction(db, (tx) => removeEndpoint(tx, origin, deploymentId));
      endpointChanged(deploymentId);
      return { object: 'function_endpoint', id: deploymentId, deleted: true };
    },
    rollEndpointSecret: async ({ origin, params, commit }) => {
      const deploymentId = await deploymentIdOf(origin.orgId, params.deployment_id);
      return commit((tx) => rollSecret(tx, vault, origin, deploymentId));
    },
  };
}
