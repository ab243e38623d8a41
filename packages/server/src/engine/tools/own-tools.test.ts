import { readFile } from 'node:fs/promises';
import type { OwnTool } from '@vestra/agent/own-tool';
import { expect, it } from 'vitest';
import { routineTools } from '../../automation/routines/agent-tools.ts';
import { computerTools } from '../../computers/agent-tools.ts';
import { agentBrowsers } from '../../computers/browser/agent-tools.ts';
import { oneProcess } from '../../computers/computer-routing.fixture.ts';
import { readConversationFile } from './conversation-files.ts';
import { askQuestion, connectApp, handOffToWork, requestHandoff } from './interaction-tools.ts';
import { memoryTools, notebookTools, skillTools } from './knowledge-tools.ts';
import { openItemTools } from './open-items.ts';
import { proposePlan, saveOutput, updatePlan } from './task-tools.ts';

/** No tool is run here, so their dependencies are empty. */
const unused = {} as never;
const browserPool = { obstacle: async () => null, ifOpen: () => null } as never;
const of = { tenant: { orgId: 'org_1', mode: 'test' }, turn: { user_id: null }, task: { id: 'tsk_1' } } as never;

async function everyOwnTool(): Promise<OwnTool[]> {
  return [
    askQuestion(),
    requestHandoff(),
    handOffToWork(),
    ...openItemTools(unused, unused, { work: [unused], questions: [unused] }),
    ...readConversationFile(unused, unused, { attached: [{ file_id: 'file_1', filename: 'a.txt' }], made: [] }),
    connectApp(
      [
        { id: 'mail', name: 'Mail' },
        { id: 'calendar', name: 'Calendar' },
      ],
      null,
    ),
    updatePlan(unused, unused, unused),
    proposePlan(),
    saveOutput(unused, unused, unused, null),
    saveOutput(unused, unused, unused, unused),
    ...notebookTools(unused),
    ...skillTools({
      db: unused,
      orgId: 'org_1',
      skills: [{ name: 'letters' }, { name: 'returns' }] as never,
      computer: null,
    }),
    ...memoryTools(unused),
    ...computerTools(unused),
    ...(await agentBrowsers({
      db: unused,
      browserPool,
      routing: oneProcess,
      obstacle: async () => null,
    }).forTask({ ...(of as object), manifest: {} } as never)),
    ...routineTools(unused)(of),
  ];
}

it('describes every tool of the agent to the model as own-tools.fixture.json does', async () => {
  const written = JSON.parse(await readFile(new URL('./own-tools.fixture.json', import.meta.url), 'utf8'));
  const tools = (await everyOwnTool()).map(({ tool }) => tool.definition);
  expect(tools).toEqual(written);
});
