import { type ExampleCall, exampleId, step } from './step.ts';

const desk = { deployment_id: 'support-desk' };
const notebook = { notebook_id: exampleId('nb') };
const document = { ...notebook, document_id: exampleId('doc') };
const skill = { skill_id: exampleId('skl') };
const server = { server_id: exampleId('mcp') };

const skillFile = (words: string) => ({
  path: 'SKILL.md',
  content: `---\nname: returns\ndescription: How a return is taken and what is said about refunds.\n---\n${words}\n`,
});

const file = {
  name: 'support-desk',
  instructions:
    'You are the support desk of Maple & Thread, a shop for knitwear. Look orders up before you speak of them.',
  tools: [
    {
      function: 'find_order',
      description: 'Finds an order by its number.',
      input: { order_number: 'string' },
      read_only: true,
    },
  ],
  knowledge: [{ notebook: exampleId('nb') }],
  tests: [{ name: 'Opening hours', ask: 'When are you open?', expect: 'It says when the shop is open.' }],
};

/** The agent's configuration: deployments, their content and their tests. */
export const configuration: readonly ExampleCall[] = [
  step('secrets.put', { params: { name: 'SHOP_TOKEN' }, body: { value: 'a-token-of-the-shop' } }),
  step('secrets.list'),
  step('notebooks.create', {
    body: { name: 'Shop handbook', slug: 'handbook', description: 'Opening hours, returns and washing.' },
  }),
  step('notebooks.list'),
  step('notebooks.get', { params: notebook }),
  step('notebooks.update', { params: notebook, body: { description: 'Opening hours, returns, washing and repairs.' } }),
  step('notebooks.createDocument', {
    params: notebook,
    body: { title: 'Opening hours', text: 'The shop is open from Monday to Saturday, 9 to 18.' },
  }),
  step('notebooks.convertDocument', { file: { name: 'hours.md', text: 'Open from 9 to 18.' } }),
  step('notebooks.listDocuments', { params: notebook }),
  step('notebooks.getDocument', { params: document }),
  step('notebooks.search', { params: notebook, query: { q: 'When is the shop open?' } }),
  step('skills.create', { body: { files: [skillFile('Ask for the order number first.')] } }),
  step('skills.list'),
  step('skills.get', { params: skill }),
  step('skills.replace', { params: skill, body: { files: [skillFile('Ask for the order number, then the reason.')] } }),
  step('skills.versions', { params: skill }),
  step('mcpServers.create', {
    body: {
      name: 'Stock of the warehouse',
      slug: 'stock',
      url: 'https://stock.example.com/mcp',
      auth: { type: 'headers', headers: { Authorization: 'Bearer ${secret:SHOP_TOKEN}' } },
      tools: { require_approval: ['reserve'] },
    },
  }),
  step('mcpServers.list'),
  step('mcpServers.get', { params: server }),
  step('mcpServers.update', { params: server, body: { tools: { deny: ['remove_item'] } } }),
  step('mcpServers.check', {
    params: server,
    unsent: {
      because: 'it asks a server of somebody else',
      answer: {
        ok: true,
        tools: [{ name: 'count', description: 'How many of an item there are.', read_only: true }],
        instructions: null,
        notes: [],
        duration_ms: 48,
        error: null,
      },
    },
  }),
  step('deployments.put', { params: desk, query: { promote: 'now' }, body: file }),
  step('deployments.create', { body: { name: 'Night desk', manifest: { instructions: 'Answer at night.' } } }),
  step('deployments.list'),
  step('deployments.get', { params: desk }),
  step('deployments.update', { params: desk, body: { description: 'Answers customers about their orders.' } }),
  step('deployments.listVersions', { params: desk }),
  step('deployments.getVersion', { params: { ...desk, version: 1 } }),
  step('deployments.contentChanges', { params: { ...desk, version: 1 } }),
  step('functions.list', { params: desk }),
  step('functions.setEndpoint', { params: desk, body: { url: 'https://shop.example.com/functions' } }),
  step('functions.endpoint', { params: desk }),
  step('functions.rollEndpointSecret', { params: desk }),
  step('functions.deleteEndpoint', { params: desk }),
  step('mcpServers.delete', { params: server }),
];

/** Tests and promotion. */
export const testing: readonly ExampleCall[] = [
  step('scenarios.create', {
    params: desk,
    body: {
      name: 'A lost parcel',
      persona: 'A customer in a hurry.',
      goal: 'Find out where order MT-1042 is.',
      success_criteria: ['It says where the order is.'],
      tool_results: { find_order: { order_number: 'MT-1042', state: 'on its way' } },
    },
  }),
  step('scenarios.list', { params: desk }),
  step('scenarios.get', { params: { ...desk, scenario_id: exampleId('scn', 2) } }),
  step('scenarios.update', {
    params: { ...desk, scenario_id: exampleId('scn', 2) },
    body: { persona: 'A worried customer.' },
  }),
  step('scenarios.generate', { params: desk, body: { count: 1 } }),
  step('testRuns.create', { params: desk }),
  step('testRuns.events', { params: { run_id: exampleId('trun') } }),
  step('testRuns.get', { params: { run_id: exampleId('trun') } }),
  step('testRuns.list', { params: desk }),
  step('testRuns.cancel', { params: { run_id: exampleId('trun') } }),
  step('testRuns.delete', { params: { run_id: exampleId('trun') } }),
  step('scenarios.delete', { params: { ...desk, scenario_id: exampleId('scn', 2) } }),
  step('deployments.promote', { params: desk, body: { version: 1, when: 'now' }, as: 'live' }),
  step('deployments.put', { params: desk, query: { promote: 'now' }, body: { ...file, language: 'en' }, as: 'live' }),
  step('deployments.rollback', { params: desk, as: 'live' }),
  step('deployments.archive', { params: { deployment_id: 'night-desk' } }),
  step('deployments.unarchive', { params: { deployment_id: 'night-desk' } }),
  step('deployments.delete', { params: { deployment_id: 'night-desk' } }),
  step('deployments.interview', {
    body: { deployment: 'repair-desk', describe: 'Answers customers of a bicycle shop about repairs.' },
  }),
];

/** Deletions at the end. */
export const afterwards: readonly ExampleCall[] = [
  step('notebooks.deleteDocument', { params: document, as: 'live' }),
  step('notebooks.delete', { params: notebook, as: 'live' }),
  step('skills.delete', { params: skill }),
  step('secrets.delete', { params: { name: 'SHOP_TOKEN' } }),
];
