import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { docxOf, paragraph, pdfOf, pdfWith } from '../documents/files.fixture.ts';
import { formOf, newNotebook, startNotebooks } from './notebooks.fixture.ts';

let server: Awaited<ReturnType<typeof startNotebooks>>;
let org: Awaited<ReturnType<typeof server.newOrg>>;
let notebookId: string;
beforeAll(async () => {
  server = await startNotebooks();
});
beforeEach(async () => {
  org = await server.newOrg();
  notebookId = await newNotebook(server.db, org.id);
});
afterAll(() => server.stop());

const megabyte = 1024 * 1024;
const send = (form: FormData, headers: Record<string, string> = {}) =>
  server.call('POST', `/v1/notebooks/${notebookId}/documents`, { key: org.key, raw: form, headers });

/** Sends a file and reads the document that it became. */
const upload = async (bytes: Uint8Array | string, filename: string, type?: string) => {
  const { status, body } = await send(formOf(bytes, filename, type));
  if (status !== 201) throw new Error(JSON.stringify(body));
  return (await server.call('GET', `/v1/notebooks/${notebookId}/documents/${body.id}`, { key: org.key })).body;
};

const refused = (status: number, code: string, param = 'file') => ({ status, body: { error: { code, param } } });

describe('an uploaded file', () => {
  it.each([
    ['notes.txt', 'text/plain', 'text/plain'],
    ['notes.md', 'text/markdown', 'text/markdown'],
    ['notes.md', '', 'text/markdown'],
    ['notes.markdown', 'application/octet-stream', 'text/markdown'],
  ])('%s sent as %j keeps its exact text [NB-023]', async (filename, type, contentType) => {
    const text = '# Größe\r\n\r\n<b>5</b> kg\t🙂  \n';
    expect(await upload(text, filename, type)).toMatchObject({
      title: filename,
      content_type: contentType,
      text,
      bytes: Buffer.byteLength(text),
      sha256: createHash('sha256').update(text).digest('hex'),
    });
  });

  it('becomes Markdown from HTML, without scripts and styles [NB-024]', async () => {
    const html =
      '<html><head><style>b{color:red}</style></head><body><h1>Returns</h1><script>steal()</script><p>Within <b>14</b> days.</p></body></html>';
    expect(await upload(html, 'returns.html', 'text/html')).toMatchObject({
      title: 'returns.html',
      content_type: 'text/markdown',
      text: '# Returns\n\nWithin **14** days.',
      bytes: 30,
    });
  });

  it('becomes the text of a PDF [NB-025]', async () => {
    const document = await upload(
      pdfOf([['Refunds take 14 days.'], ['Second page']]),
      'refunds.pdf',
      'application/pdf',
    );
    expect(document).toMatchObject({ content_type: 'text/plain', text: 'Refunds take 14 days.\n\n\fSecond page' });
  });

  it('becomes the text of a DOCX [NB-026]', async () => {
    const bytes = docxOf(paragraph('Returns', 'Heading1') + paragraph('Refunds take 14 days.'));
    const document = await upload(bytes, 'refunds.docx');
    expect(document).toMatchObject({ content_type: 'text/markdown', text: '# Returns\n\nRefunds take 14 days.' });
  });

  it('gets the title of the form and not that of the page [NB-261]', async () => {
    const html = '<html><head><title>Our shop</title></head><body><p>Within 14 days.</p></body></html>';
    expect((await upload(html, 'a.html', 'text/html')).text).toBe('Within 14 days.');
    const form = formOf(html, 'a.html', 'text/html');
    form.set('title', 'Returns');
    expect(await send(form)).toMatchObject({ status: 201, body: { title: 'Returns' } });
    for (const title of ['', 'x'.repeat(201)]) {
      form.set('title', title);
      expect(await send(form)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_request', param: 'title' } },
      });
    }
  });

  it.each([
    ['prices.csv', 'text/csv'],
    ['prices.csv', 'application/vnd.ms-excel'],
    ['a.json', 'application/json'],
    ['a.yaml', 'application/yaml'],
    ['a.yml', ''],
    ['a.xml', 'application/xml'],
    ['a.py', 'text/x-python'],
    ['a.ts', 'video/mp2t'],
    ['a.rs', 'application/octet-stream'],
  ])('%s sent as %j keeps its text [NB-262]', async (filename, type) => {
    expect(await upload('a: 1\n', filename, type)).toMatchObject({ content_type: 'text/plain', text: 'a: 1\n' });
  });

  it('gets a title of at most 200 characters', async () => {
    expect((await upload('x', `${'n'.repeat(210)}.txt`, 'text/plain')).title).toBe('n'.repeat(200));
  });

  it('of 10 MB with pictures is read, and one byte more is refused [NB-704]', async () => {
    const picture = randomBytes(9.9 * megabyte);
    const drawn = Buffer.from('/P Do BT /F1 12 Tf 72 720 Td (Refunds take 14 days.) Tj ET');
    const files = [
      ['scanned.pdf', pdfWith([drawn], picture)],
      ['scanned.docx', docxOf(paragraph('Refunds take 14 days.'), picture)],
    ] as const;
    for (const [name, bytes] of files) {
      expect(bytes.length).toBeGreaterThan(9.9 * megabyte);
      expect((await upload(bytes, name)).text).toBe('Refunds take 14 days.');
    }
    const page = (size: number) => {
      const [before, after] = ['<p>Refunds</p><img src="data:image/png;base64,', '">'];
      return `${before}${'A'.repeat(size - before.length - after.length)}${after}`;
    };
    expect((await upload(page(10 * megabyte), 'page.html')).text).toBe('Refunds');
    const { status, body } = await send(formOf(page(10 * megabyte + 64 * 1024), 'larger.html'));
    expect([status, body.error.code]).toEqual([413, 'file_too_large']);
  });

  it('replaces the document of its title on request [NB-702]', async () => {
    const { id } = await upload('<p>Thirty</p>', 'returns.html');
    const again = formOf('<p>Ninety</p>', 'returns.html');
    expect(await send(again)).toMatchObject(refused(409, 'title_taken', 'title'));
    again.set('replace', 'maybe');
    expect(await send(again)).toMatchObject(refused(400, 'invalid_request', 'replace'));
    again.set('replace', 'true');
    const replaced = await send(again);
    expect([replaced.status, replaced.body.id === id]).toEqual([201, false]);
    expect(await server.call('GET', `/v1/notebooks/${notebookId}`, { key: org.key })).toMatchObject({
      body: { document_count: 1, bytes: 6 },
    });
  });

  it('counts in the notebook by the size of its text', async () => {
    await upload('<p>twelve bytes</p>', 'a.html', 'text/html');
    const { body } = await server.call('GET', `/v1/notebooks/${notebookId}`, { key: org.key });
    expect(body).toMatchObject({ document_count: 1, bytes: 12 });
  });

  it('is stored once per Idempotency-Key', async () => {
    const answers = [];
    for (let time = 0; time < 2; time++) answers.push(await send(formOf('x', 'a.txt'), { 'idempotency-key': 'file' }));
    expect(answers[1]?.text).toBe(answers[0]?.text);
    expect(answers[1]?.headers.get('idempotent-replayed')).toBe('true');
  });
});

