import { generateKeyPairSync } from 'node:crypto';
import type { Clouds } from '../vendors/clouds/clouds.ts';

let pem: string | undefined;

/** Settings with every cloud at one address. The key is created with the first use: it takes a tenth of a second. */
export function cloudsAt(url: string): Clouds {
  pem ??= generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
  const privateKey = pem;
  return {
    bedrock: { region: 'us-east-1', baseUrl: url, access: { bearer: () => 'scripted-bedrock-0123456789' } },
    azure: { endpoint: url, apiKey: () => 'scripted-azure-0123456789' },
    vertex: {
      location: 'us-east5',
      baseUrl: url,
      account: {
        clientEmail: 'a@b.example',
        privateKey: () => privateKey,
        projectId: 'project-1',
        tokenUrl: `${url}/token`,
      },
    },
  };
}
