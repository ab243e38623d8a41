import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { pdfOf } from '../documents/files.fixture.ts';
import { hasPython, scriptOf } from './scripts.fixture.ts';

const { put, run } = scriptOf('pdf-reading', 'pdf_text.py');
const read = (bytes: Uint8Array, ...words: string[]) => run(put('file.pdf', bytes), ...words);

/** A file of these objects without a cross-reference table, so that the reader must find them. */
function pdf(objects: Record<number, string | Buffer>, trailer = '<< /Root 1 0 R >>'): Uint8Array {
  const parts = Object.entries(objects).map(([number, content]) =>
    Buffer.concat([Buffer.from(`${number} 0 obj\n`), Buffer.from(content), Buffer.from('\nendobj\n')]),
  );
  return Buffer.concat([Buffer.from('%PDF-1.7\n'), ...parts, Buffer.from(`trailer\n${trailer}\n`)]);
}

const stream = (content: string | Buffer, fields = '') =>
  Buffer.concat([
    Buffer.from(`<< /Length ${Buffer.byteLength(content)} ${fields} >>\nstream\n`),
    Buffer.from(content),
    Buffer.from('\nendstream'),
  ]);

const page = (resources: string, more = '') =>
  `<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << ${resources} >> ${more} >>`;
const tree = { 1: '<< /Type /Catalog /Pages 2 0 R >>', 2: '<< /Type /Pages /Kids [3 0 R] /Count 1 >>' };
const helvetica = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>';

describe.skipIf(!hasPython)('the script of pdf-reading', () => {
  it('returns the text page by page, or selected pages', () => {
    const file = pdfOf([['First (page)', 'second line'], ['On \\ page two'], []]);
    const all = read(file);
    expect(all.status).toBe(0);
    expect(all.stdout).toContain('--- page 1 of 3 ---\nFirst (page)\nsecond line\n');
    expect(all.stdout).toContain('--- page 2 of 3 ---\nOn \\ page two\n');
    expect(all.stdout).toContain('no text on page 3: probably scanned');
    const some = read(file, '--pages', '2-');
    expect(some.stdout).not.toContain('First');
    expect(some.stdout).toContain('On \\ page two');
    expect(read(file, '--pages', '4')).toMatchObject({ status: 1, stderr: 'There is no page 4: the file has 3.\n' });
  });

  it('finds the lines with a text', () => {
    const { stdout } = read(pdfOf([['nothing'], ['The Termination clause']]), '--find', 'terminat');
    expect(stdout).toContain('page 2: The Termination clause\n');
    expect(stdout).toContain("1 lines hold 'terminat'");
  });

  it('keeps a table in columns', () => {
    const content = `BT /F1 10 Tf 1 0 0 1 50 700 Tm [(Wo) 20 (rd) -600 (next)] TJ
      1 0 0 1 50 680 Tm (Item) Tj 1 0 0 1 250 680 Tm (Price) Tj
      1 0 0 1 50 668 Tm (Chair) Tj 1 0 0 1 250 668 Tm (40) Tj ET`;
    const file = pdf({ ...tree, 3: page('/Font << /F1 5 0 R >>'), 4: stream(content), 5: helvetica });
    const { stdout } = read(file, '--layout');
    const [item, chair] = stdout.split('\n').filter((line) => /^(Item|Chair)/.test(line)) as [string, string];
    expect(item.indexOf('Price')).toBeGreaterThan('Chair'.length);
    expect(chair.indexOf('40')).toBe(item.indexOf('Price'));
  });

  it.each([
    ['no PDF', Buffer.from('hello'), 'is no PDF file'],
    ['an empty one', Buffer.from('%PDF-1.4\n'), 'No pages were found'],
    ['one that goes in circles', pdf({ 1: '<< /Pages 1 0 R /Kids [1 0 R] >>' }), 'No pages were found'],
  ])('explains why it cannot read %s', (_what, bytes, reason) => {
    const { status, stderr } = read(bytes);
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('Traceback');
  });

  it('is not blocked by a page of compressed zeros', () => {
    const file = pdf({
      ...tree,
      3: page('/Font << /F1 5 0 R >>'),
      4: stream(deflateSync(Buffer.alloc(40 * 1024 * 1024)), '/Filter /FlateDecode'),
      5: helvetica,
    });
    expect(read(file).status).toBe(0);
  });
});
