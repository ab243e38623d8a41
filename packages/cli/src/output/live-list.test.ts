import type { Change } from '@vestra/sdk/apply';
import { afterEach, expect, it, vi } from 'vitest';
import { keptTerminal } from '../terminal.fixture.ts';
import { withLiveList } from './live-list.ts';

afterEach(() => vi.restoreAllMocks());

/** Captures the plain output: a line for each start and each end. */
function listened(): () => string {
  let said = '';
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
  }
  return () => said;
}

const change = (name: string): Change => ({ kind: 'skill', action: 'created', name }) as Change;

it('marks failed lines and no line that never started', async () => {
  const said = listened();
  const { terminal } = keptTerminal();
  const [first, second] = [change('returns'), change('refunds')];
  const refused = withLiveList(terminal, ['apply'], async (tell) => {
    tell({ type: 'read', file: 'service.yaml', name: 'desk', skipped: [] });
    tell({ type: 'planned', changes: [first, second] });
    throw new Error('Refused.');
  });
  await expect(refused).rejects.toThrow('Refused.');
  expect(said()).toMatch(/skill returns: not begun/);
  expect(said()).toMatch(/skill refunds: not begun/);
  expect(said()).not.toMatch(/✖ skill/);
  expect(said()).toMatch(/✖ Applying/);
});

it('marks the failed upload', async () => {
  const said = listened();
  const { terminal } = keptTerminal();
  const [first, second] = [change('returns'), change('refunds')];
  const failed = withLiveList(terminal, ['apply'], async (tell) => {
    tell({ type: 'read', file: 'service.yaml', name: 'desk', skipped: [] });
    tell({ type: 'planned', changes: [first, second] });
    tell({ type: 'uploading', change: first });
    throw new Error('Too large.');
  });
  await expect(failed).rejects.toThrow('Too large.');
  expect(said()).toMatch(/✖ skill returns/);
  expect(said()).not.toMatch(/✖ skill refunds/);
});
