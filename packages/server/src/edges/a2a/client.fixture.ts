import { type Message, type Part, Role, type SendMessageRequest, TaskState } from '@a2a-js/sdk';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { dataPart, textPart } from './task.ts';

export { type Part, TaskState };

/** The official client, configured by the agent card. */
export function connectA2a(url: string, deploymentId: string, key: string, headers: Record<string, string> = {}) {
  const fetchImpl: typeof fetch = (input, init) => {
    const all = new Headers(init?.headers);
    all.set('authorization', `Bearer ${key}`);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return fetch(input, { ...init, headers: all });
  };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory({ fetchImpl })],
    cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
  });
  return factory.createFromUrl(`${url}/v1/a2a/${deploymentId}/.well-known/agent-card.json`, '');
}

type Said = string | { data: unknown } | Part;

let count = 0;

export function saying(
  said: Said | readonly Said[],
  about: Partial<Message> & { metadata?: Record<string, unknown> } = {},
  configuration: Partial<NonNullable<SendMessageRequest['configuration']>> = {},
): SendMessageRequest {
  count += 1;
  const parts = (Array.isArray(said) ? said : [said]) as Said[];
  return {
    tenant: '',
    metadata: undefined,
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      returnImmediately: false,
      ...configuration,
    },
    message: {
      messageId: `message-${count}`,
      contextId: '',
      taskId: '',
      role: Role.ROLE_USER,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
      ...about,
      parts: parts.map((each) =>
        typeof each === 'string'
          ? textPart(each)
          : 'content' in each
            ? each
            : dataPart((each as { data: unknown }).data),
      ),
    },
  };
}
