import { searchNotebooks } from '@vestra/server/agents/notebooks/search';
import { closeDatabase, openDatabase } from '@vestra/server/platform/db/pool';
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

const words =
  'order parcel refund invoice customer delivery address warehouse return policy voucher season colour size'.split(' ');

/** Search in a notebook that holds all it may: 5 MB of text. */
export async function measureSearch(call: Call, connectionString: string): Promise<Measured> {
  const notebook = JSON.parse(await call('POST', '/v1/notebooks', { name: 'Full', slug: 'bench-full' })) as {
    id: string;
  };
  for (let at = 0; at < 10; at++) {
    await call('POST', `/v1/notebooks/${notebook.id}/documents`, { title: `Part ${at}`, text: textOf(at, 510_000) });
  }
  const { org } = JSON.parse(await call('GET', '/v1/me')) as { org: { id: string } };
  const db = await openDatabase({ connectionString, max: 4 });
  let asked = 0;
  const measured = await load(2, 4, async () => {
    const query = `how is ${words[asked % words.length]} number ${(asked++ * 37) % 900} handled`;
    await searchNotebooks(db, {
      orgId: org.id,
      notebookIds: [notebook.id],
      revisions: null,
      userId: null,
      query,
      limit: 5,
    });
  });
  await closeDatabase(db);
  return measured;
}

/** Paragraphs in which common words are common and each number is rare. */
function textOf(part: number, size: number): string {
  const paragraphs: string[] = [];
  for (let length = 0, at = part * 10_000; length < size; at++) {
    const sentence = Array.from({ length: 14 }, (_, word) => words[(at * 7 + word * word) % words.length]).join(' ');
    const paragraph = `The ${sentence} number ${at} is handled by desk ${at % 97}.\n\n`;
    paragraphs.push(paragraph);
    length += paragraph.length;
  }
  return paragraphs.join('').slice(0, size);
}
