import { type Called, serveMcp, tool } from '../../packages/server/src/agents/mcp-client/mcp-server.fixture.ts';
import { cleanups } from '../../packages/server/src/platform/outbound/loopback.fixture.ts';
import { calling, type Desk, inTurn, resultsIn, startDesk } from './interactions.fixture.ts';

/** A desk whose agent has functions of every kind and a shop with tools of every kind. */
export type ShopDesk = Desk & {
  shop: Shop;
  /** The agent calls one tool and then says that it is done; the id of the conversation. */
  called: (name: string, given?: unknown, body?: Record<string, unknown>) => Promise<string>;
  /** The same, and the wait that comes of it. */
  waitsFor: (name: string, given?: unknown, body?: Record<string, unknown>) => ReturnType<Desk['waiting']>;
  /** The results of its calls that the model read last. */
  lastResults: () => string[];
};

export async function startShopDesk(): Promise<ShopDesk> {
  const desk = await startDesk();
  const shop = await serveShop();
  await desk.apply({
    name: 'desk',
    memory: 'none',
    approvals: ['payment', 'delete'],
    limits: { ask_above_usd: 0.1 },
    tools: [
      {
        mcp: shop.url,
        name: 'shop',
        deny: ['burn'],
        require_approval: ['count', 'paint'],
        run_without_asking: ['label', 'paint', 'shelve', 'store'],
      },
      { function: 'refund_order', description: 'Refunds an order. Never twice.', input: { order: 'string' } },
      { function: 'erase_list', description: 'Erases the list of guests.' },
      { function: 'book_room', description: 'Books a room.' },
      { function: 'stack_chairs', description: 'Stacks chairs.', input: { login: 'object?', note: 'string?' } },
      { function: 'print_menu', description: 'Prints the menu.', run_without_asking: true },
      { function: 'list_guests', description: 'Lists the guests.', read_only: true },
    ],
  });
  const prepare = (name: string, given: unknown) => {
    shop.called.length = 0;
    desk.script(inTurn(calling(name, given), { text: 'Done.' }));
  };
  return {
    ...desk,
    shop,
    async called(name, given = {}, body = {}) {
      prepare(name, given);
      return (await desk.say({ message: 'Go on', ...body })).id;
    },
    waitsFor(name, given = {}, body = {}) {
      prepare(name, given);
      return desk.waiting(body);
    },
    lastResults: () => resultsIn(desk.asked.at(-1)),
    async stop() {
      await desk.stop();
      await shop.close();
    },
  };
}

type Shop = {
  url: string;
  /** Every call it has had. */
  called: { name: string; args: Record<string, unknown> }[];
  /** The text a call returns. Tests replace it. */
  says: (name: string) => Promise<string> | string;
  tidyDescription: string;
  scanUsd: number;
  /** Whether the server marks `sweep` as read-only. */
  sweepOnlyReads: boolean;
  close: () => Promise<void>;
};

const readOnly = { annotations: { readOnlyHint: true } };
const price = (usd: number) => ({ _meta: { 'vestra/price_usd': usd } });

/** The tool server stays for the whole file. */
async function serveShop(): Promise<Shop> {
  const before = cleanups.length;
  const offer = () => ({
    tools: [
      tool('find', { description: 'Finds an article.', ...readOnly }),
      tool('count', { description: 'Counts the articles.', ...readOnly }),
      tool('label', { description: 'Prints a label.' }),
      tool('paint', { description: 'Paints the shelf.' }),
      tool('shelve', { description: 'Puts an article away.' }),
      tool('store', { description: 'Puts an article into the cellar.' }),
      tool('burn', { description: 'Burns the shop down.' }),
      tool('settle_up', { description: 'Pays the supplier what is due.' }),
      tool('scan', { description: 'Scans a document.', ...readOnly, ...price(shop.scanUsd) }),
      tool('copy', { description: 'Copies a page.', ...readOnly, ...price(0.05) }),
      tool('jam', { description: 'Copies a page badly.', ...readOnly, ...price(0.07) }),
      tool('tidy', { description: shop.tidyDescription }),
      tool('sweep', { description: 'Sweeps the floor.', ...(shop.sweepOnlyReads && readOnly) }),
    ],
  });
  const call: Called = async (name, args) => {
    shop.called.push({ name, args });
    return name === 'jam' ? { ...saying('Paper jam.'), isError: true } : saying(await shop.says(name));
  };
  const { url } = await serveMcp('2026', offer, { call });
  // Whatever stays in that list is closed after the next test.
  const own = cleanups.splice(before);
  const shop: Shop = {
    url,
    called: [],
    says: (name) => `${name} is done.`,
    tidyDescription: 'Tidies the shelf.',
    scanUsd: 0.25,
    sweepOnlyReads: false,
    async close() {
      for (const cleanup of own.reverse()) await cleanup();
    },
  };
  return shop;
}

const saying = (text: string) => ({ content: [{ type: 'text' as const, text }] });
