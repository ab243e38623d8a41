import { deflateSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { pdfOf } from '../../adapters/documents/files.fixture.ts';
import { hasPython, scriptOf } from './scripts.fixture.ts';

const { put, run } = scriptOf('pdf-reading', 'pdf_text.py');
const read = (bytes: Uint8Array, ...words: string[]) => run(put('file.pdf', bytes), '--engine', 'own', ...words);

/** A file of these objects, without a table of contents: the reader has to find them itself. */
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
  it('gives the text page by page, and the pages that are asked for', () => {
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

  it('finds the lines that hold a text', () => {
    const { stdout } = read(pdfOf([['nothing'], ['The Termination clause']]), '--find', 'terminat');
    expect(stdout).toContain('page 2: The Termination clause\n');
    expect(stdout).toContain("1 lines hold 'terminat'");
  });

  it('reads letters by the map that a font carries', () => {
    const map = `1 begincodespacerange <0000> <ffff> endcodespacerange
      2 beginbfchar <0001> <00480069> <0002> <20ac> endbfchar
      1 beginbfrange <0010> <0012> <0061> endbfrange
      1 beginbfrange <0020> <0021> [<d83dde00> <0021>] endbfrange`;
    const file = pdf({
      ...tree,
      3: page('/Font << /F1 5 0 R >>'),
      4: stream('BT /F1 10 Tf 50 700 Td <0001000200100011001200200021> Tj <0099> Tj ET'),
      5: '<< /Type /Font /Subtype /Type0 /BaseFont /Own /Encoding /Identity-H /ToUnicode 6 0 R /DescendantFonts [7 0 R] >>',
      6: stream(deflateSync(Buffer.from(map)), '/Filter /FlateDecode'),
      7: '<< /Type /Font /Subtype /CIDFontType2 /DW 500 /W [1 [600 600]] >>',
    });
    const { stdout } = read(file);
    expect(stdout).toContain('Hi€abc😀!\ufffd');
    expect(stdout).toContain('1 characters in the font Own cannot be told');
  });

  it('reads letters by the names of their glyphs, and by an encoding', () => {
    const font = `<< /Type /Font /Subtype /Type1 /BaseFont /Own /Encoding << /BaseEncoding /MacRomanEncoding
      /Differences [65 /eacute /uni20AC /fi /Omega /germandbls] >> >>`;
    const file = pdf({
      ...tree,
      3: page('/Font << /F1 5 0 R >>'),
      4: stream('BT /F1 10 Tf 50 700 Td (ABCDE\\216x) Tj ET'),
      5: font,
    });
    expect(read(file).stdout).toContain('é€fiΩßéx');
  });

  it('puts spaces and lines where the gaps are, and keeps a table in columns', () => {
    const content = `BT /F1 10 Tf 1 0 0 1 50 700 Tm [(Wo) 20 (rd) -600 (next)] TJ
      1 0 0 1 50 680 Tm (Item) Tj 1 0 0 1 250 680 Tm (Price) Tj
      1 0 0 1 50 668 Tm (Chair) Tj 1 0 0 1 250 668 Tm (40) Tj ET`;
    const file = pdf({ ...tree, 3: page('/Font << /F1 5 0 R >>'), 4: stream(content), 5: helvetica });
    expect(read(file).stdout).toContain('Word next\n\nItem   Price\nChair   40\n');
    const { stdout } = read(file, '--layout');
    const [item, chair] = stdout.split('\n').filter((line) => /^(Item|Chair)/.test(line)) as [string, string];
    expect(item.indexOf('Price')).toBeGreaterThan(20);
    expect(chair.indexOf('40')).toBe(item.indexOf('Price'));
  });

  it('reads forms, packed objects and other ways of packing', () => {
    const first = `5 0 6 ${helvetica.length + 1} `;
    const fonts = Buffer.from(`${first}${helvetica} << /Font << /F1 5 0 R >> >>`);
    const runs = Buffer.from('BT /F1 9 Tf 20 20 Td (In runs) Tj ET');
    const form = Buffer.from('BT /F1 10 Tf 10 10 Td (In the form) Tj ET').toString('hex');
    const file = pdf(
      {
        ...tree,
        3: '<< /Type /Page /Parent 2 0 R /Contents [4 0 R 9 0 R 10 0 R] /Resources << /XObject << /X 8 0 R >> /Font << /F1 5 0 R >> >> >>',
        4: stream('q 1 0 0 1 0 600 cm /X Do Q BI /W 1 /H 1 ID \x00(Tj\xff EI BT /F1 9 Tf 20 50 Td (Behind it) Tj ET'),
        7: stream(deflateSync(fonts), `/Type /ObjStm /N 2 /First ${first.length} /Filter /FlateDecode`),
        8: stream(`${form}>`, '/Type /XObject /Subtype /Form /Filter [/ASCIIHexDecode] /Resources 6 0 R'),
        9: stream('<~6<#\'\\7PQ#G+B2qq1,\'h,0Ha>*+=Kg!+D#8"BQSMOAncF".3MT)+@T6~>', '/Filter /ASCII85Decode'),
        10: stream(Buffer.concat([Buffer.of(runs.length - 1), runs, Buffer.of(128)]), '/Filter /RL'),
      },
      '<< /Root 1 0 R >>',
    );
    const { stdout, status } = read(file);
    expect(status).toBe(0);
    expect(stdout).toContain('In the form');
    expect(stdout).toContain('Behind it');
    expect(stdout).toContain('In eighty-five');
    expect(stdout).toContain('In runs');
  });

  it.each([
    ['no PDF', Buffer.from('hello'), 'is no PDF file'],
    [
      'a protected one',
      pdf({ ...tree, 3: page(''), 4: stream('') }, '<< /Root 1 0 R /Encrypt 9 0 R >>'),
      'protected with a password',
    ],
    ['an empty one', Buffer.from('%PDF-1.4\n'), 'No pages were found'],
    ['one that goes in circles', pdf({ 1: '<< /Pages 1 0 R /Kids [1 0 R] >>' }), 'No pages were found'],
  ])('says why it cannot read %s', (_what, bytes, reason) => {
    const { status, stderr } = read(bytes);
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('Traceback');
  });

  it('reads what is left of a file that is cut short', () => {
    const whole = Buffer.from(pdfOf([['Kept text', 'and more']]));
    const { status, stdout } = read(whole.subarray(0, whole.lastIndexOf('endstream') - 4));
    expect(status).toBe(0);
    expect(stdout).toContain('Kept text');
  });

  it('is not held up by a page of compressed zeros', () => {
    const file = pdf({
      ...tree,
      3: page('/Font << /F1 5 0 R >>'),
      4: stream(deflateSync(Buffer.alloc(40 * 1024 * 1024)), '/Filter /FlateDecode'),
      5: helvetica,
    });
    expect(read(file).status).toBe(0);
  });
});
