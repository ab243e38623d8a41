import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { faultOfEngineImport } from '../scripts/engine-rooms.ts';

const inEngine = (file: string) => `packages/server/src/domains/engine/${file}`;

describe('an import between rooms of the engine', () => {
  it.each([
    ['runs/run-loop.ts', 'records/change.ts'],
    ['runs/run-loop.ts', 'runs/recorder.ts'],
    ['tools/own/work-tools.ts', 'tools/tools.ts'],
    ['questions/judge.ts', 'tools/tools.ts'],
    ['api.ts', 'runs/create-engine.ts'],
  ])('goes down or stays: %s may import %s', (from, to) => {
    expect(faultOfEngineImport(inEngine(from), inEngine(to))).toBeNull();
  });

  it.each([
    ['records/change.ts', 'turns/ports.ts', 'engine/records may not import turns/ports.ts'],
    ['turns/accept.ts', 'tools/tools.ts', 'engine/turns may not import tools/tools.ts'],
    ['tools/own/work-tools.ts', 'questions/judge.ts', 'engine/tools may not import questions/judge.ts'],
    ['questions/judge.ts', 'runs/run-loop.ts', 'engine/questions may not import runs/run-loop.ts'],
    ['runs/run-loop.ts', 'api.ts', 'engine/runs may not import api.ts'],
    ['misc/things.ts', 'records/change.ts', 'engine/misc is no room of the engine'],
  ])('never goes up: %s may not import %s', (from, to, fault) => {
    expect(faultOfEngineImport(inEngine(from), inEngine(to))).toContain(fault);
  });

  it('is not what another domain imports', () => {
    expect(faultOfEngineImport('packages/server/src/domains/tasks/store.ts', inEngine('api.ts'))).toBeNull();
    expect(faultOfEngineImport(inEngine('records/change.ts'), 'packages/server/src/db/pool.ts')).toBeNull();
  });
});

it('the drawing of the engine names files that are there', () => {
  const drawing = readFileSync('docs/design/engine.md', 'utf8');
  const named = [...drawing.matchAll(/\b(?:records|turns|tools|questions|runs)\/[a-z-]+\.ts\b/g)].map(([file]) => file);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((file) => !existsSync(inEngine(file)))).toEqual([]);
});
