import { setTimeout as sleep } from 'node:timers/promises';

/** Two versions on one database: what one begins, the other continues. */
type Upgrade = {
  /** Uses both at once, and returns what failed. */
  continueWith: (url: string) => Promise<string[]>;
};

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field.
type Body = any;
type Call = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Body>;
type Version = { name: string; call: Call };

const rounds = 3;

/** Prepares an org with the version before. */
export async function playUpgrade({ before, key }: { before: string; key: string }): Promise<Upgrade> {
  const failures: string[] = [];
  const old = versionAt('before', before, key, failures);
  await old.call('PUT', '/v1/deployments/desk?promote=now', { name: 'desk', memory: 'none' });
  const begun = await begin(old, 'Ask me.');
  return {
    async continueWith(url) {
      const now = versionAt('now', url, key, failures);
      const noteFailure = (error: unknown) => void failures.push(String(error));
      await answer(now, begun.id).catch(noteFailure);
      for (let round = 0; round < rounds && failures.length === 0; round++) {
        await Promise.all([useBoth(old, now, round), useBoth(now, old, round)]).catch(noteFailure);
      }
      for (const { name, call } of [old, now]) {
        const { status } = await call('GET', '/v1/health');
        if (status !== 'ok') failures.push(`${name}: /v1/health says ${status}`);
      }
      return failures;
    },
  };
}

/** `first` begins, and `second` continues. */
async function useBoth(first: Version, second: Version, round: number): Promise<void> {
  const name = `${first.name}-${round}`;
  const conversation = await begin(first, 'Hi');
  await settled(second, conversation.id, 'Again');
  await settled(first, conversation.id, 'Once more');
  await answer(second, (await begin(first, 'Ask me.')).id);
  const work = await first.call('POST', '/v1/conversations', {
    ...{ deployment: 'desk', message: 'Work', hand_off: 'always', user_id: name },
  });
  await until(
    () => second.call('GET', `/v1/conversations/${work.id}`),
    ({ status }) => status === 'idle',
  );
  await first.call('PUT', `/v1/deployments/${name}?promote=now`, { name, instructions: 'Be kind.' });
  await second.call('PUT', `/v1/deployments/${name}?promote=now`, { name, instructions: 'Be brief.' });
  const batch = await first.call('POST', '/v1/batches', {
    ...{ deployment: name, items: [1, 2, 3].map((item) => ({ message: `Item ${item}` })) },
  });
  await until(
    () => second.call('GET', `/v1/batches/${batch.id}`),
    ({ status }) => status === 'completed',
  );
  const created = await first.call('POST', '/v1/keys', { name, scopes: ['runtime'] });
  await second.call('DELETE', `/v1/keys/${created.id}`);
  await first.call('POST', '/v1/sessions', { user_id: name, chat: true, deployment: 'desk' });
  for (const path of [
    ...['/v1/conversations', '/v1/tasks', '/v1/users', '/v1/deployments', '/v1/keys', '/v1/events', '/v1/batches'],
    ...['/v1/usage', '/v1/interactions', '/v1/audit-log', `/v1/conversations/${conversation.id}/messages`],
    `/v1/conversations/${conversation.id}/events?format=json`,
  ]) {
    await Promise.all([first.call('GET', path), second.call('GET', path)]);
  }
}

async function begin(version: Version, message: string): Promise<{ id: string }> {
  const conversation = await version.call('POST', '/v1/conversations', { deployment: 'desk' });
  await settled(version, conversation.id, message);
  return conversation;
}

const settled = ({ call }: Version, id: string, message: string) =>
  call('POST', `/v1/conversations/${id}/messages`, { message }, { prefer: 'wait=60' });

async function answer({ call }: Version, conversationId: string): Promise<void> {
  const open = await until(
    () => call('GET', `/v1/interactions?conversation_id=${conversationId}`),
    ({ data }) => data?.length > 0,
  );
  await call('POST', `/v1/interactions/${open.data[0].id}/answer`, { answers: ['M'] });
  await until(
    () => call('GET', `/v1/conversations/${conversationId}`),
    ({ status }) => status === 'idle',
  );
}

async function until(read: () => Promise<Body>, isWanted: (body: Body) => boolean): Promise<Body> {
  for (const deadline = Date.now() + 30_000; ; await sleep(100)) {
    const body = await read();
    if (isWanted(body)) return body;
    if (Date.now() > deadline) throw new Error(`It never became as wanted: ${JSON.stringify(body)}`);
  }
}

function versionAt(name: string, url: string, key: string, failures: string[]): Version {
  return {
    name,
    async call(method, path, body, headers = {}) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) failures.push(`${name}: ${method} ${path} was answered with ${response.status} ${text}`);
      return text.startsWith('{') ? JSON.parse(text) : null;
    },
  };
}
