import { expect, it } from 'vitest';
import { createRegistry } from './registry.ts';

function filled() {
  const registry = createRegistry();
  const requests = registry.counter({ name: 'requests_total', help: 'Two\nlines and a \\.', labels: ['route'] });
  requests.add({ route: 'a "b"\n\\' });
  requests.add({ route: 'c' }, 2);
  requests.add({ route: 'c' });
  const seconds = registry.histogram({ name: 'seconds', help: 'Time.', buckets: [0.1, 1] });
  for (const value of [0.1, 0.5, 0.5, 7]) seconds.observe({}, value);
  registry.ask({ name: 'free', help: 'Room.' }, async () => 4.5);
  registry.ask({ name: 'unknown', help: 'Nobody knows.' }, () => null);
  registry.ask({ name: 'beyond', help: 'All.', labels: ['of'] }, () => [
    { labels: { of: 'x' }, value: Number.POSITIVE_INFINITY },
  ]);
  registry.counter({ name: 'silent_total', help: 'Not yet.' });
  return registry;
}

const lines = (text: string) => text.split('\n').filter((line) => line !== '');

it('writes the Prometheus text format [OPS-201]', async () => {
  expect(lines(await filled().write('prometheus'))).toEqual([
    '# HELP requests_total Two\\nlines and a \\\\.',
    '# TYPE requests_total counter',
    'requests_total{route="a \\"b\\"\\n\\\\"} 1',
    'requests_total{route="c"} 3',
    '# HELP seconds Time.',
    '# TYPE seconds histogram',
    'seconds_bucket{le="0.1"} 1',
    'seconds_bucket{le="1"} 3',
    'seconds_bucket{le="+Inf"} 4',
    'seconds_sum 8.1',
    'seconds_count 4',
    '# HELP free Room.',
    '# TYPE free gauge',
    'free 4.5',
    '# HELP unknown Nobody knows.',
    '# TYPE unknown gauge',
    '# HELP beyond All.',
    '# TYPE beyond gauge',
    'beyond{of="x"} +Inf',
    '# HELP silent_total Not yet.',
    '# TYPE silent_total counter',
    'silent_total 0',
  ]);
});

it('writes OpenMetrics, with counter names without suffix and an EOF line [OPS-201]', async () => {
  const written = lines(await filled().write('openmetrics'));
  expect(written.slice(0, 3)).toEqual([
    '# HELP requests Two\\nlines and a \\\\.',
    '# TYPE requests counter',
    'requests_total{route="a \\"b\\"\\n\\\\"} 1',
  ]);
  expect(written.at(-1)).toBe('# EOF');
});

it('limits the number of label sets [OPS-208]', async () => {
  const registry = createRegistry();
  const endless = registry.counter({ name: 'endless_total', help: 'Too many.', labels: ['of'] });
  for (let each = 0; each < 5_000; each++) endless.add({ of: `value ${each}` });
  const written = lines(await registry.write('prometheus'));
  expect(written).toHaveLength(2 + 2_000 + 1);
  expect(written.at(-1)).toBe('endless_total{of="other"} 3000');
});

it('rejects a metric that is registered twice', () => {
  expect(() => filled().counter({ name: 'requests_total', help: '' })).toThrow('twice');
});
