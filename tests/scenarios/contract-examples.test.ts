import { writeFileSync } from 'node:fs';
import { routes } from '@vestra/contract/api';
import recorded from '@vestra/contract/examples/answers.json' with { type: 'json' };
import { story } from '@vestra/contract/examples/story';
import type { Route } from '@vestra/contract/route';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hearStatements, isPageOf, plansOf, type Sent } from '../support/list-plans.ts';
import { startTestServer, type TestServer } from '../support/server.ts';
import { routeOf, storyteller } from '../support/story.ts';

/** `VESTRA_WRITE_EXAMPLES=1` records the server's answers as the examples of the contract. */
const writes = process.env.VESTRA_WRITE_EXAMPLES === '1';
const kept: Record<string, unknown> = {};

const answers: Readonly<Record<string, unknown>> = recorded;

let server: TestServer;
let tell: ReturnType<typeof storyteller>;
let statements: ReturnType<typeof hearStatements>;
/** How each list asked for its page. */
const asked = new Map<string, Sent[]>();
const isList = ({ query }: Route) => query !== undefined && 'cursor' in query.shape;
const lists = routes.filter(({ route }) => isList(route));
beforeAll(async () => {
  statements = hearStatements();
  server = await startTestServer({ env: { VESTRA_DEFAULT_MODEL: 'offline' } });
  tell = storyteller(server);
});
afterAll(async () => {
  statements.stop();
  await server.stop();
  if (!writes) return;
  const file = new URL('../../packages/contract/examples/answers.json', import.meta.url);
  writeFileSync(file, `${JSON.stringify(kept, null, 2)}\n`);
});

const firstOf = new Map([...story].reverse().map((step) => [step.operation, step]));

describe('the examples of the contract', () => {
  it('are there for every operation [REQ-305]', () => {
    const without = routes.filter(({ name }) => !firstOf.has(name)).map(({ name }) => name);
    expect(without).toEqual([]);
  });

  it.each(story)('$operation behaves as documented [REQ-305]', async (step) => {
    const route = routeOf(step.operation);
    if (step.unsent) {
      if (step.unsent.answer !== undefined) route.response.parse(step.unsent.answer);
      return;
    }
    statements.taken();
    const isExample = firstOf.get(step.operation) === step;
    const { status, schema, answer } = await tell(step, { holds: isExample });
    const pages = statements.taken().filter(isPageOf(Number(step.query?.limit ?? 20)));
    if (isList(route)) asked.set(step.operation, pages);
    expect([step.operation, status, status < 300 ? '' : answer]).toEqual([
      step.operation,
      expect.toSatisfy((given) => [route.status, ...(route.alsoStatus ?? [])].includes(given as never)),
      '',
    ]);
    if (!isExample) return;
    kept[step.operation] = answer;
    if (writes) return;
    const example = answers[step.operation];
    schema.parse(example);
    expect(strangers(example, answer)).toEqual([]);
  });
});

describe('a page of every list', () => {
  /** Lists sorted after the query: sums, and the few rows of one conversation or person. */
  const sorting = new Set(['usage.report', 'feedback.ofConversation', 'consoleAccount.signIns']);
  const inCode = new Set(['apps.list', 'insights.list']);

  it('is found by an index, in its order, without the rows of others', async () => {
    const plans = await plansOf(server.connectionString, asked, sorting);
    const wrong = lists.flatMap(({ name }) => {
      const steps = plans.get(name) ?? [];
      if (steps.length === 0) return inCode.has(name) ? [] : [`${name} was not seen to read a page`];
      return steps.filter(({ isBySearch }) => !isBySearch).map(({ words }) => `${name}: ${words}`);
    });
    expect(wrong).toEqual([]);
  });
});

/**
 * Fields that an example shows and the answer has not. Where the two say different things (a run that has ended meanwhile, a list
 * that is empty) there is nothing to compare.
 */
function strangers(example: unknown, answer: unknown, path = ''): string[] {
  if (Array.isArray(example) && Array.isArray(answer)) {
    return example.length > 0 && answer.length > 0 ? strangers(example[0], answer[0], `${path}.0`) : [];
  }
  if (!isObject(example) || !isObject(answer) || example.type !== answer.type) return [];
  // The newest audit entry may be one of a background job. Each action has its own details.
  if (example.action !== answer.action) return [];
  return Object.entries(example).flatMap(([name, value]) =>
    Object.hasOwn(answer, name) ? strangers(value, answer[name], `${path}.${name}`) : [`${path}.${name}`],
  );
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
