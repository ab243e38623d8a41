import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, expect, it } from 'vitest';
import { docxOf, paragraph, pdfOf, pdfWith, pptxOf, shape, table, xlsxOf } from './files.fixture.ts';
import { canConfine, createDocumentReader } from './reader.ts';

const options = { orgId: 'org_a', maxCharacters: 524_288 };
const file = (bytes: Uint8Array | string, filename: string, contentType = '') => ({
  filename,
  contentType,
  bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes,
});
const refused = (message: RegExp) =>
  expect.objectContaining({
    code: 'invalid_request',
    message: expect.stringMatching(message),
    details: expect.objectContaining({ param: 'file' }),
  });

describe('the text of a file', () => {
  const reader = createDocumentReader();
  const textOf = async (...given: Parameters<typeof file>) => (await reader.read(file(...given), options)).text;

  it.each([
    ['UTF-8 with a mark', Buffer.from('\ufeffGröße'), 'text/plain'],
    ['UTF-16 with a mark', Buffer.from('\ufeffGröße', 'utf16le'), 'text/plain'],
    ['a declared charset', Buffer.from('Größe', 'latin1'), 'text/plain; charset=ISO-8859-1'],
  ])('is read in %s', async (_charset, bytes, type) => {
    expect(await textOf(bytes, 'a.txt', type)).toBe('Größe');
  });

  it('is refused in a wrong or unknown charset', async () => {
    await expect(textOf(Buffer.from('Größe', 'latin1'), 'a.txt')).rejects.toEqual(refused(/not a text in utf-8/));
    await expect(textOf('x', 'a.txt', 'text/plain; charset=klingon')).rejects.toEqual(refused(/klingon/));
  });

  it('is Markdown for HTML, with tables and without scripts and media', async () => {
    const html = `<meta charset="iso-8859-1"><body><style>p{}</style><script>x()</script><svg><text>no</text></svg>
      <h2>Preise für 2026</h2><p>In <b>Euro</b>, <a href="https://a.example/b">mehr</a></p>
      <img alt="A lamp" src="data:image/png;base64,AAAA"><img alt="Shop" src="shop.png">
      <table><tr><th>Plan</th><th>Price</th></tr><tr><td>Basic</td>
      <td>10 <i>EUR</i></td></tr></table><ul><li>one</li></ul></body>`;
    expect(await textOf(Buffer.from(html, 'latin1'), 'a.html', 'text/html')).toBe(
      '## Preise für 2026\n\nIn **Euro**, [mehr](https://a.example/b)\n\nA lamp![Shop](shop.png)\n\n| Plan | Price |\n| --- | --- |\n| Basic | 10 _EUR_ |\n\n-   one',
    );
  });

  it('is Markdown for DOCX, with headings and tables', async () => {
    const body =
      paragraph('Prices', 'Heading1') +
      paragraph('In euros.') +
      table([
        ['Basic', '10'],
        ['Pro', '20'],
      ]);
    expect(await textOf(docxOf(body), 'a.docx')).toBe('# Prices\n\nIn euros.\n\n| Basic | 10 |\n| Pro | 20 |');
  });

  it('is the pages of a PDF in order, each ending with a form feed', async () => {
    expect(await textOf(pdfOf([['One (1)', 'two'], [], ['three']]), 'a.pdf')).toBe('One (1)\ntwo\n\n\f\n\n\fthree');
  });

  it('is a table per visible sheet of a workbook, with values as displayed [NB-210]', async () => {
    const cell = (at: string, type: string, value: string, style = 0) =>
      `<x:c r="${at}" t="${type}" s="${style}"><x:f>A1+B1</x:f><x:v>${value}</x:v></x:c>`;
    const bytes = xlsxOf(
      [
        {
          name: 'Prices &amp; stock',
          rows:
            `<x:row>${cell('A1', 's', '0')}${cell('C1', 's', '1')}${cell('D1', 'str', 'since')}${cell('E1', 'str', 'tax')}</x:row>` +
            '<x:row/>' +
            `<x:row>${cell('A3', 'inlineStr', '').replace('<x:v></x:v>', '<x:is><x:t>a | b</x:t></x:is>')}${cell('C3', 'n', '0.30000000000000004')}${cell('D3', 'n', '46341.5', 1)}${cell('E3', 'n', '0.19', 2)}</x:row>` +
            `<x:row>${cell('A4', 'b', '1')}${cell('C4', 'e', '#N/A')}${cell('D4', 'n', '46341', 3)}</x:row>`,
        },
        { name: 'Secret', state: 'hidden', rows: `<x:row>${cell('A1', 'str', 'hidden')}</x:row>` },
        { name: 'Empty', rows: '' },
      ],
      {
        shared: '<si><t>name</t></si><si><r><t>pri</t></r><r><t>ce</t></r><rPh><t>yomi</t></rPh></si>',
        styles:
          '<numFmts><numFmt numFmtId="170" formatCode="yyyy\\-mm\\-dd&quot;h&quot;"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
          '<cellXfs><xf numFmtId="0"/><xf numFmtId="22"/><xf numFmtId="9"/><xf numFmtId="170"/></cellXfs>',
      },
    );
    expect(await textOf(bytes, 'a.xlsx')).toBe(
      '## Prices & stock\n\n| name | price | since | tax |\n| --- | --- | --- | --- |\n| a \\| b | 0.3 | 2026-11-15 12:00 | 19% |\n| TRUE | #N/A | 2026-11-15 |  |',
    );
  });

  it('is the slides of a presentation with titles, tables and notes, one page each [NB-210]', async () => {
    const row = (...cells: string[]) =>
      `<a:tr>${cells.map((text) => `<a:tc><a:txBody><a:p><a:t>${text}</a:t></a:p></a:txBody></a:tc>`).join('')}</a:tr>`;
    const bytes = pptxOf([
      { shapes: `${shape('First &amp; last\nline')}${shape('Our plan', 'title')}${shape('7', 'sldNum')}` },
      { shapes: shape('Not shown'), show: '0' },
      {
        shapes: `<p:graphicFrame><a:tbl>${row('Plan', 'Price')}${row('Basic', '10')}</a:tbl></p:graphicFrame>`,
        notes: `${shape('Say it slowly.', 'body')}${shape('3', 'sldNum')}`,
      },
    ]);
    expect(await textOf(bytes, 'a.pptx')).toBe(
      '## Our plan\n\nFirst & last\nline\n\n\f\n\n\f| Plan | Price |\n| --- | --- |\n| Basic | 10 |\n\nNotes: Say it slowly.',
    );
  });

  it('is read by its type, or by its name if the type is generic', async () => {
    expect((await reader.read(file('<b>x</b>', 'a.md', 'text/html'), options)).text).toBe('**x**');
    expect((await reader.read(file('<b>x</b>', 'a.HTML', 'text/plain'), options)).contentType).toBe('text/markdown');
    expect((await reader.read(file('x', 'README', 'text/plain'), options)).contentType).toBe('text/plain');
    for (const [name, type] of [
      ['a.exe', ''],
      ['a', ''],
      ['a.txt', 'image/png'],
      ['a.zip', 'application/zip'],
    ] as const) {
      await expect(textOf('x', name, type)).rejects.toMatchObject({ code: 'unsupported_media_type' });
    }
  });

  it('is not read past the limit', async () => {
    const pages = Array.from({ length: 400 }, () => ['A line of some length that says nothing at all.']);
    const read = reader.read(file(pdfOf(pages), 'a.pdf'), { ...options, maxCharacters: 1000 });
    await expect(read).rejects.toMatchObject({ code: 'document_too_large', details: { param: 'file' } });
  });
});