describe('an upload is refused', () => {
  it.each([
    ['a picture', 'x', 'cat.png', 'image/png', 415, 'unsupported_media_type'],
    ['a type nobody knows', 'x', 'data', 'application/octet-stream', 415, 'unsupported_media_type'],
    ['bytes that are no text', new Uint8Array([0x66, 0xff, 0xfe, 0x80]), 'a.txt', 'text/plain', 400, 'invalid_request'],
    ['a binary called text', 'a\0b', 'a.txt', 'text/plain', 400, 'invalid_request'],
    ['a broken PDF', '%PDF-1.7 and nothing', 'a.pdf', 'application/pdf', 400, 'invalid_request'],
    ['a broken DOCX', 'PK\u0003\u0004 and nothing', 'a.docx', '', 400, 'invalid_request'],
    ['an empty file', '', 'a.txt', 'text/plain', 400, 'invalid_request'],
    ['a PDF without text', pdfOf([[]]), 'scan.pdf', 'application/pdf', 400, 'invalid_request'],
    ['a text over 512 KB', 'x'.repeat(524_289), 'a.txt', 'text/plain', 400, 'document_too_large'],
    ['a text over 512 KB in bytes', 'é'.repeat(262_145), 'a.txt', 'text/plain', 400, 'document_too_large'],
    ['a name that is a path', 'x', '..\\a.txt', 'text/plain', 400, 'invalid_filename'],
    ['a file over 10 MB', 'x'.repeat(10 * megabyte + 64 * 1024), 'a.txt', 'text/plain', 413, 'file_too_large'],
  ])('%s', async (_what, bytes, filename, type, status, code) => {
    expect(await send(formOf(bytes, filename, type))).toMatchObject(refused(status, code));
  });

  it('for a form without a file, with two files or with other fields', async () => {
    const without = new FormData();
    without.set('title', 'x');
    expect(await send(without)).toMatchObject(refused(400, 'file_required'));
    const two = formOf('x', 'a.txt');
    two.append('file', new File(['y'], 'b.txt'));
    expect(await send(two)).toMatchObject(refused(400, 'file_required'));
    const further = formOf('x', 'a.txt');
    further.set('text', 'Mine');
    expect(await send(further)).toMatchObject(refused(400, 'invalid_request', 'text'));
  });

  it('if it is too large, with the size in the message [NB-263]', async () => {
    const { body } = await send(formOf('x'.repeat(11 * megabyte), 'a.txt', 'text/plain'));
    expect(body.error.message).toContain(String(10 * megabyte + 64 * 1024));
  });

  it('without changing the notebook', async () => {
    await send(formOf('x', 'cat.png', 'image/png'));
    const { body } = await server.call('GET', `/v1/notebooks/${notebookId}`, { key: org.key });
    expect(body).toMatchObject({ document_count: 0, bytes: 0 });
  });
});
