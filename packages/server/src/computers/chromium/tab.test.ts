import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { BrowserGone, openDevtools } from './devtools.ts';
import { createTab } from './tab.ts';

/** A tab whose pages all fail to load, in a browser that answers nothing else or ends then. */
function tabWith({ endsThen }: { endsThen: boolean }) {
  const output = new PassThrough();
  const input = new Writable({
    write(chunk, _encoding, done) {
      const { id, sessionId, method } = JSON.parse(String(chunk).replace('\0', ''));
      const result = method === 'Page.navigate' ? { errorText: 'net::ERR_FAILED' } : {};
      if (method === 'Page.navigate' || !endsThen) output.write(`${JSON.stringify({ id, sessionId, result })}\0`);
      else output.destroy();
      done();
    },
  });
  return createTab(openDevtools(output, input).session('page'), 'page', async () => {}).tab;
}

it('reports a page that failed to load', async () => {
  expect(await tabWith({ endsThen: false }).navigate('http://shop.localhost/')).toEqual({ error: 'net::ERR_FAILED' });
});

it('reports a browser that ended, also if it reported the page as failed first [BRW-700]', async () => {
  await expect(tabWith({ endsThen: true }).navigate('http://shop.localhost/')).rejects.toThrow(BrowserGone);
});