describe('a hostile file', () => {
  it('that blocks the library is abandoned without blocking the event loop', async () => {
    const reader = createDocumentReader({ timeMs: 1500 });
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 10);
    const read = reader.read(file('<div>'.repeat(500_000), 'a.html'), options);
    await expect(read).rejects.toEqual(refused(/takes too long/));
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(30);
  });

  it.each([
    ['DOCX', docxOf(' '.repeat(300_000_000)), 'a.docx'],
    ['PDF', pdfWith([Buffer.alloc(400_000_000, 32)]), 'a.pdf'],
    ['XLSX', xlsxOf([{ name: 'A', rows: ' '.repeat(100_000_000) }]), 'a.xlsx'],
  ])('that unpacks to gigabytes is abandoned: %s', async (_kind, bytes, filename) => {
    expect(bytes.length).toBeLessThan(10 * 1024 * 1024);
    const reader = createDocumentReader({ memoryMb: 100, timeMs: 60_000 });
    await expect(reader.read(file(bytes, filename), options)).rejects.toEqual(
      refused(/unpacks to more|cannot be read/),
    );
  });

  it.each([
    ['nothing but a beginning', '%PDF-1.7', 'a.pdf', /PDF file cannot be read/],
    ['half of itself', pdfOf([['Refunds']]).subarray(0, 300), 'a.pdf', /PDF file cannot be read/],
    ['a zip that is no document', docxOf('').subarray(0, 200), 'a.docx', /DOCX file cannot be read/],
    ['a zip without a workbook', docxOf(''), 'a.xlsx', /XLSX file cannot be read/],
    ['a zip without slides', docxOf(''), 'a.pptx', /PPTX file cannot be read/],
    ['no XML inside', docxOf('<w:p><broken'), 'a.docx', /DOCX file (cannot be read)|holds no text/],
    ['nested until the stack ends', `${'<b><i>'.repeat(20_000)}x`, 'a.html', /HTML file cannot be read/],
  ])('that is %s is refused', async (_what, bytes, filename, message) => {
    await expect(createDocumentReader().read(file(bytes, filename), options)).rejects.toEqual(refused(message));
  });
});

