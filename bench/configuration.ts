import { load, type Measured } from './load.ts';

type Call = (method: 'GET' | 'POST' | 'PUT', path: string, body?: unknown) => Promise<string>;

export type Configured = { unchanged: Measured; changed: Measured };

/** Applying a file of 50 tools and 50 notebooks: as it is, and with other instructions each time. */
export async function measureApply(call: Call): Promise<Configured> {
  const notebooks = await Promise.all(
    Array.from({ length: 50 }, async (_, at) => {
      const made = await call('POST', '/v1/notebooks', { name: `Notebook ${at}`, slug: `bench-${at}` });
      return { notebook: (JSON.parse(made) as { id: string }).id };
    }),
  );
  const tools = Array.from({ length: 50 }, (_, at) => ({
    function: `tool_${at}`,
    description: `Does the thing number ${at} for one order.`,
    input: { order: 'string', lines: 'integer[]?', note: 'string?' },
    read_only: at % 2 === 0,
  }));
  const apply = (instructions: string) =>
    call('PUT', '/v1/deployments/bench?promote=no', { name: 'bench', instructions, tools, knowledge: notebooks });
  await apply('First.');
  const unchanged = await load(4, 4, () => apply('First.'));
  let edits = 0;
  const changed = await load(4, 4, () => apply(`Edit ${++edits}.`));
  return { unchanged, changed };
}
