import { strToU8, zipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { hasPython, scriptOf } from './scripts.fixture.ts';

const { put, run } = scriptOf('spreadsheets', 'sheet.py');

const sales = `Sales report;;;
;;;
Date;Region;Amount;Paid
2025-01-03;North;1.200,50;yes
2025-01-20;South;80,00;no
2025-02-01;North;(20,00);yes
2025-02-11;;n/a;yes
2025-04-11;"South";0,10;
`;

/** A workbook with a visible and a hidden sheet, and every kind of cell. */
function workbook(): Uint8Array {
  const main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
  const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const row = (number: number, cells: string) => `<row r="${number}">${cells}</row>`;
  const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';
  const part = (name: string, kind: string) =>
    `<Override PartName="/xl/${name}.xml" ContentType="${types}.${kind}+xml"/>`;
  return zipSync({
    '[Content_Types].xml': strToU8(
      '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `${part('workbook', 'sheet.main')}${part('worksheets/sheet1', 'worksheet')}${part('worksheets/sheet2', 'worksheet')}` +
        `${part('sharedStrings', 'sharedStrings')}${part('styles', 'styles')}</Types>`,
    ),
    '_rels/.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${relations}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    ),
    'xl/workbook.xml': strToU8(
      `<workbook ${main} xmlns:r="${relations}"><sheets><sheet name="Orders" sheetId="1" r:id="r1"/>` +
        '<sheet name="Old" sheetId="2" state="hidden" r:id="r2"/></sheets></workbook>',
    ),
    'xl/_rels/workbook.xml.rels': strToU8(
      '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">' +
        `<Relationship Id="r1" Type="${relations}/worksheet" Target="worksheets/sheet1.xml"/>` +
        `<Relationship Id="r2" Type="${relations}/worksheet" Target="/xl/worksheets/sheet2.xml"/></Relationships>`,
    ),
    'xl/sharedStrings.xml': strToU8(
      `<sst ${main}><si><t>Item</t></si><si><r><t>Bl</t></r><r><t>ue</t></r><rPh sb="0" eb="1"><t>aid</t></rPh></si></sst>`,
    ),
    'xl/styles.xml': strToU8(
      `<styleSheet ${main}><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
        '<numFmt numFmtId="165" formatCode="#,##0.00 &quot;days&quot;"/></numFmts>' +
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="14"/><xf numFmtId="165"/></cellXfs></styleSheet>',
    ),
    'xl/worksheets/sheet1.xml': strToU8(
      `<worksheet ${main}><sheetData>${[
        row(
          1,
          '<c r="A1" t="s"><v>0</v></c><c r="B1" t="inlineStr"><is><t>Price</t></is></c>' +
            '<c r="C1" t="inlineStr"><is><t>Day</t></is></c><c r="D1" t="inlineStr"><is><t>Shipped</t></is></c>' +
            '<c r="E1" t="inlineStr"><is><t>Double</t></is></c>',
        ),
        row(
          2,
          '<c r="A2" t="s"><v>1</v></c><c r="B2" s="3"><v>0.30000000000000004</v></c><c r="C2" s="1"><v>45731</v></c>' +
            '<c r="D2" t="b"><v>1</v></c><c r="E2"><f>B2*2</f><v>0.6</v></c>',
        ),
        row(
          4,
          '<c r="A4" t="str"><v>Red</v></c><c r="B4"><v>1.2E1</v></c><c r="C4" s="2"><v>45732.5</v></c>' +
            '<c r="E4"><f>B4*2</f></c>',
        ),
      ].join('')}</sheetData></worksheet>`,
    ),
    'xl/worksheets/sheet2.xml': strToU8(
      `<worksheet ${main}><sheetData>${row(1, '<c r="A1"><v>7</v></c>')}</sheetData></worksheet>`,
    ),
  });
}

describe.skipIf(!hasPython)('the script of spreadsheets', () => {
  it('detects header, separator, decimal comma and column types', () => {
    const { status, stdout } = run('info', put('sales.csv', sales));
    expect(status).toBe(0);
    expect(stdout).toContain('| A | Date | date as text | 5 of 5 | 5 | 2025-01-03, 2025-01-20, 2025-02-01 |');
    expect(stdout).toContain('| C | Amount | number as text (4), text (1) | 5 of 5 |');
    expect(stdout).toContain('header in row 3, 5 rows');
    expect(stdout).toContain('UTF-8, separated by semicolon');
  });

  it('sums by group and reports skipped rows', () => {
    const { stdout } = run(
      'total',
      put('sales.csv', sales),
      '--column',
      'amount',
      '--by',
      'Region',
      '--how',
      'sum,mean,median,min,max,count',
    );
    expect(stdout).toContain('| North | 1180.5 | 590.25 | 590.25 | -20 | 1200.5 | 2 |');
    expect(stdout).toContain('| South | 80.1 | 40.05 | 40.05 | 0.1 | 80 | 2 |');
    expect(stdout).toContain('| (empty) |  |  |  |  |  | 0 |');
    expect(stdout).toContain('| **All** | 1260.6 | 315.15 | 40.05 | -20 | 1200.5 | 4 |');
    expect(stdout).toContain("1 cell without a number (row 7 'n/a')");
  });

  it('creates a pivot table by quarter with totals', () => {
    const { stdout } = run(
      'pivot',
      put('sales.csv', sales),
      '--rows',
      'Date:quarter',
      '--columns',
      'Region',
      '--values',
      'C',
    );
    expect(stdout).toContain('| 2025-Q1 | 1180.5 | 80 | 1260.5 |');
    expect(stdout).toContain('| 2025-Q2 |  | 0.1 | 0.1 |');
    expect(stdout).toContain('| **All** | 1180.5 | 80.1 | 1260.6 |');
  });

  it.each([
    ['Amount>50', ['4', '5']],
    ['Region=north', ['4', '6']],
    ['Region!=North', ['5', '7', '8']],
    ['Date>=2025-02-11', ['7', '8']],
    ['Paid~E', ['4', '6', '7']],
    ['Amount=80', ['5']],
  ])('filters rows where %s', (condition, rows) => {
    const { stdout } = run('show', put('sales.csv', sales), '--where', condition, '--columns', 'Region');
    expect([...stdout.matchAll(/^\| (\d+) \|/gm)].map(([, row]) => row)).toEqual(rows);
  });

  it('reads every kind of cell of a workbook', () => {
    const file = put('orders.xlsx', workbook());
    const { stdout } = run('show', file);
    expect(stdout).toContain('| 2 | Blue | 0.3 | 2025-03-15 | yes | 0.6 |');
    expect(stdout).toContain('| 4 | Red | 12 | 2025-03-16 12:00:00 |  |  |');
    expect(stdout).toContain('1 formulas have no stored result');
    const info = run('info', file).stdout;
    expect(info).toContain('## Old: 1 rows, hidden');
    expect(run('total', file, '--column', 'Price').stdout).toContain('| All rows | 12.3 |');
  });

  it('writes a sheet as CSV and reads it back', () => {
    const exported = run('export', put('orders.xlsx', workbook()), '--sheet', 'orders', '--output', 'orders.csv');
    expect(exported.stdout).toContain('orders.csv, 2 rows and 5 columns');
    expect(run('total', 'orders.csv', '--column', 'Price').stdout).toContain('12.3');
  });

  it.each([
    ['1,234.50', 'point', '1234.5'],
    ['1.234,50', 'comma', '1234.5'],
    ["CHF 1'234.50", 'point', '1234.5'],
    ['12,34,567', 'point', '1234567'],
    ['12-', 'point', '-12'],
    ['50%', 'point', '0.5'],
    ['−3', 'point', '-3'],
  ])('reads %s as a number', (text, decimal, expected) => {
    const file = put('one.csv', `Name\tValue\nx\t${text}\n`);
    const { stdout } = run('total', file, '--column', 'Value', '--decimal', decimal);
    expect(stdout).toContain(`| All rows | ${expected} |`);
  });

  it('warns of ambiguous numbers and mixed currencies', () => {
    const unclear = run('total', put('u.csv', 'Name,Value\nx,"1,234"\ny,"2,345"\n'), '--column', 'Value').stdout;
    expect(unclear).toContain('Pass --decimal to decide');
    const mixed = run('total', put('m.csv', 'Name,Value\nx,€5\ny,$6\n'), '--column', 'Value').stdout;
    expect(mixed).toContain('mixes numbers with and without $, €');
  });

  it.each([
    ['an old workbook', new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]), 'ask for it as .xlsx'],
    ['another zip', zipSync({ 'content.xml': strToU8('<a/>') }), 'not an .xlsx workbook'],
    ['a program', new Uint8Array([0x7f, 0x45, 0, 0, 1]), 'neither a CSV text'],
    [
      'an XML bomb',
      zipSync({ 'xl/workbook.xml': strToU8('<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>') }),
      'document type',
    ],
    ['half a workbook', workbook().slice(0, 300), 'damaged'],
  ])('explains why it cannot read %s', (_what, content, reason) => {
    const { status, stderr } = run('info', put('odd.bin', content));
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
    expect(stderr).not.toContain('Traceback');
  });

  it('lists the columns if a requested one is missing', () => {
    const { status, stderr } = run('total', put('sales.csv', sales), '--column', 'Price');
    expect(status).toBe(1);
    expect(stderr).toContain("There is no column 'Price'. The columns are: Date, Region, Amount, Paid.");
  });
});