it('does not expand custom entities', async () => {
  const shared = '</sst><!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><sst>';
  const bytes = xlsxOf([{ name: 'A', rows: '<x:row><x:c t="str"><x:v>&b;</x:v></x:c></x:row>' }], { shared });
  expect((await createDocumentReader().read(file(bytes, 'a.xlsx'), options)).text).toContain('| &b; |');
});

it('reads a few files at once, queues others and refuses the rest', async () => {
  const reader = createDocumentReader({ atOnce: 1, waiting: 8 });
  const burst = async () => {
    const reads = ['one', 'two', 'three', 'four'].map((text) => reader.read(file(`<p>${text}</p>`, 'a.html'), options));
    const outcomes = await Promise.allSettled(reads);
    return outcomes.map((each) => (each.status === 'fulfilled' ? each.value.text : each.reason.code));
  };
  expect(await burst()).toEqual(['one', 'two', 'three', 'not_ready']);
  expect(await burst()).toEqual(['one', 'two', 'three', 'not_ready']);
});

it('prevents one org from taking all slots [CMP-187, JOB-242]', async () => {
  const reader = createDocumentReader({ atOnce: 2, waiting: 32 });
  const ended: string[] = [];
  const read = (orgId: string) =>
    reader.read(file('<p>x</p>', 'a.html'), { ...options, orgId }).then(
      () => void ended.push(orgId),
      (error: { code: string }) => void ended.push(error.code),
    );
  const flood = Array.from({ length: 40 }, () => read('org_a'));
  await Promise.all([read('org_b'), ...flood]);
  // One runs and eight wait. Later ones are refused, and the other org gets a slot at once.
  expect(ended.filter((each) => each === 'not_ready')).toHaveLength(31);
  expect(ended.filter((each) => each !== 'not_ready').indexOf('org_b')).toBeLessThan(3);
});

it.skipIf(process.platform !== 'linux')('reads in a sandbox if the machine supports it [CMP-187]', async () => {
  expect(await canConfine()).toBe(true);
  const began: string[] = [];
  const note = (_message: unknown, name: string | symbol) => void began.push(String(name));
  for (const channel of ['child_process', 'worker_threads']) subscribe(channel, note);
  await createDocumentReader().read(file('<p>x</p>', 'a.html'), options);
  for (const channel of ['child_process', 'worker_threads']) unsubscribe(channel, note);
  expect(new Set(began)).toEqual(new Set(['child_process']));
});
