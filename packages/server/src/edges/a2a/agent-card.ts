import { createHash } from 'node:crypto';
import { A2A_PROTOCOL_VERSION } from '@a2a-js/sdk';
import { fail } from '@vestra/contract/errors';
import type { protocols } from '@vestra/contract/protocols';
import type { ResponseOf } from '@vestra/contract/route';
import { findOrg } from '../../account/index.ts';
import { type DeploymentRow, findDeploymentOfAnyOrg } from '../../agents/deployments/index.ts';
import type { Engine } from '../../engine/index.ts';

type Card = ResponseOf<typeof protocols.agentCard>;

type CardRequest = { params: { deployment_id: string }; headers: Headers };

/** The card of the live version, for anyone who knows the deployment id. Caches must revalidate it. */
export function agentCard({ db, publicUrl }: { db: Engine['db']; publicUrl: string }) {
  return async ({ params, headers }: CardRequest): Promise<Response> => {
    const deployment = await findDeploymentOfAnyOrg(db, params.deployment_id);
    const org = deployment && (await findOrg(db, deployment.org_id));
    if (!deployment || org?.status !== 'active') throw fail('deployment_not_found');
    if (deployment.status === 'archived') {
      throw fail('deployment_not_live', { message: 'This deployment is archived and takes no conversations.' });
    }
    if (deployment.live_version === null) throw fail('deployment_not_live');
    const body = JSON.stringify(cardOf(deployment, deployment.live_version, org, publicUrl));
    const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
    const kept = { etag, 'cache-control': 'public, no-cache' };
    if (isKnown(headers.get('if-none-match'), etag)) return new Response(null, { status: 304, headers: kept });
    return new Response(body, { headers: { ...kept, 'content-type': 'application/json; charset=utf-8' } });
  };
}

const modes = ['text/plain', 'application/json'];

function cardOf(
  { id, name, description }: DeploymentRow,
  liveVersion: number,
  org: { name: string },
  publicUrl: string,
): Card {
  const about = description === '' ? `The agent ${name}.` : description;
  return {
    name,
    description: about,
    supportedInterfaces: [
      { url: `${publicUrl}/v1/a2a/${id}`, protocolBinding: 'JSONRPC', protocolVersion: A2A_PROTOCOL_VERSION },
    ],
    provider: { url: publicUrl, organization: org.name },
    version: String(liveVersion),
    documentationUrl: `${publicUrl}/docs`,
    capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false },
    securitySchemes: {
      apiKey: { httpAuthSecurityScheme: { scheme: 'Bearer', description: 'An API key with scope runtime or all.' } },
    },
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
    defaultInputModes: modes,
    defaultOutputModes: modes,
    skills: [
      {
        id: 'talk',
        name: `Talk to ${name}`,
        description: about,
        tags: ['conversation'],
        examples: [],
        inputModes: modes,
        outputModes: modes,
      },
    ],
  };
}

const isKnown = (given: string | null, etag: string) =>
  given?.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false;
