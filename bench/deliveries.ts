import { join } from 'node:path';
import { freePort } from './processes.ts';
import { duration, type Row, type Stage } from './report.ts';
import { measureWebhooks } from './webhooks.ts';

export async function measureDeliveries({ folder }: Stage): Promise<Row[]> {
  const { alone, besideSick, emitMs } = await measureWebhooks(join(folder, 'webhooks'), await freePort());
  const shown = ({ perSecond, delayP50, delayP95 }: typeof alone) =>
    `${Math.round(perSecond).toLocaleString('en')}/s, delay p50 ${delayP50.toFixed(1)}, p95 ${delayP95.toFixed(1)} ms`;
  return [
    { what: 'webhooks to 4 endpoints that answer', measured: shown(alone) },
    { what: 'webhooks to the same, beside 4 that hang and 4 that fail', measured: shown(besideSick) },
    {
      what: 'an event in the transaction of what it tells, heard by nobody and by 4, p50',
      measured: `${duration(emitMs.unheard)} and ${duration(emitMs.heard)}`,
    },
  ];
}
